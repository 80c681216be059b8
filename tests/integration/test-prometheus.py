#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, a real promtool and node_exporter beside us.

Under churn (100 short processes a second, and processes that live some seconds) increase() over all process series plus what
nobody got equals the node's increase within 1 %. As in production an ended series is kept for at least the window, for increase()
extrapolates what leaves inside it. With KEPLER_LONG_TESTS the windows are those of production: 5 minutes, default settle and keep.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from plant import Exporter, Sensors, free_port, load, need_program, rapl_zone

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
WINDOW = 300 if LONG else 40
SCRAPE = 5 if LONG else 1
SETTLE = [] if LONG else ["--metrics.settle=3s", "--metrics.keep=1m"]
# The only complaint that promtool may have: names inherited from classic Kepler.
LINT = {f"kepler_{level}_bpf_cpu_time_ms_total" for level in ("node", "process", "container")}


class Prometheus:
    def __init__(self, target):
        self.dir = tempfile.TemporaryDirectory(prefix="kepler-prometheus-")
        self.port = free_port()
        config = pathlib.Path(self.dir.name, "prometheus.yml")
        config.write_text(f"global: {{scrape_interval: {SCRAPE}s, scrape_timeout: 1s}}\n"
                          f"scrape_configs: [{{job_name: kepler, static_configs: [{{targets: ['{target}']}}]}}]\n")
        self.process = subprocess.Popen(
            [need_program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={self.dir.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"])

    def query(self, promql):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": promql})
        with urllib.request.urlopen(url, timeout=20) as answer:
            return [(r["metric"], float(r["value"][1])) for r in json.load(answer)["data"]["result"]]

    def wait(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                if self.query("up") == [] or self.query("up")[0][1] != 1:
                    time.sleep(0.2)
                    continue
                return
            except OSError:
                time.sleep(0.2)
        raise AssertionError("Prometheus did not scrape")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait(30)
        self.dir.cleanup()


def check_lint(exporter):
    result = subprocess.run([need_program("promtool"), "check", "metrics"], input=exporter.scrape().text, text=True,
                            capture_output=True, check=False)
    named = {line.split()[0] for line in (result.stdout + result.stderr).splitlines() if line.startswith("kepler_")}
    assert named == LINT, f"promtool: {result.stdout}{result.stderr}"


def check_increase(prometheus):
    window = f"[{WINDOW}s]"
    node = prometheus.query(f"sum(increase(kepler_node_package_joules_total{window}))")[0][1]
    processes = prometheus.query(f"sum(increase(kepler_process_package_joules_total{window}))")[0][1]
    nobody = prometheus.query(f'sum(increase(kepler_node_unattributed_joules_total{{zone="package"}}{window})) or vector(0)')
    total = processes + nobody[0][1]
    error = (total / node - 1) * 100
    print(f"node {node:.1f} J, processes {processes:.1f} J, nobody {nobody[0][1]:.1f} J, error {error:+.3f} %")
    assert abs(error) <= 1, f"{error:+.3f} %"
    containers = prometheus.query(f"sum(increase(kepler_container_package_joules_total{window}))")[0][1]
    error = ((containers + nobody[0][1]) / node - 1) * 100
    assert abs(error) <= 1, f"containers: {error:+.3f} %"


def check_node_exporter(sensors, exporter):
    port = free_port()
    process = subprocess.Popen([need_program("prometheus-node-exporter"), f"--path.sysfs={sensors.mount}",
                                "--collector.disable-defaults", "--collector.rapl", "--log.level=error",
                                f"--web.listen-address=127.0.0.1:{port}"])
    try:
        def theirs():
            deadline = time.monotonic() + 20
            while True:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                        return next(float(line.split()[1]) for line in answer.read().decode().splitlines()
                                    if line.startswith("node_rapl_package_joules_total"))
                except OSError:
                    assert time.monotonic() < deadline
                    time.sleep(0.1)

        def pair():
            exporter.intervals(1)
            return theirs(), float(exporter.scrape().sum("kepler_node_package_joules_total"))

        first = pair()
        time.sleep(10)
        second = pair()
        their, our = second[0] - first[0], second[1] - first[1]
        print(f"node_exporter {their:.1f} J, Kepler {our:.1f} J in the same time")
        assert abs(our / their - 1) < 0.02, (their, our)
    finally:
        process.terminate()
        process.wait()


def churn():
    """Short ones at 100/s, and processes of some seconds that start all the time."""
    seconds = WINDOW + 25
    return [load("storm", 100, 3, seconds)] + [load("storm", 1, 300, seconds), load("span", seconds // 4)]


def main():
    need_program("prometheus")
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", *SETTLE) as exporter, \
            Prometheus(exporter.url.removeprefix("http://")) as prometheus:
        prometheus.wait()
        loads = churn()
        began = time.monotonic()
        longer = []
        while time.monotonic() - began < WINDOW + 10:
            longer.append(load("span", 2 if not LONG else 10))
            time.sleep(6 if not LONG else 20)
        check_increase(prometheus)
        check_lint(exporter)
        for process in loads + longer:
            process.communicate(timeout=600)
        check_node_exporter(sensors, exporter)
        assert exporter.stop() == 0


main()
