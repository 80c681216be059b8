#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Without a meter, the built-in models estimate package and dram beside platform (--model.parts): marked as estimates, and no
more than the platform; with what they leave they are the total; processes share them; kepler doctor says what they are worth."""
import subprocess

from rig import KEPLER, Exporter, Sensors, balanced, run_tests

OPTIONS = ("--idle.mode=learned", "--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0")
SOURCE = "trained_power_model"


def watts(metrics, zone, mode):
    return float(metrics.value(f"kepler_node_{zone}_watts", mode=mode, source=SOURCE))


def contains_its_parts(metrics, level, label, zones):
    """Each row's total is what it was charged for the parts together, and so no less than one of them."""
    total, *parts = ({labels[label]: joules for labels, joules in metrics.select(f"kepler_{level}_{name}joules_total",
                                                                                mode="dynamic", source=SOURCE)}
                     for name in ("", *(f"{zone}_" for zone in zones)))
    assert any(total.values()) and all(row in total for part in parts for row in part), (level, total, parts)
    for row, joules in total.items():
        assert joules == sum(part.get(row, 0) for part in parts), (level, row, joules, parts)


def a_server():
    """Package and dram have idle and dynamic power, whose sums stay within the platform's; with other, they are the total."""
    with Sensors([]) as sensors:
        options = [f"--host.sysfs={sensors.mount}", "--model.machine=vm=false", "--model.parts=all"]
        with Exporter(*OPTIONS, *options) as exporter:
            metrics = balanced(exporter.intervals(4))
            for mode in ("idle", "dynamic"):
                parts_w = watts(metrics, "package", mode) + watts(metrics, "dram", mode)
                assert 0 < parts_w <= 0.95 * watts(metrics, "platform", mode) + 1e-4, (mode, parts_w)
                names = ("kepler_node_joules_total", "kepler_node_platform_joules_total")
                joules = [float(metrics.value(name, mode=mode, source=SOURCE)) for name in names]
                assert joules[0] == joules[1], (mode, joules)
            for level, label in (("process", "pid"), ("container", "container_id")):
                contains_its_parts(metrics, level, label, ("package", "dram", "other"))
            assert metrics.select("kepler_zone_info", zone="other", quality="estimated", in_total="true")
            assert metrics.select("kepler_zone_info", zone="platform", quality="estimated", in_total="false")
            for zone in ("package", "dram"):
                assert metrics.select("kepler_zone_info", zone=zone, quality="estimated", path="rapl-components-1"), zone
                assert metrics.sum(f"kepler_process_{zone}_joules_total", mode="dynamic", source=SOURCE) > 0, zone
            assert exporter.stop() == 0
        said = subprocess.run([KEPLER, "doctor", "--verbose", *options], capture_output=True, text=True, check=False).stdout
        assert 'parts of "platform" are ESTIMATED by model rapl-components-1' in said, said
        assert "dram of this machine" in said, said


def in_a_virtual_machine():
    """Only dynamic energy."""
    options = ("--model.machine=vm=true", "--model.parts=all")
    with Sensors([]) as sensors, Exporter(*OPTIONS, f"--host.sysfs={sensors.mount}", *options) as exporter:
        metrics = balanced(exporter.intervals(3))
        for zone in ("package", "dram"):
            assert watts(metrics, zone, "dynamic") >= 0
            assert not metrics.select(f"kepler_node_{zone}_joules_total", mode="idle"), zone
        assert exporter.stop() == 0


def one_part_or_none():
    """Without the option there is none."""
    for parts, zones in ((["--model.parts=dram"], ["dram"]), ([], [])):
        with Sensors([]) as sensors, Exporter(*OPTIONS, f"--host.sysfs={sensors.mount}", *parts) as exporter:
            metrics = balanced(exporter.intervals(2))
            found = [zone for zone in ("package", "dram", "core") if metrics.select(f"kepler_node_{zone}_joules_total")]
            assert found == zones, (parts, found)
            assert metrics.select("kepler_node_platform_joules_total", source=SOURCE)
            assert exporter.stop() == 0


run_tests([a_server, in_a_virtual_machine, one_part_or_none], at_once=2)
