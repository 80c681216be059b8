#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-passthrough-qemu.py [SECONDS] - a virtual machine of QEMU with a real kernel, and Kepler on both sides: by a virtio-serial
port, 9p, virtiofs and vsock. What the guest counts is what the host has sent, to the microjoule, although the machine is paused,
its clock is set, either Kepler is killed, and records of the port and of vsock are lost, repeated, torn and late; in turn for
SECONDS (600).

The guest has a Kepler for each channel, one that asks at the port of vhostmd, and a container of a pod. The host's Kepler is
stopped while values are compared, so that its last record remains; the file of the machine's directory is that record. A client
of vhostmd in the guest gets the same energy.
"""
import contextlib
import json
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from decimal import Decimal
from xml.etree import ElementTree

import containers
from passthrough_guest import HOST, VMTEST, QemuGuest, await_records, check, look, output, wait
from passthrough_pair import Port
from passthrough_rig import MODES
from rig import BUILD, ROOT, Exporter, Sensors, need_program, need_root, rapl_zone, skip

VIRTIOFSD = pathlib.Path("/usr/lib/qemu/virtiofsd")
PLACES = {"port": "auto", "9p": "/mnt/9p", "virtiofs": "/mnt/virtiofs", "vsock": "vsock", "vhostmd": "vhostmd"}
VSOCK_PORT = 28283
CONTAINER, POD = containers.new_id(), str(uuid.uuid4())
# As vm-dump-metrics does.
ASK_VHOSTMD = """
import contextlib, os, pathlib
port, = (path for path in pathlib.Path("/sys/class/virtio-ports").iterdir() if "vhostmd" in (path / "name").read_text())
device = None
while device is None:  # a guest's Kepler asks as well
    with contextlib.suppress(OSError):
        device = os.open(f"/dev/{port.name}", os.O_RDWR)
os.write(device, b"GET /metrics/XML\\n\\n")
answer = b""
while not answer.endswith(b"\\n\\n"):
    answer += os.read(device, 65536)
pathlib.Path("/lab/answer.new").write_bytes(answer)
os.rename("/lab/answer.new", "/lab/answer")
"""
# Each is started again when it is killed; a file kill-NAME asks for that. They start from the guest's own memory: the share of the
# laboratory answers late while the machine is busy.
IN_GUEST = """
cp /lab/kepler /lab/guest.yaml /run/
/bin/busybox ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
mkdir -p /mnt/9p /mnt/virtiofs
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=none kepler9p /mnt/9p
mount -t virtiofs keplerfs /mnt/virtiofs
( while :; do
    if [ -e /lab/jump ]; then date -s "$(cat /lab/jump)" && rm /lab/jump; fi
    if [ -e /lab/ask ]; then timeout 60 python3 /lab/ask; rm /lab/ask; fi
    sleep 1
  done ) &
mkdir -p /sys/fs/cgroup$CGROUP
( echo 0 >/sys/fs/cgroup$CGROUP/cgroup.procs; while :; do timeout 2 sh -c 'while :; do :; done'; sleep 1; done ) &
serve() {
  while :; do
    /run/kepler run --host.state-dir= --config.file=/run/guest.yaml --table=never --web.listen-address=0.0.0.0:$3 \\
      --monitor.interval=1s --metrics.settle=0s --meter.passthrough=$2 >>/lab/$1.log 2>&1 &
    while [ ! -e /lab/kill-$1 ]; do sleep 1; done
    kill -9 $!; wait $!; rm /lab/kill-$1
  done
}
"""


class Guest(QemuGuest):
    """The machine, with a Kepler for each channel in it."""

    def __init__(self, folder, names):
        super().__init__(folder, names, ["vhostmd"])
        self.daemons = []

    def options(self):
        files = self.folder / "guests" / self.uuid
        words = [*self.common_options(), f"-chardev socket,id=kepler,path={self.folder}/port.sock,reconnect=1",
                 "-device virtio-serial-pci -device virtserialport,chardev=kepler,name=io.kepler.energy.0",
                 f"-chardev socket,id=vhostmd,path={self.folder}/sockets/{self.uuid}.vhostmd,server=on,wait=off",
                 "-device virtserialport,chardev=vhostmd,name=org.github.vhostmd.1",
                 f"-virtfs local,path={files},mount_tag=kepler9p,security_model=none,readonly=on"]
        if "virtiofs" in self.names:
            words.append(f"-chardev socket,id=fs,path={self.folder}/fs.sock -device vhost-user-fs-pci,chardev=fs,tag=keplerfs")
        if "vsock" in self.names:
            words.append(f"-chardev socket,id=vsock,path={self.folder}/vhost.sock -device vhost-user-vsock-pci,chardev=vsock")
        if self.daemons:
            words.append("-object memory-backend-memfd,id=ram,size=1024M,share=on -machine memory-backend=ram")
        return " ".join(words)

    def start_daemons(self):
        if "virtiofs" in self.names:
            self.daemons.append(subprocess.Popen(
                [VIRTIOFSD, f"--socket-path={self.folder}/fs.sock", "-o", "sandbox=chroot", "-o", "cache=none",
                 "-o", f"source={self.folder}/guests/{self.uuid}"], stderr=subprocess.DEVNULL))
        if "vsock" in self.names:
            self.daemons.append(subprocess.Popen(
                ["vhost-device-vsock", "--guest-cid=3", f"--uds-path={self.folder}/vsock", f"--socket={self.folder}/vhost.sock"]))

    def __enter__(self):
        self.start_daemons()
        self.copy_kepler()
        serve = "".join(f"serve {name} {PLACES[name]} {28282 + index} &\n" for index, name in enumerate(self.ports))
        cgroup = f"{containers.pod_parent(POD, 'systemd')}/cri-containerd-{CONTAINER}.scope"
        script = f"CGROUP={cgroup}\n{IN_GUEST}{serve}while :; do /usr/bin/timeout 3 sh -c 'while :; do :; done'; sleep 2; done"
        self.process = subprocess.Popen(
            [*VMTEST, "-t", "1500", "-c", "2", "-w", self.folder / "lab",
             "-M", "virtio_net virtio_console virtiofs vmw_vsock_virtio_transport", "-q", self.options(), "--", script])
        return self

    def __exit__(self, *_):
        super().__exit__()
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()


def listen(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    listener.setblocking(False)
    return listener


class Wire:
    """Between the host's Kepler and the devices: QEMU's port, and the daemon of its vsock."""

    def __init__(self, folder, guest):
        self.door = listen(folder / "sockets" / f"{guest.uuid}.sock")
        self.listeners = [listen(folder / name) for name in ("port.sock", f"vsock_{VSOCK_PORT}")]
        self.streams = []

    def connect(self):
        with contextlib.suppress(BlockingIOError):
            return self.door.accept()[0]
        return None

    def write(self, data):
        """A device that does not read, as vsock's after a pause, loses records and does not delay the other."""
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                self.streams.append(listener.accept()[0])
        for stream in list(self.streams):
            try:
                stream.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
            except OSError:
                self.streams.remove(stream)
                stream.close()


def kill(guest):
    for name in guest.names:
        (guest.folder / "lab" / f"kill-{name}").touch()
    for name in guest.names:
        wait(lambda name=name: not (guest.folder / "lab" / f"kill-{name}").exists(), "a Kepler is not killed", guest)


def set_clock(guest):
    for when in ("2035-01-01", "2001-01-01"):
        (guest.folder / "lab/jump.new").write_text(when)
        (guest.folder / "lab/jump.new").rename(guest.folder / "lab/jump")
        wait(lambda: not (guest.folder / "lab/jump").exists(), "the clock is not set", guest)
        time.sleep(2)


def pause(guest):
    guest.control("stop")
    time.sleep(6)
    guest.control("cont")
    await_records(guest)


def be_rough(port, guest):
    port.is_rough = True
    time.sleep(15)
    port.is_rough = False
    await_records(guest)


def check_pod(guest):
    """The container's part of each Kepler's energy, and its pod's, which is the same."""
    for name in guest.names:
        metrics = guest.scrape(name)
        parts = [metrics.sum("kepler_container_package_joules_total", container_id=CONTAINER, source="passthrough"),
                 metrics.sum("kepler_pod_package_joules_total", pod_id=POD, source="passthrough")]
        assert parts[0] == parts[1] and parts[0] > 0 and not metrics.pod_imbalance_uj(), (name, parts)
    print(f"  a pod in the guest: {parts[0]} J", flush=True)


def check_vhostmd(port, guest):
    """The port of vhostmd has the energy of a record."""
    (guest.folder / "lab/ask.new").write_text(ASK_VHOSTMD)
    (guest.folder / "lab/ask.new").rename(guest.folder / "lab/ask")
    wait((guest.folder / "lab/answer").exists, "no answer at the port of vhostmd", guest)
    metrics = ElementTree.fromstring((guest.folder / "lab/answer").read_text()).findall("metric")
    joules, = (metric.find("value").text for metric in metrics if metric.find("name").text == "EnergyConsumedPackage")
    wait(lambda: int(Decimal(joules) * 1000000) in [sum(record.values["package", mode] for mode in MODES) for record in port.sent],
         f"{joules} J were never reported", guest)
    print(f"  vhostmd's port: {joules} J, as a record", flush=True)


def check_asking(port, guest):
    """A guest's Kepler that asks at the port of vhostmd counts the difference of two records. It is not compared while the host is
    stopped, because that answers nothing then."""
    def count():
        return wait(lambda: guest.values("vhostmd"), "no energy from the port of vhostmd", guest)["package", "dynamic"]

    first, counted = count(), None
    deadline, known = time.monotonic() + 240, set()
    while counted not in known:
        assert time.monotonic() < deadline, (first, counted, guest.log())
        time.sleep(5)
        now = count()
        counted = now - first if now > first else None
        values = [record.values["package", "dynamic"] for record in port.sent]
        known = {later - value for index, value in enumerate(values) for later in values[index + 1:]}
    print(f"  asked at vhostmd's port: {counted / 1e6:.6f} J, the difference of two records", flush=True)


def run(start_host, guest, port, seconds):
    began, host = time.monotonic(), start_host()
    wait(guest.newest, "no file", guest)
    await_records(guest)
    since = look(host, guest)
    time.sleep(8)
    since = check(host, guest, since, "at work")
    check_vhostmd(port, guest)
    check_asking(port, guest)
    check_pod(guest)
    set_clock(guest)
    since = check(host, guest, since, "the guest's clock set")
    while True:
        be_rough(port, guest)
        since = check(host, guest, since, "records lost, repeated, torn and late")
        kill(guest)
        await_records(guest)
        since = look(host, guest)
        time.sleep(6)
        check(host, guest, since, "the guest's Kepler killed")
        host.process.kill()
        host.process.wait()
        host = start_host()
        wait(lambda epoch=since[0].epoch: guest.newest().epoch != epoch, "no record of the new host", guest)
        time.sleep(12)  # the exporter connects after it has found the process
        await_records(guest)
        since = look(host, guest)
        time.sleep(6)
        since = check(host, guest, since, "the host's Kepler killed")
        if "vsock" in guest.names:
            guest.names.remove("vsock")  # vhost-device-vsock 0.3 does not go on with a device that was paused
        pause(guest)
        since = check(host, guest, since, "paused")
        if time.monotonic() - began >= seconds:
            break
    for name in guest.names:
        metrics = guest.scrape(name)
        assert metrics.value("kepler_exporter_passthrough_received_records_total", outcome="implausible") == 0
    check_pod(guest)
    print(f"  after {time.monotonic() - began:.0f} s", flush=True)
    assert host.stop() == 0


def write_qcow2(path):
    """An empty disk of 64 MiB that can have snapshots: clusters of 64 KiB for the header, refcounts and their table, and L1."""
    cluster = 1 << 16
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, 64 << 20, 0, 1, 3 * cluster, cluster, 1, 0, 0)
    parts = (header, struct.pack(">Q", 2 * cluster), struct.pack(">4H", 1, 1, 1, 1), b"")
    path.write_bytes(b"".join(part.ljust(cluster, b"\0") for part in parts))


class MemoryGuest(QemuGuest):
    """Without any share, so that it can be saved and migrated: a serial port, and all else in memory."""

    def __init__(self, folder):
        super().__init__(folder, ["port"])
        self.disk, self.root = folder / "disk.qcow2", folder / "root"

    def options(self):
        return (" ".join(self.common_options()) +
                f" -chardev socket,id=kepler,path={self.folder}/sockets/{self.uuid}.sock,reconnect=1 "
                "-device virtio-serial-pci -device virtserialport,chardev=kepler,name=io.kepler.energy.0 "
                f"-drive file={self.disk},if=virtio,format=qcow2")

    def pack(self):
        """Kepler with its libraries, and the modules of the devices."""
        program = output(ROOT / "tools/release-binary", BUILD)
        self.root.mkdir()
        subprocess.run([ROOT / "tests/lab/pack-root", self.root, program], check=True, stdout=subprocess.DEVNULL)
        (self.root / "modules").mkdir(exist_ok=True)
        tree = output(ROOT / "tests/lab/getkern", "--path", "6.1")
        version, order = pathlib.Path(tree, "complete").read_text().strip(), []
        for module in ("virtio_pci", "virtio_net", "virtio_console", "virtio_blk"):
            shown = output("/sbin/modprobe", "-d", tree, "-S", version, "--show-depends", module)
            for line in shown.splitlines():
                file = pathlib.Path(line.split()[1]) if line.startswith("insmod") else None
                if file and file.name not in order:
                    order.append(file.name)
                    subprocess.run(["cp", file, self.root / "modules"], check=True)
        subprocess.run(["cp", ROOT / "tests/rig/rig.yaml", self.root / "guest.yaml"], check=True)
        (self.root / "test.sh").write_text(
            "for module in " + " ".join(order) + "; do insmod /modules/$module; done\n"
            "ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up\n"
            "kepler run --config.file=/guest.yaml --host.state-dir= --table=never --web.listen-address=0.0.0.0:28282 "
            "--monitor.interval=1s --metrics.settle=0s >/dev/null 2>&1 &\n"
            "while :; do timeout 3 sh -c 'while :; do :; done'; sleep 2; done\n")
        write_qcow2(self.disk)

    def boot(self, more=""):
        self.process = subprocess.Popen(
            [*VMTEST, "-t", "540", "-c", "1", "-m", "512", "-i", self.root,
             "-q", f"{self.options()} {more}", "--", "sh /test.sh"], stdout=subprocess.DEVNULL)

    def __enter__(self):
        self.pack()
        self.boot()
        return self


def save_and_migrate(host, guest):
    wait(guest.newest, "no file", guest)
    await_records(guest)
    since = look(host, guest)
    time.sleep(4)
    since = check(host, guest, since, "at work, in memory")
    guest.monitor("savevm before")
    time.sleep(8)
    now = check(host, guest, since, "saved")
    assert now[1]["port"]["package", "dynamic"] > since[1]["port"]["package", "dynamic"]
    guest.monitor("loadvm before")
    time.sleep(4)
    since = check(host, guest, since, "set back, counted from the time before that")
    guest.control("migrate", uri=f"exec:cat>{guest.folder}/state")
    wait(lambda: guest.control("query-migrate")["status"] == "completed", "no migration", guest)
    with contextlib.suppress(json.JSONDecodeError, OSError):
        guest.control("quit")
    guest.process.wait()
    guest.boot(f"-incoming exec:cat<{guest.folder}/state")
    time.sleep(4)
    await_records(guest)
    check(host, guest, since, "migrated to a file and back")


def main():
    need_root()
    need_program("qemu-system-x86_64")
    if subprocess.run([ROOT / "tests/lab/getkern", "6.1"], check=False).returncode != 0:
        skip("no kernel")
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    names = [name for name in PLACES if name != "vhostmd"]
    for name, daemon in (("virtiofs", VIRTIOFSD), ("vsock", "vhost-device-vsock")):
        if not shutil.which(daemon):
            names.remove(name)
            print(f"  without {name}: {daemon} is not installed", flush=True)
    with tempfile.TemporaryDirectory(prefix="kepler-qemu-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        for name in ("sockets", "lab", "guests"):
            (folder / name).mkdir()
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 3, busy_watts=45)))

        def start_host():
            return stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", *HOST, f"--passthrough.sockets={folder}/sockets",
                                                f"--passthrough.dir={folder}/guests"))

        guest = Guest(folder, names)
        wire = Wire(folder, guest)
        with Port(wire.connect, wire.write) as port, guest:
            run(start_host, guest, port, seconds)
        with MemoryGuest(folder) as guest:
            save_and_migrate(start_host(), guest)


main()
