#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions a build executes, compared with another build. The figures are the same in every run, on any machine, no
matter what else runs there.

    bench/instructions.py OLD NEW [--limit 1.02]                    # two release binaries: build/kepler of any two trees
    bench/instructions.py OLD NEW --parts profile --processes 0     # which functions execute an interval's instructions

Both builds run in one guest with Linux 6.1 and simulated RAPL, one after the other. QEMU executes one instruction in each
nanosecond of the guest's time and skips the time in which the guest is idle. So the CPU time that the guest's kernel accounts to a
build is a number of instructions: its own, those of its system calls and BPF programs, and those of interrupts that arrive
meanwhile. The guest has one CPU, because several would take turns and share the clock.

Instructions are not time: caches, branches and the price of entering the kernel do not count. bench/compare.py measures time. The
exit status is 1 if a ratio is above the limit. The processes are those of tests/lab/load in the build that KEPLER_BUILD names
(default build).
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAB = ROOT / "tests/lab"
CPU = "Skylake-Server,erms=off"  # QEMU counts a string instruction as often as it repeats: by words, not by bytes
PARTS = ("interval", "active", "scrape")
MIB, MIB_EACH_1000 = 2048, 64  # of memory, for the guest and for 1,000 processes
UNITS = {"VmRSS": ("MB", 1024), "wake-ups": ("", 1), "exec": ("ms", 1000)}  # all others are 10⁶ instructions


def run_guest(options):
    """Lines that the guest printed."""
    counts = options.processes.split(",")
    programs = [f"{options.old}=kepler-old", f"{options.new}=kepler-new",
                pathlib.Path(os.environ.get("KEPLER_BUILD", ROOT / "build")) / "tests/lab/load"]
    if "profile" in options.parts:
        programs.append(shutil.which("perf"))
    with tempfile.TemporaryDirectory() as root:
        subprocess.run([LAB / "pack-root", root, *programs], check=True)
        shutil.copy(ROOT / "bench/instructions.sh", root)
        memory = MIB + MIB_EACH_1000 * max(map(int, counts)) // 1000
        command = [LAB / "vmtest", "-n", "-c", "1", "-C", CPU, "-m", str(memory), "-t", str(options.timeout),
                   "-a", "norandmaps", "-i", root, "--",
                   f"sh /instructions.sh '{' '.join(counts)}' '{options.parts.replace(',', ' ')}'"]
        guest = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if guest.returncode:
        sys.exit(f"{guest.stdout}\nthe guest's exit status is {guest.returncode}")
    return guest.stdout.splitlines()


def rows(lines):
    """(figure, unit, old, new) in the order in which they were measured."""
    found = {}
    for line in lines:
        if line.startswith("figure|"):
            _, build, text, value = line.split("|")
            found.setdefault(text, {})[build] = int(value)
    for text, values in found.items():
        unit, scale = UNITS.get(text.replace(",", " ").split()[0], ("10⁶ instructions", 1000))
        yield text, unit, values["old"] / scale, values["new"] / scale


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=1.02, help="of a ratio (1.02)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"what is measured, of {', '.join(PARTS)}, profile")
    parser.add_argument("--processes", default="0,1000,10000,30000", help="numbers of processes that sleep beside the guest's own")
    parser.add_argument("--timeout", type=int, default=1800, help="of the guest, s (1800)")
    options = parser.parse_args()
    lines = run_guest(options)
    if "profile" in options.parts:
        print("\n".join(line for line in lines if not line.startswith("figure|")))
    beyond = []
    print("| figure | unit | old | new | new over old |\n|---|---|---|---|---|")
    for text, unit, old, new in rows(lines):
        print(f"| {text} | {unit} | {old:.3f} | {new:.3f} | {new / old:.3f} |")
        if new > old * options.limit:
            beyond.append(text)
    if beyond:
        sys.exit("beyond the limit: " + "; ".join(beyond))


main()
