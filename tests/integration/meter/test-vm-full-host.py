#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a virtual machine that sees its vCPUs wait, the real program takes the host to be full where it serves the same part of
whatever is wanted, and not where a limit holds the machine back: the first costs what a CPU of a full host does, to 2 %, the second
more. Stolen time is a feature of models where the kernel has counted any.

/proc is a folder whose one process and whose account of the machine go on as they would; the model's curve is known."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

from rig import KEPLER, Exporter, Sensors, balanced, run_tests

OPTIONS = ("--no-bpf.enabled", "--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0",
           "--model.machine=vm=true,processor=lab")
CPUS = len([line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("processor")])
HOST_CPUS = 4 * CPUS
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
WIDTH = 19  # of each number: files are written in place, at once, and stay as long as they are
STAT = "1000 (work) S 1 1 1 0 -1 0 0 0 0 0 {ticks:0{width}d} 0 0 0 20 0 1 0 5000 1000 100" + " 0" * 28 + "\n"


def watts_of_host(busy_cpus):
    return 40 * CPUS * math.log(3 * busy_cpus / HOST_CPUS + 1)


def write_model(folder):
    most = 1000 * HOST_CPUS
    feature = {"name": "bpf_cpu_time_ms", "unit": "ms/s", "scale": 1, "minimum": 0, "maximum": most}
    model = {"format": "kepler-model", "version": 1, "name": "bent", "output": "DynPower",
             "machine": {"processor": "lab", "cores": HOST_CPUS},
             "components": [{"name": "package", "features": [feature], "error": {"mae_w": 1, "mape_percent": 5, "bound_w": 3},
                             "predictor": {"form": "logarithmic", "feature": 0, "a": 40 * CPUS, "b": 3 / most, "c": 0}}]}
    path = pathlib.Path(folder, "bent.json")
    path.write_text(json.dumps(model))
    return f"--model.file={path}"


class Guest:
    """@runs(wanted): the part of its CPUs' time that it gets when it wants that much; it wants 0.3 and 0.9 in turn. It has waited
    for @waited_s before."""

    def __init__(self, folder, runs, waited_s=0.0):
        self.runs, self.busy_s, self.waited_s, self.idle_s = runs, 1.0, waited_s, 1.0
        self.procfs = pathlib.Path(folder, "proc")
        (self.procfs / "1000").mkdir(parents=True)
        for name in ("cpuinfo", "meminfo", "uptime"):
            shutil.copy("/proc/" + name, self.procfs / name)
        (self.procfs / "1000/cgroup").write_text("0::/system.slice/work.service\n")
        self.files = [os.open(self.procfs / name, os.O_CREAT | os.O_WRONLY, 0o644) for name in ("1000/stat", "stat")]
        self.write()
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def write(self):
        busy, idle, waited = (int(seconds / TICK_S) for seconds in (self.busy_s, self.idle_s, self.waited_s))
        fields = " ".join(f"{ticks:0{WIDTH}d}" for ticks in (busy, 0, 0, idle, 0, 0, 0, waited, 0, 0))
        account = f"cpu  {fields}\n" + "".join(f"cpu{cpu} {fields}\n" for cpu in range(CPUS)) + "intr 0\n"
        os.pwrite(self.files[0], STAT.format(ticks=busy, width=WIDTH).encode(), 0)
        os.pwrite(self.files[1], account.encode(), 0)

    def work(self):
        began = last = time.monotonic()
        while not self.ends.wait(0.005):
            now = time.monotonic()
            wanted = 0.9 if int(now - began) % 2 else 0.3
            ran = self.runs(wanted)
            capacity_s, last = (now - last) * CPUS, now
            self.busy_s += ran * capacity_s
            self.waited_s += (wanted - ran) * capacity_s
            self.idle_s += (1 - wanted) * capacity_s
            self.write()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.ends.set()
        self.thread.join()
        self.close()

    def close(self):
        for file in self.files:
            os.close(file)


def joules_a_cpu_second(runs):
    """Of the last four seconds of twenty."""
    def look(exporter, count):
        metrics = balanced(exporter.intervals(count))
        assert float(metrics.value("kepler_node_vm_host_share_ratio")) == CPUS / HOST_CPUS
        return metrics.value("kepler_node_package_joules_total"), metrics.value("kepler_node_bpf_cpu_time_ms_total") / 1000
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Guest(folder, runs) as guest, Sensors([]) as sensors:
        options = [f"--host.sysfs={sensors.mount}", f"--host.procfs={guest.procfs}", write_model(folder)]
        with Exporter(*OPTIONS, *options) as exporter:
            before, after = look(exporter, 32), look(exporter, 8)
            assert exporter.stop() == 0
    return float((after[0] - before[0]) / (after[1] - before[1]))


FULL_W = watts_of_host(HOST_CPUS) / HOST_CPUS


def a_full_host():
    found = joules_a_cpu_second(lambda wanted: 0.7 * wanted)
    assert abs(found - FULL_W) < 0.02 * FULL_W, (found, FULL_W)


def a_limit():
    found = joules_a_cpu_second(lambda wanted: min(wanted, 0.5))
    assert found > 1.2 * FULL_W, (found, FULL_W)


def write_model_of_waiting(folder):
    """On a straight line, so that loads of neighbours make no difference: 10 W a busy CPU, 3 W one that waits."""
    path = pathlib.Path(write_model(folder).split("=", 1)[1])
    model = json.loads(path.read_text())
    component = model["components"][0]
    component["features"] += [{"name": "cpu_steal_seconds", "unit": "s/s", "scale": 1, "minimum": 0, "maximum": HOST_CPUS}]
    component["predictor"] = {"form": "linear", "weights": [0, 0.01, 3]}
    path.write_text(json.dumps(model))
    return f"--model.file={path}"


def stolen_time_is_a_feature():
    """Watts by it and by CPU time; where none was ever stolen, whether the kernel counts it is not known."""
    def look(exporter, count):
        metrics = balanced(exporter.intervals(count))
        return [float(metrics.value(name)) for name in ("kepler_node_package_joules_total", "kepler_node_bpf_cpu_time_ms_total",
                                                        "kepler_node_cpu_steal_seconds_total")]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Sensors([]) as sensors:
        sysfs, model = f"--host.sysfs={sensors.mount}", write_model_of_waiting(folder)
        never = Guest(pathlib.Path(folder, "never"), lambda wanted: wanted)
        doctor = [KEPLER, "doctor", "--verbose", sysfs, f"--host.procfs={never.procfs}", "--model.machine=vm=true,processor=lab",
                  "--no-bpf.enabled", model]
        said = subprocess.run(doctor, capture_output=True, text=True, check=False).stdout
        never.close()
        assert 'needs the feature "cpu_steal_seconds"' in said, said
        with Guest(folder, lambda wanted: 0.7 * wanted, waited_s=1.0) as guest, \
                Exporter(*OPTIONS, sysfs, f"--host.procfs={guest.procfs}", model) as exporter:
            before, after = look(exporter, 3), look(exporter, 4)
            assert exporter.stop() == 0
    joules, cpu_ms, waited = (b - a for a, b in zip(before, after))
    assert waited > 0.1 * CPUS, waited
    want = 10 * cpu_ms / 1000 + 3 * waited
    assert abs(joules - want) < 0.01 * want + 0.5, (joules, want)


run_tests([a_full_host, a_limit, stolen_time_is_a_feature], at_once=3)
