#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-passthrough.py: virtual machines are told their own energy, to the microjoule, and nothing else.

The machines are processes with the name and the command line of QEMU, which connect as QEMU does and read as a guest would: one
listens at its socket, one connects to the exporter's, one reads a directory. Others never read, or send garbage without end.
"""
import contextlib
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from xml.etree import ElementTree

from rig import KEPLER, Exporter, Sensors, need_root, rapl_zone

OPTIONS = ["--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--passthrough.resolution=1uJ",
           "--metrics.keep=1s"]
JOULES = "kepler_vm_package_joules_total"
PORT = 28283
IN_GUEST = "in-guest"  # this script as a virtual machine: in-guest WHAT PATH, and QEMU's words after that


# ---- the reader that a guest has, by the specification alone ----

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def parse(data):
    """(record, bytes) of the record that begins there; (None, 0): it is not whole yet."""
    if len(data) < 8:
        return None, 0
    assert data[:4] == b"KEP\xeb" and data[4] == 1, data[:8]
    size = struct.unpack_from("<H", data, 6)[0]
    if len(data) < size:
        return None, 0
    assert crc32c(data[:size - 4]) == struct.unpack_from("<I", data, size - 4)[0]
    record = dict(zip(("epoch", "sequence", "realtime_ns", "boottime_ns", "interval_ns", "vm_hash", "cpu_us", "flags", "period_ms"),
                      struct.unpack_from("<7Q2I", data, 8)))
    record["zones"] = {}
    for index in range(data[5]):
        name, quality, ppm, dynamic, idle = struct.unpack_from("<16sB3xI2Q", data, 72 + 40 * index)
        record["zones"][name.rstrip(b"\0").decode()] = (quality, ppm, dynamic, idle)
    return record, size


class Reader:
    def __init__(self, stream):
        self.stream, self.data, self.records = stream, b"", []

    def read(self, seconds):
        """Reads what there is; the newest record. Each line goes to the test: sequence, epoch, hash, µJ of the package."""
        if not select.select([self.stream], [], [], seconds)[0]:
            return True
        more = self.stream.recv(65536)
        self.data += more
        while True:
            record, size = parse(self.data)
            if not record:
                return bool(more)
            self.data = self.data[size:]
            print("record", record["sequence"], record["epoch"], record["vm_hash"], record["zones"]["package"][2],
                  record["interval_ns"], flush=True)


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def guest_main(what, path):
    listener = stream = None
    if what in ("listens", "asks"):
        listener = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # as QEMU does
        listener.bind(path)
        listener.listen(1)
        listener.settimeout(0.1)
        while not stream:  # at work, so that it has a series although the exporter began later
            with contextlib.suppress(TimeoutError):
                stream, _ = listener.accept()
            burn(0.1)
        stream.setblocking(True)
    while what in ("connects", "garbage", "deaf") and not stream:
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.connect(path)
        except OSError:
            stream = None
            burn(0.1)
    print("connected", flush=True)
    reader = Reader(stream) if stream else None
    while True:
        burn(0.05)
        if what == "garbage":
            stream.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                stream.send(os.urandom(65536))
            stream.setblocking(True)
        if what == "asks":
            stream.sendall(b"GET /metrics/JSON\n\nGET /metrics/XML\n\n")
            answer = b""
            while not answer.endswith(b"\n\n"):
                answer += stream.recv(65536)
            print("answer", answer.hex(), flush=True)
            time.sleep(0.3)
        if what in ("listens", "connects", "garbage") and not reader.read(0.05):
            print("closed", flush=True)
            return


# ---- the test ----

class Machine:
    """A virtual machine: a process with QEMU's name."""

    def __init__(self, folder, what, path=None, own_uuid=None, program="qemu-system-x86_64"):
        self.uuid = own_uuid or str(uuid.uuid4())
        self.path = str(path or folder / "sockets" / f"{self.uuid}.sock")
        binary = folder / program
        if not binary.exists():
            binary.symlink_to(os.path.realpath(sys.executable))
        self.log = open(folder / f"{self.uuid}.log", "w+")
        words = ["-uuid", self.uuid] if program.startswith("qemu") else [f"--id={self.uuid}"]
        self.process = subprocess.Popen([str(binary), os.path.abspath(__file__), IN_GUEST, what, self.path, *words],
                                        stdout=self.log, stderr=subprocess.STDOUT)

    def lines(self):
        with open(self.log.name) as file:
            return [line.split() for line in file.read().splitlines()]

    def records(self):
        return [[int(word) for word in line[1:]] for line in self.lines() if line[0] == "record"]

    def wait_records(self, count, exporter):
        deadline = time.monotonic() + 60
        while len(self.records()) < count:
            assert time.monotonic() < deadline, (self.path, self.lines()[-3:], exporter.output()[-2000:])
            assert self.process.poll() is None, self.lines()
            time.sleep(0.05)
        return self.records()

    def stop(self):
        self.process.kill()
        self.process.wait()


def microjoules(metrics, machine):
    rows = metrics.select(JOULES, vm_id=machine.uuid, mode="dynamic")
    assert len(rows) == 1, (machine.uuid, rows)
    return int(rows[0][1] * 1000000)


def health(metrics, name, channel="sockets"):
    return int(metrics.value(f"kepler_exporter_passthrough_{name}", channel=channel))


def check_records(machine, exporter):
    """Each value that a scrape shows is that of a record, and records are in order."""
    records = machine.wait_records(4, exporter)
    shown = [microjoules(exporter.intervals(1), machine) for _ in range(3)]
    records = machine.wait_records(len(records) + 4, exporter)
    energies = [record[3] for record in records]
    assert energies == sorted(energies) and energies[-1] > energies[1] > 0, energies
    assert [record[0] for record in records] == list(range(records[0][0], records[0][0] + len(records))), records
    assert {record[1] for record in records} == {records[0][1]} and records[0][1]
    assert {record[2] for record in records} == {fnv1a(machine.uuid)}
    assert all(record[4] > 0 for record in records[1:]), records
    assert not set(shown) - set(energies), (shown, energies)


def check_folder(machine, exporter, folder):
    own = folder / "guests" / machine.uuid
    metrics = exporter.intervals(2)
    text = (own / "energy").read_text()
    assert text.startswith("kepler-passthrough 1\n"), text
    assert (own / "intel-rapl:0/name").read_text() == "package-0\n"
    assert int((own / "intel-rapl:0/max_energy_range_uj").read_text()) > 1 << 60
    values = set()
    deadline = time.monotonic() + 30
    while microjoules(metrics, machine) not in values:
        assert time.monotonic() < deadline, values
        metrics = exporter.scrape()
        values.add(int((own / "intel-rapl:0/energy_uj").read_text()))
    check_command(machine, exporter, folder)
    assert own.stat().st_mode & 0o777 == 0o750
    assert (own / "energy").stat().st_mode & 0o777 == 0o640


def check_action(printed):
    """vhostmd takes what an action of the type xml prints in pieces from "<metric" to "</metric>" and the byte after that, at most
    2,047 bytes in all, and puts it between the metrics of its own, which have the name TotalCPUTime; its metric.dtd decides what a
    piece has."""
    pieces = [piece for piece in printed.split("</metric>\n") if piece]
    assert pieces and len(printed) < 2048 and printed.endswith("</metric>\n"), printed
    names = []
    for piece in pieces:
        metric = ElementTree.fromstring(piece + "</metric>")
        assert [child.tag for child in metric] == ["name", "value"] and metric.attrib["context"] == "vm", printed
        assert metric.attrib["type"] in ("real64", "uint64", "string") and metric.attrib.keys() <= {"type", "context", "unit"}
        names.append(metric.find("name").text)
    assert names[0] == "EnergyConsumedPackage" and "TotalCPUTime" not in names, names


def check_command(machine, exporter, folder):
    """kepler vm-energy prints what a scrape shows, and refuses what leads out of the directory."""
    def ask(*args):
        return subprocess.run([KEPLER, "vm-energy", f"--passthrough.dir={folder}/guests", *args], capture_output=True, text=True,
                              check=False)

    said, shown, deadline = set(), microjoules(exporter.scrape(), machine), time.monotonic() + 60
    while f"package measured dynamic {shown // 1000000}.{shown % 1000000:06} idle 0.000000\n" not in said:
        assert time.monotonic() < deadline, (shown, said)
        said.add(ask(f"--uuid={machine.uuid}").stdout)
        shown = microjoules(exporter.scrape(), machine)
    check_action(ask(f"--uuid={machine.uuid}", "--xml").stdout)
    assert ask("--uuid=../..").returncode == 2
    (folder / "guests/forged").mkdir()
    (folder / "guests/forged/energy").symlink_to(folder / "guests" / machine.uuid / "energy")
    forged = ask("--uuid=forged")
    assert forged.returncode == 1 and "not a regular file" in forged.stderr, forged
    assert ask(f"--uuid={uuid.uuid4()}").returncode == 1


def check_answers(machine, exporter, folder):
    """A guest that asks as a client of vhostmd does gets a document with what kepler vm-energy --xml prints of its own machine."""
    def answers():
        return [bytes.fromhex(line[1]).decode() for line in machine.lines() if line[0] == "answer"]
    printed, deadline = set(), time.monotonic() + 60
    while not any(text and text in answer for text in printed for answer in answers()):
        assert time.monotonic() < deadline, (printed, answers(), exporter.output()[-2000:])
        printed.add(subprocess.run([KEPLER, "vm-energy", f"--passthrough.dir={folder}/guests", "--xml", f"--uuid={machine.uuid}"],
                                   capture_output=True, text=True, check=False).stdout)
    metric = ElementTree.fromstring(answers()[-1]).find("metric")
    assert metric.attrib == {"type": "real64", "context": "vm", "unit": "J"} and float(metric.find("value").text) > 0, answers()
    count = len(answers())  # before each of them, another line was sent
    assert health(exporter.intervals(2), "requests_ignored_total") >= count


def check_stranger(machine, exporter):
    before = health(exporter.scrape(), "unknown_peers_total")
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(20)
        stranger.connect(machine.path)
        try:
            assert stranger.recv(100) == b""
        except ConnectionResetError:
            pass
    assert health(exporter.intervals(1), "unknown_peers_total") == before + 1


def check_end(machine, exporter, folder):
    machine.stop()
    deadline = time.monotonic() + 60
    while os.path.exists(machine.path) or (folder / "guests" / machine.uuid).exists():
        assert time.monotonic() < deadline, os.listdir(folder / "guests")
        time.sleep(0.1)


def run(folder, machines, exporter):
    listens, connects, deaf, garbage, hybrid, asks = machines
    for machine in (listens, connects, garbage, hybrid):
        check_records(machine, exporter)
    check_folder(listens, exporter, folder)
    check_answers(asks, exporter, folder)
    check_stranger(connects, exporter)
    metrics = exporter.intervals(2)
    assert health(metrics, "connections") == 6, metrics.text
    assert health(metrics, "records_dropped_total") >= 3  # of the one that never reads
    assert int(metrics.value("kepler_exporter_passthrough_guests")) >= 5  # others may run here as well
    assert not metrics.imbalance_uj()
    check_end(connects, exporter, folder)
    check_records(listens, exporter)
    assert deaf.process.poll() is None


def main():
    need_root()
    with tempfile.TemporaryDirectory(prefix="kepler-guests-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        (folder / "sockets").mkdir()
        (folder / "guests").mkdir()
        machines = [Machine(folder, what) for what in ("listens", "connects", "deaf", "garbage")]
        own = str(uuid.uuid4())
        machines.append(Machine(folder, "connects", folder / "sockets" / f"{own}.vsock_{PORT}", own, "firecracker"))
        own = str(uuid.uuid4())
        machines.append(Machine(folder, "asks", folder / "sockets" / f"{own}.vhostmd", own))
        for machine in machines:
            stack.callback(machine.stop)
        zone = rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)
        sensors = stack.enter_context(Sensors(zone))
        exporter = stack.enter_context(Exporter(
            f"--host.sysfs={sensors.mount}", *OPTIONS, f"--passthrough.sockets={folder}/sockets",
            f"--passthrough.dir={folder}/guests", f"--passthrough.vsock={PORT}"))
        run(folder, machines, exporter)
        assert exporter.stop() == 0


if len(sys.argv) > 3 and sys.argv[1] == IN_GUEST:
    guest_main(sys.argv[2], sys.argv[3])
else:
    main()
