#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kepler top draws for a known machine: every row and part adds up to the node, each line fits, colours have ends.

With KEPLER_PICTURES=FOLDER it leaves a picture of the screen there, drawn by Chromium: docs/top.webp is that of 132 columns."""
import fcntl
import html
import http.server
import json
import math
import os
import pathlib
import pty
import re
import select
import socketserver
import struct
import tempfile
import termios
import threading
import time
import urllib.parse

from browser import Browser
from rig import KEPLER, run_tests

# Invented processes: pid, command, owner, mean power in W, CPU time in % of one CPU.
PROCESSES = [(4711, "java", "shop/checkout-7d9f8c6b5-x2x9k", 41.2, 612), (5120, "postgres", "shop/orders-db-0", 23.7, 318),
             (8093, "python3", "analytics/etl-5b7c9-qk2", 19.4, 288), (7742, "node", "shop/search-66fd-8sd1", 9.8, 141),
             (3310, "envoy", "ingress/gateway-2xk8", 4.6, 77), (2214, "prometheus", "monitoring/prometheus-0", 2.9, 41),
             (911, "containerd", "containerd.service", 1.3, 18), (1002, "kubelet", "kubelet.service", 1.1, 17),
             (640, "sshd", "ssh.service", 0.2, 2)]
IDLE, UNATTRIBUTED, OTHER = 61.0, 0.4, 1.8
FRAMES = 24 if os.environ.get("KEPLER_PICTURES") else 3  # in a picture, as many readings as a row remembers
COLOURS = {"1": "font-weight:bold", "2": "opacity:.6", "7": "background:#d6dde5;color:#101418", "33": "color:#e3b341",
           "36": "color:#56d4dd"}


def now_page(second):
    rows = [{"pid": pid, "command": command, "owner": owner, "container": owner, "namespace": owner.partition("/")[0],
             "cpu_percent": cpu, "watts": watts * (1 + .35 * math.sin(second / 3 + pid)), "joules": watts * (3600 + second)}
            for pid, command, owner, watts, cpu in PROCESSES]
    rows.sort(key=lambda row: -row["watts"])
    rows.append({"pid": None, "command": "other", "owner": "", "cpu_percent": 12.1, "watts": OTHER, "joules": 6500.5})
    total = sum(row["watts"] for row in rows) + IDLE + UNATTRIBUTED
    return {"time": 1795867200 + second, "node": "node-7", "version": "0.1.0", "total_watts": total, "error_watts": None,
            "estimated": False, "idle_watts": IDLE, "idle_provisional": False, "unattributed_watts": UNATTRIBUTED,
            "parts": [{"zone": zone, "rest": rest, "quality": "measured", "watts": total * part}
                      for zone, rest, part in (("package", False, .62), ("dram", False, .11), ("platform", True, .27))],
            "zones": [], "exporter": {"pid": 7, "cpu_percent": 0.1, "watts": 0.01, "joules": 3.2}, "complete": True,
            "level": "process", "left_out": 0, "rows": rows}


class Exporter(socketserver.ThreadingUnixStreamServer):
    """It answers with another second each time."""
    daemon_threads = True

    def __init__(self, path):
        self.second = -1
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path == "/api/v1/now":
                    assert dict(urllib.parse.parse_qsl(query))["level"] == "process"
                    server.second += 1
                body = json.dumps(now_page(server.second)).encode() if path == "/api/v1/now" else b"ok\n"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def address_string(self):
                return "local"

            def log_message(self, *args):
                pass
        super().__init__(str(path), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()


def frames(path, rows, columns, count):
    """The last of @count frames: its lines, with their colours."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(KEPLER, [KEPLER, "top", f"--local.socket={path}"], {**os.environ, "LANG": "C.UTF-8", "TERM": "xterm"})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    seen, end = b"", time.monotonic() + 60 + 2 * count
    while seen.count(b"\x1b[J") < count:
        assert select.select([fd], [], [], max(0, end - time.monotonic()))[0], seen[-2000:]
        seen += os.read(fd, 65536)
    os.write(fd, b"q")
    while select.select([fd], [], [], 20)[0]:
        try:
            os.read(fd, 65536)
        except OSError:
            break
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    last = seen.split(b"\x1b[J")[count - 1].decode().rsplit("\x1b[H", 1)[1]
    return re.sub(r"\x1b\[(?![0-9;]*m)[?0-9;]*[A-Za-z]", "", last).replace("\r", "").rstrip("\n").split("\n")


def plain(line):
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def as_page(lines):
    """The screen as HTML."""
    out, styles = [], []
    for line in lines:
        for text, codes in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m)?", line):
            out.append(f"<span style='{';'.join(styles)}'>{html.escape(text)}</span>" if text else "")
            for code in codes.split(";") if codes else ():
                styles = [] if code == "0" else [*styles, COLOURS[code]]
        out.append("\n")
    return ("<!doctype html><meta charset=utf-8><style>body{margin:0;background:#101418;color:#d6dde5}"
            f"pre{{margin:0;padding:14px;font:14px/19px monospace}}</style><pre>{''.join(out)}</pre>")


def draw(lines, columns):
    folder = os.environ.get("KEPLER_PICTURES")
    if not folder:
        return
    page = pathlib.Path(folder, "top.html")
    page.write_text(as_page(lines), encoding="utf-8")
    with Browser(width=28 + round(columns * 8.43), height=28 + 19 * len(lines)) as browser:
        browser.open(f"file://{page}")
        browser.picture(pathlib.Path(folder, f"top-{columns}.webp"))


def a_known_machine_adds_up_on_the_screen():
    with tempfile.TemporaryDirectory() as directory, Exporter(pathlib.Path(directory, "kepler.sock")) as exporter:
        path = pathlib.Path(directory, "kepler.sock")
        for columns in (132, 70):
            first = exporter.second + 1
            lines = frames(path, 18, columns, FRAMES)
            text = [plain(line) for line in lines]
            print("\n".join(text))
            assert all(len(line) <= columns for line in text), text
            shown = {int(line.split()[0]): float(re.search(r"([0-9.]+) W\b", line)[1])
                     for line in text if re.match(r" +\d+ ", line)}
            others = [line for line in text if " other" in line or "more" in line]
            node = float(re.search(r"([0-9.]+) W", text[1])[1])
            rest = OTHER + IDLE + UNATTRIBUTED
            assert set(shown) == {pid for pid, *_ in PROCESSES} and others, text
            assert abs(node - rest - sum(shown.values())) < 0.06 + 0.006 * len(shown), (node, shown)
            assert any(abs(now_page(second)["total_watts"] - node) < 0.06 for second in range(first, exporter.second + 1)), node
            assert all("\x1b" not in line or line.rsplit("\x1b[", 1)[1].startswith("0m") for line in lines), lines
            draw(lines, columns)


if __name__ == "__main__":
    run_tests([a_known_machine_adds_up_on_the_screen])
