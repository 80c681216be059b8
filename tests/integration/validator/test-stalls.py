#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A meter with reads that do not return, or a search for meters that does not return, does not stop `kepler-validator run`: the
report says so, and an interrupt ends it."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from gpu_rig import Gpus
from rig import BUILD, Sensors, rapl_zone, run_tests

VALIDATOR = BUILD / "kepler-validator"
COUNTER = "class/powercap/intel-rapl:0/energy_uj"
LONG = 20_000  # ms: longer than the rest of the run


def command(sensors, folder, duration, *options):
    return [VALIDATOR, "run", f"--host.sysfs={sensors.mount}", "--scenario=node", f"--duration={duration}",
            "--exporter=http://127.0.0.1:9/metrics", f"--output={folder}", *(options or ["--truth=rapl-sysfs"])]


def begin(sensors, folder, duration, *options, env=None):
    process = subprocess.Popen(command(sensors, folder, duration, *options), stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout.readline().startswith("Plan, ")
    return process


def reads_of(sensors):
    text = pathlib.Path(sensors.mount, ".truth").read_text()
    line, = (line for line in text.splitlines() if line.startswith(COUNTER))
    return int(line.split("reads=")[1].split()[0])


def wait_for_reads(sensors, count):
    deadline = time.monotonic() + 60
    while reads_of(sensors) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    assert reads_of(sensors) >= count


def results_of(folder):
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    return {result["name"]: result for result in report["results"]}


def a_read_that_hangs_is_reported():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        with begin(sensors, folder, "10s") as process:
            wait_for_reads(sensors, 3)
            sensors.control(f"{COUNTER} stall {LONG}")
            process.communicate(timeout=100)
            assert process.returncode in (1, 3), process.returncode
        truth = results_of(folder)["truth/package"]
        assert truth["verdict"] == "inconclusive" and "The truth stalled" in truth["reason"], truth
        assert COUNTER in truth["reason"], truth


def an_interrupt_ends_it_while_a_read_hangs():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        with begin(sensors, folder, "10m") as process:
            wait_for_reads(sensors, 3)
            sensors.control(f"{COUNTER} stall {LONG}")
            time.sleep(1.5)  # into the read that hangs; an interrupt before it ends the run as well
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=100)
            took = time.monotonic() - began
            print(f"ended {took:.2f} s after the interrupt")
            assert took < LONG / 2000, "it waits for the read"
        assert results_of(folder)["run/complete"]["verdict"] == "inconclusive"


def a_meter_that_returns_is_read_again():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        with begin(sensors, folder, "15s") as process:
            wait_for_reads(sensors, 3)
            sensors.control(f"{COUNTER} stall 3000")
            time.sleep(1)
            sensors.control(f"{COUNTER} stall 0")
            process.communicate(timeout=100)
        results = results_of(folder)
        assert "truth/package" not in results, results["truth/package"]


def a_search_that_hangs_is_reported():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        sensors.control(f"class/powercap stall-list {LONG}")
        done = subprocess.run(command(sensors, folder, "10s"), capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 2, done
        assert "class/powercap: there was no answer within 2 s" in done.stderr, done.stderr
        done = subprocess.run(command(sensors, folder, "10s", "--truth=auto"), capture_output=True, text=True, timeout=100,
                              check=False)
        assert "Meters may be missing: " in done.stdout and "class/powercap did not answer" in done.stdout, done.stdout
        truth = results_of(folder)["truth/search"]
        assert truth["verdict"] == "inconclusive" and "The search for meters stalled" in truth["reason"], truth


def gpus_that_hang_are_reported():
    """At first one of two hangs, and later the other one as well."""
    gpus = Gpus()
    env = {**os.environ, "NVML_LAB_STATE": str(gpus.state)}
    options = ("--truth=rapl-sysfs", f"--truth.nvml-library={BUILD}/tests/lab/nvml.so")
    gpus.say("gpu 0 50000", "gpu 1 30000", f"delay 1 {LONG}")
    with gpus.folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        with begin(sensors, folder, "10s", *options, env=env) as process:
            wait_for_reads(sensors, 3)
            gpus.say("gpu 0 50000", "gpu 1 30000", f"delay 0 {LONG}")
            process.communicate(timeout=100)
        results = results_of(folder)
        assert "NVML 1 did not answer" in results["truth/search"]["reason"], results["truth/search"]
        assert "The truth stalled" in results["truth/gpu"]["reason"] and "NVML 0" in results["truth/gpu"]["reason"], results
        assert "truth/package" not in results, results["truth/package"]


def counters_that_hang_end_the_noise_command():
    """The counter is named, and what was read of all of them until then is kept."""
    dram = "class/powercap/intel-rapl:0:0/energy_uj"
    zones = rapl_zone("intel-rapl:0", "package-0", 50) + rapl_zone("intel-rapl:0:0", "dram", 20)
    with Sensors(zones) as sensors, tempfile.TemporaryDirectory() as folder:
        noise = [VALIDATOR, "noise", f"--host.sysfs={sensors.mount}", "--interval=1ms", f"--output={folder}"]
        with subprocess.Popen([*noise, "--duration=5m"], stdout=subprocess.PIPE, text=True) as process:
            wait_for_reads(sensors, 100)
            began = time.monotonic()
            sensors.control(f"{dram} stall {LONG}")
            output, _ = process.communicate(timeout=100)
            took = time.monotonic() - began
        print(f"{output}\nended {took:.2f} s after the counter hung")
        assert process.returncode == 3 and took < LONG / 2000, (process.returncode, took)
        report = json.loads(pathlib.Path(folder, "noise.json").read_text())
        assert f"{dram}: there was no answer within 2 s" in report["stalled"], report["stalled"]
        assert [meter["idle"]["readings"] > 20 for meter in report["meters"]] == [True, True], report["meters"]
        assert all(report["stalled"] in pathlib.Path(folder, f"noise.{form}").read_text() for form in ("md", "html"))
        # It has hung from the start.
        done = subprocess.run([*noise, "--duration=1s"], capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 3 and f"{dram}: there was no answer within 2 s" in done.stdout, done


if __name__ == "__main__":
    run_tests([a_read_that_hangs_is_reported, an_interrupt_ends_it_while_a_read_hangs, a_meter_that_returns_is_read_again,
               a_search_that_hangs_is_reported, gpus_that_hang_are_reported, counters_that_hang_end_the_noise_command])
