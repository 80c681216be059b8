#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, a real promtool and node_exporter beside us.

Under churn (100 short processes a second, and processes of 10 to 60 s) increase() over all process series plus what nobody
got equals the node's increase within 1 %: typically, whatever the moment, and with the change of what is held back counted in
at each moment. Where others work on the machine, too, what is held back comes and goes with their work and Prometheus may be late:
then only the typical sum with what is held back is judged. With KEPLER_LONG_TESTS every duration is that of production (windows of
5 minutes, keep by default) except the scrape interval, 1 s; else all are a fifth of it. As in production an ended
series is kept for at least the window, for increase() extrapolates what leaves inside it.
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from rig import Exporter, Sensors, free_port, load, load_result, machine_busy_s, need_program, rapl_zone

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
SCALE = 1 if LONG else 5
WINDOW = 300 // SCALE
SCRAPE = "1s" if LONG else "200ms"  # increase() errs by up to a scrape interval for series that are born inside its window
SETTLE = ["--metrics.settle=15s"] if LONG else ["--metrics.settle=3s", "--metrics.keep=1m"]
LIVES = [life / SCALE for life in (10, 60, 20, 40, 30)]  # seconds; one starts every 10 / SCALE
MOMENTS = 9  # that are judged, 10 / SCALE apart: two rounds of lives, nearly
OTHERS = 0.1  # of the CPU time: Prometheus and the exporter have some 3 %
WARM_UP = 80 / SCALE  # to the steady state: the longest life, and the time to settle
# The only complaint that promtool may have: names inherited from classic Kepler.
LINT = {f"kepler_{level}_bpf_cpu_time_ms_total" for level in ("node", "process", "container", "pod", "vm")}


class Prometheus:
    def __init__(self, target):
        self.dir = tempfile.TemporaryDirectory(prefix="kepler-prometheus-")
        self.port = free_port()
        config = pathlib.Path(self.dir.name, "prometheus.yml")
        config.write_text(f"global: {{scrape_interval: {SCRAPE}, scrape_timeout: {SCRAPE}}}\n"
                          f"scrape_configs: [{{job_name: kepler, static_configs: [{{targets: ['{target}']}}]}}]\n")
        self.process = subprocess.Popen(
            [need_program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={self.dir.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"])

    def query(self, promql, at=None):
        """[(labels, value)], now or at a time since the epoch."""
        when = {} if at is None else {"time": at}
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": promql, **when})
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
    metrics = exporter.scrape()
    result = subprocess.run([need_program("promtool"), "check", "metrics"], input=metrics.text, text=True,
                            capture_output=True, check=False)
    named = {line.split()[0] for line in (result.stdout + result.stderr).splitlines() if line.startswith("kepler_")}
    assert named == LINT & set(metrics.types), f"promtool: {result.stdout}{result.stderr}"


def value(prometheus, promql, at):
    result = prometheus.query(promql, at)
    return result[0][1] if result else 0


def increase(prometheus, metric, at):
    return value(prometheus, f"sum(increase({metric}[{WINDOW}s]))", at)


def held_back(prometheus, level, at):
    return value(prometheus, f'sum(kepler_pending_joules{{level="{level}",zone="package"}})', at)


def check_increase(prometheus, level, end, others):
    errors = []
    for moment in range(MOMENTS):
        at = end - moment * 10 / SCALE
        node = increase(prometheus, "kepler_node_package_joules_total", at)
        seen = (increase(prometheus, f"kepler_{level}_package_joules_total", at)
                + increase(prometheus, 'kepler_node_unattributed_joules_total{zone="package"}', at))
        held = held_back(prometheus, level, at) - held_back(prometheus, level, at - WINDOW)
        errors.append(((seen / node - 1) * 100, ((seen + held) / node - 1) * 100))
        print(f"{end - at:.0f} s ago: node {node:.1f} J, {level} series and unattributed {errors[-1][0]:+.3f} %, "
              f"with {held:+.1f} J held back {errors[-1][1]:+.3f} %")
    bare, full = (statistics.median(error) for error in zip(*errors, strict=True))
    print(f"{level}: medians {bare:+.3f} %, {full:+.3f} %; others had {others * 100:.1f} % of the CPU time")
    assert abs(full) <= 1, f"{level}: {full:+.3f} %"
    if others <= OTHERS:
        assert abs(bare) <= 1, f"{level}: {bare:+.3f} %"
        assert all(abs(error) <= 1 for _, error in errors), level


class NodeExporter:
    def __init__(self, sensors):
        self.port = free_port()
        self.process = subprocess.Popen([need_program("prometheus-node-exporter"), f"--path.sysfs={sensors.mount}",
                                         "--collector.disable-defaults", "--collector.rapl", "--log.level=error",
                                         f"--web.listen-address=127.0.0.1:{self.port}"])

    def joules(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                    return next(float(line.split()[1]) for line in answer.read().decode().splitlines()
                                if line.startswith("node_rapl_package_joules_total"))
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def pair(self, exporter):
        """(theirs, ours) at about the same time."""
        self.joules()  # it has started
        exporter.intervals(1)
        return self.joules(), float(exporter.scrape().sum("kepler_node_package_joules_total"))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait()


def check_node_exporter(first, second):
    their, our = second[0] - first[0], second[1] - first[1]
    print(f"node_exporter {their:.1f} J, Kepler {our:.1f} J in the same time")
    assert abs(our / their - 1) < 0.02, (their, our)


def churn(seconds):
    """Short ones at 100/s for so long; meanwhile long ones start in turn. (When it was all on, others' part of the CPU time.)

    To a timetable: a window is a number of rounds of lives, so that what is held back is the same at both of its ends, as it is on
    average. It ends between two starts, where nothing hangs on a tenth of a second."""
    busy = machine_busy_s()
    loads = [load("storm", 100, 3, seconds + 2)]
    began, starts = time.monotonic(), int(seconds / (10 / SCALE))
    for number in range(starts):
        loads.append(load("span", LIVES[number % len(LIVES)]))
        time.sleep(max(0, began + (number + (0.5 if number == starts - 1 else 1)) * 10 / SCALE - time.monotonic()))
    end = time.time()
    for span in loads[1:]:
        span.send_signal(signal.SIGALRM)  # it need not live on
    storm, *spans = map(load_result, loads)
    ours = storm[1] + storm[2] + sum(cpu for _, cpu, _ in spans)
    return end, 1 - ours / (machine_busy_s() - busy)


def main():
    need_program("prometheus")
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", *SETTLE) as exporter, \
            Prometheus(exporter.url.removeprefix("http://")) as prometheus, NodeExporter(sensors) as neighbour:
        prometheus.wait()
        first = neighbour.pair(exporter)
        time.sleep(0.5)  # half an interval: a judged moment must not lie where an interval ends
        end, others = churn(WARM_UP + WINDOW + MOMENTS * 10 / SCALE)
        check_node_exporter(first, neighbour.pair(exporter))
        for level in ("process", "container"):
            check_increase(prometheus, level, end, others)
        check_lint(exporter)
        assert exporter.stop() == 0


main()
