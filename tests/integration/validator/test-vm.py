#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run --vm`: a virtual machine by its host, and its guest by the host's account of it.

The machine is QEMU with a boot sector that spins; a command as the load lets it run and stops it again. The guest's page has the
energy that the host's exporter charges to the machine, or a part of it. An exporter that doubles its machines fails.
"""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time

from page_server import PageServer, page_of
from rig import BUILD, Exporter, Sensors, need_program, rapl_zone

VALIDATOR = BUILD / "kepler-validator"
UUID = "3f2a9c1e-5b7d-4e8f-9a6b-0c1d2e3f4a5b"
BEGAN = time.time()
SPIN = bytes([0xEB, 0xFE]).ljust(510, b"\0") + b"\x55\xAA"  # jmp to itself
ROW = re.compile(rf'^(kepler_vm_package_joules_total\{{.*{UUID}.*\}}) (\S+)$', re.MULTILINE)


def guest(page, factor):
    """What an exporter in the machine shows if it has the part @factor of what the host charges to it, and 10 mW."""
    snapshot = re.search(r"^kepler_exporter_snapshot_timestamp_seconds (\S+)$", page, re.MULTILINE)
    joules = factor * sum(float(row[2]) for row in ROW.finditer(page)) + 0.01 * (float(snapshot[1]) - BEGAN)
    return "# TYPE kepler_node_package_joules_total counter\n" \
           f'kepler_node_package_joules_total{{mode="dynamic"}} {joules:.6f}\n{snapshot[0]}\n'


def doubled(page):
    return re.sub(r"^(kepler_vm_\w+_total\{.*\}) (\S+)$", lambda row: f"{row[1]} {2 * float(row[2]):.6f}", page, flags=re.MULTILINE)


PAGES = {"guest": lambda page: guest(page, 1), "low": lambda page: guest(page, 0.8), "doubled": doubled}


@contextlib.contextmanager
def machine(folder):
    """A machine that does not run yet; gives the path of its monitor."""
    image, monitor = pathlib.Path(folder, "floppy.img"), pathlib.Path(folder, "monitor")
    image.write_bytes(SPIN.ljust(1474560, b"\0"))
    options = ["-name", "guest=spinner", "-uuid", UUID, "-accel", "tcg", "-M", "pc", "-m", "16", "-nodefaults", "-no-user-config",
               "-display", "none", "-boot", "a", "-drive", f"file={image},format=raw,if=floppy", "-S", "-monitor",
               f"unix:{monitor},server=on,wait=off"]
    with subprocess.Popen([need_program("qemu-system-x86_64"), *options]) as process:
        try:
            deadline = time.monotonic() + 60
            while not monitor.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            yield monitor
        finally:
            process.kill()


def run(*args):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([VALIDATOR, "run", f"--output={folder}", "--step=250ms", *args], text=True, capture_output=True,
                              check=False, timeout=200)
        print(done.stdout, done.stderr)
        found = {}
        for result in json.loads(pathlib.Path(folder, "report.json").read_text())["results"]:
            found.setdefault(result["exporter"], {})[result["name"]] = result
    return found, done.stdout


def is_disturbed(result):
    return result["verdict"] == "inconclusive" and re.search("busy|drifted|Other work", result["reason"])


def tell(monitor, word):
    """Says @word to the monitor, and waits until it has been obeyed."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(60)
        link.connect(str(monitor))
        for said in (b"", word.encode() + b"\n"):
            link.sendall(said)
            answer = b""
            while not answer.endswith(b"(qemu) "):
                answer += link.recv(999) or b"(qemu) "


@contextlib.contextmanager
def listener(folder, monitor):
    """A FIFO whose lines are passed to the monitor. A command that writes to it uses almost no CPU time of its own, which would be
    taken for the machine's."""
    fifo = pathlib.Path(folder, "words")
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR)  # it has no end, also when no writer is left

    def listen():
        with os.fdopen(end, buffering=1, closefd=False) as lines:
            for line in iter(lines.readline, "end\n"):
                tell(monitor, line.strip())

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield fifo
    finally:
        os.write(end, b"end\n")
        thread.join()
        os.close(end)


with tempfile.TemporaryDirectory() as scratch, machine(scratch) as monitor, listener(scratch, monitor) as words, \
        Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
        Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
        PageServer(lambda name: PAGES[name](page_of(exporter.url))) as proxy:
    exporter.intervals(2)
    own, twice = exporter.url + "/metrics", proxy.url("doubled")
    exporters = [f"--exporter={own}", f"--exporter={twice}", f"--host.sysfs={sensors.mount}"]
    command = f"echo cont >{words}; sleep 5; echo stop >{words}"
    found, output = run(*exporters, "--vm=spinner", f"--guest-exporter={proxy.url('guest')}", f"--load-command={command}",
                        "--duration=21s", "--max-error=15%")  # the node is not judged here: no phase is longer to decide on it
    assert UUID in output, output
    assert found[own]["vm/cpu-time"]["verdict"] == "pass", found[own]["vm/cpu-time"]
    assert found[twice]["vm/cpu-time"]["verdict"] == "fail", found[twice]["vm/cpu-time"]
    right, wrong = (found[url]["vm/package/command"] for url in (own, twice))
    assert right["verdict"] == "pass" or is_disturbed(right), right
    assert wrong["verdict"] == "fail" or is_disturbed(wrong), wrong
    assert right["errors"]["predicted"] > 5, right
    assert abs(wrong["errors"]["predicted"] / right["errors"]["predicted"] - 2) < 0.05, (right, wrong)
    assert "container/package/command" not in found[own], found[own].keys()
    right = found[proxy.url("guest")]["guest/package"]
    assert right["verdict"] == "pass" and abs(right["error"]) < 0.05, right
    tell(monitor, "cont")
    exporter.intervals(2)
    found, output = run(exporters[0], exporters[2], f"--vm={UUID.upper()}", f"--guest-exporter={proxy.url('low')}",
                        "--scenario=node", "--duration=12s")
    low = found[proxy.url("low")]["guest/package"]
    assert low["verdict"] == "fail" and abs(low["errors"]["energy_ratio"] - 0.8) < 0.02, low
    assert re.search(r"^ +scale \S+, offset [+-]\S+ W$", output, re.MULTILINE), output
    assert low["actual"]["name"] == "the host's account of the virtual machine", low["actual"]
    assert exporter.stop() == 0

for options, words in ((["--vm=no-such-machine"], "no process of QEMU"), (["--guest-exporter=http://127.0.0.1:1/"], "needs --vm")):
    done = subprocess.run([VALIDATOR, "run", *options], text=True, capture_output=True, check=False, timeout=20)
    assert done.returncode == 2 and words in done.stderr, done
