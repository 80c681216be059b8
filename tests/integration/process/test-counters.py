#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R14: events of the processor that are not there, not permitted, or there in part. Energy is shared by the best rule that is left,
at last by CPU time; a metric, the log and doctor say which. Counters that are shared, and CPUs that come back:
tests/guest/arm64-counters.sh.
"""
import ctypes
import os
import pathlib
import subprocess

from rig import KEPLER, Exporter, Sensors, balanced, rapl_zone, run_tests, skip

ZONE = rapl_zone("intel-rapl:0", "package-0", 45)
PMUS = pathlib.Path("/sys/bus/event_source/devices")
CAP_SYS_ADMIN, CAP_PERFMON = 21, 38
NO_SUCH = "1:99"  # software events have no such number


def rule(metrics):
    """The signal that the package's energy is shared by."""
    (labels, _), = metrics.select("kepler_attribution_info", zone="package")
    return labels["signal"]


def counters(metrics):
    return metrics.value("kepler_exporter_counters")


def run(sensors, *args, **how):
    return Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=200ms", *args, **how)


def without_a_pmu():
    if (PMUS / "cpu").exists():
        print("  not possible here: there is a PMU")
        return
    with Sensors(ZONE) as sensors, run(sensors, "--counters.enabled=true") as exporter:
        metrics = balanced(exporter.intervals(2))
        assert (counters(metrics), rule(metrics)) == (0, "cpu-time"), metrics.select("kepler_attribution_info")
        assert not metrics.select("kepler_node_cpu_cycles_total"), "absent is not 0"
        assert "this processor, or this virtual machine, has no such event" in exporter.output(), exporter.output()
        assert exporter.stop() == 0


def some_events():
    """cpu-clock stands for cycles: it is counted, the other is named, and the rule is the best that needs no more."""
    events = ["--counters.cycles=cpu-clock", f"--counters.cache-misses={NO_SUCH}", "--counters.instructions=none",
              "--counters.ref-cycles=none"]
    with Sensors(ZONE) as sensors, run(sensors, *events) as exporter:
        metrics = balanced(exporter.intervals(2))
        if metrics.select("kepler_exporter_activity_reader_info", reader="procfs"):
            skip("BPF is refused here")
        assert (counters(metrics), rule(metrics)) == (1, "cycles"), metrics.select("kepler_attribution_info")
        assert not metrics.select("kepler_node_cache_miss_total")
        assert f"cache-misses ({NO_SUCH}): this processor" in exporter.output(), exporter.output()
        assert exporter.stop() == 0
    doctor = subprocess.run([KEPLER, "doctor", "--verbose", *events], capture_output=True, text=True, check=False,
                            timeout=60).stdout
    assert f"cache-misses ({NO_SUCH})" in doctor, doctor


def drop_privilege():
    """In the child, before it runs Kepler: neither capability can be had any more."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (CAP_SYS_ADMIN, CAP_PERFMON):
        if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            os._exit(1)


def not_permitted():
    """Without the capabilities there are no events and no BPF: CPU time from /proc."""
    with Sensors(ZONE) as sensors, run(sensors, "--counters.enabled=true", "--counters.cycles=cpu-clock",
                                       preexec=drop_privilege) as exporter:
        metrics = balanced(exporter.intervals(2))
        assert rule(metrics) == "cpu-time", metrics.select("kepler_attribution_info")
        assert not metrics.select("kepler_node_cpu_cycles_total")
        assert "CAP_PERFMON" in exporter.output(), exporter.output()
        assert exporter.stop() == 0


run_tests([without_a_pmu, some_events, not_permitted])
