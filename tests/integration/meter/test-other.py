#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the meter of the machine counts and none of its parts does: it is the rest to within the meters' steps, makes the total with
the parts, goes to what used them, whatever part that was, and waits while the meter of the machine cannot be read."""
import contextlib
import pathlib
import subprocess
import tempfile
import time

from rig import BUILD, Exporter, Sensors, balanced, close, load, load_result, rapl_zone, run_tests

HWMON = "class/hwmon/hwmon0"
AVERAGE = f"{HWMON}/power1_average"
OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--idle.mode=off")
GPU = "GPU-00000000-0000-4000-8000-000000000000"
PLATFORM_W, PACKAGE_W, GPU_W = 1000, 50, 350


def tree(platform_w=PLATFORM_W):
    return ([f"{HWMON}/name text power_meter", f"{HWMON}/device link ../../../devices/LNXSYSTM:00/ACPI000D:00",
             f"{HWMON}/power1_average_interval text 1000", f"{AVERAGE} gauge {platform_w * 10**6}"]
            + rapl_zone("intel-rapl:0", "package-0", PACKAGE_W))


@contextlib.contextmanager
def machine(*gpus, platform_w=PLATFORM_W, options=()):
    with tempfile.TemporaryDirectory(prefix="kepler-other-") as folder:
        state = pathlib.Path(folder, "state")
        state.write_text("".join(line + "\n" for line in gpus))
        lab = {"NVML_LAB_STATE": str(state)}
        library = f"--meter.nvml-library={BUILD}/tests/lab/nvml.so" if gpus else "--meter.nvml-library="
        with Sensors(tree(platform_w)) as sensors, \
                Exporter(f"--host.sysfs={sensors.mount}", library, *OPTIONS, *options, env=lab) as exporter:
            yield sensors, exporter
            assert exporter.stop() == 0


def node_j(metrics, zone):
    return float(metrics.sum(f"kepler_node_{zone}_joules_total"))


def process_j(metrics, pid, zone):
    return float(metrics.sum(f"kepler_process_{zone}_joules_total", pid=str(pid)))


def after(exporter, zone, joules, seconds=30):
    """The first page on which the zone has so much; all until then sum."""
    deadline = time.monotonic() + seconds
    while True:
        metrics = balanced(exporter.intervals(1))
        if node_j(metrics, zone) >= joules:
            return metrics
        assert time.monotonic() < deadline, metrics.text


def it_is_what_is_left():
    with machine() as (_, exporter):
        work = load("span", 14)
        began = after(exporter, "other", 1)
        metrics = after(exporter, "other", 8000)
        left = node_j(metrics, "other") - node_j(began, "other")
        part = node_j(metrics, "package") - node_j(began, "package")
        close("the rest over the package", left / part, (PLATFORM_W - PACKAGE_W) / PACKAGE_W, 12)
        whole = node_j(metrics, "platform") - node_j(began, "platform")
        close("the parts and the rest over the platform", (left + part) / whole, 1, 12)
        total = {labels["zone"] for labels, _ in metrics.select("kepler_zone_info", in_total="true")}
        assert total == {"package", "other"}, total
        sources = {labels["source"] for labels, _ in metrics.select("kepler_node_other_joules_total")}
        assert sources == {"remainder"}, sources
        assert metrics.value("kepler_node_info", platform_power_source="hwmon") == 1
        load_result(work)


def it_goes_to_what_used_the_parts():
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        with machine(f"gpu 0 {GPU_W * 1000}", f"proc 0 {sleeper.pid} 100 3000") as (_, exporter):
            work = load("span", 12)
            began = after(exporter, "other", 1)
            metrics = after(exporter, "other", 5000)
            parts = {pid: sum(process_j(metrics, pid, zone) - process_j(began, pid, zone) for zone in ("package", "gpu"))
                     for pid in (sleeper.pid, work.pid)}
            left = {pid: process_j(metrics, pid, "other") - process_j(began, pid, "other") for pid in parts}
            assert process_j(metrics, sleeper.pid, "package") == 0 and parts[sleeper.pid] > 1000
            close("the rest, as the parts", left[sleeper.pid] / left[work.pid], parts[sleeper.pid] / parts[work.pid], 12)
            assert metrics.sum("kepler_node_gpu_joules_total", package=GPU) > 0
            load_result(work)
    finally:
        sleeper.kill()
        sleeper.wait()


def parts_that_count_more_leave_nothing():
    with machine(platform_w=PACKAGE_W - 10) as (_, exporter):
        metrics = after(exporter, "package", 500)
        assert node_j(metrics, "other") == 0, node_j(metrics, "other")
        assert metrics.select("kepler_node_other_joules_total"), "it is there, and 0"


def it_waits_for_a_meter_that_fails():
    with machine() as (sensors, exporter):
        after(exporter, "other", 1000)
        sensors.control(f"{AVERAGE} errno 5")
        deadline = time.monotonic() + 20
        while True:
            down = balanced(exporter.intervals(1))
            if down.value("kepler_exporter_source_up", zone="other") == 0:
                break
            assert time.monotonic() < deadline, down.text
        later = balanced(exporter.intervals(4))
        assert node_j(later, "other") == node_j(down, "other") and node_j(later, "package") > node_j(down, "package")
        sensors.control(f"{AVERAGE} errno 0")
        after(exporter, "other", node_j(later, "other") + 1000)


def without_packages_there_is_none():
    with machine(options=("--meters=hwmon",)) as (_, exporter):
        metrics = after(exporter, "platform", 1000)
        assert not metrics.select("kepler_node_other_joules_total")


run_tests([it_is_what_is_left, it_goes_to_what_used_the_parts, parts_that_count_more_leave_nothing, it_waits_for_a_meter_that_fails,
           without_packages_there_is_none], at_once=3)
