#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `kepler-validator run` changes on a machine is restored, however the run ends; a load that a machine cannot run is named.

The machine's files are a folder, and no exporter answers: only the loads are looked at.
"""
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from rig import BUILD, only_load_of_a_validator

VALIDATOR = [str(BUILD / "kepler-validator"), "run", "--truth=none", "--exporter=http://127.0.0.1:1/", "--step=100ms"]
BEFORE = 3900000


def make_machine(folder):
    policy = pathlib.Path(folder, "devices/system/cpu/cpufreq/policy0")
    policy.mkdir(parents=True)
    for name, khz in {"cpuinfo_min_freq": 800000, "cpuinfo_max_freq": 4000000, "scaling_max_freq": BEFORE}.items():
        (policy / name).write_text(f"{khz}\n")
    return policy / "scaling_max_freq"


def wait_for_limit(path, khz):
    """Until a limit that a phase sets, or that the guard restores, is there; the test's own time limit ends it."""
    while path.read_text().strip() != str(khz):
        time.sleep(0.01)


def limits_are_restored(number):
    with tempfile.TemporaryDirectory() as folder:
        limit = make_machine(folder)
        with subprocess.Popen([*VALIDATOR, f"--host.sysfs={folder}", "--scenario=frequency", "--duration=1h"], text=True,
                              stdout=subprocess.PIPE) as run:
            wait_for_limit(limit, 1600000)
            run.send_signal(number)
            output = run.communicate(timeout=60)[0]
        print(output)
        assert "Changes: scaling_max_freq of all CPUs" in output, output
        wait_for_limit(limit, BEFORE)
        if number == signal.SIGINT:
            assert re.search(r"^inconclusive +run/complete", output, re.MULTILINE), output


def what_a_machine_lacks_is_said():
    with tempfile.TemporaryDirectory() as folder:
        for scenario, reason in (("frequency", "no frequency limits"), ("smt", "no core with two CPUs"),
                                 ("sockets", "no second socket")):
            done = subprocess.run([*VALIDATOR, f"--host.sysfs={folder}", f"--scenario={scenario}"], text=True, capture_output=True,
                                  check=False, timeout=60)
            print(done.stdout, done.stderr)
            assert done.returncode == 3, done.returncode
            assert re.search(rf"^not applicable +scenario/{scenario}: This machine has {reason}", done.stdout, re.MULTILINE)


def processes_are_counted():
    """As many run as the plan says, unless the machine is too busy for them."""
    done = subprocess.run([*VALIDATOR, "--scenario=short-lived", "--duration=10s"], text=True, capture_output=True, check=False,
                          timeout=120)
    print(done.stdout, done.stderr)
    planned = int(re.search(r"  short-lived, (\d+) processes$", done.stdout, re.MULTILINE)[1])
    ran = int(re.search(r"^Load in short-lived: .*, (\d+) processes\.$", done.stdout, re.MULTILINE)[1])
    assert 0 < ran <= planned, (ran, planned)


def operations_of_stress_ng_are_counted():
    """Where it is installed; elsewhere that is the reason."""
    done = subprocess.run([*VALIDATOR, "--scenario=stress-ng", "--duration=17s"], text=True, capture_output=True, check=False,
                          timeout=120)
    print(done.stdout, done.stderr)
    if shutil.which("stress-ng"):
        assert re.search(r"^Load in matrix 50 %: [1-9]\d* bogo operations, \d+\.\d\d s of CPU time", done.stdout, re.MULTILINE)
    else:
        assert "scenario/stress-ng: stress-ng is not installed" in done.stdout, done.stdout


what_a_machine_lacks_is_said()
with only_load_of_a_validator():
    limits_are_restored(signal.SIGINT)
    limits_are_restored(signal.SIGKILL)
    processes_are_counted()
    operations_of_stress_ng_are_counted()
