#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the programs of bpf.io add to input and output, beside runs without them: the table of docs/performance.md. By hand, on a
release build and a quiet machine.

    ninja -C build bench/io_calls && KEPLER_BUILD=build bench/io.py [rounds]

Each round measures every case in turn, so that a slow moment meets all of them. Figures are the median of the rounds, and of their
differences from the run without an exporter. Runs of programs are counted in rounds of their own, as counting takes time.
"""
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/rig"))
from rig import BUILD, Exporter, release_binary  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
SECONDS = 1
MODES = ["datagram", "stream", "read", "byte"]
CASES = [None, "off", "on", "all"]
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


def call(mode):
    done = subprocess.run([BUILD / "bench/io_calls", mode, str(SECONDS)], capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextlib.contextmanager
def running(case):
    if case is None:
        yield None
        return
    with Exporter(f"--bpf.io={case}", binary=release_binary()) as exporter:
        yield exporter
        exporter.stop()


def programs(exporter):
    """name → runs and their time, of the programs that the exporter holds."""
    ids = set()
    for path in pathlib.Path(f"/proc/{exporter.process.pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            ids |= {int(number) for number in re.findall(r"^prog_id:\s*(\d+)", path.read_text(), re.M)}
    shown = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout)
    return {it["name"]: (it.get("run_cnt", 0), it.get("run_time_ns", 0)) for it in shown if it["id"] in ids}


def price():
    before = STATS.read_text()
    STATS.write_text("1")
    try:
        with running("all") as exporter:
            for mode in MODES:
                first = programs(exporter)
                calls = SECONDS * 1e9 / call(mode)
                last = programs(exporter)
                for name in sorted(last):
                    runs, ns = (last[name][i] - first[name][i] for i in range(2))
                    if runs > calls / 20:
                        print(f"| {mode}: {name} | {runs / calls:.2f} runs a call | {ns / runs:.0f} ns each |", flush=True)
    finally:
        STATS.write_text(before)


def main():
    took = {(case, mode): [] for case in CASES for mode in MODES}
    for _ in range(ROUNDS):
        for case in CASES:
            with running(case):
                time.sleep(0.5)
                for mode in MODES:
                    took[case, mode].append(call(mode))
    for mode in MODES:
        base = took[None, mode]
        print(f"| {mode}, without an exporter | {statistics.median(base):.0f} ns | {min(base):.0f}–{max(base):.0f} |")
        for case in CASES[1:]:
            added = [a - b for a, b in zip(took[case, mode], base)]
            print(f"| … bpf.io={case} | {statistics.median(added):+.0f} ns | {min(added):+.0f} – {max(added):+.0f} |", flush=True)
    price()


main()
