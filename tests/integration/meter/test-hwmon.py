#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sensors of hwmon beside RAPL: powers that vary are integrated to within 1 % of their law, counters to the microjoule; every
response sums to the node, and a sensor that fails, lies, moves or hangs costs its own source alone (R3 to R5, R10).

An ACPI power meter has its files in hwmonN/device, as up to Linux 6.14; other chips have theirs in hwmonN. Energy that RAPL counts
is not counted again, and a chip that no rule names is listed by doctor.
"""
import os
import re
import subprocess
import time

from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, balanced, close, load, load_result, rapl_zone, run_tests

SECONDS = 600 if os.environ.get("KEPLER_LONG_TESTS") else 12
HWMON = "class/hwmon"
METER = "devices/LNXSYSTM:00/ACPI000D:00"
XGENE = f"{HWMON}/hwmon4/power1_input"
AVERAGE = f"{METER}/power1_average"
COUNTER = f"{HWMON}/hwmon1/energy3_input"
RAPL = "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"
EIO = 5


def chip(number, name, device):
    return [f"{HWMON}/hwmon{number}/name text {name}", f"{HWMON}/hwmon{number}/device link ../../../devices/{device}"]


TREE = (
    # Every machine has such, and it shows no energy.
    chip(0, "coretemp", "platform/coretemp.0") + [f"{HWMON}/hwmon0/temp1_input text 40000"]
    # A socket's counter, and one of a core that is in it.
    + chip(1, "amd_energy", "platform/amd_energy.0")
    + [f"{HWMON}/hwmon1/energy1_label text Ecore000", f"{HWMON}/hwmon1/energy1_input counter 9000000 {1 << 60}",
       f"{HWMON}/hwmon1/energy3_label text Esocket1", f"{COUNTER} counter 30000000 {1 << 60} 5000"]
    + [f"{HWMON}/hwmon2/uevent text", f"{HWMON}/hwmon2/device link ../../../{METER}", f"{METER}/name text power_meter",
       f"{METER}/power1_average_interval text 100", f"{METER}/power1_oem_info text", f"{AVERAGE} gauge 200000000 80000000 11"]
    + chip(4, "apm_xgene", "platform/APMC0D29:00")
    + [f"{HWMON}/hwmon4/power1_label text CPU power", f"{XGENE} gauge 40000000 25000000 7",
       f"{HWMON}/hwmon4/power2_label text IO power", f"{HWMON}/hwmon4/power2_input gauge 5000000"]
    + chip(5, "ina226", "i2c-1/1-0040") + [f"{HWMON}/hwmon5/power1_input gauge 7000000"]
    + rapl_zone("intel-rapl:0", "package-7", 20) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0"))
ZONES = {"platform": AVERAGE, "package-0": XGENE, "package-1": COUNTER}
OPTIONS = ("--monitor.interval=200ms", "--metrics.settle=0s", "--metrics.per-package")


def node_j(metrics, zone):
    kind, _, package = zone.partition("-")
    labels = {"package": package} if package else {}
    return sum(value for _, value in metrics.select(f"kepler_node_{kind}_joules_total", source="hwmon", **labels))


def is_up(metrics, zone, **labels):
    kind, _, package = zone.partition("-")
    if package:
        labels["package"] = package
    return metrics.value("kepler_exporter_source_up", zone=kind, **labels) == 1


def wait_state(exporter, zone, up, seconds=8):
    """How long it took until the zone is up, or down; others are up all the time."""
    began = time.monotonic()
    while True:
        metrics = balanced(exporter.intervals(1))
        assert is_up(metrics, "package-7", source="rapl-sysfs"), "RAPL is disturbed"
        if is_up(metrics, zone, source="hwmon") == up:
            return metrics, time.monotonic() - began
        assert time.monotonic() - began < seconds, f"{zone} is still {'down' if up else 'up'}"


def check_energy(sensors, exporter):
    work = load("span", SECONDS)
    exporter.intervals(1)
    began, first = sensors.settled(exporter, ZONES.values())
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        balanced(exporter.intervals(2))
        sensors.control(f"{COUNTER} power {int(time.monotonic() * 1e6) % 60000000}")
    load_result(work)
    metrics, last = sensors.settled(exporter, ZONES.values())
    for zone, path in ZONES.items():
        got, want = node_j(metrics, zone) - node_j(began, zone), (last[path][1] - first[path][1]) / 1e6
        close(zone, float(got), want, 1)
    whole = int((node_j(metrics, "package-1") - node_j(began, "package-1")) * 1000000)
    assert whole == last[COUNTER][1] - first[COUNTER][1], "a counter is off"
    assert not metrics.select("kepler_exporter_source_dropped_total") or \
        metrics.sum("kepler_exporter_source_dropped_total", source="hwmon") == 0
    total = {(labels["source"], labels["zone"]) for labels, _ in metrics.select("kepler_zone_info", in_total="true")}
    assert total == {("hwmon", "package"), ("rapl-sysfs", "package"), ("rapl-sysfs", "dram"), ("remainder", "other")}, total


def check_fault(sensors, exporter, fault, undo):
    sensors.control(fault)
    held, seconds = wait_state(exporter, "platform", False)
    assert seconds < 2.5, f"down only after {seconds:.1f} s"
    assert is_up(held, "package-0", source="hwmon")
    sensors.control(undo)
    metrics, _ = wait_state(exporter, "platform", True)
    assert node_j(held, "platform") <= node_j(metrics, "platform") <= node_j(held, "platform") + 10 * 280


def check_implausible(sensors, exporter):
    before = exporter.scrape()
    sensors.control(f"{AVERAGE} gauge 50000000000")
    held, _ = wait_state(exporter, "platform", False)
    assert held.sum("kepler_exporter_source_dropped_total", zone="platform") > \
        before.sum("kepler_exporter_source_dropped_total", zone="platform")
    sensors.control(f"{AVERAGE} gauge 100000000")
    metrics, _ = wait_state(exporter, "platform", True)
    assert node_j(metrics, "platform") - node_j(before, "platform") < 20 * 300, "a spike"


def check_move(sensors, exporter):
    sensors.control(f"{HWMON}/hwmon4 rename {HWMON}/hwmon11")
    sensors.control(f"{HWMON}/hwmon5 rename {HWMON}/hwmon4")  # another chip has the number now
    before = exporter.scrape()
    deadline = time.monotonic() + 15
    while True:
        metrics = balanced(exporter.intervals(1))
        grown = node_j(metrics, "package-0") - node_j(before, "package-0")
        if is_up(metrics, "package-0", source="hwmon") and grown > 20:
            break
        assert time.monotonic() < deadline, "the chip was not found under its new number"
    assert grown < 15 * 66, f"{grown} J"
    assert len(metrics.select("kepler_node_package_joules_total", package="0", mode="dynamic")) == 1


def check_stall(sensors, exporter):
    stall_s = 7
    sensors.control(f"{AVERAGE} stall {stall_s * 1000}")
    began, slowest = time.monotonic(), 0
    while time.monotonic() - began < 5:
        at = time.monotonic()
        metrics = exporter.scrape()
        slowest = max(slowest, time.monotonic() - at)
        time.sleep(0.05)
    assert slowest < stall_s / 2, f"a scrape took {slowest:.3f} s"
    assert is_up(metrics, "package-7", source="rapl-sysfs")
    assert not is_up(metrics, "platform", source="hwmon")
    sensors.control(f"{AVERAGE} stall 0")
    wait_state(exporter, "platform", True, seconds=20)


def doctor(sensors, *options):
    """What it says, in one line."""
    command = [KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.state-dir=", f"--host.sysfs={sensors.mount}",
               *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=OTHERS_ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def check_doctor(sensors):
    text = doctor(sensors, "--meter.hwmon=apm_xgene/IO power=none")
    assert "platform is read from power_meter@ACPI000D:00/power1 (hwmon)" in text, text
    assert "ina226@1-0040/power1 is not counted: its meaning depends on the board" in text, text
    assert "--meter.hwmon=ina226@1-0040/power1=ZONE" in text, text
    assert "IO power" not in text and "coretemp" not in text, text


def rapl_takes_precedence_over_a_sensor():
    """RAPL and a sensor count the same socket: RAPL's is charged."""
    tree = chip(0, "amd_energy", "platform/amd_energy.0") + [
        f"{HWMON}/hwmon0/energy1_label text Esocket0", f"{HWMON}/hwmon0/energy1_input counter 30000000 {1 << 60}"]
    with Sensors(tree + rapl_zone("intel-rapl:0", "package-0", 20)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        metrics = balanced(exporter.intervals(15))
        counted = {labels["source"] for labels, value in metrics.select("kepler_node_package_joules_total") if value}
        assert counted == {"rapl-sysfs"}, counted
        while not metrics.select("kepler_zone_deviation_ratio"):
            metrics = balanced(exporter.intervals(1))
        (labels, ratio), = metrics.select("kepler_zone_deviation_ratio")
        assert labels["source"] == "hwmon" and 0.35 < ratio < 0.65, (labels, ratio)
        assert exporter.stop() == 0
        said = doctor(sensors)
        assert "(hwmon); not charged, because a better source measures the same energy" in said, said
        assert re.search(r"it reads [3-6]\d\.\d % more", said), said


def what_is_not_chosen_is_not_read():
    """What --meters does not name is not read, though it is there."""
    tree = chip(0, "apm_xgene", "platform/APMC0D29:00") + [f"{HWMON}/hwmon0/power1_label text CPU power",
                                                           f"{HWMON}/hwmon0/power1_input gauge 40000000"]
    with Sensors(tree + rapl_zone("intel-rapl:0", "package-3", 20)) as sensors:
        for names, sources in (("hwmon", {"hwmon"}), ("rapl-sysfs,nvml", {"rapl-sysfs"}), ("auto", {"hwmon", "rapl-sysfs"})):
            with Exporter(f"--host.sysfs={sensors.mount}", f"--meters={names}", *OPTIONS) as exporter:
                metrics = balanced(exporter.intervals(1))
                assert {labels["source"] for labels, _ in metrics.select("kepler_zone_info")} == sources
                assert exporter.stop() == 0


def each_costs_its_own_source_alone():
    with Sensors(TREE) as sensors:
        check_doctor(sensors)
        with Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
            assert "measured (rapl-sysfs): " in exporter.output() and "(hwmon): " in exporter.output(), exporter.output()
            check_energy(sensors, exporter)
            check_fault(sensors, exporter, f"{AVERAGE} errno {EIO}", f"{AVERAGE} errno 0")
            check_fault(sensors, exporter, f"{AVERAGE} mask abc", f"{AVERAGE} unmask")
            check_implausible(sensors, exporter)
            check_move(sensors, exporter)
            check_stall(sensors, exporter)
            assert exporter.stop() == 0


run_tests([each_costs_its_own_source_alone, rapl_takes_precedence_over_a_sensor, what_is_not_chosen_is_not_read], at_once=3)
