#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The n-th open, read, mmap, bpf(), connect or accept fails, once or for good: a clear end, or work goes on and the sums are right.

Each run is a start, a scrape and a stop of the release binary over a zone that is read from a file. It may refuse to start
(status 1 or 2) with a message; else it serves a page whose sums are exact, or none while no connection is accepted, and ends
at SIGTERM with status 0. KEPLER_LONG_TESTS=1 tries all n; else FAILURES_BY_DAY of them, and no fewer on a machine that is busy.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from rig import BUILD, Exporter, Metrics, balanced, need_root, release_binary

LIBRARY = BUILD / "tests/lab/failing_call.so"
CALLS = ["open", "read", "mmap", "bpf", "connect", "accept"]
FAILURES_BY_DAY = 175
SECONDS = 20  # that a start, a page or an end may take; all take less than one
IS_LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))


def make_zone(root):
    zone = pathlib.Path(root) / "class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in {"name": "package-0", "energy_uj": "1000000", "max_energy_range_uj": "262143328850"}.items():
        (zone / name).write_text(f"{text}\n")
    return zone / "energy_uj"


class Failure:
    def __init__(self, call, at, for_good):
        self.call, self.at, self.for_good = call, at, for_good

    def __str__(self):
        return f"{self.call} {self.at}{' and all after it' if self.for_good else ''}"

    def environment(self, fd):
        return {"LD_PRELOAD": str(LIBRARY), "FAILING_CALL": self.call, "FAILING_AT": str(self.at), "FAILING_FD": str(fd),
                **({"FAILING_FOR_GOOD": "1"} if self.for_good else {})}


def page_of(exporter, failure):
    """The metrics; None: no connection is accepted, or answered, any more."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if exporter.process.poll() is not None:
            return None
        try:
            status, _, body = exporter.get(timeout=2)
        except OSError:
            if failure.for_good:
                return None
        else:
            if status == 200:
                return Metrics(body.decode())
            assert status == 503, f"{failure}: {status} {body}"
        time.sleep(0.05)
    assert failure.for_good, f"{failure}: no page\n{exporter.output()}{exporter.where_threads_wait()}"
    return None


def run_once(binary, sysfs, counter_file, failure, fd):
    """What became of it: refused, mute, ended, served."""
    with Exporter("--monitor.interval=100ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", f"--host.sysfs={sysfs}",
                  binary=binary, env=failure.environment(fd), wait=False, pass_fds=[fd]) as exporter:
        try:
            exporter.wait_url(SECONDS)
        except AssertionError:
            status = exporter.process.poll()
            assert status in (1, 2) and exporter.output().strip(), f"{failure}: status {status}\n{exporter.output()}"
            return "refused"
        counter_file.write_text(f"{int(counter_file.read_text()) + 5000000}\n")
        metrics = page_of(exporter, failure)
        if metrics:
            balanced(metrics)
        ended = exporter.process.poll()
        if ended is not None:
            assert ended in (1, 2) and exporter.output().strip(), f"{failure}: status {ended}\n{exporter.output()}"
            return "ended"
        try:
            status = exporter.stop(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{failure}: it does not end\n{exporter.output()}{exporter.where_threads_wait()}") from None
        assert status == 0, f"{failure}: status {status} at the end\n{exporter.output()}"
    return "served" if metrics else "mute"


def count_calls(binary, sysfs, counter_file, call):
    with tempfile.TemporaryFile("w+") as told:
        assert run_once(binary, sysfs, counter_file, Failure(call, 0, False), told.fileno()) == "served"
        told.seek(0)
        lines = told.read().split()
        assert lines, "nothing was counted: is the library loaded?"
        return int(lines[-1].removeprefix("calls="))


def failures_of(totals):
    every = [Failure(call, at, for_good)
             for call, total in totals.items() for at in range(1, total + 1) for for_good in (False, True)]
    if IS_LONG:
        return every
    random.Random(int(time.time() / 86400)).shuffle(every)
    # Each day: each bpf() once, for few other calls end in so many ways, and the first ones of each kind.
    each_day = [failure for failure in every if failure.at <= 2 or failure.call == "bpf" and not failure.for_good]
    others = [failure for failure in every if failure not in each_day]
    return each_day + others[:max(0, FAILURES_BY_DAY - len(each_day))]


def main():
    need_root()
    binary = release_binary()
    with tempfile.TemporaryDirectory() as sysfs, tempfile.TemporaryFile() as told:
        counter_file = make_zone(sysfs)
        totals = {call: count_calls(binary, sysfs, counter_file, call) for call in CALLS}
        tried, done = failures_of(totals), {}
        for failure in tried:
            became = run_once(binary, sysfs, counter_file, failure, told.fileno())
            done[failure.call, became] = done.get((failure.call, became), 0) + 1
        print("  calls of a run:", ", ".join(f"{call} {total}" for call, total in totals.items()))
        became = ", ".join(f"{call} {what} {n}" for (call, what), n in sorted(done.items()))
        print(f"  {len(tried)} of {2 * sum(totals.values())} failures tried: {became}")
        assert totals["read"] > 0 and totals["open"] > 0 and totals["accept"] > 0 and len(tried) > 10


if not LIBRARY.exists():
    print("SKIP: failing_call.so was not built")
    sys.exit(77)
main()
