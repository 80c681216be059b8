#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Energy that a BMC reports late goes to what worked at that time. By shares of CPU time, so it runs alone."""
import contextlib
import functools
import os
import signal
import time

import bmc
from redfish_rig import machine
from rig import balanced, close, load, run_tests


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


def work(process, seconds):
    process.send_signal(signal.SIGCONT)
    time.sleep(seconds)
    process.send_signal(signal.SIGSTOP)


def what_is_late_goes_to_what_worked_then():
    """A mean of three seconds that is four seconds late: when the second one works, the energy of the first one comes in."""
    law = bmc.Steps(1)
    with machine("--meter.redfish.delay=4s", "--metrics.process.min-joules=0", law=law,
                 shape=functools.partial(bmc.averaging, seconds=3, delay=4)) as (_, exporter), worker() as first, worker() as then:
        time.sleep(9)
        for process, watts in ((first, 200), (then, 400)):
            law.set(watts)
            work(process, 8)
            law.set(1)
            time.sleep(4)
        time.sleep(6)
        metrics = balanced(exporter.intervals(1))
        joules = [process_j(metrics, process.pid) for process in (first, then)]
        print(f"  {joules[0]:.0f} J of 1600, {joules[1]:.0f} J of 3200")
        close("the second one over the first one", joules[1] / joules[0], 2, 8)
        assert sum(joules) > 0.8 * 4800, joules


def two_in_turns_get_their_own():
    """At night: equal work in turns of ten seconds, ten minutes long, and a mean of half a minute."""
    with machine("--metrics.process.min-joules=0", "--meter.redfish.period=10s", law=bmc.Steps(300),
                 shape=functools.partial(bmc.averaging, seconds=30)) as (_, exporter), worker() as first, worker() as then:
        for _ in range(30):
            work(first, 10)
            work(then, 10)
        time.sleep(45)
        metrics = balanced(exporter.intervals(1))
        joules = [process_j(metrics, process.pid) for process in (first, then)]
        print(f"  {joules[0]:.0f} J and {joules[1]:.0f} J")
        for own in joules:
            close("its own over what both got", own / sum(joules), 0.5, 3)


AT_NIGHT = [two_in_turns_get_their_own] if os.environ.get("KEPLER_LONG_TESTS") else []

run_tests([what_is_late_goes_to_what_worked_then, *AT_NIGHT])
