#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RAPL through perf, with the kernel's own events: a sysfs in which the PMU "power" has the events of a clock, so that each zone
draws a power that is known. Where powercap shows the zones, too, that is charged from then on. And the PMU itself, where a machine
has it.
"""
import ctypes
import os
import pathlib
import platform
import re
import struct
import tempfile
import time

from rig import Exporter, balanced, close, load, load_result, skip

SECONDS = 600 if os.environ.get("KEPLER_LONG_TESTS") else 6
SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
PMU = "bus/event_source/devices/power"
REAL = pathlib.Path("/sys") / PMU
CPUS = "devices/system/cpu"
# Those that count on an idle machine, too.
PACKAGE_EVENTS = ("energy-pkg", "energy-psys")
# Joules a nanosecond, of PERF_COUNT_SW_CPU_CLOCK of one CPU.
WATTS = {"pkg": ("package", 40), "cores": ("core", 25), "ram": ("dram", 4)}
OPTIONS = ("--monitor.interval=200ms", "--metrics.settle=0s")


def open_event(pmu_type, config, pid, cpu):
    """A perf event's descriptor; below 0 where the kernel refuses it."""
    attr = ctypes.create_string_buffer(struct.pack("=IIQ", pmu_type, 64, config), 64)
    return ctypes.CDLL(None, use_errno=True).syscall(SYS_PERF_EVENT_OPEN[platform.machine()], attr, pid, cpu, -1, 8)


def may_open_events():
    if platform.machine() not in SYS_PERF_EVENT_OPEN:
        return False
    fd = open_event(1, 0, 0, -1)  # PERF_TYPE_SOFTWARE, of this process
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="ascii")


def make_tree(root):
    (root / CPUS).parent.mkdir(parents=True)
    (root / CPUS).symlink_to(f"/sys/{CPUS}")
    put(root, f"{PMU}/type", "1")
    put(root, f"{PMU}/cpumask", "0")
    put(root, f"{PMU}/format/event", "config:0-7")
    for event, (_, watts) in WATTS.items():
        put(root, f"{PMU}/events/energy-{event}", "event=0x00")
        put(root, f"{PMU}/events/energy-{event}.scale", f"{watts}e-9")
        put(root, f"{PMU}/events/energy-{event}.unit", "Joules")


def joules(metrics, zone, source):
    return float(metrics.sum(f"kepler_node_{zone}_joules_total", source=source))


def ends(metrics):
    """When the last readings of a page were made, and what it has of each zone."""
    age = metrics.value("kepler_exporter_source_age_seconds", zone="package", source="rapl-perf")
    read = float(metrics.value("kepler_exporter_snapshot_timestamp_seconds") - age)
    return read, {zone: joules(metrics, zone, "rapl-perf") for zone, _ in WATTS.values()}


def check_powers(exporter):
    """Energy is that of the clock, in each interval, and adds up. An interval in which a zone could not be read has no power."""
    work = load("span", SECONDS)
    began, first = ends(exporter.intervals(1))
    end = time.monotonic() + SECONDS
    worst = shown = 0
    while time.monotonic() < end:
        metrics = balanced(exporter.intervals(1))
        for zone, watts in WATTS.values():
            for _, power in metrics.select(f"kepler_node_{zone}_watts", source="rapl-perf"):
                worst, shown = max(worst, abs(float(power) / watts - 1)), shown + 1
    load_result(work)
    ended, last = ends(metrics)
    for zone, watts in WATTS.values():
        close(f"{zone}, joules", last[zone] - first[zone], watts * (ended - began), 1)
    print(f"  powers of three zones: at most {worst * 100:.3f} % off")
    assert worst < 0.005 and shown >= 5 * SECONDS, (worst, shown)
    share = joules(metrics, "package", "rapl-perf")
    assert share >= WATTS["pkg"][1] * (SECONDS - 1), share
    assert not metrics.select("kepler_node_platform_joules_total"), "an estimate beside a meter"
    assert {labels["source"] for labels, _ in metrics.select("kepler_zone_info")} == {"rapl-perf"}


def check_takeover(root, exporter):
    """The same energy by way of powercap: charged instead, and the other one not any more."""
    zone = "class/powercap/intel-rapl:0"
    put(root, f"{zone}/max_energy_range_uj", "262143328850")
    put(root, f"{zone}/energy_uj", "1000")
    put(root, f"{zone}/name", "package-0")
    deadline, counter = time.monotonic() + 30, 1000
    while joules(exporter.intervals(1), "package", "rapl-sysfs") < 5:
        assert time.monotonic() < deadline, "powercap does not take over\n" + exporter.output()
        counter += 2000000
        (root / f"{zone}/energy_uj").write_text(f"{counter}\n", encoding="ascii")
    first = exporter.intervals(1)
    last = balanced(exporter.intervals(3))
    assert joules(last, "package", "rapl-perf") == joules(first, "package", "rapl-perf"), "charged twice"
    assert joules(last, "dram", "rapl-perf") > joules(first, "dram", "rapl-perf")


def counts(name):
    """Whether an event of the PMU advances within a second, on the first CPU of its mask."""
    config = int((REAL / "events" / name).read_text(encoding="ascii").strip().removeprefix("event="), 16)
    cpu = int(re.split("[-,\n]", (REAL / "cpumask").read_text(encoding="ascii"))[0])
    fd = open_event(int((REAL / "type").read_text(encoding="ascii")), config, -1, cpu)
    if fd < 0:
        return False
    first, end, advances = os.read(fd, 8), time.monotonic() + 1, False
    while not advances and time.monotonic() < end:
        time.sleep(0.01)
        advances = os.read(fd, 8) != first
    os.close(fd)
    return advances


def check_real():
    """RAPL itself, beside powercap: its zones are read. An event that a hypervisor shows with nothing behind it is no zone."""
    events = [name for name in PACKAGE_EVENTS if (REAL / "events" / name).exists()]
    live = [name for name in events if counts(name)]
    print(f'  events of the PMU "power" of this machine: {", ".join(events) or "none"}; they count: {", ".join(live) or "none"}')
    if not events:
        return
    with Exporter("--meters=rapl-sysfs,rapl-perf", *OPTIONS) as exporter:
        exporter.intervals(5)
        metrics = balanced(exporter.intervals(5))
        zones = {labels["path"].split("@")[0] for labels, _ in metrics.select("kepler_zone_info", source="rapl-perf")}
        assert zones & {f"power/{name}" for name in events} == {f"power/{name}" for name in live}, (zones, live, exporter.output())
        assert exporter.stop() == 0


def main():
    if not may_open_events():
        skip("perf events may not be opened here")
    with tempfile.TemporaryDirectory(prefix="kepler-perf-") as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        make_tree(root)
        with Exporter(f"--host.sysfs={root}", *OPTIONS) as exporter:
            exporter.intervals(2)
            check_powers(exporter)
            check_takeover(root, exporter)
            assert exporter.stop() == 0
    check_real()


main()
