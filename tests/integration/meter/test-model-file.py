#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trained models (--model.file): what no meter measures is estimated to the microjoule of a known formula, beside what is measured;
a model that cannot be used is left out, with the reason."""
import json
import math
import pathlib
import subprocess
import tempfile

from rig import KEPLER, Exporter, Sensors, balanced, load, load_result, rapl_zone, run_tests

OPTIONS = ("--idle.mode=learned", "--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0")
IDLE_W, BUSY_W = 20.0, 80.0  # of the machine with all its CPUs busy
CPUS = len([line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("processor")])


def write_model(folder, components, name="lab-1", idle_w=IDLE_W, mape_percent=5):
    most = 1000 * CPUS
    feature = {"name": "bpf_cpu_time_ms", "unit": "ms/s", "scale": most, "minimum": 0, "maximum": most}
    model = {"format": "kepler-model", "version": 1, "name": name, "output": "AbsPower",
             "machine": {"processor": "lab", "cores": CPUS},
             "components": [{"name": component, "features": [feature],
                             "error": {"mae_w": 1, "mape_percent": mape_percent, "bound_w": 3},
                             "predictor": {"form": "linear", "weights": [idle_w, BUSY_W]}} for component in components]}
    path = pathlib.Path(folder) / f"{name}.json"
    path.write_text(json.dumps(model))
    return f"--model.file={path}"


def zone_w(metrics, zone, mode):
    return float(metrics.value(f"kepler_node_{zone}_watts", mode=mode, source="trained_power_model"))


def check_dynamic(before, after, zone, watts=BUSY_W, more_w=0.0):
    """Dynamic energy between two responses: @watts for all CPUs that were busy for that time, and @more_w all the time. Sums are
    compared, because run time that a pass reports late is in the next interval. A virtual machine's host steals CPU time; the
    stolen part of run time, which is not used, is at most the steal."""
    def grown(name, **labels):
        return float(after.sum(name, **labels) - before.sum(name, **labels))

    def energy_j(mode):
        return grown(f"kepler_node_{zone}_joules_total", mode=mode, source="trained_power_model")

    ran_s = grown("kepler_node_bpf_cpu_time_ms_total") / 1e3
    more_j = more_w * energy_j("idle") / zone_w(after, zone, "idle") if more_w else 0
    most_j = watts * ran_s / CPUS + more_j
    least_j = watts * (ran_s - grown("kepler_node_cpu_steal_seconds_total")) / CPUS + more_j
    print(f"  {zone}: {least_j:.6f} J <= {energy_j('dynamic'):.6f} J <= {most_j:.6f} J")
    assert least_j - 1e-3 < energy_j("dynamic") < most_j + 1e-3 and ran_s > 0, ran_s


def check_formula(before, after, zone):
    """Idle power is the formula's constant; dynamic energy follows the time that CPUs were busy."""
    assert abs(zone_w(after, zone, "idle") - IDLE_W) < 1e-5, zone_w(after, zone, "idle")
    check_dynamic(before, after, zone)
    error_w, outside = (after.value(f"kepler_node_model_{name}", zone=zone) for name in ("error_watts", "outside"))
    # Late run time can exceed the capacity of the CPUs, which is the range of the model.
    assert (error_w, outside) == (3, 0) or after.value("kepler_node_cpu_usage_ratio") == 1, (error_w, outside)
    assert after.value("kepler_node_model_info", zone=zone, model="lab-1", output="AbsPower", machine="lab") == 1


def in_addition_to_meters():
    """With a meter of the package, only dram and platform are estimated, and are in no total of what is measured."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        model = write_model(folder, ["package", "dram", "platform"])
        options = [f"--host.sysfs={sensors.mount}", "--model.machine=vm=false,processor=lab", model]
        burner = load("span", 6)
        with Exporter(*OPTIONS, *options) as exporter:
            before, metrics = exporter.intervals(2), balanced(exporter.intervals(4))
            check_formula(before, metrics, "dram")
            check_formula(before, metrics, "platform")
            assert not metrics.select("kepler_node_package_joules_total", source="trained_power_model")
            assert metrics.value("kepler_exporter_source_up", zone="package") == 1
            assert not metrics.select("kepler_node_joules_total", source="trained_power_model"), "an estimate is in a total"
            assert exporter.stop() == 0
        load_result(burner)


def without_a_meter():
    """All parts are estimated, and processes share the dynamic energy; the model that is built in stays out."""
    with Sensors([]) as sensors, tempfile.TemporaryDirectory() as folder:
        options = [f"--host.sysfs={sensors.mount}", "--model.machine=vm=false,processor=lab",
                   write_model(folder, ["package", "dram"])]
        with Exporter(*OPTIONS, *options) as exporter:
            before, metrics = exporter.intervals(2), balanced(exporter.intervals(4))
            check_formula(before, metrics, "package")
            check_formula(before, metrics, "dram")
            assert metrics.sum("kepler_process_package_joules_total", mode="dynamic", source="trained_power_model") > 0
            assert not metrics.select("kepler_node_platform_joules_total")
            assert "estimated (model lab-1): package, dram" in exporter.output()
            assert exporter.stop() == 0


def one_that_is_refused():
    """With a negative idle power: the reason is logged, and the model that is built in takes its place."""
    with Sensors([]) as sensors, tempfile.TemporaryDirectory() as folder:
        options = [f"--host.sysfs={sensors.mount}", write_model(folder, ["platform"], idle_w=-5)]
        with Exporter(*OPTIONS, *options) as exporter:
            metrics = balanced(exporter.intervals(2))
            assert metrics.select("kepler_zone_info", zone="platform", path="specpower-platform-4")
            assert metrics.select("kepler_node_model_info", zone="platform", model="specpower-platform-4")
            assert not metrics.select("kepler_node_model_info", model="lab-1")
            assert metrics.value("kepler_node_model_error_watts", zone="platform") > 0
            assert "gives an idle power of -5 W" in exporter.output()
            assert exporter.stop() == 0
        said = subprocess.run([KEPLER, "doctor", "--verbose", *options], capture_output=True, text=True, check=False).stdout
        assert "gives an idle power of -5 W" in said, said


def the_best_of_two():
    """Of two models with the same component the one with the smaller error counts, in any order; others stand beside it."""
    with Sensors([]) as sensors, tempfile.TemporaryDirectory() as folder:
        options = [f"--host.sysfs={sensors.mount}", "--model.machine=vm=false,processor=lab",
                   write_model(folder, ["platform", "dram"], "worse", mape_percent=30), write_model(folder, ["platform"], "better")]
        with Exporter(*OPTIONS, *options) as exporter:
            metrics = balanced(exporter.intervals(2))
            assert metrics.value("kepler_node_model_info", zone="platform", model="better") == 1
            assert metrics.value("kepler_node_model_info", zone="dram", model="worse") == 1
            assert exporter.stop() == 0
        said = subprocess.run([KEPLER, "doctor", "--verbose", *options], capture_output=True, text=True, check=False).stdout
        assert 'of several models: platform of model "better"' in said, said


def the_frequency_of_cpus():
    """It is a level: the answer is that at the mean of all policies, idle power that at the lowest frequency of the training.
    Without it there is no estimate, and the zone is down."""
    with tempfile.TemporaryDirectory() as sysfs, tempfile.TemporaryDirectory() as folder:
        option = write_model(folder, ["platform"])
        path = pathlib.Path(option.split("=", 1)[1])
        model = json.loads(path.read_text())
        component = model["components"][0]
        component["features"] += [{"name": "cpu_scaling_frequency_hertz", "scale": 1e9, "minimum": 1e9, "maximum": 3e9}]
        component["predictor"]["weights"] += [10.0]
        path.write_text(json.dumps(model))
        doctor = [KEPLER, "doctor", "--verbose", f"--host.sysfs={sysfs}", option]
        refused = subprocess.run(doctor, capture_output=True, text=True, check=False).stdout
        assert 'needs the feature "cpu_scaling_frequency_hertz"' in refused, refused
        for cpu, khz in ((0, 1500000), (1, 2500000)):
            policy = pathlib.Path(sysfs, "devices/system/cpu/cpufreq", f"policy{cpu}")
            policy.mkdir(parents=True)
            (policy / "affected_cpus").write_text(f"{cpu}\n")
            (policy / "scaling_cur_freq").write_text(f"{khz}\n")
        with Exporter(*OPTIONS, f"--host.sysfs={sysfs}", "--model.machine=vm=false,processor=lab", option) as exporter:
            before, metrics = exporter.intervals(2), balanced(exporter.intervals(3))
            assert abs(zone_w(metrics, "platform", "idle") - (IDLE_W + 10)) < 1e-5
            check_dynamic(before, metrics, "platform", more_w=10)  # 2 GHz in place of 1
            assert metrics.value("kepler_exporter_source_up", zone="platform") == 1
            for policy in pathlib.Path(sysfs, "devices/system/cpu/cpufreq").iterdir():
                (policy / "scaling_cur_freq").unlink()
            without = exporter.intervals(3)
            assert without.value("kepler_exporter_source_up", zone="platform") == 0
            assert without.value("kepler_exporter_source_read_errors_total", zone="platform") > 0
            assert not without.select("kepler_node_platform_watts")
            assert exporter.stop() == 0


def nine_tenths(bounds):
    """The half-width that nine tenths of normal distributions around one value are within; @bounds: that of each of them."""
    low, high = min(bounds), max(bounds)
    for _ in range(50):
        middle = (low + high) / 2
        inside = sum(math.erf(1.645 * middle / bound / math.sqrt(2)) for bound in bounds) / len(bounds)
        low, high = (middle, high) if inside < 0.9 else (low, middle)
    return high


def in_a_virtual_machine():
    """Dynamic power alone, with a bound that is in proportion to the work, and what is assumed of the host."""
    hints = ["--vm.host-cpus=64", "--vm.neighbour-load=0.2-0.6", "--model.machine=vm=true,processor=lab"]
    with Sensors([]) as sensors, tempfile.TemporaryDirectory() as folder:
        options = [f"--host.sysfs={sensors.mount}", *hints, write_model(folder, ["package"])]
        burner = load("span", 6)
        with Exporter(*OPTIONS, *options) as exporter:
            before, metrics = exporter.intervals(2), balanced(exporter.intervals(4))
            watts = zone_w(metrics, "package", "dynamic")
            check_dynamic(before, metrics, "package")
            assert not metrics.select("kepler_node_package_joules_total", mode="idle")
            assert metrics.value("kepler_zone_info", zone="package", scope="vm_dynamic") == 1
            share = float(metrics.value("kepler_node_vm_host_share_ratio"))
            assert 0 < share <= 1 and abs(share * 64 - round(share * 64)) < 1e-9, share
            # 3 W of a host that is as busy as its neighbours make it, at least, for as much work as all of it can do; and of a full
            # host, which it may be if this machine itself is virtual and waits.
            # Its 64 CPUs are another machine than the model's: by the same processor, that is 45 % of the watts more.
            most = nine_tenths([math.hypot(3 / ((1 - share) * (0.2 + 0.02 * number)), 0.45 * watts) for number in range(21)])
            error_w = float(metrics.value("kepler_node_model_error_watts", zone="package"))
            assert 2.99 < error_w < 1.001 * most, (error_w, most)
            loads = [metrics.value(f"kepler_node_vm_neighbour_load_{end}_ratio") for end in ("min", "max")]
            assert [float(load) for load in loads] == [0.2, 0.6], loads
            assert exporter.stop() == 0
        load_result(burner)
        said = subprocess.run([KEPLER, "doctor", "--verbose", *options], capture_output=True, text=True, check=False).stdout
        assert "(--vm.host-cpus), and the host's other CPUs are busy for 20 to 60 % of the time" in said, said


run_tests([the_frequency_of_cpus, in_addition_to_meters, without_a_meter, one_that_is_refused, the_best_of_two,
           in_a_virtual_machine], at_once=3)
