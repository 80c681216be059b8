# SPDX-License-Identifier: Apache-2.0
"""A real libvirtd, and machines without a kernel: a boot sector reads the BIOS's tick (18.2 a second) and spins in so many of each
four ticks, else halts."""
import contextlib
import pathlib
import shutil
import subprocess
import time
import uuid

import containers
from rig import skip


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


class Machine:
    def __init__(self, name, busy_ticks, directory):
        self.name, self.uuid = name, str(uuid.uuid4())
        self.image = directory / f"{name}.img"
        self.image.write_bytes(boot_sector(busy_ticks).ljust(1474560, b"\0"))
        self.pid = 0


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

    def start(self, machine, devices="", memory=""):
        path = self.directory / f"{machine.name}.xml"
        path.write_text(
            f"<domain type='qemu'><name>{machine.name}</name><uuid>{machine.uuid}</uuid><memory unit='MiB'>16</memory>{memory}"
            f"<os><type arch='x86_64' machine='pc'>hvm</type><boot dev='fd'/></os><devices>"
            f"<disk type='file' device='floppy'><driver name='qemu' type='raw'/><source file='{machine.image}'/>"
            f"<target dev='fda'/></disk>{devices}</devices></domain>")
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
