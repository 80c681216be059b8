#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The joules of a process follow its CPU time: against wait4(2), which shares no code with us.

One burner, then many processes of 1 to 50 ms, then both together: the CPU time of each side within 0.5 % of what wait4 says,
and its part of the dynamic energy within 1 % of its part of that CPU time.
"""
import os
import time

from rig import Exporter, Sensors, Service, load_result, rapl_zone

LONG = os.environ.get("KEPLER_LONG_TESTS")
BURN_SECONDS = 30 if LONG else 10
SHORT_COUNT = 10000 if LONG else 800
MIX_SECONDS = 60 if LONG else 15


def energy(metrics, service):
    return float(metrics.sum("kepler_container_package_joules_total", container_name=service.name, mode="dynamic"))


def check(what, got, want, percent):
    error = (got / want - 1) * 100
    print(f"{what}: {got:.4f}, truth {want:.4f}, error {error:+.3f} %")
    assert abs(error) <= percent, f"{what}: {error:+.3f} % is more than {percent} %"


def settled(exporter):
    """After the load ended: its last records are in, and nothing is held back any more."""
    exporter.intervals(2)
    time.sleep(1.2)
    return exporter.intervals(2)


def main():
    options = ["--monitor.interval=1s", "--metrics.settle=1s"]
    # Power follows load: else a process that ends a moment later would get a whole interval's energy for that moment.
    zone = rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)
    with Sensors(zone) as sensors, Service("kepler-test-burner.service") as burner, \
            Service("kepler-test-short.service") as short, \
            Exporter(f"--host.sysfs={sensors.mount}", *options) as exporter:
        _, seconds, _ = load_result(burner.load("burn", BURN_SECONDS))
        check("one burner, CPU s", burner.cpu_seconds(settled(exporter)), seconds, 0.5)

        count, seconds, parent = load_result(short.load("mix", 1, 50, SHORT_COUNT))
        assert count == SHORT_COUNT
        check(f"{count} processes of 1-50 ms, CPU s", short.cpu_seconds(settled(exporter)), seconds + parent, 0.5)

        start = settled(exporter)
        processes = [burner.load("span", MIX_SECONDS), short.load("storm", 50, 5, MIX_SECONDS)]
        truth = [load_result(processes[0])[1], sum(load_result(processes[1])[1:])]
        end = settled(exporter)
        joules = [energy(end, side) - energy(start, side) for side in (burner, short)]
        for name, used, cpu in zip(("burner", "short ones"), joules, truth):
            check(f"mix, share of {name}", used / sum(joules), cpu / sum(truth), 1)
        assert not end.imbalance_uj(), end.imbalance_uj()
        assert exporter.stop() == 0


main()
