#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kepler profile, stat and top cost: the measured work, themselves, and an exporter that serves them. By hand, on a quiet
machine, as root.

    KEPLER_BUILD=build bench/commands.py [profile] [stat] [top] [size] [--rounds=9]

Each round measures all cases in turn; figures are medians, with the smallest and the largest. CPU time hardly depends on what else
runs; times until something is shown do. The binary is the release that users get.
"""
import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("KEPLER_BUILD", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests/rig"))
from rig import CONFIG, Exporter, load, release_binary  # noqa: E402

BINARY = release_binary()
QUIET = [f"--config.file={CONFIG}", "--host.state-dir="]
PROCESSES, TOP_SECONDS, WORK_SECONDS = 1000, 20, 10
# Objects of what came with the commands.
SIZED = (r"/lib(top|stat|profile|history)\.a\.p/", r"/libprogram\.a\.p/(top|stat|profile)_",
         r"/libprogram\.a\.p/pages_(local|now_stream|stat_route|viewer)\.c",
         r"/libexport\.a\.p/(now_page|history_page|landing_page|.*web_page)\.c",
         r"/libnet\.a\.p/(local_client|server_http_stream)\.c",
         r"/libconfig\.a\.p/local_options\.c")
# Work that is the same each time, whatever it takes: arithmetic in functions that call each other.
WORK = r"""
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void inner(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static void outer(unsigned long n) { inner(n); inner(n / 2); }
int main(int argc, char **argv) { for (long i = atol(argv[1]); i > 0; i--) outer(100000); return 0; }
"""


def row(what, values, unit, goal, digits=2):
    values = sorted(values)
    median, low, high = (f"{value:,.{digits}f}" for value in (statistics.median(values), values[0], values[-1]))
    print(f"| {what} | {median} {unit} | {low}–{high} | {goal} |", flush=True)


def cpu_of(pid):
    return time.clock_gettime((~pid << 3) | 2)


def spent(command, **kwargs):
    """CPU and wall seconds of a command and all that it has waited for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([str(word) for word in command], check=True, **kwargs)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


@contextlib.contextmanager
def work():
    """The program, and the number with which it takes WORK_SECONDS here."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "work")
        subprocess.run(["cc", "-O2", "-fno-omit-frame-pointer", "-x", "c", "-o", path, "-"], input=WORK, text=True, check=True)
        yield [path, str(int(1000 * WORK_SECONDS / spent([path, 1000])[0]))]


@contextlib.contextmanager
def exporter(*args):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "kepler.sock")
        with Exporter(f"--local.socket={path}", "--monitor.interval=1s", *args, binary=BINARY) as running:
            running.intervals(2)
            yield f"--local.socket={path}", running
            running.stop()


def family(pid):
    """A process and its children."""
    yield pid
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


def memory_mb(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(re.search(r"^Pss: +(\d+)", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1])
    return total / 1024


def ends_within(pid, seconds):
    fd = os.pidfd_open(pid)
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


def spent_until_exit(process, pids):
    """CPU seconds of the processes from now on."""
    began = last = sum(map(cpu_of, pids))
    while process.poll() is None:
        with contextlib.suppress(OSError):
            last = sum(map(cpu_of, pids))
        time.sleep(0.002)
    return last - began


def run_profile(command):
    """CPU seconds of all; memory of kepler and its reader of names; their CPU time over the work's, from the second second of
    the work to its end; their CPU seconds after that."""
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen([str(word) for word in (BINARY, "profile", *QUIET, f"--output={directory}/out.folded", "--",
                                                           *command)], stderr=subprocess.DEVNULL)
        before, most, looks, end = resource.getrusage(resource.RUSAGE_CHILDREN), 0, [], time.monotonic() + 1.5
        after = None
        while process.poll() is None:
            ours = [pid for pid in family(process.pid) if is_kepler(pid)]
            theirs = [pid for pid in family(process.pid) if pid not in ours]
            most = max(most, memory_mb(ours))
            if time.monotonic() <= end or not theirs:
                time.sleep(0.01)
                continue
            with contextlib.suppress(OSError):
                looks.append((sum(map(cpu_of, ours)), sum(map(cpu_of, theirs))))
                if ends_within(theirs[0], 0.5):
                    after = spent_until_exit(process, ours)
        spent_by_all = resource.getrusage(resource.RUSAGE_CHILDREN)
        ratio = (looks[-1][0] - looks[0][0]) / (looks[-1][1] - looks[0][1]) * 100 if len(looks) > 2 else None
        return spent_by_all.ru_utime + spent_by_all.ru_stime - before.ru_utime - before.ru_stime, most, ratio, after


def is_kepler(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe") == str(BINARY)
    return False


def measure_profile(rounds):
    with work() as command:
        alone, profiled, memory, itself, after = [], [], [], [], []
        for _ in range(rounds):
            alone.append(spent(command)[0])
            cpu, most, ratio, later = run_profile(command)
            itself.append(ratio)
            after.append(later * 1000)
            profiled.append(cpu)
            memory.append(most)
        start = [run_profile(["true"])[0] for _ in range(rounds)]
    base = statistics.median(alone)
    once = statistics.median(start)
    row("profile at 99 Hz: start and end", [value * 1000 for value in start], "ms of CPU", "")
    row("profile at 99 Hz: all CPU time above the work alone, without start and end",
        [(value - once - base) / base * 100 for value in profiled], "% of the work", "≤ 0.5 %")
    row("profile at 99 Hz: its own CPU time while the work runs", itself, "% of the work", "≤ 0.5 %", 3)
    row("profile at 99 Hz: its own CPU time after the work", after, "ms", "", 1)
    row("profile: memory", memory, "MB", "≤ 30 MB", 1)


def measure_stat(rounds):
    with work() as command, exporter() as (socket, running):
        overhead, ours, added = [], [], []
        for _ in range(rounds):
            began = cpu_of(running.process.pid)
            done = subprocess.run([str(word) for word in (BINARY, "stat", *QUIET, socket, "--json", "--", *command)],
                                  stderr=subprocess.PIPE, text=True, check=True)
            ours.append((cpu_of(running.process.pid) - began) / WORK_SECONDS * 100)
            told = json.loads(done.stderr)
            overhead.append(told["overhead_seconds"] / told["cpu_seconds"] * 100)
        for _ in range(5 * rounds):
            alone = spent(["true"])[1]
            added.append((spent([BINARY, "stat", *QUIET, socket, "--", "true"], stderr=subprocess.DEVNULL)[1] - alone) * 1000)
    row("stat: its own CPU time", overhead, "% of the work", "≤ 0.25 %", 3)
    row("stat: the exporter's CPU time meanwhile", ours, "% of a CPU", "", 3)
    row("stat true, above true", added, "ms", "≤ 15 ms", 1)


class Terminal:
    def __init__(self, *args):
        self.began = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.execve(BINARY, [str(BINARY), "top", *QUIET, *args], {**os.environ, "LANG": "C.UTF-8", "TERM": "xterm"})

    def read(self, until):
        """Reads what it shows until @until(all of it) or the time is up; the time since the start, in ms."""
        seen = b""
        while not until(seen):
            if select.select([self.fd], [], [], 10)[0]:
                seen += os.read(self.fd, 65536)
        return (time.monotonic() - self.began) * 1000

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        with contextlib.suppress(OSError):
            while os.read(self.fd, 65536):
                pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def first_screen(*args):
    terminal = Terminal(*args)
    took = terminal.read(lambda seen: "POWER▾".encode() in seen)
    terminal.end()
    return took


def measure_top(rounds):
    crowd = load("idle", PROCESSES)
    try:
        with exporter() as (socket, running):
            from_exporter = [first_screen(socket) for _ in range(5 * rounds)]
            alone, watched, itself = [], [], []
            for _ in range(rounds):
                began = cpu_of(running.process.pid)
                time.sleep(TOP_SECONDS)
                alone.append((cpu_of(running.process.pid) - began) / TOP_SECONDS * 100)
                terminal = Terminal(socket)
                terminal.read(lambda seen: "POWER▾".encode() in seen)
                began, own, end = cpu_of(running.process.pid), cpu_of(terminal.pid), time.monotonic() + TOP_SECONDS
                terminal.read(lambda _, end=end: time.monotonic() > end)
                watched.append((cpu_of(running.process.pid) - began) / TOP_SECONDS * 100)
                itself.append((cpu_of(terminal.pid) - own) / TOP_SECONDS * 100)
                terminal.end()
        by_itself = [first_screen("--local.socket=") for _ in range(2 * rounds)]
    finally:
        crowd.kill()
        crowd.communicate()
    base = statistics.median(alone)
    row(f"top with {PROCESSES:,} processes: its own CPU time", itself, "% of a CPU", "≤ 0.5 %", 3)
    row("the exporter's CPU time, nobody looks", alone, "% of a CPU", "", 3)
    row("the exporter's CPU time with an open top", [(value / base - 1) * 100 for value in watched], "% more", "≤ 5 %", 1)
    row("top: first screen from an exporter", from_exporter, "ms", "< 100 ms", 1)
    row("top: first screen alone", by_itself, "ms", "< 400 ms", 1)


def measure_size(_rounds):
    objects = [path for path in BINARY.parent.rglob("*.o") if any(re.search(part, str(path)) for part in SIZED)]
    sizes = subprocess.run(["size", *objects], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    kilobytes = sum(sum(map(int, line.split()[:2])) for line in sizes) / 1000
    row("objects of the commands, the local socket and the page", [kilobytes], "kB", "≤ 250 kB", 0)
    page = next(path for path in objects if path.name.endswith("web_page.c.o"))
    row("of that the page", [int(subprocess.run(["size", page], capture_output=True, text=True,
                                                check=True).stdout.splitlines()[1].split()[0]) / 1000], "kB", "≤ 60 kB", 1)
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, BINARY], check=True)
        row("the stripped binary", [os.stat(stripped.name).st_size / 1000], "kB", "", 0)


PARTS = {"profile": measure_profile, "stat": measure_stat, "top": measure_top, "size": measure_size}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print("| what | median | from–to | goal |\n|---|---|---|---|")
    for part in options.parts or PARTS:
        PARTS[part](options.rounds)


main()
