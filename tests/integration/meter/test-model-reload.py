#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of --model.file that change while Kepler runs: a good one is used from the next interval on and no joule is lost or counted
twice; a bad one is refused and the one before stays."""
import json
import os
import pathlib
import re
import signal
import tempfile
import time

from rig import Exporter, balanced, run_tests

OPTIONS = ("--idle.mode=learned", "--monitor.interval=500ms", "--metrics.settle=0s", "--model.machine=vm=false,processor=lab",
           "--security.landlock=false")
CPUS = os.cpu_count()


def write(path, name, idle_w, component="platform", text=None):
    most = 1000 * CPUS  # the load may be beyond it: where passes come late, an interval has the CPU time of another one
    model = {"format": "kepler-model", "version": 1, "name": name, "output": "AbsPower",
             "machine": {"processor": "lab", "cores": CPUS}, "components": [{
        "name": component, "features": [{"name": "bpf_cpu_time_ms", "scale": most, "minimum": 0, "maximum": 2 * most}],
        "error": {"mae_w": 1, "mape_percent": 5, "bound_w": abs(idle_w) / 10},
        "predictor": {"form": "linear", "weights": [idle_w, 80]}}]}
    fresh = path.with_name(".fresh")
    fresh.write_text(json.dumps(model) if text is None else text)
    fresh.rename(path)


def model_of(metrics):
    return metrics.select("kepler_node_model_info", zone="platform")[0][0]["model"]


def reload_until(exporter, words, by_signal=True):
    """SIGHUP, or nothing; the first response after the log says that."""
    if by_signal:
        exporter.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 30
    while words not in exporter.output():
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.02)
    return balanced(exporter.intervals(2))


def error_w(metrics):
    return metrics.value("kepler_node_model_error_watts"), metrics.value("kepler_node_model_outside")


def idle_j(metrics):
    return float(metrics.value("kepler_node_platform_joules_total", mode="idle", source="trained_power_model"))


def seconds(metrics):
    return float(metrics.value("kepler_exporter_snapshot_timestamp_seconds"))


def a_changed_file():
    with tempfile.TemporaryDirectory() as sysfs, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "lab.json")
        write(path, "lab-1", 20)
        with Exporter(*OPTIONS, f"--host.sysfs={sysfs}", f"--model.file={path}") as exporter:
            first = balanced(exporter.intervals(3))
            assert model_of(first) == "lab-1" and error_w(first) == (2, 0), error_w(first)
            assert first.value("kepler_exporter_model_files_up") == 1
            write(path, "lab-2", 30)
            second = reload_until(exporter, 'using the model \\"lab-2\\"')
            assert model_of(second) == "lab-2" and error_w(second) == (3, 0), error_w(second)
            assert second.value("kepler_node_model_changes_total", zone="platform") == 1
            assert second.value("kepler_exporter_model_files_changes_total") == 1
            # The same series goes on: what it gained lies between that of each model alone.
            assert len(second.select("kepler_node_platform_joules_total", mode="idle")) == 1
            assert second.value("kepler_zone_info", zone="platform", path="lab.json") == 1
            for text, component, why in (("[", "platform", "lab.json"), (None, "dram", 'has no component \\"platform\\"')):
                write(path, "lab-3", 90, component, text)
                third = reload_until(exporter, why)
                assert model_of(third) == "lab-2" and third.value("kepler_exporter_model_files_up") == 0, exporter.output()
            write(path, "bad", -5)
            third = reload_until(exporter, "an idle power of -5 W")
            assert third.value("kepler_exporter_model_files_refused_total") == 3 and model_of(third) == "lab-2"
            before, after = third, balanced(exporter.intervals(3))
            power_w = float(after.value("kepler_node_platform_watts", mode="idle", source="trained_power_model"))
            assert abs(power_w - 30) < 0.01 and idle_j(after) > idle_j(before), power_w
            gained_j, span_s = idle_j(second) - idle_j(first), seconds(second) - seconds(first)
            assert 20 * span_s - 0.1 <= gained_j <= 30 * span_s + 0.1, (gained_j, span_s)
            write(path, "lab-2", 30)
            os.unlink(path)
            reload_until(exporter, "cannot be read")
            write(path, "lab-4", 40)
            assert model_of(reload_until(exporter, 'using the model \\"lab-4\\"', by_signal=False)) == "lab-4"
            assert exporter.stop() == 0


def a_file_that_was_bad_at_the_start():
    """The built-in model stands in with its bound until the file is good."""
    with tempfile.TemporaryDirectory() as sysfs, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "lab.json")
        write(path, "bad", -5)
        with Exporter(*OPTIONS, f"--host.sysfs={sysfs}", f"--model.file={path}", "--table=always") as exporter:
            first = balanced(exporter.intervals(3))
            assert re.search(r"Node: [\d.]+ W ± [\d.]+ W, estimated", exporter.output())
            assert model_of(first).startswith("specpower-platform") and first.value("kepler_node_model_error_watts") > 0
            assert first.value("kepler_exporter_model_files_up") == 0
            write(path, "lab-1", 20)
            reload_until(exporter, 'using the model \\"lab-1\\"')
            last = balanced(exporter.intervals(3))
            assert last.value("kepler_node_model_error_watts", zone="platform") == 2, last.select("kepler_node_model_info")
            assert last.value("kepler_exporter_model_files_up") == 1
            assert exporter.stop() == 0


run_tests([a_changed_file, a_file_that_was_bad_at_the_start], at_once=2)
