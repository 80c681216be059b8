# SPDX-License-Identifier: Apache-2.0
"""The records that a host sends to virtual machines, read by docs/passthrough.md alone, and processes that are machines to it."""
import array
import contextlib
import os
import signal
import socket
import struct
import sys
import threading
import time
import uuid
from decimal import Decimal
from xml.etree import ElementTree

ZONES = ("package", "dram")
MODES = ("dynamic", "idle")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def records_in(data):
    """Whole records at the begin of `data`, as bytes, and the rest."""
    found = []
    while len(data) >= 8:
        assert data[:4] == b"KEP\xeb", data[:8]
        size = struct.unpack_from("<H", data, 6)[0]
        if len(data) < size:
            break
        found.append(data[:size])
        data = data[size:]
    return found, data


class Record:
    def __init__(self, epoch, sequence, realtime_ns, values):
        self.epoch, self.sequence, self.realtime_ns, self.values = epoch, sequence, realtime_ns, values

    @classmethod
    def of_bytes(cls, data):
        epoch, sequence, realtime_ns = struct.unpack_from("<3Q", data, 8)
        values = dict.fromkeys(((zone, mode) for zone in ZONES for mode in MODES), 0)
        for index in range(data[5]):
            name, dynamic, idle = struct.unpack_from("<16s8x2Q", data, 72 + 40 * index)
            kind = name.rstrip(b"\0").decode()
            values[kind, "dynamic"], values[kind, "idle"] = dynamic, idle
        return cls(epoch, sequence, realtime_ns, values)

    @classmethod
    def of_xml(cls, text):
        """Metrics of vhostmd; None: they have no energy yet."""
        named = {metric.find("name").text: metric.find("value").text for metric in ElementTree.fromstring(text).iter("metric")}
        values = dict.fromkeys(((zone, mode) for zone in ZONES for mode in MODES), 0)
        for zone in ZONES:
            values[zone, "dynamic"] = int(Decimal(named.get(f"EnergyConsumed{zone.capitalize()}", 0)) * 1000000)
        return cls(int(named["EnergyEpoch"], 16), int(named["EnergySequence"]), None, values) if "EnergyEpoch" in named else None

    @classmethod
    def of_text(cls, text):
        words, values = {}, dict.fromkeys(((zone, mode) for zone in ZONES for mode in MODES), 0)
        for line in text.splitlines():
            first, *rest = line.split()
            words[first] = rest[0]
            if first == "zone":
                named = dict(word.split("=") for word in rest[1:])
                values[rest[0], "dynamic"], values[rest[0], "idle"] = int(named["dynamic_uj"]), int(named["idle_uj"])
        return cls(int(words["epoch"], 16), int(words["sequence"]), int(words["realtime_ns"]), values)


class Account:
    """What a reader of the records counts, by docs/passthrough.md."""

    def __init__(self):
        self.first, self.last, self.total_uj = {}, {}, dict.fromkeys(((zone, mode) for zone in ZONES for mode in MODES), 0)

    def take(self, record):
        before = self.last.get(record.epoch)
        if before and record.sequence <= before.sequence:
            return
        if before or record.sequence == 1:
            for key in self.total_uj:
                self.total_uj[key] += record.values[key] - (before.values[key] if before else 0)
        self.first.setdefault(record.epoch, record)
        self.last[record.epoch] = record


class Machine:
    """The process of a virtual machine; it works for as long as it is asked to."""

    def __init__(self, folder, sockets=None, own=None):
        self.uuid = own or str(uuid.uuid4())
        self.path = str((sockets or folder) / f"{self.uuid}.sock")
        binary = folder / "qemu-system-x86_64"
        if not binary.exists():
            binary.symlink_to(os.path.realpath(sys.executable))
        self.lock = threading.Lock()  # a test asks, and the thread that is its port
        self.control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.posix_spawn(str(binary), [str(binary), os.path.abspath(__file__), self.path, "-uuid", self.uuid],
                                  os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, other.fileno(), 0)])
        other.close()

    def ask(self, what):
        with self.lock:
            self.control.send(what.encode())
            reply, ancillary, _, _ = self.control.recvmsg(16, socket.CMSG_SPACE(4))
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data)
        return reply, fds

    def work(self, does=True):
        self.ask("work" if does else "rest")

    def connect(self):
        """A socket that this process has connected; None: nothing listens."""
        _, fds = self.ask("connect")
        return socket.socket(fileno=fds[0]) if fds else None

    def listen(self):
        """A socket at which this process listens as its port of vhostmd."""
        _, fds = self.ask("listen")
        return socket.socket(fileno=fds[0])

    def signal(self, number):
        os.kill(self.pid, number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.signal(signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.control.close()


def machine_main(path):
    control, works = socket.socket(fileno=0), False
    while True:
        control.setblocking(not works)
        with contextlib.suppress(BlockingIOError):
            asked = control.recv(16)
            if not asked:
                return
            works = asked == b"work" if asked in (b"work", b"rest") else works
            with socket.socket(socket.AF_UNIX) as stream:
                fds = []
                if asked in (b"connect", b"listen"):
                    with contextlib.suppress(OSError):
                        if asked == b"connect":
                            stream.connect(path)
                        else:
                            stream.bind(path.removesuffix("sock") + "vhostmd")
                            stream.listen()
                        fds = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [stream.fileno()]))]
                control.sendmsg([b"ok"], fds)
        end = time.monotonic() + 0.02
        while works and time.monotonic() < end:
            pass


if __name__ == "__main__":
    machine_main(sys.argv[1])
