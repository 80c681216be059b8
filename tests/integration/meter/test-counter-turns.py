#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters that turn within an interval or an outage, and zones that draw more than is thought possible: exact, or told."""
import pathlib
import time

from rig import Exporter, Sensors, rapl_zone

PACKAGE = "class/powercap/intel-rapl:0"
TURN_UJ = 1000000000  # 1 kJ: 3.6 s at 280 W, and 0.5 s at the 2 kW that a package is thought to draw at most
# At 20 MW, a reading is refused however soon after another a busy machine makes it: the limit allows for 100 ms more than passed.
IMPOSSIBLE_RANGE_UJ = 10**18
UP, DROPPED = "kepler_exporter_source_up", "kepler_exporter_source_dropped_total"
SNAPSHOTS = "kepler_exporter_snapshots_total"


def node_uj(metrics, zone="package"):
    return int(metrics.sum(f"kepler_node_{zone}_joules_total") * 1000000)


def truth_uj(sensors):
    """What the package's counter had run when it began to count, at its second reading, and has run now."""
    line = next(line for line in pathlib.Path(sensors.mount, ".truth").read_text().splitlines() if PACKAGE + "/" in line)
    fields = line.split()
    return int(fields[5].removeprefix("second=")), int(fields[1])


def check_turns_in_one_interval():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 280, TURN_UJ)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=10s", "--metrics.settle=0s") as exporter:
        exporter.wait_snapshot()  # the baseline
        time.sleep(8)
        sensors.control(f"{PACKAGE}/energy_uj power 0")
        metrics = exporter.intervals(1)
        assert metrics.sum(UP) == 1 and metrics.sum(DROPPED) == 0, metrics.text
        (first, last), counted = truth_uj(sensors), node_uj(metrics)
        assert abs(counted - (last - first)) <= 1, f"{counted} of {last - first} µJ"
        turns = last // (TURN_UJ + 1) - first // (TURN_UJ + 1)
        assert metrics.sum("kepler_exporter_source_wraps_total") == turns >= 2
        assert not metrics.imbalance_uj()
        assert exporter.stop() == 0


def check_outage(sensors, exporter):
    """Longer than a turn: the energy of the gap is not known, so it is neither guessed nor silently left out."""
    exporter.intervals(2)
    before = node_uj(exporter.scrape())
    assert exporter.scrape().sum(DROPPED, zone="package") == 0
    sensors.control(f"{PACKAGE}/energy_uj errno 5")
    began = time.monotonic()
    exporter.intervals(2)
    held = node_uj(exporter.scrape())
    time.sleep(max(0, began + 4 - time.monotonic()))
    sensors.control(f"{PACKAGE}/energy_uj errno 0")
    metrics = last = exporter.scrape()
    while metrics.sum(DROPPED, zone="package") == 0:
        assert time.monotonic() < began + 60, "nothing was dropped"
        assert metrics.sum(UP, zone="package") == 0 and node_uj(metrics) == held
        time.sleep(0.02)
        last, metrics = metrics, exporter.scrape()
    # On a busy machine the interval that was refused may be over before it is seen.
    if metrics.value(SNAPSHOTS) - last.value(SNAPSHOTS) <= 1:
        assert metrics.sum(UP, zone="package") == 0 and node_uj(metrics) == held, metrics.text
    metrics = exporter.intervals(2)
    assert metrics.sum(UP, zone="package") == 1 and metrics.sum(DROPPED, zone="package") == 1
    assert held - before <= 280000000 * 2 and held < node_uj(metrics) < held + 280000000 * 5


def check_more_than_is_possible(exporter):
    """What no memory draws is refused as long as it lasts, and said once; what a machine with accelerators draws is counted."""
    metrics = exporter.intervals(4)
    assert metrics.sum(UP, zone="dram") == 0 and metrics.sum(DROPPED, zone="dram") >= 3 and node_uj(metrics, "dram") == 0
    assert metrics.sum(UP, zone="psys") == 1 and metrics.sum(DROPPED, zone="psys") == 0 and node_uj(metrics, "psys") > 0
    said = [line for line in exporter.output().splitlines() if "--meter.max-watts" in line]
    assert len(said) == 1 and "dram-0" in said[0], exporter.output()


def main():
    check_turns_in_one_interval()
    lines = rapl_zone("intel-rapl:0", "package-0", 280, TURN_UJ) + rapl_zone("intel-rapl:1", "psys", 2600) + \
        rapl_zone("intel-rapl:0:0", "dram", 20000000, IMPOSSIBLE_RANGE_UJ, parent="intel-rapl:0")
    with Sensors(lines) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=200ms",
                                             "--metrics.settle=0s") as exporter:
        check_outage(sensors, exporter)
        check_more_than_is_possible(exporter)
        assert exporter.stop() == 0
    print("turns within an interval: 0 µJ off; within an outage: dropped and told; impossible power: refused and told")


main()
