#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` on a machine that does not help: an endless page, names that change, a meter that vanishes, no free CPU.

Each is named in the result that it belongs to. Nothing of it ends the run, and its memory stays bounded.
"""
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time

from page_server import PageServer
from rig import BUILD, Exporter, Sensors, is_sanitized, only_load_of_a_validator, rapl_zone, run_tests

VALIDATOR = BUILD / "kepler-validator"
COUNTER = "class/powercap/intel-rapl:0/energy_uj"
CHUNK = b"# " + b"x" * 65534
# A page has at most 64 MiB, and its buffer grows by doubling; the sanitizer keeps what was freed for a while.
MEMORY_MAX = 192 << 20
SANITIZED_MEMORY_MAX = 768 << 20


class Endless(http.server.ThreadingHTTPServer):
    """Answers with 1 GB of comments, in chunks, so that its length is not known before."""
    daemon_threads = True

    def __init__(self):
        self.sent = 0
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                try:
                    for _ in range((1 << 30) // len(CHUNK)):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK))
                        owner.sent += len(CHUNK)
                except OSError:
                    self.close_connection = True  # the client has had enough

            def log_message(self, *args):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()


def start(url, folder, *options):
    return subprocess.Popen([VALIDATOR, "run", f"--exporter={url}", f"--output={folder}", *options], stdout=subprocess.PIPE,
                            text=True)


def results_of(process, folder):
    """{name: (verdict, reason)} and the most memory that it had."""
    print(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    return {result["name"]: (result["verdict"], result["reason"]) for result in report["results"]}, usage.ru_maxrss << 10


def an_endless_page_is_refused():
    with tempfile.TemporaryDirectory() as folder, Endless() as server:
        with start(f"http://127.0.0.1:{server.server_address[1]}/", folder, "--truth=none", "--scenario=node",
                   "--duration=10s") as process:
            found, memory = results_of(process, folder)
        print(f"{server.sent >> 20} MiB were sent, {memory >> 20} MiB of memory")
    verdict, reason = found["correctness/answers"]
    assert verdict == "fail" and "the answer is too large" in reason, found
    assert memory < (SANITIZED_MEMORY_MAX if is_sanitized(VALIDATOR) else MEMORY_MAX), memory
    assert process.returncode == 1, process.returncode


def names_that_change_are_missing():
    """As after an update of the exporter while the run goes on: its node's energy has another name."""
    began = time.monotonic()

    def page(_):
        joules = 100 + 40 * (time.monotonic() - began)
        zone = "package" if time.monotonic() - began < 6 else "socket_power"
        return (f'# TYPE kepler_node_{zone}_joules_total counter\n'
                f'kepler_node_{zone}_joules_total{{mode="dynamic",source="rapl-sysfs"}} {joules:.6f}\n'
                f'# TYPE kepler_node_dram_joules_total counter\n'
                f'kepler_node_dram_joules_total{{mode="dynamic",source="rapl-sysfs"}} {joules:.6f}\n')

    with tempfile.TemporaryDirectory() as folder, PageServer(page) as server, \
            start(server.url("metrics"), folder, "--truth=none", "--scenario=node", "--duration=22s") as process:
        found, _ = results_of(process, folder)
    verdict, reason = found["correctness/levels"]
    assert verdict == "fail" and "level node of zone package is missing since" in reason, found


def a_truth_that_vanishes_decides_nothing():
    lines = rapl_zone("intel-rapl:0", "package-0", 50)
    with tempfile.TemporaryDirectory() as folder, Sensors(lines) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter:
        exporter.intervals(2)
        with start(exporter.url + "/metrics", folder, f"--host.sysfs={sensors.mount}", "--truth=rapl-sysfs", "--scenario=node",
                   "--duration=24s") as process:
            assert process.stdout.readline().startswith("Plan, 24 s")
            time.sleep(8)
            sensors.control("class/powercap/intel-rapl:0 drop")
            found, _ = results_of(process, folder)
        assert exporter.stop() == 0
    assert found["truth/package"][0] == "inconclusive", found
    assert found["node/package"][0] == "inconclusive", found


def a_busy_machine_decides_nothing():
    """The load gets a part of what it wants; the reason names the commands that ran."""
    with tempfile.TemporaryDirectory() as folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter:
        exporter.intervals(2)
        hogs = [subprocess.Popen(["bash", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
        try:
            with start(exporter.url + "/metrics", folder, f"--host.sysfs={sensors.mount}", "--scenario=churn",
                       "--duration=24s") as process:
                found, _ = results_of(process, folder)
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        assert exporter.stop() == 0
    verdict, reason = found["container/package/churn"]
    assert verdict == "inconclusive" and re.search("too busy: the load got less than .*bash", reason), found


run_tests([an_endless_page_is_refused, names_that_change_are_missing, a_truth_that_vanishes_decides_nothing])
with only_load_of_a_validator():
    run_tests([a_busy_machine_decides_nothing])
