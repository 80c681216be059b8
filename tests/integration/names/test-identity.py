#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that change what they are: another cgroup, another program. R21: energy is split by time."""
import os
import pathlib
import re
import time

from containers import new_id, remove_group
from rig import BUILD, Exporter, Sensors, Service, balanced, close, load, load_result, rapl_zone, run_tests

INTERVAL_S = 0.2
ZONE = rapl_zone("intel-rapl:0", "package-0", 45)
# Names of containers are not awaited, whatever runtimes this machine has.
EACH = ["--runtimes.enabled=false", "--metrics.process.min-joules=0", "--metrics.settle=0s",
        f"--monitor.interval={INTERVAL_S * 1e3:.0f}ms"]
# A change is seen at the next reading: one interval can be in the wrong place, and a tick of the clock that says the truth.
LATE_S = INTERVAL_S + 0.05


def cpu_seconds(pid):
    """Of a living process, to the tick."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def another_cgroup():
    """R21: a process that moves takes nothing along: each service has what ran in it."""
    with Sensors(ZONE) as sensors, Service("kepler-test-from.service") as origin, \
            Service("kepler-test-to.service") as target, Exporter(f"--host.sysfs={sensors.mount}", *EACH) as exporter:
        exporter.intervals(2)
        burner = origin.load("span", 4)
        time.sleep(2)
        target.join(burner.pid)
        moved_at = cpu_seconds(burner.pid)
        balanced(exporter.intervals(1))
        _, seconds, _ = load_result(burner)
        metrics = balanced(exporter.intervals(3))
        before, after = [service.cpu_seconds(metrics) for service in (origin, target)]
        close("both together, CPU s", before + after, seconds, 0.5)
        print(f"  {before:.3f} s before and {after:.3f} s after; it moved at {moved_at:.2f} s")
        assert abs(before - moved_at) <= LATE_S, "more than an interval is in the wrong one"
        rows = metrics.select("kepler_process_package_joules_total", pid=str(burner.pid), command="load", mode="dynamic")
        assert {labels["container_id"] for labels, _ in rows} == {origin.name, target.name}, rows
        assert all(value > 0 for _, value in rows), rows
        assert exporter.stop() == 0


def another_hierarchy():
    """R21 on v1 and hybrid hosts: it moves in a hierarchy that ids are not taken from, and nothing else of it changes."""
    top = pathlib.Path(f"/sys/fs/cgroup/freezer/kepler-test-{os.getpid()}-docker")
    container_id = new_id()
    if not (top.parent / "cgroup.procs").exists() or (top.parent / "cgroup.controllers").exists():
        print("  no such hierarchy here")
        return
    (top / container_id).mkdir(parents=True)
    try:
        with Sensors(ZONE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *EACH) as exporter:
            exporter.intervals(2)
            burner = load("span", 4)
            time.sleep(2)
            (top / container_id / "cgroup.procs").write_text(str(burner.pid))
            moved_at = cpu_seconds(burner.pid)
            _, seconds, _ = load_result(burner)
            metrics = balanced(exporter.intervals(3))
            ran = {labels["container_id"]: float(value) / 1e3 for labels, value in
                   metrics.select("kepler_process_bpf_cpu_time_ms_total", pid=str(burner.pid), command="load")}
            after = ran.pop(container_id)
            print(f"  {ran} before and {after:.3f} s after; it moved at {moved_at:.2f} s")
            close("both together, CPU s", sum(ran.values()) + after, seconds, 0.5)
            assert abs(seconds - after - moved_at) <= LATE_S, "more than an interval is in the wrong one"
            assert exporter.stop() == 0
    finally:
        for path in (top / container_id, top):
            remove_group(path)


def another_name():
    """R21: exec: what ran before it stays under the old name, what comes has the new one."""
    script = 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; times; exec "$0" span 1'
    with Sensors(ZONE) as sensors, Service("kepler-test-exec.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", *EACH) as exporter:
        exporter.intervals(2)
        process = service.run("sh", "-c", script, str(BUILD / "tests/lab/load"))
        out, _ = process.communicate(timeout=300)
        metrics = balanced(exporter.intervals(3))
        seconds = int(re.search(r"self_us=(\d+)", out)[1]) / 1e6
        minutes = re.match(r"(\d+)m([\d.]+)s (\d+)m([\d.]+)s", out).groups()
        exec_at = int(minutes[0]) * 60 + float(minutes[1]) + int(minutes[2]) * 60 + float(minutes[3])
        ran = {labels["command"]: float(value) / 1e3 for labels, value in
               metrics.select("kepler_process_bpf_cpu_time_ms_total", pid=str(process.pid))}
        print(f"  {ran}; exec at {exec_at:.2f} s")
        # A reading between fork and exec knows it by our own name.
        assert {"sh", "load"} <= set(ran) <= {"sh", "load", "python3"}, ran
        close("both names, CPU s", sum(ran.values()), seconds, 1)
        assert abs(ran["sh"] - exec_at) <= LATE_S, "more than an interval has the wrong name"
        assert exporter.stop() == 0


run_tests([another_cgroup, another_hierarchy, another_name])
