#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sensors that reset, vanish, return elsewhere, lie or hang (R2 to R5): the others go on, nothing jumps, all is counted."""
import time

from rig import Exporter, Sensors, rapl_zone, run_tests

PACKAGE = "class/powercap/intel-rapl:0/energy_uj"
DRAM = "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"
MAX_POWER_W = 60


def node(metrics, zone):
    return float(metrics.sum(f"kepler_node_{zone}_joules_total"))


def up(metrics, zone):
    return metrics.value("kepler_exporter_source_up", zone=zone) == 1


def followed(exporter, count):
    """As exporter.intervals(); what the package draws is told in no response on the way, or is more than nothing: it draws 45 W."""
    metrics = exporter.scrape()
    last = metrics.value("kepler_exporter_snapshots_total") + count
    while metrics.value("kepler_exporter_snapshots_total") < last:
        metrics = exporter.wait_snapshot(metrics.value("kepler_exporter_snapshots_total"))
        watts = [value for _, value in metrics.select("kepler_node_package_watts")]
        assert not watts or sum(watts) > 0, "0 W where it is not known"
    return metrics


def check_reset(sensors, exporter):
    before = node(exporter.scrape(), "package")
    began = time.monotonic()
    sensors.control(f"{PACKAGE} jump 0")
    metrics = exporter.intervals(3)
    grown, seconds = node(metrics, "package") - before, time.monotonic() - began
    assert grown <= MAX_POWER_W * (seconds + 0.5), f"a reset made {grown} J in {seconds:.1f} s"
    assert metrics.sum("kepler_exporter_source_dropped_total", zone="package") >= 1
    assert up(metrics, "package")


def check_text(sensors, exporter, fault, undo):
    sensors.control(f"{PACKAGE} {fault}")
    metrics = exporter.intervals(2)
    assert not up(metrics, "package") and up(metrics, "dram"), fault
    assert not metrics.imbalance_uj()
    held = node(metrics, "package")
    sensors.control(f"{PACKAGE} {undo}")
    metrics = exporter.intervals(3)  # one may be under way, and a counter that starts again is refused for one
    assert up(metrics, "package"), fault
    assert node(metrics, "package") >= held


def check_vanish(sensors, exporter):
    sensors.control("class/powercap/intel-rapl:0 rename class/powercap/intel-rapl:7")
    sensors.control("class/powercap/intel-rapl:7/energy_uj errno 0")
    metrics = followed(exporter, 3)
    assert up(metrics, "package"), "the zone was not found under its new number"
    assert len(metrics.select("kepler_node_package_joules_total", mode="dynamic")) == 1
    sensors.control("class/powercap/intel-rapl:7 rename gone")
    metrics = followed(exporter, 3)
    assert not up(metrics, "package")
    held = node(metrics, "package")
    sensors.control("gone rename class/powercap/intel-rapl:0")
    metrics = followed(exporter, 3)
    assert up(metrics, "package") and node(metrics, "package") >= held
    assert not metrics.imbalance_uj()


def check_stall(sensors, exporter):
    stall_s = 4
    sensors.control(f"{PACKAGE} stall {stall_s * 1000}")
    time.sleep(1)
    slowest, sequence = 0, set()
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        began = time.monotonic()
        metrics = exporter.scrape()
        slowest = max(slowest, time.monotonic() - began)
        sequence.add(metrics.value("kepler_exporter_snapshots_total"))
        time.sleep(0.05)
    assert slowest < stall_s / 2, f"a scrape took {slowest:.3f} s"
    assert len(sequence) >= 4, "the loop stood still"
    assert up(metrics, "dram") and not up(metrics, "package")
    sensors.control(f"{PACKAGE} stall 0")
    time.sleep(4)
    assert up(exporter.intervals(2), "package")


def power_sources(metrics):
    """Of the node's parts, and of the whole."""
    (labels, _), = metrics.select("kepler_node_info")
    return labels["components_power_source"], labels["platform_power_source"]


def psys_alone():
    """psys is the whole machine's, and no part of it."""
    with Sensors(rapl_zone("intel-rapl:0", "psys", 60)) as sensors, Exporter(f"--host.sysfs={sensors.mount}") as exporter:
        assert power_sources(exporter.scrape()) == ("", "rapl-sysfs"), power_sources(exporter.scrape())
        assert exporter.stop() == 0


def taken_over(exporter):
    """Waits until a meter counts: its series begin with 0, and the estimate has ended."""
    deadline, seen = time.monotonic() + 60, []
    while not seen or seen[-1] <= 0:
        assert time.monotonic() < deadline, "the meter was not found"
        metrics = exporter.intervals(1)
        assert not metrics.imbalance_uj()
        if metrics.select("kepler_node_package_joules_total"):
            seen.append(node(metrics, "package"))
    assert seen[0] == 0, "its series did not begin with 0"
    estimated = node(metrics, "platform")
    metrics = exporter.intervals(5)
    assert node(metrics, "platform") == estimated and node(metrics, "package") > seen[-1]
    assert power_sources(metrics) == ("rapl-sysfs", ""), power_sources(metrics)
    assert not metrics.select("kepler_exporter_source_up", zone="platform") and up(metrics, "package")
    assert "found meters" in exporter.output() and "measured energy counts from now on: measured" in exporter.output()


def check_found_later(lines, hide, show, searching):
    """A meter whose driver comes after the exporter, or is slow: it takes over from the estimate, under its own names."""
    with Sensors(lines) as sensors:
        sensors.control(hide)
        with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=100ms", "--metrics.settle=1s",
                      "--meter.read-deadline=1s") as exporter:
            metrics = exporter.intervals(5)
            assert not metrics.select("kepler_node_package_joules_total") and node(metrics, "platform") > 0
            assert power_sources(metrics) == ("", "trained_power_model"), power_sources(metrics)
            assert metrics.value("kepler_exporter_meters_searching") == searching
            assert ("the search for meters has not finished" in exporter.output()) == bool(searching)
            sensors.control(show)
            taken_over(exporter)
            assert exporter.scrape().value("kepler_exporter_meters_searching") == 0
            assert exporter.stop() == 0


def check_found_but_refused(lines, driver):
    """A late meter that may not be read: it is said why, and the estimate goes on under its own name."""
    with Sensors(lines) as sensors:
        sensors.control(f"{driver}/energy_uj errno 13")
        sensors.control(f"{driver} rename gone")
        with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=100ms", "--metrics.settle=0s") as exporter:
            exporter.intervals(5)
            sensors.control(f"gone rename {driver}")
            deadline = time.monotonic() + 60
            while "energy of package-0 (" not in exporter.output():
                assert time.monotonic() < deadline, exporter.output()
                time.sleep(0.1)
            metrics = exporter.intervals(5)
            said = next(line for line in exporter.output().splitlines() if "energy of package-0 (" in line)
            assert "Permission denied" in said and "security module" in said, said  # root has the capability
            assert "measured energy counts" not in exporter.output()
            before = node(metrics, "platform")
            metrics = exporter.intervals(3)
            assert node(metrics, "platform") > before and up(metrics, "platform")
            # A meter that never gave a value has no series, of 0 J or otherwise.
            assert not metrics.select("kepler_exporter_source_up", zone="package")
            assert not metrics.select("kepler_node_package_joules_total")
            assert metrics.value("kepler_exporter_zones_without_value") == 1
            assert exporter.stop() == 0


LINES = rapl_zone("intel-rapl:0", "package-0", 45, start_uj=1000000) + \
    rapl_zone("intel-rapl:0:0", "dram", 5, 65712999613, parent="intel-rapl:0")
DRIVER = "class/powercap/intel-rapl:0"


def the_others_go_on():
    with Sensors(LINES) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=200ms",
                                             "--meter.read-deadline=1s") as exporter:
        exporter.intervals(2)
        check_reset(sensors, exporter)
        for error in (5, 13, 1, 22):  # EIO, EACCES, EPERM, EINVAL
            check_text(sensors, exporter, f"errno {error}", "errno 0")
        for text in ("abc", "", "99999999999999999999"):
            check_text(sensors, exporter, f"text {text}", "counter 45000000 262143328850 5000000")
        check_vanish(sensors, exporter)
        check_stall(sensors, exporter)
        assert exporter.stop() == 0


def found_later():
    check_found_later(LINES, f"{DRIVER} rename gone", f"gone rename {DRIVER}", 0)


def found_slowly():
    check_found_later(LINES, f"{DRIVER}/name stall 15000", f"{DRIVER}/name stall 0", 1)


def found_but_refused():
    check_found_but_refused(rapl_zone("intel-rapl:0", "package-0", 45), DRIVER)


run_tests([the_others_go_on, found_slowly, found_later, found_but_refused, psys_alone], at_once=3)
