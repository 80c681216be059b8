#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exporters that push go on as before after a reload of the configuration: to a file, by remote write, by OTLP."""
import collections
import http.server
import pathlib
import signal
import tempfile
import threading
import time

from remote_write_rig import WRITTEN
from rig import Exporter, run_tests


class Receiver(http.server.ThreadingHTTPServer):
    """Accepts everything, and counts it by path."""
    daemon_threads = True

    def __init__(self):
        counts = self.counts = collections.Counter()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                counts[self.path] += 1
                self.send_response(200)
                self.send_header(WRITTEN, "1")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()


def everything_is_pushed_after_reloads():
    with tempfile.TemporaryDirectory() as folder, Receiver() as receiver:
        path, config = pathlib.Path(folder, "kepler.jsonl"), pathlib.Path(folder, "config.yaml")
        config.write_text(
            f"file: {{path: {path}, interval: 1s, keep: [kepler_node_*]}}\n"
            f"remote-write: {{url: ['{receiver.url}/write'], interval: 1s, keep: [kepler_node_*], headers: [X-Tenant=a]}}\n"
            f"otlp: {{endpoint: {receiver.url}, interval: 1s, headers: [X-Tenant=a]}}\n")
        with Exporter(f"--config.file={config}") as exporter:
            for reload in range(1, 4):
                exporter.process.send_signal(signal.SIGHUP)
                deadline = time.monotonic() + 60
                while exporter.output().count("configuration reloaded") < reload:
                    assert time.monotonic() < deadline, exporter.output()
                    time.sleep(0.1)
                before, size = dict(receiver.counts), path.stat().st_size
                while path.stat().st_size == size or any(
                        receiver.counts[to] < before.get(to, 0) + 2 for to in ("/write", "/v1/metrics")):
                    assert time.monotonic() < deadline, (receiver.counts, exporter.output())
                    time.sleep(0.1)
            assert '"kepler_node_' in path.read_text() and "kepler_container" not in path.read_text()
            assert exporter.stop() == 0, exporter.output()


run_tests([everything_is_pushed_after_reloads])
