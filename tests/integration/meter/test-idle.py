#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Idle energy: how it is known (off, fixed, learned, a model's) and how it is shared; each policy conserves to the microjoule.

Learning needs a minute of readings, on purpose, and has no short cut here (its rules are tested with made-up readings in
tests/unit/attribution/test-idle.c): learned_and_kept runs only with KEPLER_LONG_TESTS.
"""
import os
import pathlib
import re
import signal
import tempfile
import time

from rig import Exporter, Sensors, balanced, close, load, load_result, rapl_zone, run_tests, snapshots_of

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
FAST = ["--monitor.interval=200ms", "--metrics.settle=500ms", "--metrics.process.min-joules=0"]
LEARNED = ["--idle.mode=learned"]
FIXED = ["--idle.mode=fixed", "--idle.watts=package=10"]
IDLE_W, BUSY_W = 10, 15
NODE = "kepler_node_package_joules_total"


def zones():
    """Two sockets, of which one follows load."""
    return rapl_zone("intel-rapl:0", "package-0", IDLE_W, busy_watts=BUSY_W) + rapl_zone("intel-rapl:1", "package-1", 20)


def watch(exporter, seconds):
    """Every response for so long; the last."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        metrics = balanced(exporter.scrape())
        time.sleep(0.1)
    return metrics


def counters(metrics):
    """(name, labels) → value of every counter."""
    names = {name for name, kind in metrics.types.items() if kind == "counter"}
    return {(name, tuple(sorted(labels.items()))): value for name, labels, value in metrics.samples if name in names}


def none_went_down(before, after):
    now = counters(after)
    for key, value in counters(before).items():
        assert now.get(key, value) >= value, f"{key}: from {value} to {now[key]}"


def idle_state(metrics, package):
    return [labels["idle_state"] for labels, _ in metrics.select("kepler_zone_info", package=package)]


def of_mode_idle(metrics):
    return [(name, labels) for name, labels, _ in metrics.samples if labels.get("mode") == "idle"]


def rows_idle(metrics):
    """Idle energy that processes have, in rows of their own, in "other", retired or held back."""
    return (metrics.sum("kepler_process_package_joules_total", mode="idle")
            + metrics.sum("kepler_process_retired_joules_total", zone="package", mode="idle")
            + metrics.sum("kepler_pending_joules", level="process", zone="package", mode="idle"))


def off():
    """All is dynamic: no idle series at any level."""
    with Sensors(zones()) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *FAST, "--idle.mode=off") as exporter:
        metrics = watch(exporter, 1.5)
        assert idle_state(metrics, "0") == ["off"] and not of_mode_idle(metrics)
        assert metrics.sum(NODE, mode="dynamic") > 0 and exporter.stop() == 0


def seconds_of_fixed_idle():
    """(by the idle energy, by all energy)"""
    with Sensors(zones()) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *FAST, "--idle.mode=fixed",
                                               "--idle.watts=package-1=5") as exporter:
        metrics = watch(exporter, 4)
        assert idle_state(metrics, "0") == ["off"] and idle_state(metrics, "1") == ["fixed"]
        assert not metrics.select(NODE, package="0", mode="idle")
        idle, dynamic = [metrics.value(NODE, package="1", mode=mode) for mode in ("idle", "dynamic")]
        assert metrics.value("kepler_node_idle_estimate_watts", package="1") == 5
        assert exporter.stop() == 0
    seconds = float(idle) / 5, float(idle + dynamic) / 20
    print(f"  seconds by the idle energy {seconds[0]:.6f}, by all energy {seconds[1]:.6f}")
    return seconds


def fixed():
    """What was given, of the zones it was given for, and over exactly the time that was measured.

    The first and the last reading each take their time some microseconds off the counter's, and more where the CPU is taken away
    between the two. What counts wrong does so each time.
    """
    for _ in range(4):
        by_idle, by_all = seconds_of_fixed_idle()
        if abs(by_idle - by_all) < 0.002:
            return
    raise AssertionError("idle energy of more or less than the time that was measured")


def asleep():
    """A process that has begun to sleep."""
    sleeper = load("idle", 1)
    sleeper.stdout.readline()
    return sleeper


def each_share():
    """node, usage, equal and size: the rows that get the idle energy, and that none is lost or made."""
    with Sensors(zones()) as sensors:
        for share in ("node", "usage", "equal", "size"):
            sleeper = asleep() if share in ("usage", "size") else None  # what its start used would count as usage
            with Exporter(f"--host.sysfs={sensors.mount}", *FAST, *FIXED, f"--idle.share={share}") as exporter:
                burner, sleeper = load("span", 1), sleeper or asleep()
                watch(exporter, 1.2)
                load_result(burner)
                metrics = watch(exporter, 0.8)
                idle = metrics.sum(NODE, mode="idle")
                kept = metrics.sum("kepler_node_unattributed_joules_total", mode="idle", reason="idle_policy")
                own = [metrics.sum("kepler_process_package_joules_total", mode="idle", pid=str(process.pid))
                       for process in (burner, sleeper)]
                print(f"  {share}: {idle} J idle, {kept} J with the node, burner {own[0]} J, sleeper {own[1]} J")
                sleeper.kill()
                sleeper.wait()
                assert idle > 0
                if share == "node":
                    assert kept == idle and rows_idle(metrics) == 0
                    assert not metrics.select("kepler_process_package_joules_total", mode="idle")
                else:
                    assert kept == 0 and rows_idle(metrics) > 0
                if share in ("usage", "size"):  # requested sizes are not known before there are pods: as used
                    assert own[0] > 20 * own[1]
                if share == "equal":
                    assert own[1] > 0 and abs(own[0] - own[1]) <= own[1] / 2
                assert exporter.stop() == 0


def reload_moves_nothing():
    """SIGHUP with another policy: what was counted stays, no counter goes down, and an idle series begins with 0."""
    policies = ["{mode: 'off'}", "{mode: fixed, watts: package=10, share: node}", "{mode: fixed, watts: package=25, share: usage}",
                "{mode: fixed, watts: package=4, share: equal}", "{mode: learned}", "{mode: 'off'}"]
    with Sensors(zones()) as sensors, tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        path = pathlib.Path(file.name)
        path.write_text(f"idle: {policies[0]}\n")
        with Exporter(f"--host.sysfs={sensors.mount}", *FAST, f"--config.file={path}") as exporter:
            before, born = watch(exporter, 1), False
            for number, policy in enumerate(policies[1:], 1):
                path.write_text(f"idle: {policy}\n")
                exporter.process.send_signal(signal.SIGHUP)
                deadline, judged, idle_at_first = time.monotonic() + 60, None, None
                while judged is None or snapshots_of(before.text) < judged:
                    assert time.monotonic() < deadline, exporter.output()
                    after = balanced(exporter.scrape())
                    none_went_down(before, after)
                    if not born and after.select(NODE, mode="idle"):
                        born = True
                        assert after.sum(NODE, mode="idle") == 0, "the idle series was born with energy"
                    if judged is None and after.value("kepler_exporter_config_reloads_total", result="success") == number:
                        judged, idle_at_first = snapshots_of(after.text) + 6, after.sum(NODE, mode="idle")
                    before = after
                    time.sleep(0.05)
                flows = after.sum(NODE, mode="idle") > idle_at_first
                assert flows == ("off" not in policy), f"{policy}: idle energy {'flows' if flows else 'stands still'}"
            assert exporter.stop() == 0


def bound_from_the_start():
    """Before anything is learned: a part of what was measured is kept off processes, and no more than all of it."""
    with Sensors(zones()) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *FAST, *LEARNED) as exporter:
        first = exporter.intervals(1)
        assert idle_state(first, "1") == ["provisional"] and first.select(NODE, mode="idle")
        metrics = watch(exporter, 2)
        none_went_down(first, metrics)
        assert idle_state(metrics, "1") == ["provisional"]
        bound = metrics.value("kepler_node_idle_estimate_watts", package="1")
        assert 0 < bound < 20.1, f"{bound} W of a zone that draws 20 W"
        assert metrics.sum(NODE, mode="idle") > 0 and rows_idle(metrics) == 0
        assert b" (provisional)" in exporter.get("/")[2]
        assert exporter.stop() == 0


def vm_has_none():
    """Without a meter in a virtual machine: an estimate of dynamic energy only, whatever the policy."""
    if not re.search(r"^flags\s*:.*\bhypervisor\b", pathlib.Path("/proc/cpuinfo").read_text(), re.M):
        print("  not a virtual machine: nothing to test")
        return
    with Exporter(*FAST, "--meter.enabled=false", "--idle.mode=fixed", "--idle.watts=platform=5") as exporter:
        metrics = watch(exporter, 2)
        zone = metrics.select("kepler_zone_info")[0][0]
        assert zone["idle_state"] == "absent" and zone["scope"] == "vm_dynamic", zone
        assert not of_mode_idle(metrics)
        assert metrics.sum("kepler_node_platform_joules_total", mode="dynamic", source="trained_power_model") > 0
        assert exporter.stop() == 0


def learned_and_kept():
    """Learned within 5 % over a minute of changing load; a restart keeps it; half a state file is no state."""
    if not LONG:
        print("  needs over a minute: only with KEPLER_LONG_TESTS")
        return
    with Sensors(zones()) as sensors, tempfile.TemporaryDirectory() as state:
        options = [f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s", f"--host.state-dir={state}",
                   *LEARNED]
        with Exporter(*options) as exporter:
            metrics, began = exporter.scrape(), time.monotonic()
            assert idle_state(metrics, "0") == ["provisional"]
            while idle_state(metrics, "0") == ["provisional"] and time.monotonic() < began + 200:
                burner = load("span", 4)
                metrics = watch(exporter, 8)
                load_result(burner)
            print(f"  learned after {time.monotonic() - began:.0f} s")
            assert time.monotonic() - began >= 60, "learned from too little"
            metrics = watch(exporter, 5)
            assert idle_state(metrics, "0") == ["learned"]
            learned = metrics.value("kepler_node_idle_estimate_watts", package="0")
            close("idle power, W", float(learned), IDLE_W, 5)
            assert idle_state(metrics, "1") == ["provisional"], "ten minutes show that it is flat"
            assert metrics.sum(NODE, mode="idle") > 0 and exporter.stop() == 0
        with Exporter(*options) as exporter:
            metrics = exporter.intervals(1)  # zones are known, and get what was kept, with the first
            assert idle_state(metrics, "0") == ["learned"], "forgotten"
            again = metrics.value("kepler_node_idle_estimate_watts", package="0")
            assert abs(again - learned) <= learned / 20, f"{learned} W before, {again} W after the restart"
            assert watch(exporter, 4).sum(NODE, mode="idle") > 0 and exporter.stop() == 0
        file = next(pathlib.Path(state).iterdir())
        file.write_bytes(file.read_bytes()[:-20])
        with Exporter(*options) as exporter:
            assert idle_state(exporter.intervals(1), "0") == ["provisional"] and "learned again" in exporter.output()
            assert exporter.stop() == 0


run_tests([off, fixed, each_share, reload_moves_nothing, bound_from_the_start, vm_has_none, learned_and_kept])
