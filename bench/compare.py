#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether one build costs more than another: both run at the same time over the same sensors and processes, so that other
load on the machine costs both the same.

    bench/compare.py OLD NEW [--quick] [--limit 1.10]        # two release binaries: build/kepler of any two trees
    bench/compare.py OLD                                     # OLD with itself: how far the ratios can be trusted

Two builds side by side do not cost the same even where they are the same: what runs first finds cold caches, wakes the sensors,
and makes the kernel's list of processes warm for the other. So the second build's intervals lie half-way between the first's,
every figure is measured in both orders, as often in one as in the other, and its ratio is the geometric mean of the medians of
both orders: what an order does to the ratio cancels out. Both have the defaults of their options.

Exit status 1 when a ratio is above the limit, or, of a build beside itself, above it or below its inverse. The load is that of
the build that KEPLER_BUILD names (default build).
"""
import argparse
import contextlib
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("KEPLER_BUILD", str(pathlib.Path(__file__).resolve().parents[1] / "build"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
from rig import Exporter, Sensors, load, rapl_zone  # noqa: E402

ZONES = rapl_zone("intel-rapl:0", "package-0", 45) + \
    rapl_zone("intel-rapl:0:0", "core", 30, parent="intel-rapl:0") + \
    rapl_zone("intel-rapl:0:1", "dram", 5, parent="intel-rapl:0")
NOISE = {"start, ms": 1.15}  # a start is short, and each one is alone
PARTS = ("interval", "start", "scrape", "binary")
ORDERS = ((0, 1), (1, 0))  # which of OLD and NEW is first


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


def status_mb(pid, key):
    return int(re.search(rf"^{key}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]) / 1024


def waits(pid):
    """How often its threads have waited: as often as they woke a CPU, at most."""
    status = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1]) for text in status)


def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


class Figures:
    """Rows of (old, new) pairs, by the order in which they were measured; the verdict is on the ratio."""

    def __init__(self, limit, is_same):
        self.limit, self.is_same, self.off = limit, is_same, []

    def row(self, what, *orders):
        ratios = [[new / old for old, new in pairs] for pairs in orders]
        ratio = math.prod(statistics.median(some) for some in ratios) ** (1 / len(ratios))
        old, new = (statistics.median(side) for side in zip(*[pair for pairs in orders for pair in pairs]))
        every = [one for some in ratios for one in some]
        print(f"| {what} | {old:.3f} | {new:.3f} | {ratio:.2f} | {min(every):.2f}–{max(every):.2f} |", flush=True)
        limit = max(self.limit, NOISE.get(what.split(" at ")[0], 0))
        if ratio > limit or (self.is_same and ratio < 1 / limit):
            self.off.append(what)


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


class Builds:
    """Both binaries, and the arguments that each exporter has."""

    def __init__(self, binaries, sysfs):
        self.binaries, self.arguments = binaries, ["--config.file=/dev/null", f"--host.sysfs={sysfs}"]

    def start(self, which, *more):
        return Exporter(*self.arguments, *more, binary=self.binaries[which])

    @contextlib.contextmanager
    def both(self, order, interval_s, *more):
        """Exporters of OLD and NEW, started in the order, the second half an interval after the first."""
        running = {}
        try:
            for which in order:
                if running:
                    time.sleep(interval_s / 2)
                running[which] = self.start(which, f"--monitor.interval={interval_s}s", *more)
            yield [running[0], running[1]]
        finally:
            for exporter in running.values():
                exporter.stop()
                exporter.__exit__(None, None, None)


def steady(figures, builds, label, options):
    """CPU of an interval, wake-ups and memory of both at once; the memory after one scrape of each."""
    costs, wakes, memory = ([], []), ([], []), ([], [])
    for turn in range(options.rounds):
        order = turn % 2
        with builds.both(ORDERS[order], 1) as pair:
            time.sleep(options.settle)
            for _ in range(options.windows):
                began = [(cpu_seconds(e.process.pid), waits(e.process.pid)) for e in pair]
                time.sleep(options.seconds)
                ended = [(cpu_seconds(e.process.pid), waits(e.process.pid)) for e in pair]
                costs[order].append([(b[0] - a[0]) / options.seconds * 1e3 for a, b in zip(began, ended)])
                wakes[order].append([(b[1] - a[1]) / options.seconds for a, b in zip(began, ended)])
            for which in ORDERS[order]:
                pair[which].scrape()
            memory[order].append([status_mb(e.process.pid, "VmRSS") for e in pair])
    figures.row(f"CPU per 1 s interval, ms, {label}", *costs)
    figures.row(f"wake-ups a second, {label}", *wakes)
    figures.row(f"VmRSS, MB, {label}", *memory)


def starts(figures, builds, label, rounds):
    times = ([], [])
    for turn in range(rounds):
        pair = [0, 0]
        for which in ORDERS[turn % 2]:
            with builds.start(which) as exporter:
                while exporter.get()[0] != 200:
                    time.sleep(0.001)
                pair[which] = (time.monotonic() - exporter.began) * 1e3
                exporter.stop()
        times[turn % 2].append(pair)
    figures.row(f"start, ms at {label}", *times)


def one_scrape(exporter, encoding):
    """CPU ms of it."""
    began = cpu_seconds(exporter.process.pid)
    exporter.get(headers={"Accept-Encoding": encoding})
    return (cpu_seconds(exporter.process.pid) - began) * 1e3


def wait_for_intervals(pair, order, count):
    for which in ORDERS[order]:
        pair[which].intervals(count)


def scrape_round(pair, order, interval_s, costs):
    """Of a snapshot that was not asked for before: the first plain one, the first gzip one, and any other."""
    wait_for_intervals(pair, order, 1)
    time.sleep(interval_s * 1.25)
    for what, encoding, count in (("first", "identity", 1), ("first gzip", "gzip", 1), ("other", "identity", 9),
                                  ("other gzip", "gzip", 9)):
        found = [[], []]
        for _ in range(count):
            for which in ORDERS[order]:
                found[which].append(one_scrape(pair[which], encoding))
        costs[what][order].append([statistics.median(some) for some in found])


def scrapes(figures, builds, rounds):
    interval_s = 4
    costs = {what: ([], []) for what in ("first", "first gzip", "other", "other gzip")}
    with Crowd("ring", 2200):
        for order in ORDERS:
            with builds.both(order, interval_s, "--metrics.process.min-joules=0.000001", "--metrics.settle=0s") as pair:
                wait_for_intervals(pair, 0, 3)
                for turn in range(rounds):
                    scrape_round(pair, turn % 2, interval_s, costs)
    figures.row("first scrape of a snapshot of 2,200 processes, ms", *costs["first"])
    figures.row("the first gzip of it, ms", *costs["first gzip"])
    figures.row("any other scrape, ms", *costs["other"])
    figures.row("any other scrape, gzip, ms", *costs["other gzip"])


def sizes(figures, binaries):
    found = []
    with tempfile.NamedTemporaryFile() as stripped:
        for binary in binaries:
            subprocess.run(["strip", "-o", stripped.name, binary], check=True)
            found.append(os.path.getsize(stripped.name) / 1e6)
    figures.row("stripped binary, MB", [found])


def measure(figures, builds, options):
    for count in map(int, options.processes.split(",")):
        with Crowd("idle", count):
            label = f"{processes():,} processes"
            if "interval" in options.parts:
                steady(figures, builds, label, options)
            if "start" in options.parts:
                starts(figures, builds, label, 6 if options.quick else 12)
    if "interval" in options.parts:
        with Crowd("idle", 900), Crowd("ring", 100):
            steady(figures, builds, "1,000 processes, 100 of them active", options)
    if "scrape" in options.parts:
        scrapes(figures, builds, 2 if options.quick else 4)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--quick", action="store_true", help="shorter windows, fewer rounds")
    parser.add_argument("--limit", type=float, default=1.10, help="of a ratio (1.10)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"what is measured, of {', '.join(PARTS)}")
    parser.add_argument("--processes", default="0,1000,10000", help="numbers of processes, 0 for those that there are")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    options.rounds, options.windows, options.seconds, options.settle = (2, 4, 5, 8) if options.quick else (4, 5, 10, 20)
    binaries = [pathlib.Path(path).resolve() for path in (options.old, options.new or options.old)]
    figures = Figures(options.limit, not options.new)
    print("| figure | old | new | new over old | range |\n|---|---|---|---|---|")
    if "binary" in options.parts:
        sizes(figures, binaries)
    with Sensors(ZONES) as sensors:
        measure(figures, Builds(binaries, sensors.mount), options)
    if figures.off:
        sys.exit("beyond the limit: " + "; ".join(figures.off))


main()
