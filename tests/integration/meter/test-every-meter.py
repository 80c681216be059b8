#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten minutes of varying load at each source that reads files, all at once, with what goes wrong with each: counters to the
microjoule, wraps and faults included; powers within 1 % of their law, less the time for which they could not be read.

An exporter a source, so that none is another's rival. Sources that a library, a device or a network gives have tests of their own
that last as long: meter/gpu, meter/redfish, meter/hmc, and the guests ipmi and rapl-msr.
"""
import contextlib
import os
import random
import threading
import time

from rig import Exporter, Sensors, balanced, load, load_result

SECONDS = int(os.environ.get("KEPLER_EVERY_METER_SECONDS", "600"))
FAULT_SECONDS = 6  # longer than a power is believed to go on
OPTIONS = ("--monitor.interval=200ms", "--metrics.settle=0s", "--idle.mode=off", "--metrics.per-package")
# EIO, no number, and nothing at all
FAULTS = (("errno 5", "errno 0"), ("mask abc", "unmask"), ("mask ", "unmask"))
ENERGY = "kepler_node_{}_joules_total"
UP = "kepler_exporter_source_up"


def rapl(zone, name, max_uj):
    path = f"class/powercap/{zone}"
    return [f"{path}/name text {name}", f"{path}/max_energy_range_uj text {max_uj}",
            f"{path}/energy_uj counter 20000000 {max_uj} {max_uj - 30000000}"]


def board(card, address, driver, sensor):
    device = f"devices/pci0000:00/{address}"
    return [f"class/drm/{card}/device link ../../../{device}", f"{device}/driver link ../../../bus/pci/drivers/{driver}",
            f"bus/pci/drivers/{driver}/bind text", f"{device}/power/runtime_status text active",
            f"{device}/hwmon/hwmon9/name text {driver}", f"{device}/hwmon/hwmon9/power1_cap text 300000000",
            f"{device}/hwmon/hwmon9/{sensor}"]


AMD, INTEL = "0000:03:00.0", "0000:4d:00.0"
CORE = "class/powercap/intel-rapl:0/energy_uj"
MEMORY = "class/powercap/intel-rapl:1/energy_uj"
SOCKET = "class/hwmon/hwmon1/energy1_input"
CPU = "class/hwmon/hwmon2/power1_input"
NODE_LAW, MEMORY_LAW = "law/energy", "law/memory_energy"
PM = "cray/pm_counters"
RADEON = f"devices/pci0000:00/{AMD}/hwmon/hwmon9/power1_average"
ARC = f"devices/pci0000:00/{INTEL}/hwmon/hwmon9/energy1_input"
# RAPL draws so much that its counters wrap every few minutes, and so little that one cannot wrap unseen while it is down.
TREE = (
    rapl("intel-rapl:0", "package-0", 1 << 36) + rapl("intel-rapl:1", "psys", 1 << 37)
    + ["class/hwmon/hwmon1/name text amd_energy", "class/hwmon/hwmon1/device link ../../../devices/platform/amd_energy.0",
       "class/hwmon/hwmon1/energy1_label text Esocket1", f"{SOCKET} counter 30000000 {1 << 60} 5000",
       "class/hwmon/hwmon2/name text apm_xgene", "class/hwmon/hwmon2/device link ../../../devices/platform/APMC0D29:00",
       "class/hwmon/hwmon2/power1_label text CPU power", f"{CPU} gauge 60000000 40000000 13"]
    + [f"{NODE_LAW} counter 900000000 {1 << 60} 5000000000", f"{MEMORY_LAW} counter 80000000 {1 << 60} 5000000000",
       f"{PM}/energy joules {NODE_LAW}", f"{PM}/memory_energy joules {MEMORY_LAW}", f"{PM}/startup text 1700000000"]
    + board("card0", AMD, "amdgpu", "power1_average gauge 150000000 100000000 17")
    + board("card1", INTEL, "xe", f"energy1_input counter 90000000 {1 << 60} 777"))


class Zone:
    """What a source has of a zone, and what flowed by the law of its file when that was read."""

    def __init__(self, sensors, kind, path, package=None, step_uj=1, fails=None):
        self.sensors, self.kind, self.path, self.step_uj = sensors, kind, path, step_uj
        self.fails, self.labels = fails or path, {"package": package} if package else {}
        self.is_power, self.unknown_uj, self.faults = "power1" in path, 0, 0

    def counted_uj(self, metrics):
        return int(metrics.sum(ENERGY.format(self.kind), **self.labels) * 10**6)

    def is_up(self, metrics):
        return metrics.value(UP, zone=self.kind, **self.labels) == 1

    def read_uj(self):
        return self.sensors.read_uj([self.path])[self.path][1]

    def true_uj(self):
        return self.read_uj() if self.is_power else self.sensors.truth_uj()[self.path]


class Source:
    def __init__(self, stack, sensors, name, zones):
        self.name, self.zones = name, zones
        self.exporter = stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", f"--meters={name}", *OPTIONS))

    def wait(self, zone, up):
        deadline = time.monotonic() + 20
        while True:
            metrics = balanced(self.exporter.intervals(1))
            if zone.is_up(metrics) == up:
                return metrics
            assert time.monotonic() < deadline, f"{self.name}: {zone.kind} is not {'up' if up else 'down'}"

    def settled(self):
        """What is counted of each zone, and what flowed: counters stand still, and no power was read meanwhile."""
        powers = [zone.path for zone in self.zones if zone.is_power]
        metrics = self.zones[0].sensors.settled(self.exporter, powers)[0] if powers else balanced(self.exporter.intervals(3))
        return {zone: (zone.counted_uj(metrics), zone.true_uj()) for zone in self.zones}


def vary(sensors, draw, is_over):
    """Counters draw another power each second or so, from nothing to a server's."""
    while not is_over.wait(draw.uniform(0.5, 2)):
        for path in (CORE, MEMORY, SOCKET, NODE_LAW, MEMORY_LAW, ARC):
            sensors.control(f"{path} power {draw.randrange(0, 10**9 if path in (CORE, MEMORY) else 2 * 10**8)}")


def stop_counters(sensors):
    for path in (CORE, MEMORY, SOCKET, NODE_LAW, MEMORY_LAW, ARC):
        sensors.control(f"{path} power 0")
    time.sleep(3)  # polled once in a second


def fail(source, zone, fault, undo):
    """It is down, the others of its source are not, and it is back; what a power did meanwhile is not known."""
    sensors, last_uj = zone.sensors, 0
    sensors.control(f"{zone.fails} {fault}")
    metrics = source.wait(zone, False)
    assert all(other.is_up(metrics) for other in source.zones if other is not zone), f"{source.name}: not {zone.kind} alone"
    if zone.is_power:
        time.sleep(FAULT_SECONDS)
        last_uj = zone.read_uj()
    sensors.control(f"{zone.fails} {undo}")
    while zone.is_power and zone.read_uj() == last_uj:
        time.sleep(0.005)
    if zone.is_power:
        zone.unknown_uj += zone.read_uj() - last_uj
    source.wait(zone, True)
    zone.faults += 1


def check(source, began, ended):
    for zone in source.zones:
        counted, flowed = (ended[zone][i] - began[zone][i] for i in (0, 1))
        known = flowed - zone.unknown_uj
        print(f"  {source.name} {zone.kind}: {counted / 1e6:.1f} J of {known / 1e6:.1f} J, {(counted / known - 1) * 100:+.4f} %, "
              f"{zone.faults} faults, {zone.unknown_uj / 1e6:.0f} J in them")
        if zone.is_power:
            assert abs(counted - known) <= known * 0.01, (counted, known)
        else:
            assert abs(counted - known) <= zone.step_uj, (counted, known)


def run(stack, sensors):
    draw = random.Random(1)
    sources = [Source(stack, sensors, name, zones) for name, zones in (
        ("rapl-sysfs", [Zone(sensors, "package", CORE, "0"), Zone(sensors, "psys", MEMORY)]),
        ("hwmon", [Zone(sensors, "package", CPU, "0"), Zone(sensors, "package", SOCKET, "1")]),
        ("cray-pm-counters", [Zone(sensors, "platform", NODE_LAW, step_uj=10**6, fails=f"{PM}/energy"),
                              Zone(sensors, "dram", MEMORY_LAW, step_uj=10**6, fails=f"{PM}/memory_energy")]),
        ("drm", [Zone(sensors, "gpu", RADEON, AMD), Zone(sensors, "gpu", ARC, INTEL)]))]
    stop_counters(sensors)
    began = {source: source.settled() for source in sources}
    is_over = threading.Event()
    varying = threading.Thread(target=vary, args=(sensors, draw, is_over))
    varying.start()
    work, end = load("span", SECONDS), time.monotonic() + SECONDS
    try:
        cases = [(source, zone, *fault) for source in sources for zone in source.zones for fault in FAULTS]
        draw.shuffle(cases)
        for i, case in enumerate(cases):
            fail(*case)
            while time.monotonic() < end - SECONDS * (1 - (i + 1) / len(cases)):
                for other in sources:
                    balanced(other.exporter.intervals(1))
    finally:
        is_over.set()
        varying.join()
    load_result(work)
    stop_counters(sensors)
    for source in sources:
        check(source, began[source], source.settled())
        assert source.exporter.stop() == 0


with Sensors(TREE) as sensor_tree, contextlib.ExitStack() as exporters:
    run(exporters, sensor_tree)
