#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters of a Cray blade's controller beside RAPL: the node's energy to a joule, each response sums to it, what RAPL counts
is not counted again, and a controller that stops sampling is down."""
import time

from rig import Exporter, Sensors, balanced, load, load_result, rapl_zone

SECONDS = 8
PM = "cray/pm_counters"
LAW = "law/{}"
WATTS = {"energy": 900, "cpu_energy": 300, "memory_energy": 80}
LAWS = [LAW.format(name) for name in ("energy", "memory_energy")]
TREE = [f"{LAW.format(name)} counter {watts * 1000000} {1 << 60} 5000000000" for name, watts in WATTS.items()]
TREE += [f"{PM}/{name} joules {LAW.format(name)}" for name in WATTS]
TREE += [f"{PM}/startup text 1700000000", f"{PM}/power text 900 W 1 us"]


def node_j(metrics, zone):
    return float(metrics.sum(f"kepler_node_{zone}_joules_total", source="cray-pm-counters"))


def counted(metrics, zone):
    return {labels["source"] for labels, value in metrics.select(f"kepler_node_{zone}_joules_total") if value}


def wait_state(exporter, up):
    began = time.monotonic()
    while (exporter.intervals(1).value("kepler_exporter_source_up", zone="platform") == 1) != up:
        assert time.monotonic() - began < 10, "up" if up else "down"


def main():
    with Sensors(TREE + rapl_zone("intel-rapl:0", "package-0", 250)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=200ms", "--metrics.settle=0s") as exporter:
        exporter.intervals(10)
        work = load("span", SECONDS)
        began, first = sensors.settled(exporter, LAWS)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            balanced(exporter.intervals(2))
            sensors.control(f"{LAW.format('energy')} power {600000000 + int(time.monotonic() * 1e6) % 900000000}")
        load_result(work)
        metrics, last = sensors.settled(exporter, LAWS)
        for law, zone in zip(LAWS, ("platform", "dram")):
            got, want = node_j(metrics, zone) - node_j(began, zone), (last[law][1] - first[law][1]) / 1e6
            print(f"  {zone}: {got:.0f} J, truth {want:.1f}")
            assert abs(got - want) <= 1, zone  # whole joules at both ends
        assert counted(metrics, "package") == {"rapl-sysfs"}, counted(metrics, "package")
        total = {labels["zone"] for labels, _ in metrics.select("kepler_zone_info", in_total="true")}
        assert total == {"package", "dram", "other"}, total
        held = node_j(metrics, "platform")
        # A sample above all plausible power, and one that is never followed by another.
        sensors.control(f"{PM}/energy text 999999 J 77 us")
        wait_state(exporter, False)
        sensors.control(f"{PM}/energy joules {LAW.format('energy')}")
        wait_state(exporter, True)
        sensors.control(f"{PM}/energy text {sensors.truth_uj()[LAW.format('energy')] // 1000000 + 5000} J 78 us")
        wait_state(exporter, False)
        assert balanced(exporter.intervals(5)).value("kepler_exporter_source_up", zone="dram", source="cray-pm-counters") == 1
        sensors.control(f"{PM}/energy joules {LAW.format('energy')}")
        wait_state(exporter, True)
        assert node_j(exporter.intervals(10), "platform") - held < 25 * 1500, "a spike"
        assert exporter.stop() == 0


main()
