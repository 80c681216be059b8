#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wakeups.py [SECONDS] - what Kepler's own wake-ups do to the machine: interrupts and idle states, with it and without.

KEPLER_BUILD=build bench/wakeups.py 60: in turn so many seconds without Kepler and with it (an interval of 1 s, no scrapes), three
times. A figure is the median of the three, and behind it the lowest and the highest. Without cpuidle there is no residency.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

CPUS = pathlib.Path("/sys/devices/system/cpu")
ROUNDS = 3


def kernel_counts():
    """Interrupts of the machine, and context switches, since it was booted."""
    lines = dict(line.split(maxsplit=1) for line in pathlib.Path("/proc/stat").read_text().splitlines())
    return {"interrupts/s": int(lines["intr"].split()[0]), "context switches/s": int(lines["ctxt"])}


def idle_states():
    """Name of each idle state -> seconds of all CPUs, and how often one was entered."""
    found = {}
    for path in CPUS.glob("cpu[0-9]*/cpuidle/state*"):
        name = (path / "name").read_text().strip()
        seconds, entries = found.get(name, (0.0, 0))
        found[name] = (seconds + int((path / "time").read_text()) / 1e6, entries + int((path / "usage").read_text()))
    return found


def own_wakeups(pid):
    """Voluntary context switches of all threads: each ends a sleep."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        match = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.MULTILINE)
        total += int(match[1])
    return total


def measure(seconds, pid):
    counts, states, own = kernel_counts(), idle_states(), own_wakeups(pid) if pid else 0
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    figures = {name: (after - counts[name]) / took for name, after in kernel_counts().items()}
    for name, (time_s, entries) in idle_states().items():
        before_s, before = states.get(name, (0.0, 0))
        figures[f"{name}: % of CPU time"] = 100 * (time_s - before_s) / took / os.cpu_count()
        figures[f"{name}: entries/s"] = (entries - before) / took
    if pid:
        figures["Kepler's own wake-ups/s"] = (own_wakeups(pid) - own) / took
    return figures


def with_kepler(seconds):
    program = pathlib.Path(os.environ.get("KEPLER_BUILD", "build"), "kepler")
    with tempfile.TemporaryFile() as log, subprocess.Popen(
            [program, "run", "--host.state-dir=", "--web.listen-address=127.0.0.1:0"], stderr=log) as process:
        time.sleep(3)  # the start is not what is measured
        try:
            if process.poll() is not None:
                log.seek(0)
                sys.exit(f"{program} does not run: {log.read().decode(errors='replace')}")
            return measure(seconds, process.pid)
        finally:
            process.terminate()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    runs = {"without": [], "with": []}
    for _ in range(ROUNDS):
        runs["without"].append(measure(seconds, None))
        runs["with"].append(with_kepler(seconds))
    if not idle_states():
        print("cpuidle shows no idle states here: no residency")
    names = list(runs["with"][0])
    print(f"{'':28} {'without Kepler':>28} {'with Kepler':>28}")
    for name in names:
        cells = []
        for which in ("without", "with"):
            values = [run[name] for run in runs[which] if name in run]
            cells.append(f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})" if values else "–")
        print(f"{name:28} {cells[0]:>28} {cells[1]:>28}")


if __name__ == "__main__":
    main()
