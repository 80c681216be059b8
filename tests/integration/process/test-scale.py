#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many processes: what they cost and take is bounded, nothing is lost, and every response sums.

R23 (a storm of forks, and a bomb of them), R24 (a crowd that sleeps). Cost and memory are the release binary's. Its CPU time is
judged by what the same machine needs for the load itself, or to look at the same processes in /proc, so that the limits hold on a
slow machine and on one that others use. With KEPLER_LONG_TESTS the storm lasts ten minutes and the crowd has as many processes as
pids allow, up to 30,000.
"""
import os
import pathlib
import time

from proc_price import children, stat_read_ns
from rig import (Exporter, Sensors, Service, balanced, check_machine, close, load, load_result, rapl_zone, release_binary,
                   run_tests, seen_with_truth)

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
STORM_SECONDS = 600 if LONG else 5
FORKS_PER_S = 2000
BOMB_SECONDS, BOMB_PIDS = 4, 200
OF_THE_FORKS = 1 / 20  # the exporter's CPU time for forks, divided by the CPU time of the forks; 1/100 here
ZONE = rapl_zone("intel-rapl:0", "package-0", 45)


def crowd_size():
    """pids are needed by others too."""
    return min(30000, int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) - 2000) if LONG else 10000


def used_cpu(exporter, seconds):
    """Share of one CPU that the exporter used over so many seconds of one scrape a second, and its largest resident set."""
    name = "kepler_exporter_cpu_seconds_total"
    before, began, largest = exporter.intervals(1), time.monotonic(), 0
    while time.monotonic() < began + seconds:
        time.sleep(1)
        after = balanced(exporter.scrape())
        largest = max(largest, int(after.value("kepler_exporter_resident_memory_bytes")))
    after = balanced(exporter.intervals(1))
    return float(after.value(name) - before.value(name)) / (time.monotonic() - began), largest


def fork_storm():
    """R23: 2,000 forks a second: at most a twentieth of what they run more than in peace, 100 MB, nothing lost."""
    with Sensors(ZONE) as sensors, Service("kepler-test-storm.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s", binary=release_binary()) as exporter:
        exporter.intervals(2)
        peace, _ = used_cpu(exporter, 4)
        start = seen_with_truth(exporter)
        storm = service.load("storm", FORKS_PER_S, 0, STORM_SECONDS)
        war, largest = used_cpu(exporter, STORM_SECONDS - 2)
        children, cpu, parent = load_result(storm)
        service.told(exporter)
        end = seen_with_truth(exporter)
        metrics = end[0]
        print(f"  {children} children, {war * 100:.2f} % of a CPU, {peace * 100:.2f} % in peace, {largest / 1e6:.1f} MB, "
              f"{metrics.value('kepler_exporter_activity_drops_total')} records dropped")
        assert children == FORKS_PER_S * STORM_SECONDS
        assert war - peace <= OF_THE_FORKS * (cpu + parent) / STORM_SECONDS and largest <= 100e6
        # wait4 does not know how long a child runs after its parent is notified: some µs of about 100 each.
        close("CPU of the storm, s", service.cpu_seconds(metrics), cpu + parent, 2)
        check_machine(start, end)
        assert exporter.stop() == 0


def fork_bomb():
    """R23: processes fork as fast as their cgroup's pids.max lets them: a twentieth of what they run, and nothing lost."""
    with Sensors(ZONE) as sensors, Service("kepler-test-bomb.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s", binary=release_binary()) as exporter:
        refused = service.limit_pids(BOMB_PIDS)
        exporter.intervals(2)
        peace, _ = used_cpu(exporter, 3)
        start = seen_with_truth(exporter)
        bomb = service.load("bomb", BOMB_SECONDS)
        war, largest = used_cpu(exporter, BOMB_SECONDS - 2)
        children, _, _ = load_result(bomb)
        service.told(exporter)
        end = seen_with_truth(exporter)
        rate = children / BOMB_SECONDS
        print(f"  {rate:.0f} forks a second, {refused()} refused, {war * 100:.2f} % of a CPU, {peace * 100:.2f} % in peace, "
              f"{largest / 1e6:.1f} MB, {end[0].value('kepler_exporter_activity_drops_total')} records dropped")
        assert refused() > 0, "pids.max was not reached: the test tests nothing"
        assert war - peace <= OF_THE_FORKS * service.ran_s() / BOMB_SECONDS and largest <= 100e6
        # If a kernel guards a process, no program runs in interrupts on top of it, in which ends are reported: with four busy loops
        # one bomb of six lacked 2.3 % so. It is never more than what ran.
        guarded = end[0].value("kepler_exporter_unseen_processes") > 0
        close("CPU of the bomb, s", service.cpu_seconds(end[0]), service.ran_s(), 3 if guarded else 0.5)
        assert service.cpu_seconds(end[0]) <= service.ran_s() * 1.005
        check_machine(start, end)
        for table in ("processes", "containers"):
            assert end[0].value("kepler_exporter_table_overflows_total", table=table) == 0
        assert exporter.stop() == 0


def sleeping_crowd():
    """R24: thousands that sleep: memory, the first snapshot and an interval's cost follow what runs."""
    count = crowd_size()
    crowd = load("idle", count)
    crowd.stdout.readline()
    pids = children(crowd.pid)
    try:
        with Sensors(ZONE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", binary=release_binary()) as exporter:
            first = balanced(exporter.scrape())
            whole = time.monotonic() - exporter.began
            began_cpu_s = float(first.value("kepler_exporter_cpu_seconds_total"))
            known = int(first.value("kepler_exporter_threads_known"))
            reads = [stat_read_ns(pids)]
            share, largest = used_cpu(exporter, 4)
            reads.append(stat_read_ns(pids))
            look_s = min(reads) / 1e9 * count
            print(f"  {known} threads: first scrape after {whole:.3f} s and {began_cpu_s:.3f} s of CPU, {share * 1e3:.2f} ms of "
                  f"CPU a second with scrapes, {largest / 1e6:.1f} MB; a look at each in /proc takes {look_s * 1e3:.1f} ms")
            assert known >= count, "they were not there"
            assert first.select("kepler_process_package_joules_total", command="other", pid="")
            # Half a look in /proc to start with, and a tenth of one in an interval with a scrape; as much as one, or three at the
            # start, where each thread is looked at there.
            assert began_cpu_s <= 2 * look_s and share <= look_s / 3
            assert largest <= (150e6 if LONG else 25e6)
            assert exporter.stop() == 0
    finally:
        crowd.kill()
        crowd.wait()


run_tests([fork_storm, fork_bomb, sleeping_crowd])
