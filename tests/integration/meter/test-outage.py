#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A zone that cannot be read for a while: what flowed meanwhile goes to what ran meanwhile, not to what ran last.

While package and dram give errors, three services take turns; the first ends for good with its turn, and the last one runs when the
zones come back. Each must get as many joules for a CPU-second as the others, by its cgroup's own account, and all that the zones
counted must be there. With KEPLER_LONG_TESTS the outage takes a minute.
"""
import os
import time

from rig import Exporter, Sensors, Service, rapl_zone

TURN_S = 20 if os.environ.get("KEPLER_LONG_TESTS") else 3
WATTS = {"package": 45, "dram": 5}
RANGE_UJ = 1 << 50  # a counter that may have turned meanwhile is refused, which is another test's
ZONES = (rapl_zone("intel-rapl:0", "package-0", WATTS["package"], max_uj=RANGE_UJ)
         + rapl_zone("intel-rapl:0:0", "dram", WATTS["dram"], max_uj=RANGE_UJ, parent="intel-rapl:0"))
FILES = ("class/powercap/intel-rapl:0/energy_uj", "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj")
EIO = 5
OPTIONS = ("--monitor.interval=200ms", "--metrics.settle=0s", "--idle.mode=off")


def joules(metrics, zone, service):
    return float(metrics.sum(f"kepler_container_{zone}_joules_total", container_name=service.name))


def take_turns(services):
    """The first one's process is gone before the others' begin."""
    for service in services:
        burner = service.load("burn", TURN_S)
        burner.stdout.read()
        burner.wait()


def main():
    with Sensors(ZONES) as sensors, Service("kepler-test-turn0.service") as first, \
            Service("kepler-test-turn1.service") as second, Service("kepler-test-turn2.service") as third, \
            Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        services = (first, second, third)
        exporter.intervals(3)
        for path in FILES:
            sensors.control(f"{path} errno {EIO}")
        began = time.monotonic()
        exporter.intervals(2)
        take_turns(services)
        for service in services:
            service.told(exporter)
        down = exporter.intervals(1)
        assert all(not down.value("kepler_exporter_source_up", zone=zone) for zone in WATTS)
        assert all(joules(down, zone, service) == 0 for zone in WATTS for service in services)
        lasted_s = time.monotonic() - began
        for path in FILES:
            sensors.control(f"{path} errno 0")
        up = exporter.intervals(3)
        assert all(up.value("kepler_exporter_source_up", zone=zone) for zone in WATTS)
        assert not up.imbalance_uj()
        for zone in WATTS:
            grown = float(up.sum(f"kepler_node_{zone}_joules_total") - down.sum(f"kepler_node_{zone}_joules_total"))
            per_second = [joules(up, zone, service) / service.ran_s() for service in services]
            mean = sum(joules(up, zone, service) for service in services) / sum(service.ran_s() for service in services)
            print(f"{zone}: {grown:.1f} J; J per CPU-second {[f'{one:.3f}' for one in per_second]}")
            assert grown >= WATTS[zone] * lasted_s, "energy of the outage is missing"
            assert all(abs(one / mean - 1) <= 0.01 for one in per_second), "not as the services ran"
        assert exporter.stop() == 0


main()
