#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many processes and full tables: what they cost and take is bounded, what does not fit is counted, and every response sums.

R23 (a storm of forks, and a bomb of them), R24 (a crowd that sleeps), and each limit that an option sets. Cost and memory are
the release binary's. Its CPU time is judged by what the same machine needs for the load itself, or to look at the same processes
in /proc, so that the limits hold on a slow machine and on one that others use. With KEPLER_LONG_TESTS the storm lasts ten minutes
and the crowd has as many processes as pids allow, up to 30,000.
"""
import os
import pathlib
import signal
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
LIMITED = tuple(f"kepler_{level}_" for level in ("process", "container", "pod", "vm", "namespace"))
EACH = ["--monitor.interval=200ms", "--metrics.process.min-joules=0", "--metrics.settle=0s"]


def crowd_size():
    """pids are needed by others too."""
    return min(30000, int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) - 2000) if LONG else 10000


def first_process_s():
    """What process 1 ran."""
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path("/proc/1/task").glob("*/schedstat")) / 1e9


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


def lost_records():
    """The buffer of ends overflows, as the exporter stands still: counted, charged to the cgroup, and the sum is right."""
    with Sensors(ZONE) as sensors, Service("kepler-test-lost.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", "--bpf.end-buffer=64KiB", "--metrics.settle=0s") as exporter:
        before = seen_with_truth(exporter)
        storm = service.load("storm", 1500, 0, 5)
        for _ in range(2):
            time.sleep(0.5)
            exporter.process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            exporter.process.send_signal(signal.SIGCONT)
            balanced(exporter.intervals(1))
        load_result(storm)
        service.told(exporter)
        after = seen_with_truth(exporter)
        drops = after[0].value("kepler_exporter_activity_drops_total")
        print(f"  {drops} records dropped")
        assert drops > 0, "nothing was dropped: the test tests nothing"
        check_machine(before, after)
        close("CPU of the cgroup, s", service.cpu_seconds(after[0]), service.ran_s(), 2)
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


def series_limit():
    """More processes than series: never more than the limit; a process that used more than the smallest shown takes its place."""
    limit, rows = 1000, 1000 // 4  # a row: package, the total and its watts, CPU time; those of containers are among them
    with Sensors(ZONE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *EACH,
                                            f"--metrics.max-series={limit}") as exporter:
        exporter.intervals(2)
        storm = load("storm", 120, 2, 5)
        deadline, most = time.monotonic() + 5, 0
        while time.monotonic() < deadline:
            metrics = balanced(exporter.scrape())
            own = [labels for labels, _ in metrics.select("kepler_process_package_joules_total") if labels["pid"]]
            most = max(most, len(own))
            assert len(own) <= rows, f"{len(own)} rows"
            limited = sum(name.startswith(LIMITED) for name, *_ in metrics.samples)
            assert limited <= limit, f"{limited} series"
        load_result(storm)
        assert most > rows / 4, f"{most} of {rows} rows were used: the test tests nothing"
        before = exporter.scrape().value("kepler_exporter_series_merged_total", level="process")
        large = load("span", 1)
        load_result(large)
        metrics = balanced(exporter.intervals(2))
        merged = metrics.value("kepler_exporter_series_merged_total", level="process")
        retired = metrics.sum("kepler_process_retired_joules_total", zone="package")
        print(f"  {merged} rows merged, {merged - before} of them for a large one; {retired} J retired")
        assert merged > before and retired > 0
        assert metrics.select("kepler_process_package_joules_total", pid=str(large.pid)), "the largest has no series"
        assert exporter.stop() == 0


def overflow(table, option, begin_load):
    """Runs what begin_load() starts under a limit that it exceeds; the last response."""
    with Sensors(ZONE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *EACH, option) as exporter:
        first_s, before = first_process_s(), seen_with_truth(exporter)
        loads, deadline = begin_load(), time.monotonic() + 3
        while time.monotonic() < deadline:
            balanced(exporter.scrape())
        for process in loads:
            load_result(process)
        exporter.intervals(4)
        after = seen_with_truth(exporter)
        count = after[0].value("kepler_exporter_table_overflows_total", table=table)
        print(f"  {count} times one of the {table} did not fit")
        assert count > 0, "all fitted: the test tests nothing"
        # A full reader cannot tell a process that the kernel guards from one that did not fit, so it does not read process 1.
        reads_first = after[0].value("kepler_exporter_unseen_processes")
        check_machine(before, after, 0 if reads_first else first_process_s() - first_s)
        assert exporter.stop() == 0
        return after[0]


def crowded(count, limit):
    """More processes than a limit of rows: the last response, and the joules that belong to no process."""
    crowd = load("ring", count)
    crowd.stdout.readline()
    try:
        metrics = overflow("processes", f"--monitor.max-processes={limit}", lambda: [load("storm", 100, 2, 3)])
    finally:
        crowd.kill()
        crowd.wait()
    own = {labels["pid"] for labels, _ in metrics.select("kepler_process_package_joules_total") if labels["pid"]}
    nameless = metrics.sum("kepler_node_unattributed_joules_total", zone="package", reason="dropped")
    print(f"  {len(own)} processes with series, {nameless} J without a name")
    assert len(own) <= limit
    return metrics, nameless


def unseen_cpu():
    """What a guarded process 1 ran is its own, in ticks, of which two parts of a sum are cut."""
    name, began = "kepler_exporter_unseen_cpu_seconds_total", first_process_s()
    with Sensors(ZONE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=100ms") as exporter:
        found = exporter.intervals(5)
        at_look, threads = first_process_s(), set(os.listdir("/proc/1/task"))
        if found.value("kepler_exporter_unseen_processes") != 1:
            print("  it is not process 1 alone that is guarded here")
            return
        exporter.intervals(20)
        least = first_process_s() - at_look
        metrics = balanced(exporter.intervals(3))
        told, most = float(metrics.value(name)), first_process_s() - began
        print(f"  process 1 ran {told:.2f} s, truth {least:.4f} to {most:.4f}")
        if set(os.listdir("/proc/1/task")) == threads:  # what a thread ran that has ended is not in our sum
            assert least - 0.03 <= told <= most + 0.03
        assert exporter.stop() == 0


def full_processes():
    """R24: more processes than the ledger has rows: counted, and their energy is in "other" of their container."""
    metrics, nameless = crowded(400, 256)
    other = metrics.sum("kepler_process_package_joules_total", command="other", pid="")
    assert nameless == 0 and other > 0


def full_reader():
    """R24: more than the reader knows, four times as many: counted, and their energy is the node's."""
    _, nameless = crowded(1400, 256)
    assert nameless > 0


def full_containers():
    """More services than the table holds: counted, and their energy is in "other" of their namespace."""
    services = [Service(f"kepler-test-full{number}.service") for number in range(24)]
    try:
        metrics = overflow("containers", "--monitor.max-containers=16",
                           lambda: [service.load("storm", 5, 2, 3) for service in services])
        rows = [labels for labels, _ in metrics.select("kepler_container_package_joules_total", mode="dynamic")]
        names = {labels["container_id"] for labels in rows if labels["container_id"]}
        assert len(names) <= 16 and "system_processes" in names, names
        assert any(labels["container_name"] == "other" and labels["container_namespace"] == "system" for labels in rows), rows
    finally:
        for service in services:
            service.remove()


run_tests([fork_storm, fork_bomb, lost_records, sleeping_crowd, series_limit, unseen_cpu, full_processes, full_reader,
           full_containers])
