#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model stress: runs its plan, notes it, and leaves no load and no limit of frequencies behind, however it ends."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from rig import BUILD, need_program, run_tests

PROGRAM = BUILD / "kepler-model"
LIMITS = {0: 3600000, 1: 3100000}


def machine(folder):
    """A sysfs with the frequencies of two CPUs."""
    for cpu, limit in LIMITS.items():
        path = pathlib.Path(folder, f"devices/system/cpu/cpu{cpu}/cpufreq")
        path.mkdir(parents=True)
        for name, khz in (("scaling_max_freq", limit), ("cpuinfo_min_freq", 1200000), ("cpuinfo_max_freq", 3600000)):
            (path / name).write_text(f"{khz}\n")


def limits(folder):
    return {cpu: int(pathlib.Path(folder, f"devices/system/cpu/cpu{cpu}/cpufreq/scaling_max_freq").read_text()) for cpu in LIMITS}


def start(folder, *args):
    need_program("stress-ng")
    return subprocess.Popen([PROGRAM, "stress", f"--sysfs={folder}", f"--output={folder}/log.json", "--pause=0s", "--load=cpu",
                             "--instances=2", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def log(folder):
    return json.loads(pathlib.Path(folder, "log.json").read_text())


def stressors():
    """Processes of stress-ng, and what they were started with."""
    out = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"stress-ng" in words[0]:
            out[int(path.parent.name)] = words
    return out


def wait_for(condition, what, seconds=15):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def plan_is_run_and_noted():
    with tempfile.TemporaryDirectory() as folder:
        machine(folder)
        before = time.time()
        with start(folder, "--step=1s", "--idle=1s", "--load=sleep", "--frequencies=2000,2800") as process:
            seen = set()
            while process.poll() is None:
                seen.add(tuple(limits(folder).values()))
                time.sleep(0.05)
            out, err = process.communicate()
        assert process.returncode == 0 and "4 steps on" in out, (out, err)
        assert {(2000000, 2000000), (2800000, 2800000)} <= seen, seen
        assert limits(folder) == LIMITS
        said = log(folder)
        steps = [(step["load"], step["instances"], step["max_khz"], step["failed"]) for step in said["steps"]]
        assert said["complete"] and steps == [
            ("idle", 0, 0, 0), ("cpu", 2, 2000000, 0), ("sleep", 2, 2000000, 0), ("cpu", 2, 2800000, 0), ("sleep", 2, 2800000, 0)]
        times = [when for step in said["steps"] for when in (step["start"], step["end"])]
        assert times == sorted(times) and before - 0.01 <= times[0] and times[-1] <= time.time(), times
        assert all(0.9 < step["end"] - step["start"] < 5 for step in said["steps"]), said


def any_end_restores():
    for number, status in ((signal.SIGTERM, 3), (signal.SIGINT, 3), (signal.SIGKILL, -signal.SIGKILL)):
        with tempfile.TemporaryDirectory() as folder:
            machine(folder)
            others = set(stressors())
            with start(folder, "--step=50s", "--idle=0s", "--frequencies=2400") as process:
                wait_for(lambda: len(set(stressors()) - others) >= 4, "stress-ng does not run")  # two, a child each
                ours = set(stressors()) - others
                assert set(limits(folder).values()) == {2400000}
                process.send_signal(number)
                _, err = process.communicate(timeout=20)
            assert process.returncode == status, (number, process.returncode, err)
            wait_for(lambda: limits(folder) == LIMITS, f"after {number.name}: {limits(folder)}")
            wait_for(lambda: not ours & set(stressors()), f"after {number.name} there is still load")
            if number != signal.SIGKILL:
                said = log(folder)
                assert not said["complete"] and len(said["steps"]) == 1, said
                assert "stopped" in err, err


def refusals():
    with tempfile.TemporaryDirectory() as folder:
        machine(folder)
        for args, why in ((["--budget=30s"], "the budget is 0:00:30"), (["--frequencies=9000"], "1200 to 3600 MHz"),
                          (["--load=--help"], "must be a stressor"), (["--instances=0"], "numbers from 1"),
                          (["--stress-ng=no-such-program"], "install the package stress-ng")):
            with start(folder, "--idle=0s", *args) as process:
                _, err = process.communicate(timeout=20)
            assert process.returncode == 1 and why in err, (args, err)
            assert not os.path.exists(f"{folder}/log.json")
        with start(folder, "--dry-run", "--budget=1s") as process:
            out, _ = process.communicate(timeout=20)
        # 2.0, 2.8 and 3.6 GHz, 20 s and 100 s of idle time before.
        assert process.returncode == 0 and "3 steps on" in out and "take 0:02:40" in out, out
        assert limits(folder) == LIMITS


run_tests([plan_is_run_and_noted, any_end_restores, refusals])
