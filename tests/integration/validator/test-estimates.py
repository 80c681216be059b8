#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run --estimates`: a second Kepler estimates, the machine's meter says how well, and the Kepler ends with it."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from model_rig import BPF, HEAD, Program, Repository, weights
from rig import BUILD, Sensors, only_load_of_a_validator, rapl_zone, run_tests

LISTEN = "--web.listen-address=127.0.0.1:0"
VALIDATOR = BUILD / "kepler-validator"


def second_keplers(sensors):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().decode(errors="replace")
            if "--no-meter.enabled" in text and sensors.mount in text:
                found.append(path)
        except OSError:
            pass
    return found


def run(sensors, *words, scenario="node"):
    done = subprocess.run([VALIDATOR, "run", f"--host.sysfs={sensors.mount}", f"--scenario={scenario}", *map(str, words)],
                          text=True, capture_output=True, check=False, timeout=200)
    print(done.stdout, done.stderr)
    return done


def the_builtin_model_is_judged():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 500)) as sensors, tempfile.TemporaryDirectory() as folder:
        done = run(sensors, "--estimates=builtin", "--duration=30s", f"--output={folder}")
        report = json.loads(pathlib.Path(folder, "report.json").read_text())
        results = {result["name"]: result for result in report["results"]}
        assert "#builtin" in done.stdout and "Exporter:" not in done.stdout, done.stdout
        package, coverage = results["node/package"], results["coverage/package"]
        assert package["exporter"].endswith("/metrics#builtin"), package
        # No machine draws 500 W without doing anything.
        assert package["verdict"] == "fail" and package["threshold"]["max_error"] == 0.2, package
        assert package["errors"]["energy_ratio"] < 0.8 and package["errors"]["median_ape"] > 0.2, package
        assert coverage["verdict"] == "fail" and "is within the published bound" in coverage["reason"], coverage
        assert "container/package/half" not in results and done.returncode == 1, results.keys()
        assert not second_keplers(sensors), "Kepler still runs"


def a_model_that_kepler_refuses_has_no_figures():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "refused.json")
        file.write_text('{"no": "model"}')
        done = run(sensors, f"--estimates={file}", "--estimates=builtin", "--duration=10s", f"--output={folder}/report")
        report = json.loads(pathlib.Path(folder, "report/report.json").read_text())
        results = [result for result in report["results"] if result["exporter"].endswith("refused.json")]
        refused, = (result for result in results if result["name"] == "node/model")
        assert refused["verdict"] == "fail" and "refused" in refused["reason"] and done.returncode == 1, refused
        assert not any(result["kind"] == "accuracy" for result in results), results
        assert not any(result["name"].startswith("regression/") for result in report["results"]), report


def the_model_of_a_file_is_judged():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "fifty.json")
        file.write_text(json.dumps({"package": {"All_Weights": {
            "Bias_Weight": 50, "Categorical_Variables": {},
            "Numerical_Variables": {"bpf_cpu_time_ms": {"scale": 1000, "weight": 0.001}}}}}))
        done = run(sensors, f"--estimates={file}", "--duration=10s")
        assert "node/package" in done.stdout and "node/model" not in done.stdout, done.stdout
        assert "another model" not in done.stdout, done.stdout


def is_virtual():
    return "hypervisor" in pathlib.Path("/proc/cpuinfo").read_text()


class Served(Repository):
    """One line for this very machine, by CPU time alone."""

    def __init__(self, idle_w, cpu_w):
        super().__init__()
        processor = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]
        attributes = {"processor": processor, "cores": os.cpu_count()}
        self.put("ec2/node_type_index.json", json.dumps({"0": {"attrs": attributes, "members": ["this"]}}))
        line = weights(idle_w, cpu_w)
        line["package"]["All_Weights"]["Numerical_Variables"].pop(BPF[1])
        self.rows.clear()
        self.add("LinearRegressionTrainer_0", 2.0, line)
        self.put("ec2/rapl-sysfs_AbsPower_model_metadata.csv", HEAD + "".join(self.rows).replace(f", '{BPF[1]}'", ""))


def models_of_servers_are_judged():
    """Over the ladder: one server has the law of the meter, the other one half of it."""
    idle_w, cpu_w = 30, 20
    with Sensors(rapl_zone("intel-rapl:0", "package-0", idle_w, busy_watts=cpu_w)) as sensors, \
            tempfile.TemporaryDirectory() as folder, Served(idle_w, cpu_w) as right, Served(idle_w / 2, cpu_w / 2) as half, \
            Program("serve", right.path, LISTEN) as first, \
            Program("serve", half.path, LISTEN) as second:
        urls = [f"http://{server.address}/" for server in (first, second)]
        run(sensors, *(f"--estimates={url}" for url in urls), "--duration=45s", f"--output={folder}", scenario="ladder")
        results = json.loads(pathlib.Path(folder, "report.json").read_text())["results"]
    first, second = ({result["name"]: result for result in results if result["exporter"].endswith("#" + url)} for url in urls)
    for found in (first, second):
        assert found["node/package"]["threshold"]["max_error"] == 0.2 and "coverage/package" in found, found
    # In a virtual machine Kepler estimates a share of it, which the meter of the whole machine is not.
    ratios = [found["node/package"]["errors"]["energy_ratio"] for found in (first, second)]
    assert abs(ratios[0] / ratios[1] / 2 - 1) < 0.1, ratios
    assert second["node/package"]["verdict"] == "fail" and second["regression/package"]["verdict"] == "fail", second
    assert is_virtual() or first["node/package"]["verdict"] != "fail", first


def an_estimate_without_a_meter_does_not_pass():
    with Sensors(rapl_zone("intel-rapl:0", "uncore", 5)) as sensors:
        done = run(sensors, "--estimates=builtin", "--duration=10s")
        assert "inconclusive   node/estimates: " in done.stdout and done.returncode == 3, done.stdout


def it_ends_with_the_validator():
    """After an interrupt and after a SIGKILL; a Kepler that cannot start is an error before the plan."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors:
        for number in (signal.SIGINT, signal.SIGKILL):
            with subprocess.Popen([VALIDATOR, "run", f"--host.sysfs={sensors.mount}", "--scenario=node", "--duration=10m",
                                   "--estimates=builtin"], stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout.readline().startswith("Plan, 600 s")
                assert second_keplers(sensors)
                os.kill(process.pid, number)
                process.communicate(timeout=60)
            deadline = time.monotonic() + 60
            while second_keplers(sensors) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not second_keplers(sensors), number
        for words, reason in ((["--estimates=/none.json"], "/none.json"), (["--estimates=builtin", "--kepler=/none"], "/none"),
                              (["--estimates=http://me:secret@host/"], "must not contain a user")):
            done = run(sensors, *words)
            assert done.returncode == 2 and reason in done.stderr and "secret" not in done.stderr, done


run_tests([the_builtin_model_is_judged, a_model_that_kepler_refuses_has_no_figures, the_model_of_a_file_is_judged,
           an_estimate_without_a_meter_does_not_pass, it_ends_with_the_validator])
with only_load_of_a_validator():
    run_tests([models_of_servers_are_judged])
