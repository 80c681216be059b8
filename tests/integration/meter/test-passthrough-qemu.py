#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual machine of QEMU with a real kernel, and Kepler on both sides: by a virtio-serial port, 9p and virtiofs. What the guest
counts is what the host has sent, to the microjoule, although the machine is paused, its clock is set, and either Kepler is killed.

Three Keplers in the guest read the three channels. The host's Kepler is stopped while values are compared, so that its last record
remains; the file of the machine's directory is that record.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid

from passthrough_rig import MODES, ZONES, Record
from rig import BUILD, Exporter, Metrics, Sensors, balanced, free_port, need_program, need_root, rapl_zone, skip

ROOT = pathlib.Path(__file__).parents[3]
VIRTIOFSD = pathlib.Path("/usr/lib/qemu/virtiofsd")
HOST = ("--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--passthrough.resolution=1uJ",
        "--metrics.keep=60s", "--meter.passthrough=off")
PLACES = {"port": "auto", "9p": "/mnt/9p", "virtiofs": "/mnt/virtiofs"}
# Each is started again when it is killed; a file kill-NAME asks for that.
IN_GUEST = """
/bin/busybox ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
mkdir -p /mnt/9p /mnt/virtiofs
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=none kepler9p /mnt/9p
mount -t virtiofs keplerfs /mnt/virtiofs
( while :; do
    if [ -e /lab/jump ]; then date -s "$(cat /lab/jump)" && rm /lab/jump; fi
    sleep 1
  done ) &
serve() {
  while :; do
    /lab/kepler run --host.state-dir= --config.file=/lab/guest.yaml --table=never --web.listen-address=0.0.0.0:$3 \\
      --monitor.interval=1s --metrics.settle=0s --meter.passthrough=$2 >>/lab/$1.log 2>&1 &
    while [ ! -e /lab/kill-$1 ]; do sleep 1; done
    kill -9 $!; wait $!; rm /lab/kill-$1
  done
}
"""


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout.strip()


class Guest:
    """The machine, with the three Keplers in it."""

    def __init__(self, folder, names):
        self.folder, self.names = folder, names
        self.uuid = str(uuid.uuid4())
        self.ports = {name: free_port() for name in names}
        (folder / "guests" / self.uuid).mkdir(parents=True)
        self.daemon = self.process = None

    def options(self):
        files = self.folder / "guests" / self.uuid
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{port}-:{28282 + index}" for index, port in enumerate(self.ports.values()))
        words = [f"-uuid {self.uuid} -pidfile {self.folder}/qemu.pid -qmp unix:{self.folder}/qmp,server=on,wait=off",
                 f"-netdev user,id=net{forwards} -device virtio-net-pci,netdev=net",
                 f"-chardev socket,id=kepler,path={self.folder}/sockets/{self.uuid}.sock,reconnect=1",
                 "-device virtio-serial-pci -device virtserialport,chardev=kepler,name=io.kepler.energy.0",
                 f"-virtfs local,path={files},mount_tag=kepler9p,security_model=none,readonly=on"]
        if "virtiofs" in self.names:
            words.append(f"-chardev socket,id=fs,path={self.folder}/fs.sock -device vhost-user-fs-pci,chardev=fs,tag=keplerfs "
                         "-object memory-backend-memfd,id=ram,size=1024M,share=on -machine memory-backend=ram")
        return " ".join(words)

    def __enter__(self):
        if "virtiofs" in self.names:
            self.daemon = subprocess.Popen(
                [VIRTIOFSD, f"--socket-path={self.folder}/fs.sock", "-o", "sandbox=chroot", "-o", "cache=none",
                 "-o", f"source={self.folder}/guests/{self.uuid}"], stderr=subprocess.DEVNULL)
        program = output(ROOT / "tools/release-binary", BUILD)
        subprocess.run(["cp", program, self.folder / "lab/kepler"], check=True)
        subprocess.run(["cp", ROOT / "tests/rig/rig.yaml", self.folder / "lab/guest.yaml"], check=True)
        serve = "".join(f"serve {name} {PLACES[name]} {28282 + index} &\n" for index, name in enumerate(self.names))
        script = IN_GUEST + serve + "while :; do /usr/bin/timeout 3 sh -c 'while :; do :; done'; sleep 2; done"
        self.process = subprocess.Popen(
            [ROOT / "tests/lab/vmtest", "-k", "6.1", "-t", "540", "-c", "2", "-w", self.folder / "lab",
             "-M", "virtio_net virtio_console virtiofs", "-q", self.options(), "--", script])
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            os.kill(int((self.folder / "qemu.pid").read_text()), signal.SIGTERM)
        self.process.wait()
        if self.daemon:
            self.daemon.kill()
            self.daemon.wait()

    def log(self):
        return "".join(path.read_text()[-1500:] for path in (self.folder / "lab").glob("*.log"))

    def scrape(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[name]}/metrics", timeout=10) as page:
            return Metrics(page.read().decode())

    def values(self, name):
        """What one of them counts of the host's; None: it does not answer, or has no record yet."""
        with contextlib.suppress(OSError, urllib.error.URLError, ConnectionError):
            metrics = balanced(self.scrape(name))
            if metrics.select("kepler_node_package_joules_total", source="passthrough"):
                name = "kepler_node_{}_joules_total"
                return {(zone, mode): int(metrics.sum(name.format(zone), source="passthrough", mode=mode) * 1000000)
                        for zone in ZONES for mode in MODES}
        return None

    def newest(self):
        with contextlib.suppress(FileNotFoundError):
            return Record.of_text((self.folder / "guests" / self.uuid / "energy").read_text(encoding="ascii"))
        return None

    def control(self, command, **arguments):
        """A command of QMP; its result."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.folder / "qmp"))
            lines = monitor.makefile("rw")
            lines.readline()
            for word, given in (("qmp_capabilities", {}), (command, arguments)):
                lines.write(json.dumps({"execute": word, "arguments": given}) + "\n")
                lines.flush()
                answer = {}
                while not {"return", "error"} & answer.keys():
                    answer = json.loads(lines.readline())
                assert "error" not in answer, answer
        return answer["return"]

    def monitor(self, line):
        """A command of the monitor for people, which has the snapshots."""
        said = self.control("human-monitor-command", **{"command-line": line})
        assert not said.strip(), said


def wait(found, what, guest):
    deadline = time.monotonic() + 240
    while not (value := found()):
        assert time.monotonic() < deadline and guest.process.poll() is None, (what, guest.log())
        time.sleep(0.3)
    return value


def look(host, guest):
    """While the host is stopped: its record, and what each Kepler in the guest has when it counts nothing more."""
    host.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)  # its thread may have begun to write
    record, values = guest.newest(), {}
    for name in guest.names:
        seen = []
        while len(seen) < 5 or any(value != seen[-1] for value in seen[-5:]):
            seen.append(wait(lambda name=name: guest.values(name), f"{name} does not answer", guest))
            time.sleep(1)
        values[name] = seen[-1]
    host.process.send_signal(signal.SIGCONT)
    return record, values


def counted(guest, name):
    wait(lambda: guest.values(name), f"no record by {name}", guest)
    return guest.scrape(name).value("kepler_exporter_passthrough_received_records_total", outcome="counted")


def await_records(guest):
    """Three more by each: the host sends a record once the one before it was read, so the first ones may wait in it."""
    for name in guest.names:
        count = counted(guest, name)
        wait(lambda name=name, count=count: counted(guest, name) > count + 2, f"no records by {name}", guest)


def differences(after, before):
    return {key: after[key] - before[key] for key in after}


def check(host, guest, since, what):
    now = look(host, guest)
    sent = differences(now[0].values, since[0].values)
    assert now[0].epoch == since[0].epoch and sent["package", "dynamic"] > 0, (what, since, now)
    for name in guest.names:
        got = differences(now[1][name], since[1][name])
        assert got == sent, (what, name, got, sent)
    print(f"  {what}: {sent['package', 'dynamic'] / 1e6:.6f} J of the package, 0 uJ off: {', '.join(guest.names)}", flush=True)
    return now


def kill(guest):
    for name in guest.names:
        (guest.folder / "lab" / f"kill-{name}").touch()
    for name in guest.names:
        wait(lambda name=name: not (guest.folder / "lab" / f"kill-{name}").exists(), "a Kepler is not killed", guest)


def run(folder, start_host, guest):
    host = start_host()
    wait(guest.newest, "no file", guest)
    await_records(guest)
    since = look(host, guest)
    time.sleep(8)
    since = check(host, guest, since, "at work")
    for when in ("2035-01-01", "2001-01-01"):
        (folder / "lab/jump.new").write_text(when)
        (folder / "lab/jump.new").rename(folder / "lab/jump")
        wait(lambda: not (folder / "lab/jump").exists(), "the clock is not set", guest)
        time.sleep(2)
    since = check(host, guest, since, "the guest's clock set")
    guest.control("stop")
    time.sleep(6)
    guest.control("cont")
    await_records(guest)
    since = check(host, guest, since, "paused")
    kill(guest)
    await_records(guest)
    since = look(host, guest)
    time.sleep(6)
    check(host, guest, since, "the guest's Kepler killed")
    host.process.kill()
    host.process.wait()
    host = start_host()
    wait(lambda: guest.newest().epoch != since[0].epoch, "no record of the new host", guest)
    time.sleep(12)  # QEMU connects again after the exporter has found its process
    await_records(guest)
    since = look(host, guest)
    time.sleep(6)
    check(host, guest, since, "the host's Kepler killed")
    for name in guest.names:
        metrics = guest.scrape(name)
        assert metrics.value("kepler_exporter_passthrough_received_records_total", outcome="implausible") == 0
    assert (folder / "sockets").exists() and host.stop() == 0


def write_qcow2(path):
    """An empty disk of 64 MiB that can have snapshots: clusters of 64 KiB for the header, refcounts and their table, and L1."""
    cluster = 1 << 16
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, 64 << 20, 0, 1, 3 * cluster, cluster, 1, 0, 0)
    parts = (header, struct.pack(">Q", 2 * cluster), struct.pack(">4H", 1, 1, 1, 1), b"")
    path.write_bytes(b"".join(part.ljust(cluster, b"\0") for part in parts))


class MemoryGuest(Guest):
    """Without any share, so that it can be saved and migrated: a serial port, and all else in memory."""

    def __init__(self, folder):
        super().__init__(folder, ["port"])
        self.disk, self.root = folder / "disk.qcow2", folder / "root"

    def options(self):
        return (f"-uuid {self.uuid} -pidfile {self.folder}/qemu.pid -qmp unix:{self.folder}/qmp,server=on,wait=off "
                f"-netdev user,id=net,hostfwd=tcp:127.0.0.1:{self.ports['port']}-:28282 -device virtio-net-pci,netdev=net "
                f"-chardev socket,id=kepler,path={self.folder}/sockets/{self.uuid}.sock,reconnect=1 "
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
            [ROOT / "tests/lab/vmtest", "-k", "6.1", "-t", "540", "-c", "1", "-m", "512", "-i", self.root,
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
    names = [name for name in PLACES if name != "virtiofs" or VIRTIOFSD.exists()]
    with tempfile.TemporaryDirectory(prefix="kepler-qemu-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        for name in ("sockets", "lab", "guests"):
            (folder / name).mkdir()
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 3, busy_watts=45)))

        def start_host():
            return stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", *HOST, f"--passthrough.sockets={folder}/sockets",
                                                f"--passthrough.dir={folder}/guests"))

        with Guest(folder, names) as guest:
            run(folder, start_host, guest)
        with MemoryGuest(folder) as guest:
            save_and_migrate(start_host(), guest)


main()
