#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R26: what the whole exporter takes of a CPU while two processes on it switch as often as the machine can: its own CPU time, and
that of its BPF programs, scaled to 200,000 switches a second. By hand, on a release build and a quiet machine.

    ninja -C build bench/pingpong bench/bench-switches bench/switch_shapes.bpf.o && KEPLER_BUILD=build bench/agent.py [rounds]

The kernel takes the time of each program (kernel.bpf_stats_enabled). What that itself adds is the time of a program that does
nothing, which is attached at the same switches, and is taken off. Programs that the exporter calls (walk, iterate) run in its own
CPU time. Each round measures every case in turn; figures are medians, with the smallest and the largest.
"""
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/rig"))
from rig import BUILD, Exporter, release_binary  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SECONDS = 5
GOAL = 200_000
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
CALLED = {"walk", "iterate"}
NO_EVENTS = {name: "none" for name in ("cycles", "ref-cycles", "instructions", "cache-misses")}


def counting(*names):
    """Each of them counts the time stamp counter, which is there where no other counter is."""
    events = {**NO_EVENTS, **{name: "msr:0x0" for name in names}}
    return ["--counters.enabled=true", *(f"--counters.{name}={event}" for name, event in events.items())]


def cases(pairs):
    return {
        "switches left alone": ["--counters.switches=false"],
        "no event": ["--counters.switches=true", "--counters.enabled=false"],
        "no event, on cores with two threads": ["--counters.switches=true", "--counters.enabled=false", f"--host.sysfs={pairs}"],
        "1 event": counting("cycles"),
        "3 events": counting("cycles", "instructions", "cache-misses"),
    }


def make_pairs(root):
    """A tree in which the CPUs 0 and 1 are threads of one core."""
    for cpu in range(2):
        topology = pathlib.Path(root, f"devices/system/cpu/cpu{cpu}/topology")
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text("0-1\n")
    pathlib.Path(root, "devices/system/cpu/online").write_text("0-1\n")
    return root


def programs(exporter):
    """name → runs and their time, of the programs that the exporter holds."""
    ids = set()
    for path in pathlib.Path(f"/proc/{exporter.process.pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            ids |= {int(number) for number in re.findall(r"^prog_id:\s*(\d+)", path.read_text(), re.M)}
    shown = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout)
    return {it["name"]: (it.get("run_cnt", 0), it.get("run_time_ns", 0)) for it in shown
            if it["id"] in ids and it["name"] not in CALLED}


def own_seconds(exporter):
    return time.clock_gettime((~exporter.process.pid << 3) | 2)


def empty_ns():
    done = subprocess.run([BUILD / "bench/bench-switches", BUILD / "bench/switch_shapes.bpf.o", "--empty"], capture_output=True,
                          text=True, check=True)
    return float(done.stdout)


def measure(args):
    """Parts of a CPU at 200,000 switches a second: of the exporter, and of its programs; ns of these a switch, and the rate."""
    with Exporter(*args, "--monitor.interval=1s", binary=release_binary()) as exporter:
        exporter.intervals(2)
        with subprocess.Popen([BUILD / "bench/pingpong", str(SECONDS + 3)], stdout=subprocess.PIPE, text=True) as switching:
            empty = empty_ns()
            first, own = programs(exporter), own_seconds(exporter)
            began = time.monotonic()
            time.sleep(SECONDS)
            last, own = programs(exporter), own_seconds(exporter) - own
            took = time.monotonic() - began
            rate = 1e9 / float(switching.communicate()[0])
        exporter.stop()
    runs, ns = (sum(last[name][i] - first.get(name, (0, 0))[i] for name in last) for i in range(2))
    per_switch = max(ns - runs * empty, 0) / (rate * took)
    return own / took * 100, per_switch * GOAL / 1e7, per_switch, rate


def main():
    before = STATS.read_text()
    STATS.write_text("1")
    try:
        with tempfile.TemporaryDirectory() as root:
            wanted = cases(make_pairs(root))
            found = {case: [] for case in wanted}
            for _ in range(ROUNDS):
                for case, args in wanted.items():
                    found[case].append(measure(args))
    finally:
        STATS.write_text(before)
    print("| at 200,000 switches a second | all of Kepler | itself | its programs | a switch |")
    for case, rows in found.items():
        own, part, ns, rate = (statistics.median(row[i] for row in rows) for i in range(4))
        totals = [row[0] + row[1] for row in rows]
        print(f"| {case} | {statistics.median(totals):.2f} % ({min(totals):.2f}–{max(totals):.2f}) | {own:.2f} % | {part:.2f} % | "
              f"{ns:.0f} ns | at {rate / 1e3:.0f},000 switches")


main()
