#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A meter of the whole machine that reads less than its parts: the totals are never less than a part that is charged in them, and
metrics, log and doctor say which meter it is."""
import contextlib
import pathlib
import subprocess
import tempfile
import time

from rig import BUILD, KEPLER, Exporter, Sensors, balanced, close, load, load_result, rapl_zone, run_tests

HWMON = "class/hwmon/hwmon0"
OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--idle.mode=off")
SUMMED = ("package", "dram", "gpu", "other")


def platform(watts):
    return [f"{HWMON}/name text power_meter", f"{HWMON}/device link ../../../devices/LNXSYSTM:00/ACPI000D:00",
            f"{HWMON}/power1_average_interval text 1000", f"{HWMON}/power1_average gauge {watts * 10**6}"]


@contextlib.contextmanager
def machine(tree, *gpus, options=()):
    """The sensors, an exporter, and the arguments of both for another program."""
    with tempfile.TemporaryDirectory(prefix="kepler-wholes-") as folder:
        state = pathlib.Path(folder, "state")
        state.write_text("".join(line + "\n" for line in gpus))
        lab = {"NVML_LAB_STATE": str(state)}
        library = f"--meter.nvml-library={BUILD}/tests/lab/nvml.so" if gpus else "--meter.nvml-library="
        with Sensors(tree) as sensors:
            where = (f"--host.sysfs={sensors.mount}", library, *OPTIONS, *options)
            with Exporter(*where, env=lab) as exporter:
                yield sensors, exporter, where
                assert exporter.stop() == 0


def node_j(metrics, zone):
    return float(metrics.sum(f"kepler_node_{zone}_joules_total"))


def in_total(metrics):
    return {labels["zone"] for labels, _ in metrics.select("kepler_zone_info", in_total="true")}


def no_part_is_more_than_its_total(metrics):
    """Of the node, and of each row, by all its labels but the source, the zone's and the mode."""
    for level in ("node", "process", "container", "namespace"):
        totals, parts = {}, {}
        for sums, names in ((totals, [""]), (parts, [f"{zone}_" for zone in SUMMED])):
            for name in names:
                for labels, value in metrics.select(f"kepler_{level}_{name}joules_total"):
                    key = frozenset((k, v) for k, v in labels.items() if k not in ("source", "package", "mode", "gpu"))
                    sums[key] = sums.get(key, 0) + value
        assert totals and all(totals[key] == parts.get(key) for key in totals), (level, totals, parts)


def gpus_outside_psys():
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        with machine(rapl_zone("intel-rapl:0", "package-0", 150) + rapl_zone("intel-rapl:1", "psys", 200),
                     "gpu 0 700000", f"proc 0 {sleeper.pid} 100 3000") as (_, exporter, _):
            work = load("span", 6)
            metrics = balanced(exporter.intervals(12))
            assert in_total(metrics) == {"package", "gpu", "other"}, in_total(metrics)
            gpu, psys = node_j(metrics, "gpu"), node_j(metrics, "psys")
            total = float(metrics.sum("kepler_node_joules_total"))
            assert gpu > 1000, gpu
            close("the node's total", total / (gpu + psys), 1, 10)
            used = float(metrics.sum("kepler_process_joules_total", pid=str(sleeper.pid)))
            assert used >= float(metrics.sum("kepler_process_gpu_joules_total", pid=str(sleeper.pid))) > 1000, used
            no_part_is_more_than_its_total(metrics)
            load_result(work)
    finally:
        sleeper.kill()
        sleeper.wait()


def the_totals_are_the_parts(tree, whole, coverage, says, remedy):
    """@whole counts @coverage of its parts: metric, warning, doctor."""
    with machine(tree) as (_, exporter, where):
        work = load("span", 5)
        metrics = balanced(exporter.intervals(20))
        assert in_total(metrics) == {"package", "other"}, in_total(metrics)
        # The sensor's delay adds no energy.
        close("the node's total", float(metrics.sum("kepler_node_joules_total")) / node_j(metrics, "package"), 1, 3)
        no_part_is_more_than_its_total(metrics)
        said = subprocess.run([KEPLER, "doctor", "--config.file=/dev/null", "--host.state-dir=", *where], capture_output=True,
                              text=True, check=False)
        assert said.returncode == 1 and says in said.stdout and remedy in said.stdout, said.stdout
        deadline = time.monotonic() + 100
        while says not in exporter.output():
            assert time.monotonic() < deadline, exporter.output()
            metrics = balanced(exporter.intervals(4))
        close("the whole over its parts", 1 + float(metrics.value("kepler_zone_coverage_ratio", zone=whole)), 1 + coverage, 3)
        no_part_is_more_than_its_total(metrics)
        assert exporter.output().count(says) == 1, exporter.output()
        load_result(work)


def a_platform_of_one_of_two_supplies():
    packages = rapl_zone("intel-rapl:0", "package-0", 300) + rapl_zone("intel-rapl:1", "package-1", 300)
    the_totals_are_the_parts(platform(250) + packages, "platform", 250 / 600, "counts 58 % less than its parts together",
                             "which power supplies and boards")


def a_psys_that_never_moves():
    the_totals_are_the_parts(rapl_zone("intel-rapl:0", "package-0", 150) + rapl_zone("intel-rapl:1", "psys", 0), "psys", 0,
                             "stands still while its parts count", "the board's maker decides")


def a_twin_that_stands_still():
    """The registers of the package answer with a constant; their memory-mapped twin counts."""
    with machine(rapl_zone("intel-rapl:0", "package-0", 0) + rapl_zone("intel-rapl-mmio:0", "package-0", 50)) as (_, exporter, _):
        metrics = balanced(exporter.intervals(6))
        assert node_j(metrics, "package") > 50, node_j(metrics, "package")


def a_source_that_stands_still():
    """Powercap goes before hwmon, which counts the same, and shows a counter that never moves."""
    chip = "class/hwmon/hwmon1"
    sensor = [f"{chip}/name text amd_energy", f"{chip}/device link ../../../devices/platform/amd_energy.0",
              f"{chip}/energy1_label text Esocket0", f"{chip}/energy1_input counter 50000000 {1 << 62}"]
    with machine(rapl_zone("intel-rapl:0", "package-0", 0) + sensor) as (_, exporter, where):
        metrics = balanced(exporter.intervals(20))
        assert float(metrics.sum("kepler_node_package_joules_total", source="rapl-sysfs")) == 0
        assert float(metrics.sum("kepler_node_package_joules_total", source="hwmon")) > 100, metrics.text
        assert float(metrics.sum("kepler_node_joules_total")) > 100
        assert exporter.output().count("package-0 (rapl-sysfs, intel-rapl:0) does not advance") == 1, exporter.output()
        said = subprocess.run([KEPLER, "doctor", "--config.file=/dev/null", "--host.state-dir=", *where], capture_output=True,
                              text=True, check=False)
        assert said.returncode == 1 and "does not advance while another source" in said.stdout, said.stdout


if __name__ == "__main__":
    run_tests([gpus_outside_psys, a_platform_of_one_of_two_supplies, a_psys_that_never_moves,
               a_twin_that_stands_still, a_source_that_stands_still], at_once=5)
