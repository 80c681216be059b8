#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of owners: the figures of docs/performance.md on containers. By hand, on a release build and a quiet machine.

    KEPLER_BUILD=build bench/owners.py [quick]

Containers are plain cgroups with the paths that Kubernetes makes (no runtime is needed), in every hierarchy of this machine,
each with three processes, or 20 of which two are active; their names come from bundles like containerd's. CPU is the exporter's
own CPU clock read from outside, medians with the smallest and the largest value.
"""
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
import containers  # noqa: E402
from pods import Pods  # noqa: E402
from rig import BUILD, Exporter, Sensors, rapl_zone  # noqa: E402

QUICK = "quick" in sys.argv[1:]
WINDOWS = 3
WINDOW_SECONDS = 5 if QUICK else 15
SETTLE_SECONDS = 8 if QUICK else 20
SIZES = [(100, 3), (1000, 3)] if QUICK else [(10, 3), (100, 3), (500, 3), (1000, 3), (1000, 20)]  # containers × processes
ZONES = rapl_zone("intel-rapl:0", "package-0", 45) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


def row(what, values, unit, digits=3):
    values = sorted(values)
    print(f"| {what} | {statistics.median(values):.{digits}f} {unit} | {values[0]:.{digits}f}–{values[-1]:.{digits}f} |",
          flush=True)


def status_mb(pid, key):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M)[1]) / 1024


def named(metrics):
    return len({labels["container_id"] for labels, _ in metrics.select("kepler_container_package_joules_total", mode="dynamic")
                if labels["pod_name"].startswith("bench-")})


def steady(sensors, count, processes):
    label = f"{count} containers × {processes}"
    with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s",
                  "--metrics.process.min-joules=1000000", f"--monitor.max-containers={2 * count + 100}") as exporter:
        pid = exporter.process.pid
        deadline = time.monotonic() + 60
        while named(metrics := exporter.scrape()) < count and time.monotonic() < deadline:
            time.sleep(0.5)
        row(f"exec to all names, {label} ({named(metrics)} named)", [time.monotonic() - exporter.began], "s", 1)
        row(f"CPU until then, {label}", [cpu_seconds(pid) * 1e3], "ms", 0)
        time.sleep(SETTLE_SECONDS)
        costs, calls = [], None
        for _ in range(WINDOWS):
            began = cpu_seconds(pid)
            time.sleep(WINDOW_SECONDS)
            costs.append((cpu_seconds(pid) - began) / WINDOW_SECONDS * 1e3)
        row(f"CPU per 1 s interval, {label}", costs, "ms")
        calls = calls_per_interval(pid)
        if calls is not None:
            row(f"system calls per 1 s interval, {label}", [calls], "", 0)
        row(f"VmRSS, {label}", [status_mb(pid, "VmRSS")], "MB", 1)
        row(f"VmHWM, {label}", [status_mb(pid, "VmHWM")], "MB", 1)
        _, _, body = exporter.get()
        row(f"response, {label}", [len(body) / 1e6], "MB", 2)
        if not QUICK:
            churn(exporter, label)
        exporter.stop()


def calls_per_interval(pid):
    """Of all threads, by strace where it is installed."""
    if not shutil.which("strace"):
        return None
    out = subprocess.run(["timeout", "-s", "INT", "5", "strace", "-f", "-c", "-p", str(pid)], capture_output=True, text=True,
                         check=False).stderr
    total = re.search(r"^100\.00\s+\S+\s+(?:\d+\s+)?(\d+)(?:\s+\d+)?\s+total$", out, re.M)
    return int(total[1]) / 5 if total else None


def churn(exporter, label):
    """New processes in one container of their own: the cost of resolving each."""
    pid = exporter.process.pid
    began, cpu = time.monotonic(), cpu_seconds(pid)
    time.sleep(10)
    base = (cpu_seconds(pid) - cpu) / (time.monotonic() - began)
    began, cpu = time.monotonic(), cpu_seconds(pid)
    load = subprocess.Popen([BUILD / "tests/lab/load", "storm", "500", "0", "10"], stdout=subprocess.DEVNULL)
    load.wait()
    extra = cpu_seconds(pid) - cpu - base * (time.monotonic() - began)
    row(f"CPU per new process of 0 ms, 500 a second, {label}", [extra / 5000 * 1e6], "µs", 1)


def main():
    containers.enter_own_mounts()
    print("| figure | median | range |\n|---|---|---|")
    with Sensors(ZONES) as sensors:
        for count, processes in SIZES:
            with Pods(count, processes):
                steady(sensors, count, processes)


main()
