#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kepler-model collect does with the answers of a server that wants credentials, is overloaded, refuses or lies."""
import base64
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import urllib.parse

from certificates import Authority
from rig import BUILD, free_port

PROGRAM = BUILD / "kepler-model"
TOKEN, PASSWORD = "a-secret-token", "a-secret-password"
POINTS_MAX = 300  # in an answer
NAMES = ["kepler_node_package_joules_total", "kepler_container_cpu_cycles_total", "up"]


class Server:
    """A Prometheus of TLS; `faults` answer the queries of points that come first."""

    def __init__(self, authority, scheme="https"):
        self.faults, self.queries, self.port = [], [], free_port()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, body):
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                basic = "Basic " + base64.b64encode(f"me:{PASSWORD}".encode()).decode()
                if scheme == "https" and self.headers.get("Authorization") not in (f"Bearer {TOKEN}", basic):
                    return self.answer(401, b"no")
                url = urllib.parse.urlparse(self.path)
                given = {key: values[0] for key, values in urllib.parse.parse_qs(url.query).items()}
                if url.path.endswith("/values"):
                    return self.answer(200, {"status": "success", "data": NAMES})
                server.queries.append(given)
                if server.faults:
                    return self.answer(*server.faults.pop(0))
                return self.points(given)

            def points(self, given):
                start, end, step = (float(given[key]) for key in ("start", "end", "step"))
                count = int((end - start) / step + 1e-6) + 1
                if count > POINTS_MAX:
                    return self.answer(422, {"status": "error", "error": "query would load too many samples"})
                name = given["query"].partition("{")[0]
                values = [[start + i * step, str(10 * (start + i * step))] for i in range(count)]
                return self.answer(200, {"status": "success", "data": {"resultType": "matrix", "result": [
                    {"metric": {"__name__": name, "source": "rapl-sysfs", "mode": "dynamic"}, "values": values}]}})

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        if scheme == "https":
            self.server.socket = authority.server_context().wrap_socket(self.server.socket, server_side=True)
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def secret(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text(text + "\n")
    path.chmod(0o600)
    return path


def main():
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        server, plain = Server(authority), Server(authority, "http")
        token, password = secret(folder, "token", TOKEN), secret(folder, "password", PASSWORD)
        out, count = pathlib.Path(folder, "out.json"), 0

        def collect(*args, status=0, url=server.url, ends=4000):
            for end in ("", ".part", ".progress"):
                pathlib.Path(f"{out}{end}").unlink(missing_ok=True)
            server.queries.clear()
            done = subprocess.run([PROGRAM, "collect", out, f"--server={url}", "--start-time=1000", f"--end-time={ends}",
                                   "--step=5", *map(str, args)], capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == status, (args, done.returncode, done.stderr)
            assert TOKEN not in done.stderr and PASSWORD not in done.stderr
            return done.stderr

        ca = f"--ca-file={authority.file}"
        for args in ((ca, f"--token-file={token}"), (ca, "--user=me", f"--password-file={password}"),
                     ("--insecure", f"--token-file={token}")):
            collect(*args)
            stored = json.loads(out.read_text())
            assert sorted(stored) == sorted(NAMES[:2])
            for name, series in stored.items():
                values = [value for item in series for value in item["values"]]
                assert values == [[1000 + 5 * i, str(10.0 * (1000 + 5 * i))] for i in range(601)], (name, values[:3])
                count += len(values)
        assert max((float(q["end"]) - float(q["start"])) / 5 for q in server.queries[1:]) > 200

        # It is asked again, for the same.
        server.faults = [(503, b"busy"), (429, {"status": "error", "error": "too many requests"})]
        said = collect(ca, f"--token-file={token}", ends=1100)
        assert said.count("retrying in") == 2 and out.exists(), said

        good = (ca, f"--token-file={token}")
        for args, fault, why in (
                ((f"--token-file={token}",), None, "certificate"),
                ((ca,), None, "refused (401): check token-file"),
                (good, (400, {"status": "error", "error": 'invalid parameter "x"'}), "answered 400: invalid"),
                (good, (200, b"<html>"), "malformed"),
                (good, (200, {"status": "success", "data": {"result": [{"values": []}]}}), "without the labels"),
                (good, (200, {"status": "error", "error": "half\nasleep"}), "half?asleep"),
                (good, (200, {"hello": "world"}), "not from Prometheus")):
            server.faults = [fault] if fault else []
            said = collect(*args, status=1, ends=1100)
            assert why in said and not out.exists(), (why, said)

        # No secret goes where others can read it, and none that others can read is used.
        said = collect(f"--token-file={token}", status=1, url=plain.url)
        assert "http" in said and not plain.queries, said
        os.chmod(token, 0o644)
        said = collect(ca, f"--token-file={token}", status=1)
        assert "token" in said and not server.queries, said
        collect(url=plain.url)
    print(f"{count} points; credentials, failures and lies are told apart")


main()
