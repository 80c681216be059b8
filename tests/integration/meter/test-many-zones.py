#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A machine of 67 sockets and 202 zones: each zone is read and counted, and every page sums, by kind and by zone."""
import time

from rig import Exporter, Sensors, load, load_result, rapl_zone, run_tests

PACKAGES = 67
PARTS = (("uncore", 5), ("dram", 4))  # core is left out on some processors
ZONES = PACKAGES * (1 + len(PARTS)) + 1
OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=1", "--idle.mode=off")


def tree():
    lines = rapl_zone(f"intel-rapl:{PACKAGES}", "psys", 3000)
    for package in range(PACKAGES):
        lines += rapl_zone(f"intel-rapl:{package}", f"package-{package}", 30 + package)
        for number, (name, watts) in enumerate(PARTS):
            lines += rapl_zone(f"intel-rapl:{package}:{number}", name, watts, parent=f"intel-rapl:{package}")
    return lines


def last_page(pages, *options):
    """The last of so many pages, all of which sum, and the rows of a burner that ran meanwhile."""
    with Sensors(tree()) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS, *options) as exporter:
        burner = load("span", 3)
        for _ in range(pages):
            metrics = exporter.intervals(1)
            assert not metrics.imbalance_uj(), metrics.imbalance_uj()
        load_result(burner)
        deadline = time.monotonic() + 60
        while metrics.sum("kepler_exporter_source_up") < ZONES:  # a busy machine may miss one in an interval
            assert time.monotonic() < deadline, f"{metrics.sum('kepler_exporter_source_up')} of {ZONES} zones are up"
            metrics = exporter.intervals(1)
        assert exporter.stop() == 0
    assert metrics.sum("kepler_exporter_zones_left_out") == 0
    for package in range(PACKAGES):
        assert metrics.sum("kepler_node_package_joules_total", package=str(package)) > 0, f"package {package} has no energy"
    own = [labels for labels, _ in metrics.select("kepler_process_package_joules_total", mode="dynamic", pid=str(burner.pid))]
    return metrics, own


def rows_have_a_sum_of_each_kind():
    metrics, own = last_page(5)
    assert len(own) == 1 and "package" not in own[0], own
    total = {labels["zone"] for labels, _ in metrics.select("kepler_zone_info", in_total="true")}
    assert total == {"package", "dram", "other"}, total


def rows_tell_zones_apart():
    _, own = last_page(2, "--metrics.per-package")
    assert {labels["package"] for labels in own} == {str(package) for package in range(PACKAGES)}, own


run_tests([rows_have_a_sum_of_each_kind, rows_tell_zones_apart])
