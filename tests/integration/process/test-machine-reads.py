#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sysfs says of CPUs beside meters: which rule follows from it, and that a file which hangs costs the signal only."""
import time

from rig import Exporter, Sensors, balanced, rapl_zone, run_tests

POLICY = "devices/system/cpu/cpufreq/policy0"
FREQUENCY = f"{POLICY}/scaling_cur_freq"
OPTIONS = ("--monitor.interval=200ms", "--metrics.settle=0s", "--idle.mode=off", "--counters.switches=false")
HANG_MS = 8000


def cpufreq(khz):
    return [f"{POLICY}/affected_cpus text 0 1", f"{FREQUENCY} text {khz}"]


def rule(metrics):
    return [labels["signal"] for labels, _ in metrics.select("kepler_attribution_info", zone="package")]


def a_frequency_is_the_rule():
    """With a policy of cpufreq, and again without: each response adds up."""
    zones = rapl_zone("intel-rapl:0", "package-0", 30)
    with Sensors(zones + cpufreq(2000000)) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        assert rule(balanced(exporter.intervals(3))) == ["frequency-time"]
        sensors.control(f"{FREQUENCY} mask <unknown>")
        assert rule(balanced(exporter.intervals(3))) == ["cpu-time"]
        assert exporter.stop() == 0


def a_file_that_hangs():
    """Intervals go on at their pace."""
    zones = rapl_zone("intel-rapl:0", "package-0", 30)
    with Sensors(zones + cpufreq(2000000)) as sensors:
        with Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS, env={"ASAN_OPTIONS": "detect_leaks=0"}) as exporter:
            exporter.intervals(2)
            sensors.control(f"{FREQUENCY} stall {HANG_MS}")
            began = time.monotonic()
            balanced(exporter.intervals(10))
            took = time.monotonic() - began
            print(f"  10 intervals of 0.2 s in {took:.1f} s")
            assert took < HANG_MS / 1600, took
            assert rule(exporter.scrape()) == ["frequency-time"]  # as it was last known
            sensors.control(f"{FREQUENCY} stall 0")
            assert exporter.stop() == 0  # no process ends before FUSE has answered its thread


if __name__ == "__main__":
    run_tests([a_frequency_is_the_rule, a_file_that_hangs])
