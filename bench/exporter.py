#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exporter's cost and coverage: the figures of docs/performance.md. By hand, on a release build and a quiet machine.

    KEPLER_BUILD=build bench/exporter.py [quick]

CPU is the process's own CPU clock, read from outside (kernel time of its BPF programs included, for they run in its system calls).
Medians with the smallest and largest value; the number of processes is those already there plus those started.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
from rig import BUILD, KEPLER, Exporter, Sensors, Service, load, load_result, rapl_zone  # noqa: E402

QUICK = "quick" in sys.argv[1:]
WINDOWS = 3
WINDOW_SECONDS = 5 if QUICK else 15
SETTLE_SECONDS = 5 if QUICK else 20
ZONES = rapl_zone("intel-rapl:0", "package-0", 45) + \
    rapl_zone("intel-rapl:0:0", "core", 30, parent="intel-rapl:0") + \
    rapl_zone("intel-rapl:0:1", "dram", 5, parent="intel-rapl:0")


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


def row(what, values, unit, digits=3):
    values = sorted(values)
    print(f"| {what} | {statistics.median(values):.{digits}f} {unit} | {values[0]:.{digits}f}–{values[-1]:.{digits}f} |",
          flush=True)


def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


class Crowd:
    def __init__(self, mode, count):
        self.before = processes()
        self.process = load(mode, count) if count > 0 else None
        if self.process:
            self.process.stdout.readline()
            time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process:
            self.process.terminate()
            self.process.wait()
            while processes() > self.before + 20:  # its children end after it
                time.sleep(0.1)
            time.sleep(1)


def status_mb(pid, key):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M)[1]) / 1024


def waits(pid):
    """How often its threads have waited: as often as they woke a CPU, at most."""
    status = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1]) for text in status)


def steady(sensors, label):
    with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s") as exporter:
        pid = exporter.process.pid
        time.sleep(SETTLE_SECONDS)
        costs, wakes = [], []
        for _ in range(WINDOWS):
            began, woke = cpu_seconds(pid), waits(pid)
            time.sleep(WINDOW_SECONDS)
            costs.append((cpu_seconds(pid) - began) / WINDOW_SECONDS * 1e3)
            wakes.append((waits(pid) - woke) / WINDOW_SECONDS)
        row(f"CPU per 1 s interval, {label}", costs, "ms")
        row(f"wake-ups per 1 s interval, {label}", wakes, "", 1)
        exporter.scrape()
        row(f"VmRSS, {label}", [status_mb(pid, "VmRSS")], "MB", 1)
        row(f"VmHWM, {label}", [status_mb(pid, "VmHWM")], "MB", 1)
        exporter.stop()


def start(sensors, label):
    times = []
    for _ in range(3 if QUICK else 5):
        with Exporter(f"--host.sysfs={sensors.mount}", wait=True) as exporter:
            metrics = exporter.scrape()
            times.append(time.monotonic() - exporter.began)
            assert metrics.select("kepler_process_package_joules_total", command="other")
            exporter.stop()
    row(f"exec to first scraped snapshot, {label}", times, "s")


def scrape_cost(exporter, encoding):
    """CPU ms of one scrape, and its body."""
    began = cpu_seconds(exporter.process.pid)
    _, _, body = exporter.get(headers={"Accept-Encoding": encoding})
    return (cpu_seconds(exporter.process.pid) - began) * 1e3, body


def scrapes(sensors):
    """Between two intervals: the first plain scrape of a snapshot, the first gzip one after it, and any other."""
    interval = 4
    first = {"identity": [], "gzip": []}
    other = {"identity": [], "gzip": []}
    with Crowd("ring", 2200), Exporter(f"--host.sysfs={sensors.mount}", "--metrics.process.min-joules=0.000001",
                                       "--metrics.settle=0s", f"--monitor.interval={interval}s") as exporter:
        exporter.intervals(3)
        for _ in range(3 if QUICK else 7):
            exporter.intervals(1)
            time.sleep(interval + interval / 4)  # a snapshot that no scrape has asked for
            for encoding, costs in first.items():
                cost, body = scrape_cost(exporter, encoding)
                costs.append(cost)
                if encoding == "identity":
                    series = sum(1 for line in body.decode().splitlines() if line and line[0] != "#")
                    size = len(body)
            for encoding, costs in other.items():
                costs.append(statistics.median(scrape_cost(exporter, encoding)[0] for _ in range(9)))
        row(f"first scrape of a snapshot, {series} series, {size / 1e6:.1f} MB", first["identity"], "ms")
        row("first gzip of it", first["gzip"], "ms")
        for encoding, costs in other.items():
            row(f"any other scrape, {encoding}", costs, "ms")
        exporter.stop()


def short_lived(sensors):
    seen = []
    for _ in range(1 if QUICK else 3):
        with Service("kepler-bench.service") as service, \
                Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s") as exporter:
            exporter.intervals(2)
            children, cpu, parent = load_result(service.load("storm", 100, 10, 30))
            exporter.intervals(1)
            seen.append(service.cpu_seconds(exporter.intervals(2)) / (cpu + parent) * 100)
            exporter.stop()
    row(f"CPU of {children} children of 10 ms that is seen, of wait4's {cpu + parent:.1f} s", seen, "%", 2)


def burner(sensors):
    errors = []
    for _ in range(1 if QUICK else 3):
        with Service("kepler-bench.service") as service, \
                Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s") as exporter:
            exporter.intervals(2)
            _, cpu, _ = load_result(service.load("span", 20))
            errors.append((service.cpu_seconds(exporter.intervals(3)) / cpu - 1) * 100)
            exporter.stop()
    row("one pure burner against wait4", errors, "%", 3)


def context_switch(sensors):
    pingpong = BUILD / "bench/pingpong"
    without, with_ = [], []
    for _ in range(3 if QUICK else 7):
        without.append(float(subprocess.check_output([pingpong, "3"])))
        with Exporter(f"--host.sysfs={sensors.mount}") as exporter:
            exporter.intervals(2)
            with_.append(float(subprocess.check_output([pingpong, "3"])))
            exporter.stop()
    row("context switch without Kepler", without, "ns", 0)
    row("context switch with Kepler", with_, "ns", 0)
    row("added (pairwise)", [b - a for a, b in zip(without, with_)], "ns", 0)


def main():
    subprocess.run(["ninja", "-C", BUILD, "bench/pingpong"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cp", str(KEPLER), "/tmp/kepler-stripped"], check=True)
    subprocess.run(["strip", "/tmp/kepler-stripped"], check=True)
    print("| figure | median | range |\n|---|---|---|")
    row("stripped binary", [os.path.getsize("/tmp/kepler-stripped") / 1e6], "MB", 2)
    with Sensors(ZONES) as sensors:
        here = processes()
        steady(sensors, f"{here} processes")
        start(sensors, f"{here} processes")
        for count in (1000, 10000) if QUICK else (1000, 10000, 30000):
            with Crowd("idle", count - here):
                steady(sensors, f"{count} processes")
                start(sensors, f"{count} processes")
        with Crowd("idle", 900 - here), Crowd("ring", 100):
            steady(sensors, "1000 processes, 100 of them active")
        burner(sensors)
        short_lived(sensors)
        context_switch(sensors)
        scrapes(sensors)


main()
