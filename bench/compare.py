#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a build costs more than another one: both run at the same time over the same sensors and processes, and each
figure is the median of new over old, window by window, so that other load on the machine costs both the same.

    bench/compare.py OLD NEW [--quick] [--limit 1.10]        # two release binaries: build/kepler of two trees

Exit status 1 when a median is above the limit. The load is that of the build that KEPLER_BUILD names (default build).
"""
import argparse
import os
import pathlib
import re
import statistics
import sys
import time

os.environ.setdefault("KEPLER_BUILD", str(pathlib.Path(__file__).resolve().parents[1] / "build"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
from rig import Exporter, Sensors, load, rapl_zone  # noqa: E402

ZONES = rapl_zone("intel-rapl:0", "package-0", 45) + \
    rapl_zone("intel-rapl:0:0", "core", 30, parent="intel-rapl:0") + \
    rapl_zone("intel-rapl:0:1", "dram", 5, parent="intel-rapl:0")
NOISE = {"start, ms": 1.15}  # a start is short, and each one is alone


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


def status_mb(pid, key):
    return int(re.search(rf"^{key}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]) / 1024


def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


class Figures:
    """Rows of (old, new) pairs; the verdict is on the median of their ratios."""

    def __init__(self, limit):
        self.limit, self.worse = limit, []

    def row(self, what, pairs):
        ratios = sorted(new / old for old, new in pairs)
        ratio = statistics.median(ratios)
        old, new = (statistics.median(side) for side in zip(*pairs))
        print(f"| {what} | {old:.3f} | {new:.3f} | {ratio:.2f} | {ratios[0]:.2f}–{ratios[-1]:.2f} |", flush=True)
        if ratio > max(self.limit, NOISE.get(what.split(" at ")[0], 0)):
            self.worse.append(what)


class Crowd:
    """Processes of a load until there are `count` on the machine."""

    def __init__(self, mode, count):
        self.before = processes()
        missing = count - self.before if mode == "idle" else count
        self.process = load(mode, missing) if missing > 0 else None
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


def steady(figures, both, label, windows, seconds):
    """CPU of an interval and memory, both at once; the memory after one scrape of each."""
    with both("--monitor.interval=1s") as pair:
        time.sleep(20 if windows > 4 else 8)
        costs = []
        for _ in range(windows):
            began = [cpu_seconds(e.process.pid) for e in pair]
            time.sleep(seconds)
            costs.append([(cpu_seconds(e.process.pid) - t) / seconds * 1e3 for e, t in zip(pair, began)])
        figures.row(f"CPU per 1 s interval, ms, {label}", costs)
        for exporter in pair:
            exporter.scrape()
        figures.row(f"VmRSS, MB, {label}", [[status_mb(e.process.pid, "VmRSS") for e in pair]])


def starts(figures, binaries, arguments, label, rounds):
    times = []
    for _ in range(rounds):
        row = []
        for binary in binaries:
            with Exporter(*arguments, binary=binary) as exporter:
                while exporter.get()[0] != 200:
                    time.sleep(0.001)
                row.append((time.monotonic() - exporter.began) * 1e3)
                exporter.stop()
        times.append(row)
    figures.row(f"start, ms at {label}", times)


def one_scrape(exporter, encoding):
    """CPU ms of it, and its body."""
    began = cpu_seconds(exporter.process.pid)
    _, _, body = exporter.get(headers={"Accept-Encoding": encoding})
    return (cpu_seconds(exporter.process.pid) - began) * 1e3, body


def scrapes(figures, both, rounds):
    """Of a snapshot that was not asked for before: the first plain one, the first gzip one, and any other."""
    first = {"identity": [], "gzip": []}
    other = {"identity": [], "gzip": []}
    with Crowd("ring", 2200), both("--metrics.process.min-joules=0.000001", "--metrics.settle=0s",
                                   "--monitor.interval=4s") as pair:
        for exporter in pair:
            exporter.intervals(3)
        for _ in range(rounds):
            for exporter in pair:
                exporter.intervals(1)
            time.sleep(5)
            for encoding, costs in first.items():
                costs.append([one_scrape(e, encoding)[0] for e in pair])
            for encoding, costs in other.items():
                costs.append([statistics.median(one_scrape(e, encoding)[0] for _ in range(9)) for e in pair])
        figures.row("first scrape of a snapshot of 2,200 processes, ms", first["identity"])
        figures.row("the first gzip of it, ms", first["gzip"])
        figures.row("any other scrape, ms", other["identity"])
        figures.row("any other scrape, gzip, ms", other["gzip"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=float, default=1.10)
    options = parser.parse_args()
    binaries = [pathlib.Path(options.old).resolve(), pathlib.Path(options.new).resolve()]
    windows, seconds = (4, 5) if options.quick else (9, 10)
    figures = Figures(options.limit)
    print("| figure | old | new | new over old | range |\n|---|---|---|---|---|")
    with Sensors(ZONES) as sensors:
        arguments = [f"--host.sysfs={sensors.mount}"]

        def both(*more):
            return Pair([Exporter(*arguments, *more, binary=binary) for binary in binaries])

        for count in (0, 1000, 10000):
            with Crowd("idle", count):
                label = f"{processes()} processes"
                steady(figures, both, label, windows, seconds)
                starts(figures, binaries, arguments, label, 5 if options.quick else 11)
        with Crowd("idle", 900), Crowd("ring", 100):
            steady(figures, both, "1,000 processes, 100 of them active", windows, seconds)
        scrapes(figures, both, 3 if options.quick else 7)
    if figures.worse:
        sys.exit("worse than the limit: " + "; ".join(figures.worse))


class Pair(list):
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for exporter in self:
            exporter.stop()
            exporter.__exit__(*exc)


main()
