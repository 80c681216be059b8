#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` on a machine with GPUs: their zone is compared with NVML, each GPU with its own meter, and a command that
uses one is judged by what it drew in addition. An exporter that doubles its GPUs fails, and so does one that swaps them, or one
with current names that loses energy of its processes. Boards that draw nothing at first are no reason to doubt.

The boards are those of a library that stands in for NVML. It draws what its file says, in the exporter as in the validator.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading

from gpu_rig import Gpus, uuid
from page_server import PageServer, page_of
from rig import BUILD, Exporter, Sensors, only_load_of_a_validator, rapl_zone, run_tests

VALIDATOR = BUILD / "kepler-validator"


def double_gpus(page):
    return re.sub(r"^(kepler_node_gpu_joules_total\{.*\}) (\S+)$", lambda row: f"{row[1]} {2 * float(row[2]):.6f}", page,
                  flags=re.MULTILINE)


def swap_gpus(page):
    """The joules of each under the UUID of the other one: the sum is right."""
    return page.replace(uuid(0), "-").replace(uuid(1), uuid(0)).replace("-\"", uuid(1) + "\"")


def number_gpus(page):
    """An exporter that knows no UUIDs."""
    return re.sub("GPU-0000000([01])-0000-4000-8000-00000000000[01]", r"\1", page)


def lose_gpus(page):
    """A third of the energy that processes have in GPUs, under the current names."""
    return re.sub(r"^(kepler_process_gpu_joules_total\{.*\}) (\S+)$", lambda row: f"{row[1]} {2 / 3 * float(row[2]):.6f}", page,
                  flags=re.MULTILINE)


MUTATIONS = {"doubled": double_gpus, "swapped": swap_gpus, "numbered": number_gpus}
CURRENT_MUTATIONS = {"lost": lose_gpus}


def run(gpus, *args):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([VALIDATOR, "run", f"--output={folder}", *args], text=True, capture_output=True, check=False,
                              timeout=200, env={**os.environ, "NVML_LAB_STATE": gpus.env["NVML_LAB_STATE"]})
        print(done.stdout, done.stderr)
        found = {}
        for result in json.loads(pathlib.Path(folder, "report.json").read_text())["results"]:
            found.setdefault(result["exporter"], {})[result["name"]] = result
    return found, done.stdout


def boards_that_rest():
    """0 W, then 378 W; one has a counter of energy, the other only a power."""
    gpus = Gpus()
    gpus.say("gpu 0 0", "gpu 1 0", "nocounter 1")
    with gpus.folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", gpus.option, "--monitor.interval=1s", "--metrics.settle=1s", env=gpus.env,
                     pass_fds=(gpus.truth.fileno(),)) as exporter, \
            PageServer(lambda path: MUTATIONS[path](page_of(exporter.url))) as server:
        exporter.intervals(2)
        own, doubled = exporter.url + "/metrics", server.url("doubled")
        timer = threading.Timer(14, gpus.say, ("gpu 0 378000", "gpu 1 378000", "nocounter 1"))
        timer.start()
        found, _ = run(gpus, f"--exporter={own}", f"--exporter={doubled}", f"--host.sysfs={sensors.mount}", "--step=250ms",
                       f"--truth.nvml-library={gpus.option.split('=')[1]}", "--scenario=node", "--duration=30s")
        timer.join()
        for name in ("node/gpu", "node/gpu/0", "node/gpu/1"):
            result = found[own][name]
            assert result["verdict"] != "fail" and "stood still" not in result["reason"], result
            assert result["errors"]["actual"] > 1000 and abs(result["errors"]["energy_ratio"] - 1) < 0.2, result
            assert found[doubled][name]["verdict"] == "fail", found[doubled][name]
        assert not any(name.startswith("truth/") for name in found.get("", {})), found[""]
        assert exporter.stop() == 0


IDLE = ("gpu 0 50000", "gpu 1 30000")
# The command's effect on a GPU: it draws 250 W more while it is in the list of processes.
BUSY = ("gpu 0 300000", "gpu 1 30000", "proc 0 $$ 100 1000")


def saying(gpus, lines):
    """A command that tells the library the same as Gpus.say()."""
    words = " ".join(f'"{line}"' for line in lines)
    return f"printf '%s\\n' {words} >{gpus.state}.x; mv {gpus.state}.x {gpus.state}"


def boards_that_work():
    gpus = Gpus()
    command = f"{saying(gpus, BUSY)}; sleep 6; {saying(gpus, IDLE)}"
    gpus.say(*IDLE)
    with gpus.folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", gpus.option, "--monitor.interval=1s", "--metrics.settle=1s", env=gpus.env,
                     pass_fds=(gpus.truth.fileno(),)) as exporter, \
            Exporter(f"--host.sysfs={sensors.mount}", gpus.option, "--monitor.interval=1s", "--metrics.schema=current",
                     env={"NVML_LAB_STATE": str(gpus.state)}) as other, \
            PageServer(lambda path: MUTATIONS[path](page_of(exporter.url))) as server:
        exporter.intervals(2)
        own, current = exporter.url + "/metrics", other.url + "/metrics"
        doubled, swapped, numbered = (server.url(path) for path in MUTATIONS)
        library = gpus.option.split("=")[1]
        # A process has used a GPU before, so the zone has rows at all levels.
        gpus.say(*BUSY[:2], f"proc 0 {os.getpid()} 100 1000")
        other.intervals(3)
        gpus.say(*IDLE)
        with PageServer(lambda path: CURRENT_MUTATIONS[path](page_of(other.url))) as lossy:
            found, _ = run(gpus, f"--exporter={current}", f"--exporter={lossy.url('lost')}", "--scenario=node", "--step=250ms",
                           f"--host.sysfs={sensors.mount}", f"--truth.nvml-library={library}", "--duration=10s")
            rows = found[current]["conservation/rows"]
            assert rows["verdict"] == "pass", rows
            rows = found[lossy.url("lost")]["conservation/rows"]
            assert rows["verdict"] == "fail" and "zone gpu: all of level process" in rows["reason"], rows
        with only_load_of_a_validator("pod"):
            found, output = run(gpus, f"--exporter={own}", f"--exporter={doubled}", f"--host.sysfs={sensors.mount}", "--step=250ms",
                                f"--truth.nvml-library={library}", f"--gpu-load={command}", "--load-cgroup=pod",
                                "--max-error=20%", "--duration=24s")
        assert "gpu: NVML 0 GPU-" in output and ", NVML 1 GPU-" in output, output
        # Exporter and validator have a library each, which learns of a new power at its next call: phases differ by that.
        assert abs(found[own]["node/gpu"]["errors"]["energy_ratio"] - 1) < 0.1, found[own]["node/gpu"]
        assert found[doubled]["node/gpu"]["verdict"] == "fail", found[doubled]["node/gpu"]
        ratios = [found[url]["node/gpu"]["errors"]["energy_ratio"] for url in (doubled, own)]
        assert abs(ratios[0] / ratios[1] - 2) < 0.02, ratios
        effect = found[own]["container/gpu/gpu"]
        assert effect["errors"]["predicted"] > 1000 and abs(effect["errors"]["energy_ratio"] - 1) < 0.25, effect
        assert not any(re.match("(process|container)/package", name) for name in found[own]), found[own].keys()
        # Each GPU by its own meter, without a load. NVML's own error is as large as the bound.
        found, _ = run(gpus, *(f"--exporter={url}" for url in (own, doubled, swapped, numbered, current)), "--scenario=node",
                       f"--host.sysfs={sensors.mount}", "--step=250ms", f"--truth.nvml-library={library}", "--duration=12s")
        for url in (own, numbered, current):
            for name, count in ("node/gpu", 80), ("node/gpu/0", 50), ("node/gpu/1", 30):
                errors = found[url][name]["errors"]
                assert abs(errors["energy_ratio"] - 1) < 0.1, found[url][name]  # a crowded machine reads late
                assert abs(errors["actual"] / errors["paired_s"] - count) < 0.02 * count, errors
        assert abs(found[swapped]["node/gpu"]["errors"]["energy_ratio"] - 1) < 0.1, found[swapped]["node/gpu"]
        for index in (0, 1):
            mixed = found[swapped][f"node/gpu/{index}"]
            assert mixed["verdict"] == "fail" and f"that of another GPU, {1 - index} ({uuid(1 - index)})" in mixed["reason"], mixed
            twice = found[doubled][f"node/gpu/{index}"]
            assert (twice["verdict"], twice["cause"]) == ("fail", "scale") and "another GPU" not in twice["reason"], twice
        assert exporter.stop() == 0 and other.stop() == 0


run_tests([boards_that_rest, boards_that_work], at_once=2)
