#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-vms.py [qemu|libvirt]: the joules of two virtual machines that are busy a quarter and three quarters of the time.

The guests have no kernel: a boot sector reads the BIOS's tick (18.2 a second) and spins in so many of each four ticks, else
halts. The part of each machine in the dynamic energy must be within 2 points of its part of the CPU time that the kernel
charged to its process; its name and UUID are those that it was started with.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

import containers
from rig import Exporter, Sensors, need_program, rapl_zone, skip

SECONDS = 40 if os.environ.get("KEPLER_LONG_TESTS") else 15
OPTIONS = ["--monitor.interval=1s", "--metrics.settle=1s"]
JOULES = "kepler_vm_package_joules_total"


def boot_sector(busy_ticks_of_4):
    code = bytes([
        0x31, 0xC0,               # xor ax, ax
        0x8E, 0xD8,               # mov ds, ax
        0xFB,                     # sti
        0xA0, 0x6C, 0x04,         # again: mov al, [0x46c]    the tick
        0x24, 0x03,               # and al, 3
        0x3C, busy_ticks_of_4,    # cmp al, N
        0x72, 0x01,               # jb spin
        0xF4,                     # hlt                       until the next tick
        0xEB, 0xF4,               # spin: jmp again
    ])
    return code.ljust(510, b"\0") + b"\x55\xAA"


def cpu_seconds(pid):
    """Of a whole process, from its CPU clock."""
    return time.clock_gettime((~pid << 3) | 2)


class Machine:
    def __init__(self, name, busy_ticks, directory):
        self.name, self.uuid = name, str(uuid.uuid4())
        self.image = directory / f"{name}.img"
        self.image.write_bytes(boot_sector(busy_ticks).ljust(1474560, b"\0"))
        self.pid = 0


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


class Libvirt:
    """libvirtd with all of its state in the test's own mounts."""
    CONFIG = 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\nnamespaces = []\ncgroup_controllers = [ "cpu", "cpuacct" ]\n'

    def __init__(self, directory):
        for program in ("libvirtd", "virtlogd", "virsh", "qemu-system-x86_64"):
            if not shutil.which(program):
                skip(f"{program} is not installed")
        self.directory = directory
        (directory / "libvirt").mkdir()
        shutil.copytree("/etc/libvirt", directory / "libvirt", dirs_exist_ok=True)
        (directory / "libvirt/qemu.conf").write_text(self.CONFIG)
        containers.mount("--bind", str(directory / "libvirt"), "/etc/libvirt")
        # The packages make these when they are installed, not when they are unpacked.
        for path in ("/var/lib", "/var/cache", "/var/log"):
            containers.mount("-t", "tmpfs", "kepler-test", path)
        for name, line in (("passwd", "libvirt-qemu:x:64055:64055::/var/lib/libvirt:/bin/false"),
                           ("group", "libvirt-qemu:x:64055:")):
            (directory / name).write_text(pathlib.Path("/etc", name).read_text().rstrip("\n") + f"\n{line}\n")
            containers.mount("--bind", str(directory / name), f"/etc/{name}")
        self.log = open(directory / "libvirt.log", "w")
        self.daemons = [subprocess.Popen([name], stdout=self.log, stderr=self.log) for name in ("virtlogd", "libvirtd")]
        self.domains = []

    def wait_ready(self):
        deadline = time.monotonic() + 30
        while self.virsh("version").returncode:
            assert time.monotonic() < deadline, (self.directory / "libvirt.log").read_text()
            time.sleep(0.2)

    def virsh(self, *args):
        return subprocess.run(["virsh", "-q", "-c", "qemu:///system", *args], capture_output=True, text=True, check=False,
                              timeout=60)

    def start(self, machine):
        path = self.directory / f"{machine.name}.xml"
        path.write_text(
            f"<domain type='qemu'><name>{machine.name}</name><uuid>{machine.uuid}</uuid><memory unit='MiB'>16</memory>"
            f"<os><type arch='x86_64' machine='pc'>hvm</type><boot dev='fd'/></os><devices>"
            f"<disk type='file' device='floppy'><driver name='qemu' type='raw'/><source file='{machine.image}'/>"
            f"<target dev='fda'/></disk></devices></domain>")
        made = self.virsh("create", str(path))
        assert made.returncode == 0, made.stderr + (self.directory / "libvirt.log").read_text()
        self.domains.append(machine.name)
        machine.pid = int(pathlib.Path(f"/run/libvirt/qemu/{machine.name}.pid").read_text())

    def close(self):
        for name in self.domains:
            self.virsh("destroy", name)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(20)
        self.log.close()
        for root, _ in containers.hierarchies():  # libvirt makes one for all machines, and leaves it
            with contextlib.suppress(OSError):
                (root / "machine").rmdir()


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
