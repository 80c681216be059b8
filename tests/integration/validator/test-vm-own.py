#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run --scenario=vm`: it starts a virtual machine with a real kernel, whose own program computes and rests. The
exporter's CPU time and energy of it are right, and those of one that doubles them are not. QEMU ends with the validator.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from page_server import PageServer, page_of
from rig import BUILD, Exporter, Sensors, need_program, rapl_zone, skip

VALIDATOR = BUILD / "kepler-validator"
GETKERN = pathlib.Path(__file__).parents[2] / "lab/getkern"
VM_ROW = re.compile(r"^(kepler_vm_\w+_total\{.*\}) (\S+)$", re.MULTILINE)


def kernel_image():
    """A kernel that is not packed boots sooner: tests/lab/vmtest unpacks it."""
    if subprocess.run([GETKERN, "6.1"], check=False).returncode != 0:
        skip("no kernel")
    tree = subprocess.run([GETKERN, "--path", "6.1"], text=True, capture_output=True, check=True).stdout.strip()
    boot = pathlib.Path(tree, "boot")
    return next(boot.glob("vmlinux-*"), None) or next(boot.glob("vmlinuz-*"))


def doubled(page):
    return VM_ROW.sub(lambda row: f"{row[1]} {2 * float(row[2]):.6f}", page)


def machines():
    """The pids of the virtual machines that a validator has started."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"guest=kepler-validator" in words and b"Z" != (folder / "stat").read_bytes().rsplit(b") ", 1)[1][:1]:
            found.append(int(folder.name))
    return found


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_disturbed(result):
    return result["verdict"] == "inconclusive" and re.search("busy|drifted|Other work", result["reason"])


def judge(exporters, *options):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([VALIDATOR, "run", f"--output={folder}", "--scenario=vm", "--step=500ms", "--duration=45s",
                               *exporters, *options], text=True, capture_output=True, check=False, timeout=600)
        print(done.stdout, done.stderr, flush=True)
        found = {}
        for result in json.loads(pathlib.Path(folder, "report.json").read_text())["results"]:
            found.setdefault(result["exporter"], {})[result["name"]] = result
    return found


def ends_with_validator(number, command):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(machines)
        process.send_signal(number)
    wait_for(lambda: not machines())


need_program("qemu-system-x86_64")
kernel = kernel_image()
assert not machines(), "another validator runs a virtual machine"
with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
        Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
        PageServer(lambda name: doubled(page_of(exporter.url))) as proxy:
    exporter.intervals(2)
    own, twice = exporter.url + "/metrics", proxy.url("doubled")
    machine = [f"--vm.kernel={kernel}", "--vm.accel=tcg"]
    found = judge([f"--exporter={own}", f"--exporter={twice}", f"--host.sysfs={sensors.mount}"], *machine)
    assert not machines()
    assert found[own]["vm/cpu-time"]["verdict"] == "pass", found[own]["vm/cpu-time"]
    assert found[twice]["vm/cpu-time"]["verdict"] == "fail", found[twice]["vm/cpu-time"]
    right, wrong = (found[url]["vm/package/guest"] for url in (own, twice))
    assert right["verdict"] == "pass" or is_disturbed(right), right
    assert wrong["verdict"] == "fail" or is_disturbed(wrong), wrong
    assert right["errors"]["predicted"] > 20, right
    command = [VALIDATOR, "run", f"--exporter={own}", "--scenario=vm", "--truth=none", *machine]
    for number in (signal.SIGINT, signal.SIGKILL):
        ends_with_validator(number, command)
    done = subprocess.run([*command, "--vm.append=rdinit=/none"], text=True, capture_output=True, check=False, timeout=300)
    assert done.returncode == 2 and "has ended before its guest was ready: " in done.stderr, done
    done = subprocess.run([VALIDATOR, "run", f"--exporter={own}", "--scenario=vm"], text=True, capture_output=True, check=False,
                          timeout=60, env={**os.environ, "PATH": "/nonexistent"})
    assert done.returncode == 3 and "package qemu-system-" in done.stdout, done
    assert exporter.stop() == 0

for options, words in ((["--scenario=vm", "--vm.kernel=/nonexistent"], "vm.kernel: /nonexistent cannot be read"),
                       (["--vm.cpus=2"], "vm.cpus: needs --scenario=vm"), (["--scenario=vm", "--vm=auto"], "vm: cannot be given")):
    done = subprocess.run([VALIDATOR, "run", "--truth=none", *options], text=True, capture_output=True, check=False, timeout=20)
    assert done.returncode == 2 and words in done.stderr, done
