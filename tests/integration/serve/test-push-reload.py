#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exporters that push go on after a reload of the configuration, to a file, by remote write, by OTLP; names are the new ones."""
import collections
import http.server
import pathlib
import signal
import tempfile
import threading
import time

from remote_write_rig import STALE, WRITTEN
from remote_write_rig import Receiver as Reader
from rig import Exporter, Sensors, rapl_zone, run_tests


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


def names_follow_a_reload():
    """Of the other schema, with a stale marker for each series of the earlier one."""
    classic, current = "kepler_node_package_joules_total", "kepler_node_cpu_joules_total"
    with tempfile.TemporaryDirectory() as folder, Sensors(rapl_zone(0, "package-0", 20)) as sensors, \
            Reader(lambda receiver, handler, version, series: handler.take(series)) as receiver:
        path, config = pathlib.Path(folder, "kepler.jsonl"), pathlib.Path(folder, "config.yaml")
        text = f"file: {{path: {path}, interval: 1s}}\nremote-write: {{url: ['{receiver.url}'], interval: 1s}}\n"
        config.write_text(text + "metrics: {schema: classic}\n")

        def sent(name):
            return [bits for _, series, _ in receiver.requests[:] for labels, bits, *_ in series if labels["__name__"] == name]

        def wait(what):
            deadline = time.monotonic() + 60
            while not what():
                assert time.monotonic() < deadline, exporter.output()
                time.sleep(0.1)
        with Exporter(f"--config.file={config}", f"--host.sysfs={sensors.mount}") as exporter:
            wait(lambda: sent(classic) and f'"{classic}"' in path.read_text())
            assert not sent(current) and f'"{current}"' not in path.read_text()
            config.write_text(text + "metrics: {schema: current}\n")
            exporter.process.send_signal(signal.SIGHUP)
            wait(lambda: sent(current) and f'"{current}"' in path.read_text())
            wait(lambda: sent(classic)[-1] == STALE)
            values = sent(classic)
            assert set(values[values.index(STALE):]) == {STALE} and "need a restart" not in exporter.output(), exporter.output()


run_tests([everything_is_pushed_after_reloads, names_follow_a_reload])
