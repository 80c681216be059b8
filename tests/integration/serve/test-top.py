#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler top: on a terminal, as text and as JSON, of an exporter and measured by itself."""
import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import socketserver
import struct
import subprocess
import tempfile
import termios
import threading
import time

from rig import CONFIG, KEPLER, Exporter, need_root, run_tests

NOBODY = 65534
ALTERNATE, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"


@contextlib.contextmanager
def exporter_at(path, *args):
    with Exporter(f"--local.socket={path}", "--metrics.process.min-joules=0", *args) as exporter:
        exporter.intervals(1)
        yield exporter


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        yield pathlib.Path(directory, "kepler.sock")


@contextlib.contextmanager
def busy():
    """A process that uses a CPU."""
    process = subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def top(path, *args, **kwargs):
    command = [KEPLER, "top", f"--local.socket={path}", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **kwargs)


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, path, *args, rows=30, columns=120):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(KEPLER, [KEPLER, "top", f"--local.socket={path}", *args], {**os.environ, "LANG": "C.UTF-8", "TERM": "xterm"})
        self.resize(rows, columns)
        self.seen = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self, text, seconds=20):
        """Reads until @text has been written since the last call; what was written."""
        end = time.monotonic() + seconds
        while text.encode() not in self.seen:
            assert select.select([self.fd], [], [], max(0, end - time.monotonic()))[0], (text, self.seen[-3000:])
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError as error:
                raise AssertionError((text, self.seen[-3000:])) from error
        seen, self.seen = self.seen, b""
        return seen

    def send(self, keys):
        self.seen = b""
        os.write(self.fd, keys.encode())

    def end(self):
        """Its exit status, and what it wrote last."""
        with contextlib.suppress(OSError):
            while select.select([self.fd], [], [], 20)[0]:
                data = os.read(self.fd, 65536)
                if not data:
                    break
                self.seen += data
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.seen


def it_prints_once_in_a_pipe_and_as_json():
    with place() as path, exporter_at(path), busy() as pid:
        page = None
        for _ in range(50):
            result = top(path, "--json", "--limit=4096")
            assert result.returncode == 0 and not result.stderr, result
            page = json.loads(result.stdout)
            if pid in {row["pid"] for row in page["rows"]}:
                break
            time.sleep(0.1)
        assert page["complete"] and set(page) >= {"time", "zones", "rows"}, page
        assert {"zone", "package", "watts", "quality"} <= set(page["zones"][0])
        assert {"pid", "command", "owner", "cpu_percent", "watts", "joules"} <= set(page["rows"][0])
        text = top(path, "--limit=4000", env={**os.environ, "LANG": "C.UTF-8"})
        assert text.returncode == 0 and f"{pid}" in text.stdout and "\x1b" not in text.stdout and "POWER▾" in text.stdout, text
        text = top(path, "--once", "--level=namespace", "--sort=joules", env={**os.environ, "LC_ALL": "C"})
        assert text.stdout.isascii() and "NAMESPACE" in text.stdout and "JOULESv" in text.stdout, text
        assert top(path, "--level=node").returncode == 2


def without_an_exporter_root_measures():
    with place() as path, busy() as pid:
        result = top(path, "--once", "--limit=4000")
        assert result.returncode == 0 and f"{pid}" in result.stdout and "estimated" in result.stdout, result
        refused = top(path, "--once", user=NOBODY, group=NOBODY, extra_groups=())
        assert refused.returncode == 1 and "--local.everyone=own" in refused.stderr and "sudo" in refused.stderr, refused
        with exporter_at(path):
            refused = top(path, "--once", user=NOBODY, group=NOBODY, extra_groups=())
            assert refused.returncode == 1 and "Permission denied" in refused.stderr, refused


def it_follows_keys_and_sizes_of_a_terminal():
    with place() as path, exporter_at(path), busy() as pid:
        terminal = Terminal(path)
        assert ALTERNATE in terminal.wait("KWH/MONTH")
        terminal.wait(f"{pid}")
        terminal.send("\t")
        terminal.wait("[container]")
        terminal.send("1/sh\r")
        terminal.wait("Filter: sh")
        terminal.send("\x1bOP")
        terminal.wait("reverse the order")
        terminal.send("?")
        terminal.wait("KWH/MONTH")
        terminal.resize(12, 50)
        while b"KWH/MONTH" in terminal.wait("POWER") + terminal.wait("\x1b[J"):  # a frame was on its way
            pass
        terminal.send("q")
        status, last = terminal.end()
        assert status == 0 and LEFT in last, (status, last)


def it_leaves_the_terminal_as_it_was_when_it_is_ended():
    with place() as path, exporter_at(path):
        for number in (signal.SIGTERM, signal.SIGHUP):
            terminal = Terminal(path)
            terminal.wait("POWER")
            os.kill(terminal.pid, number)
            status, last = terminal.end()
            assert status == 0 and LEFT in last, (status, last)


def it_ends_with_its_terminal():
    with place() as path, exporter_at(path):
        terminal = Terminal(path)
        terminal.wait("POWER")
        os.close(terminal.fd)
        end = time.monotonic() + 20
        while os.waitpid(terminal.pid, os.WNOHANG) == (0, 0):
            assert time.monotonic() < end, "it still runs"
            time.sleep(0.05)


def an_output_that_cannot_be_written_is_reported():
    with place() as path, exporter_at(path):
        command = [KEPLER, "top", f"--local.socket={path}"]
        for words in (["--once"], ["--json"]):
            with open("/dev/full", "wb") as full:
                told = subprocess.run([*command, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
            assert told.returncode == 1 and told.stderr == "kepler: standard output: No space left on device\n", told
        reader, writer = os.pipe()
        os.close(reader)
        told = subprocess.run([*command, "--json"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        os.close(writer)
        assert told.returncode in (1, -signal.SIGPIPE) and "Sanitizer" not in told.stderr, told


class Older(socketserver.ThreadingUnixStreamServer):
    """An exporter of a version that has fewer pages and levels than this command knows."""
    daemon_threads = True

    def __init__(self, path, status, text):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                is_known = self.path == "/healthz"
                body = b"ok\n" if is_known else self.server.text.encode()
                self.send_response(200 if is_known else status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # a client that has read enough
                    self.wfile.write(body)

            def address_string(self):
                return "local"

            def log_message(self, *args):
                pass
        self.text = text
        super().__init__(str(path), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()


class Relay:
    """Passes on what an exporter and its clients say, and keeps what the clients ask for."""

    def __init__(self, path, exporter):
        self.path, self.exporter, self.asked = path, exporter, b""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, server = self.listener.accept()[0], socket.socket(socket.AF_UNIX)
                server.connect(str(self.exporter))
                for ends in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self.copy, args=ends, daemon=True).start()

    def copy(self, source, sink, is_asked):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_asked:
                    self.asked += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def count(self):
        return self.asked.count(b"GET /api/v1/now?")


def many_readings_take_one_request():
    with place() as path, exporter_at(path, "--monitor.interval=1s"):
        relay = Relay(path.with_name("relay.sock"), path)
        terminal = Terminal(relay.path, columns=120)
        clocks = set()
        while len(clocks) < 4:
            clocks |= set(re.findall(rb"[0-2][0-9]:[0-5][0-9]:[0-5][0-9]", terminal.wait("\x1b[J")))
        assert relay.count() == 1 and b"limit=23&" in relay.asked, relay.asked  # the rows of the screen
        terminal.send("3")
        terminal.wait("[pod]")
        terminal.wait("\x1b[J")
        assert relay.count() == 2 and b"level=pod" in relay.asked, relay.asked
        terminal.send("q")
        assert terminal.end()[0] == 0


def an_older_exporter_is_asked_again():
    """It knows nothing of answers that follow."""
    page = '{"time":%d,"rows":[{"pid":7,"command":"one","owner":"a","cpu_percent":1,"watts":%d,"joules":2}]}\n'
    with place() as path, Older(path, 200, page % (1, 11)) as older:
        terminal = Terminal(path)
        terminal.wait("11.00 W")
        older.text = page % (2, 22)
        terminal.wait("22.00 W")
        terminal.send("q")
        assert terminal.end()[0] == 0


def an_older_exporter_is_named_as_the_reason():
    with place() as path, Older(path, 404, "404: there is no such page; try /metrics\n"):
        told = top(path, "--once")
        assert told.returncode == 1 and "older than this command" in told.stderr and "/api/v1/now" in told.stderr, told
    with place() as path, Older(path, 400, "400: level: want one of process, pod, not \"user\"\n"):
        told = top(path, "--once", "--level=user")
        assert told.returncode == 1 and "level: want one of process, pod" in told.stderr, told
    with place() as path, Older(path, 200, "<html>"):
        told = top(path, "--once")
        assert told.returncode == 1 and "is not JSON" in told.stderr, told


def an_answer_without_an_end_is_not_read():
    """Neither where it is asked for once, nor where it is followed."""
    with place() as path, Older(path, 200, " " * (9 << 20)):
        told = top(path, "--once")
        assert told.returncode == 1 and f"{path}: the answer is too long" in told.stderr, told
        terminal = Terminal(path)
        terminal.wait("the answer is too long")
        terminal.send("q")
        assert terminal.end()[0] == 0


def names_cannot_command_the_terminal():
    rename = "import ctypes; ctypes.CDLL(None).prctl(15, b'\\x1b]0;me\\x07', 0, 0, 0)\nwhile True: pass"
    with place() as path, exporter_at(path, "--monitor.interval=1s") as exporter:
        process = subprocess.Popen(["python3", "-c", rename])
        exporter.intervals(2)
        for words in (["--once"], ["--json", "--limit=4096"]):
            told = top(path, *words)
            assert told.returncode == 0 and "]0;me" in told.stdout and "\x1b" not in told.stdout and "\x07" not in told.stdout, told
        terminal = Terminal(path)
        assert b"\x1b]0;" not in terminal.wait("]0;me")
        terminal.send("q")
        terminal.end()
        process.kill()
        process.wait()


def it_waits_for_an_exporter_that_restarts():
    with place() as path:
        with exporter_at(path):
            terminal = Terminal(path)
            terminal.wait("POWER")
        terminal.wait("no exporter responds")
        with exporter_at(path):
            terminal.wait("q quit")
        terminal.send("\x03")
        assert terminal.end()[0] == 0


def record_two_runs(path, ring):
    """The answers of both exporters, in order of time."""
    seen = {}
    for _ in range(2):
        with exporter_at(path, f"--record.dir={ring}") as exporter:
            exporter.intervals(1)
            for _ in range(5):
                page = json.loads(top(path, "--json", "--limit=4096").stdout)
                seen[page["time"]] = page
                exporter.intervals(1)
            exporter.stop()
    return [seen[at] for at in sorted(seen)]


def at_time(page):
    """The option for the interval of a page; the time goes on until it is read, but not by half an interval."""
    return f"--at=-{max(0, time.time() - page['time'] + 0.3):.3f}s"


def it_shows_what_was_recorded():
    with place() as path, tempfile.TemporaryDirectory() as ring:
        record = f"--record.dir={ring}"
        config = f"--config.file={CONFIG}"  # whose options of attribution the exporter had
        pages = record_two_runs(path, ring)
        assert len(os.listdir(ring)) == 2 and len(pages) >= 8, (os.listdir(ring), pages)
        for page in (pages[1], pages[-2]):
            for _ in range(10):  # a slow machine may be too late for that interval
                shown = top(path, record, config, "--json", "--limit=4096", at_time(page))
                assert shown.returncode == 0, shown
                past = json.loads(shown.stdout)
                if past["time"] == page["time"]:
                    break
            for key in ("time", "total_watts", "idle_watts", "unattributed_watts", "estimated", "parts"):
                assert past[key] == page[key], (key, past, page)
            watts = [{row["pid"]: row["watts"] for row in rows if row["pid"]} for rows in (past["rows"], page["rows"])]
            assert watts[0] == watts[1], watts
        terminal = Terminal(path, record, config, at_time(pages[-2]))
        terminal.wait("KWH/MONTH")
        for _ in range(40):  # over the beginning of the second recording
            terminal.send("\x1b[D")
            if b"this is the first interval" in terminal.wait("\x1b[J"):
                break
        else:
            raise AssertionError("there was no first interval")
        for _ in range(40):
            terminal.send("\x1b[C")
            if b"this is the last interval" in terminal.wait("\x1b[J"):
                break
        else:
            raise AssertionError("there was no last interval")
        terminal.send("q")
        assert terminal.end()[0] == 0
        for option, words, status in (("--at=soon", "must be a duration", 2), ("--at=1h", "nothing-there", 1)):
            wrong = top(path, "--json", "--record.dir=/nothing-there", option)
            assert wrong.returncode == status and words in wrong.stderr and not wrong.stdout, wrong
        nothing = top(path, "--json", "--record.dir=", "--at=1h")
        assert nothing.returncode == 1 and "--record.dir=DIR" in nothing.stderr, nothing


if __name__ == "__main__":
    need_root()
    run_tests([it_prints_once_in_a_pipe_and_as_json, without_an_exporter_root_measures, it_follows_keys_and_sizes_of_a_terminal,
               it_leaves_the_terminal_as_it_was_when_it_is_ended, it_ends_with_its_terminal,
               an_output_that_cannot_be_written_is_reported, an_older_exporter_is_named_as_the_reason,
               an_answer_without_an_end_is_not_read, an_older_exporter_is_asked_again, many_readings_take_one_request,
               names_cannot_command_the_terminal, it_waits_for_an_exporter_that_restarts,
               it_shows_what_was_recorded])
