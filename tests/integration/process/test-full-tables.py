#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Full tables: what does not fit is counted, and every response sums.

R24, each limit that an option sets, the buffer of ends that overflows while the exporter stands still, and process 1, where the
kernel guards it.
"""
import os
import pathlib
import signal
import time

from rig import Exporter, Sensors, Service, balanced, check_machine, close, load, load_result, rapl_zone, run_tests, seen_with_truth

ZONE = rapl_zone("intel-rapl:0", "package-0", 45)
LIMITED = tuple(f"kepler_{level}_" for level in ("process", "container", "pod", "vm", "namespace"))
EACH = ["--monitor.interval=200ms", "--metrics.process.min-joules=0", "--metrics.settle=0s"]


def first_process_s():
    """What process 1 ran."""
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path("/proc/1/task").glob("*/schedstat")) / 1e9


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


run_tests([lost_records, series_limit, unseen_cpu, full_processes, full_reader, full_containers])
