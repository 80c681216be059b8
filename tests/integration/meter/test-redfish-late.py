#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Energy that a BMC reports late goes to what worked at that time.

It is shared by CPU time, so what is expected follows from the CPU time that the process and the whole machine had, whatever else
runs on it.
"""
import contextlib
import functools
import os
import pathlib
import signal
import time

import bmc
from redfish_rig import machine
from rig import balanced, close, load, machine_busy_s, run_tests

SAMPLE_S = 0.5


def process_j(metrics, pid):
    return float(metrics.sum("kepler_process_platform_joules_total", pid=str(pid)))


@contextlib.contextmanager
def worker():
    """It works when it is let, and not yet."""
    process = load("span", 3600)
    process.send_signal(signal.SIGSTOP)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def cpu_times_s(process):
    """(of the process, of the machine)"""
    return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9, machine_busy_s()


def work(process, watts, seconds):
    """Lets it work. Returns its share of the machine's energy, which is drawn at a constant power."""
    share_j, end = 0, time.monotonic() + seconds
    process.send_signal(signal.SIGCONT)
    began, (own_s, all_s) = time.monotonic(), cpu_times_s(process)
    while (left_s := end - time.monotonic()) > 0:
        time.sleep(min(left_s, SAMPLE_S))
        ended, (own_then_s, all_then_s) = time.monotonic(), cpu_times_s(process)
        share_j += watts * (ended - began) * (own_then_s - own_s) / (all_then_s - all_s)
        began, own_s, all_s = ended, own_then_s, all_then_s
    process.send_signal(signal.SIGSTOP)
    return share_j


def what_is_late_goes_to_what_worked_then():
    """A mean of three seconds that is four seconds late: when the second one works, the energy of the first one comes in."""
    law = bmc.Steps(1)
    shares_j = []
    with machine("--meter.redfish.delay=4s", "--metrics.process.min-joules=0", law=law,
                 shape=functools.partial(bmc.averaging, seconds=3, delay=4)) as (_, exporter), worker() as first, worker() as then:
        time.sleep(9)
        for process, watts in ((first, 200), (then, 400)):
            law.set(watts)
            shares_j.append(work(process, watts, 8))
            law.set(1)
            time.sleep(4)
        time.sleep(6)
        metrics = balanced(exporter.intervals(1))
        joules = [process_j(metrics, process.pid) for process in (first, then)]
        print(f"  {joules[0]:.0f} J of {shares_j[0]:.0f}, {joules[1]:.0f} J of {shares_j[1]:.0f}")
        close("the second one over the first one", joules[1] / joules[0], shares_j[1] / shares_j[0], 8)
        assert sum(joules) > 0.8 * sum(shares_j), joules


def two_in_turns_get_their_own():
    """At night: equal work in turns of ten seconds, ten minutes long, and a mean of half a minute."""
    with machine("--metrics.process.min-joules=0", "--meter.redfish.period=10s", law=bmc.Steps(300),
                 shape=functools.partial(bmc.averaging, seconds=30)) as (_, exporter), worker() as first, worker() as then:
        shares_j = [0, 0]
        for _ in range(30):
            for i, process in enumerate((first, then)):
                shares_j[i] += work(process, 300, 10)
        time.sleep(45)
        metrics = balanced(exporter.intervals(1))
        joules = [process_j(metrics, process.pid) for process in (first, then)]
        print(f"  {joules[0]:.0f} J and {joules[1]:.0f} J")
        for own, share in zip(joules, shares_j):
            close("its own over what both got", own / sum(joules), share / sum(shares_j), 3)


AT_NIGHT = [two_in_turns_get_their_own] if os.environ.get("KEPLER_LONG_TESTS") else []

run_tests([what_is_late_goes_to_what_worked_then, *AT_NIGHT])
