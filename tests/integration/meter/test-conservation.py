#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every response sums to the meter, to the microjoule, over 1,000 wraps, and the meter's own truth agrees to 0 µJ.

Forty-eight zones of sixteen sockets wrap more than once a second each. Their power is 0 while the exporter takes its baseline and
again at the end, so that its totals must equal what the simulated counters say they gave, exactly. A zone that this machine kept
from being read for 0.7 s may have turned unseen: then it says so, and less was counted, never more.
"""
import time

from rig import Exporter, Sensors, load, load_result, rapl_zone, run_tests

SOCKETS = 16
ZONES = ("uncore", "dram")
RANGE_UJ = 48_000_000
MAX_WATTS = 70  # a little more than any zone draws: a reading every 0.68 s cannot miss a turn
SECONDS = 18


def current_names(lines, *options):
    """A page of today's names alone, of processes that end: no total loses what was retired, be it idle or estimated."""
    with Sensors(lines) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--metrics.schema=current",
                                             "--monitor.interval=100ms", "--metrics.settle=200ms", "--metrics.keep=500ms",
                                             "--metrics.process.min-joules=0", *options) as exporter:
        exporter.intervals(2)
        for _ in range(4):
            load_result(load("span", 1))
            metrics = exporter.intervals(2)
            assert not metrics.imbalance_uj(), metrics.imbalance_uj()
        metrics = exporter.intervals(10)
        assert not metrics.imbalance_uj(), metrics.imbalance_uj()
        rows = metrics.select("kepler_process_retired_joules_total")
        retired = {(labels["source"], labels["mode"]) for labels, value in rows if value}
        assert retired, "nothing was retired: the test tests nothing"
        assert exporter.stop() == 0
        return retired


def idle_is_retired():
    idle = current_names(rapl_zone("intel-rapl:0", "package-0", 45), "--idle.share=equal", "--idle.mode=fixed",
                         "--idle.watts=package=10")
    assert ("rapl-sysfs", "idle") in idle, idle


def the_estimate_is_retired():
    estimated = current_names([])
    assert ("trained_power_model", "dynamic") in estimated, estimated


def to_the_microjoule():
    lines, paths = [], {}
    for socket in range(SOCKETS):
        top = f"intel-rapl:{socket}"
        lines += rapl_zone(top, f"package-{socket}", 0, RANGE_UJ, start_uj=RANGE_UJ - 1000)
        paths[("package", str(socket))] = f"class/powercap/{top}/energy_uj"
        for number, zone in enumerate(ZONES):
            lines += rapl_zone(f"{top}:{number}", zone, 0, RANGE_UJ + socket, parent=top)
            paths[(zone, str(socket))] = f"class/powercap/{top}/{top}:{number}/energy_uj"
    with Sensors(lines) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=100ms",
                                             f"--meter.max-watts={MAX_WATTS}", "--metrics.settle=1s", "--metrics.keep=2s",
                                             "--metrics.process.min-joules=5") as exporter:
        exporter.intervals(2)
        before = sensors.truth_uj()
        storm = load("storm", 50, 5, SECONDS)
        for number, path in enumerate(paths.values()):
            sensors.control(f"{path} power {56_000_000 + 250_003 * number}")
        deadline, responses = time.monotonic() + SECONDS, 0
        while time.monotonic() < deadline:
            metrics = exporter.scrape()
            assert not metrics.imbalance_uj(), metrics.imbalance_uj()
            responses += 1
            time.sleep(0.3)
        for path in paths.values():
            sensors.control(f"{path} power 0")
        load_result(storm)
        metrics = exporter.intervals(3)
        after = sensors.truth_uj()
        assert not metrics.imbalance_uj(), metrics.imbalance_uj()
        refused = 0
        for (zone, package), path in paths.items():
            counted = metrics.sum(f"kepler_node_{zone}_joules_total", package=package) * 1000000
            true = after[path] - before[path]
            if metrics.sum("kepler_exporter_source_dropped_total", zone=zone, package=package) and counted < true:
                refused += 1
                continue
            assert counted == true, f"{zone}-{package}: counted {counted} µJ, true {true} µJ"
        parts = sum(metrics.sum(f"kepler_node_{zone}_joules_total") for zone in ("package", "dram"))  # uncore is in a package
        assert metrics.sum("kepler_node_joules_total") == parts, f"the total is not {parts} J"
        missed = metrics.sum("kepler_exporter_intervals_missed_total")  # of 0.1 s: the exporter itself was kept from its CPU
        assert refused <= len(paths) / 8 or missed, f"{refused} zones were not read for 0.68 s, and no interval was late"
        wraps = metrics.sum("kepler_exporter_source_wraps_total")
        assert wraps >= 1000 * (len(paths) - refused) / len(paths), f"only {wraps} wraps"
        print(f"{responses} responses and {wraps} wraps, {missed} intervals late; "
              f"0 µJ off in {len(paths) - refused} of {len(paths)} zones")
        assert exporter.stop() == 0


run_tests([to_the_microjoule])
run_tests([idle_is_retired, the_estimate_is_retired], at_once=2)
