#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sysfs says of CPUs beside meters: which rule follows from it, and that a file which hangs costs the signal only."""
import os
import time

from rig import BUILD, Exporter, Sensors, Service, balanced, close, rapl_zone, run_tests

LOAD = str(BUILD / "tests/lab/load")
POLICY = "devices/system/cpu/cpufreq/policy0"
IDLE = "devices/system/cpu/cpu0/cpuidle"
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


def idle_states_are_shown():
    """By the names that cpuidle has; a machine without has no such series."""
    zones = rapl_zone("intel-rapl:0", "package-0", 30)
    states = ["devices/system/cpu/online text 0", f"{IDLE}/state0/name text C1", f"{IDLE}/state1/name text C6",
              f"{IDLE}/state0/time counter 100000 {2**62} 5000000", f"{IDLE}/state1/time counter 900000 {2**62} 7000000"]
    for more in (states, []):
        with Sensors(zones + more) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
            metrics = balanced(exporter.intervals(2))
            shown = {labels["state"]: value for labels, value in metrics.select("kepler_node_cpu_idle_state_seconds_total")}
            assert shown == ({"C1": 0, "C6": 0} if more else {}), shown
            assert exporter.stop() == 0


def group(path, tasks, rate):
    """A group of resctrl whose counter grows by @rate bytes a second."""
    at = f"fs/resctrl/{path}/" if path else "fs/resctrl/"
    return [f"{at}tasks text {' '.join(map(str, tasks))}", f"{at}mon_data/mon_L3_00/mbm_total_bytes counter {rate} {2**62} 0"]


def joules(metrics, service):
    return float(metrics.sum("kepler_container_dram_joules_total", container_name=service.name))


def traffic_shares_memory():
    """Two burners with the same CPU time; what one moves is four fifths of the traffic, as its group of resctrl counts."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    zones = rapl_zone("intel-rapl:0", "package-0", 30) + rapl_zone("intel-rapl:0:0", "dram", 10, parent="intel-rapl:0")
    with Service("kepler-test-traffic-a.service") as first, Service("kepler-test-traffic-b.service") as second:
        burners = [side.run("taskset", "-c", str(cpu), LOAD, "burn", "120") for side, cpu in zip((first, second), cpus[:1] * 2)]
        try:
            groups = group("", [1], 5000000) + group("mon_groups/a", [burners[0].pid], 4000000) \
                + group("mon_groups/b", [burners[1].pid], 1000000)
            with Sensors(zones + groups) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
                start = balanced(exporter.intervals(4))
                assert [labels["signal"] for labels, _ in start.select("kepler_attribution_info", zone="dram")] \
                    == ["memory-traffic"]
                end = balanced(exporter.intervals(15))
                used = [joules(end, side) - joules(start, side) for side in (first, second)]
                close("the part of the first of both", used[0] / sum(used), 0.8, 3)
                sensors.control("fs/resctrl/mon_groups/b/mon_data/mon_L3_00/mbm_total_bytes mask Unavailable")
                late = balanced(exporter.intervals(3))
                assert [labels["signal"] for labels, _ in late.select("kepler_attribution_info", zone="dram")] == ["cpu-time"]
                assert exporter.stop() == 0
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()


if __name__ == "__main__":
    run_tests([a_frequency_is_the_rule, a_file_that_hangs, traffic_shares_memory, idle_states_are_shown])
