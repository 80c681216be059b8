#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-vms.py [qemu|libvirt]: the joules of two virtual machines that are busy a quarter and three quarters of the time.

The guests have no kernel: a boot sector reads the BIOS's tick (18.2 a second) and spins in so many of each four ticks, else
halts. The part of each machine in the dynamic energy must be within 2 points of its part of the CPU time that the kernel
charged to its process; its name and UUID are those that it was started with.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import containers
from libvirt_rig import Libvirt, Machine
from rig import Exporter, Sensors, need_program, rapl_zone

SECONDS = 40 if os.environ.get("KEPLER_LONG_TESTS") else 15
OPTIONS = ["--monitor.interval=1s", "--metrics.settle=1s"]
JOULES = "kepler_vm_package_joules_total"


def cpu_seconds(pid):
    """Of a whole process, from its CPU clock."""
    return time.clock_gettime((~pid << 3) | 2)


class Qemu:
    """Plain QEMU, as a script would start it."""

    def __init__(self, directory):
        self.binary = need_program("qemu-system-x86_64")
        self.directory = directory
        self.processes = []

    def wait_ready(self):
        pass

    def start(self, machine):
        process = subprocess.Popen(
            [self.binary, "-name", f"guest={machine.name},debug-threads=on", "-uuid", machine.uuid, "-accel", "tcg", "-M", "pc",
             "-m", "16", "-nodefaults", "-no-user-config", "-display", "none", "-boot", "a",
             "-drive", f"file={machine.image},format=raw,if=floppy"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.processes.append(process)
        machine.pid = process.pid

    def close(self):
        for process in self.processes:
            process.kill()
            process.communicate()


def vm_energy(metrics, machine):
    rows = metrics.select(JOULES, vm_id=machine.uuid, mode="dynamic")
    assert rows, f"no series of the machine {machine.name} ({machine.uuid})"
    for labels, _ in rows:
        assert labels["vm_name"] == machine.name, labels
        assert labels["hypervisor"], labels
    return float(sum(value for _, value in rows))


def measure(exporter, machines):
    exporter.intervals(6)  # the BIOS is through, and the series are born
    before = exporter.intervals(1)
    base = [(vm_energy(before, m), cpu_seconds(m.pid)) for m in machines]
    time.sleep(SECONDS)
    after = exporter.intervals(1)
    now = [(vm_energy(after, m), cpu_seconds(m.pid)) for m in machines]
    assert not after.imbalance_uj(), after.imbalance_uj()
    joules = [n[0] - b[0] for n, b in zip(now, base)]
    cpu = [n[1] - b[1] for n, b in zip(now, base)]
    for machine, used, seconds in zip(machines, joules, cpu):
        got, want = used / sum(joules) * 100, seconds / sum(cpu) * 100
        print(f"{machine.name}: {got:.2f} % of the energy, {want:.2f} % of {sum(cpu):.1f} CPU s", flush=True)
        assert abs(got - want) <= 2, f"{machine.name}: {got - want:+.2f} points"


def main():
    monitor = sys.argv[1] if len(sys.argv) > 1 else "qemu"
    if monitor == "libvirt" and os.environ.get(containers.MARK) is None:
        containers.unpack()
    containers.enter_own_mounts()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="kepler-vms-"))
    machines = [Machine("web01", 1, directory), Machine("db01", 3, directory)]
    kind, monitor = Libvirt if monitor == "libvirt" else Qemu, None
    try:
        monitor = kind(directory)
        monitor.wait_ready()
        for machine in machines:
            monitor.start(machine)
        zone = rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)
        with Sensors(zone) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
            measure(exporter, machines)
            assert exporter.stop() == 0
    finally:
        if monitor:
            monitor.close()
        shutil.rmtree(directory, ignore_errors=True)


main()
