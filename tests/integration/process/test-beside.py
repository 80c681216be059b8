#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R56: another instance beside us. Both are right: of the machine, of a service, and of the joules. node_exporter:
test-prometheus.py.
"""
from rig import (Exporter, Sensors, Service, balanced, check_machine, close, load_result, rapl_zone, release_binary, run_tests,
                   seen_with_truth)

ZONE = rapl_zone("intel-rapl:0", "package-0", 45)
SETTINGS = ["--metrics.settle=0s", "--metrics.process.min-joules=0"]


def joules_with_truth(exporter, sensors):
    """The node's joules in a new response, and the least and the most that the sensors can have told when it was made."""
    least = sum(sensors.truth_uj().values()) / 1e6
    metrics = balanced(exporter.intervals(2))  # a pass may be under way
    return float(metrics.sum("kepler_node_package_joules_total")), least, sum(sensors.truth_uj().values()) / 1e6


def look(exporter, sensors):
    return seen_with_truth(exporter), joules_with_truth(exporter, sensors)


def two_instances():
    with Sensors(ZONE) as sensors, Service("kepler-test-beside.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=200ms", *SETTINGS, binary=release_binary()) as one, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=300ms", *SETTINGS, binary=release_binary()) as two:
        before = [look(exporter, sensors) for exporter in (one, two)]
        load_result(service.load("storm", 300, 2, 4))
        for exporter in (one, two):
            service.told(exporter)
        after = [look(exporter, sensors) for exporter in (one, two)]
        for (machine, start), (later, end) in zip(before, after):
            check_machine(machine, later)
            joules, least, most = end[0] - start[0], end[1] - start[2], end[2] - start[1]
            print(f"  {joules:.2f} J, {least:.2f} to {most:.2f} J by the sensors")
            assert least <= joules <= most
        first, second = [service.cpu_seconds(machine[0]) for machine, _ in after]
        close("CPU of the service, s", first, service.ran_s(), 1)
        close("the other's", second, first, 1)
        assert one.stop() == 0 and two.stop() == 0


run_tests([two_instances])
