# SPDX-License-Identifier: Apache-2.0
"""A host's Kepler and a guest's Kepler, with a virtual machine between them that is a process."""
import contextlib
import os
import pathlib
import random
import select
import signal
import socket
import tempfile
import threading
import time
import tty

from passthrough_rig import MODES, ZONES, Account, Machine, Record, records_in
from rig import Exporter, Sensors, balanced, rapl_zone

HOST = ("--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--passthrough.resolution=1uJ",
        "--metrics.keep=5s", "--meter.passthrough=off")
GUEST = ("--host.sysfs=/nonexistent", "--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=learned")


class Port:
    """The device between both: reads the socket that connect() returns and writes what the guest reads. `is_rough`: on the way,
    records are lost, repeated, torn and late."""

    def __init__(self, connect, write):
        self.connect, self.write = connect, write
        self.account, self.sent, self.sent_at, self.late = Account(), [], [], []
        self.is_rough, self.stopped, self.connections = False, False, 0
        self.draw = random.Random(3)
        self.stream = None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        rest = b""
        while not self.stopped:
            if not self.stream:
                self.stream, rest = self.connect(), b""
                if not self.stream:
                    time.sleep(0.1)
                    continue
                self.connections += 1
                self.stream.settimeout(0.2)
            try:
                more = self.stream.recv(65536)
            except TimeoutError:
                continue
            except ConnectionResetError:
                more = b""
            if not more:
                self.stream.close()
                self.stream = None
                continue
            found, rest = records_in(rest + more)
            for record in found:
                self.forward(record)

    def forward(self, record):
        chance = self.draw.random() if self.is_rough else 1
        if chance < 0.25:
            self.late.append(record)
            return
        if chance < 0.4:
            self.write(record[:int(chance * 200)])
        self.give(record)
        if chance < 0.6:
            self.give(self.late.pop() if self.late else record)

    def give(self, data):
        record = Record.of_bytes(data)
        self.account.take(record)
        self.sent.append(record)
        self.sent_at.append(time.time())
        self.write(data)

    def disconnect(self):
        """As QEMU does that ends and begins again."""
        with contextlib.suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.thread.join()


class Dialogue(threading.Thread):
    """The device between a host and its guest that asks at the port of vhostmd, for which a terminal stands. `is_rough`: on the
    way, answers are lost, repeated and torn."""

    def __init__(self, machine):
        super().__init__()
        self.listener = machine.listen()
        self.host_end, self.guest_end = os.openpty()
        tty.setraw(self.guest_end)
        self.path = os.ttyname(self.guest_end)
        self.account, self.sent, self.draw = Account(), [], random.Random(3)
        self.is_rough, self.stopped = False, False

    def run(self):
        stream, answer = None, b""
        while not self.stopped:
            ready, _, _ = select.select([self.listener, self.host_end, *([stream] if stream else [])], [], [], 0.1)
            if self.listener in ready:
                stream, answer = self.listener.accept()[0], b""
            if self.host_end in ready:
                question = os.read(self.host_end, 4096)
                if stream:
                    with contextlib.suppress(BrokenPipeError):
                        stream.sendall(question)
            if stream in ready:
                more = b""
                with contextlib.suppress(ConnectionResetError):
                    more = stream.recv(65536)
                answer += more
                if answer.endswith(b"\n\n"):
                    self.forward(answer)
                    answer = b""
                if not more:
                    stream.close()
                    stream = None

    def forward(self, answer):
        record, chance = Record.of_xml(answer.decode()), self.draw.random() if self.is_rough else 1
        if chance < 0.1:
            return
        os.write(self.host_end, answer[:300])
        time.sleep(0.05)  # it is torn, and not broken
        os.write(self.host_end, answer[300:] * (2 if chance < 0.3 else 1))
        if record:
            self.account.take(record)
            self.sent.append(record)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.join()
        os.close(self.host_end)
        os.close(self.guest_end)
        self.listener.close()


def port_at(stack, machine, path):
    """A port that the guest reads as a pipe."""
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    stack.callback(os.close, pipe)
    return stack.enter_context(Port(machine.connect, lambda data: os.write(pipe, data)))


def microjoules(metrics, name, **labels):
    return {(zone, mode): int(metrics.sum(name.format(zone), mode=mode, **labels) * 1000000) for zone in ZONES for mode in MODES}


def of_guest(metrics):
    return microjoules(metrics, "kepler_node_{}_joules_total", source="passthrough")


def of_host(metrics, machine):
    return microjoules(metrics, "kepler_vm_{}_joules_total", vm_id=machine.uuid)


def differences(after, before):
    return {key: after[key] - before[key] for key in after}


class Pair:
    """Both Keplers, and the machine between them, at work."""

    def __init__(self, folder, sensors, stack, machine, host_options, guest_options):
        self.folder, self.sensors, self.stack, self.machine = folder, sensors, stack, machine
        self.host_options = (f"--host.sysfs={sensors.mount}", *HOST, *host_options)
        self.guest_options = (*GUEST, *guest_options)
        self.host = self.guest = None

    def start_host(self):
        self.host = self.stack.enter_context(Exporter(*self.host_options))

    def start_guest(self):
        self.guest = self.stack.enter_context(Exporter(*self.guest_options))

    def kill(self, exporter):
        exporter.process.send_signal(signal.SIGKILL)
        exporter.process.wait()

    def wait(self, found, what):
        deadline = time.monotonic() + 60
        while not (value := found()):
            assert time.monotonic() < deadline, (what, self.host.output()[-2000:], self.guest.output()[-2000:])
            time.sleep(0.05)
        return value

    def settle(self, newest):
        """The machine rests until host and guest count nothing more: what each of them has then. newest(): the newest record."""
        self.machine.work(False)

        def is_quiet():
            record = newest()
            host = of_host(self.host.intervals(1), self.machine)
            after = newest()
            return host if record and after.sequence > record.sequence and record.values == after.values == host else None

        host = self.wait(is_quiet, "the host goes on to count")
        before, seen = None, []
        while not before or any(value != before for value in seen):
            before = of_guest(balanced(self.guest.intervals(1)))
            seen = [of_guest(balanced(self.guest.intervals(1))) for _ in range(3)]
        return host, before


def sensors_of(folder):
    del folder
    lines = rapl_zone("intel-rapl:0", "package-0", 3, busy_watts=45)
    return Sensors(lines + rapl_zone("intel-rapl:0:0", "dram", 1, busy_watts=5, parent="intel-rapl:0"))


@contextlib.contextmanager
def both(host_options, guest_options, over_port=True):
    with tempfile.TemporaryDirectory(prefix="kepler-host-to-guest-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        (folder / "guests").mkdir()
        machine = stack.enter_context(Machine(folder))
        port = port_at(stack, machine, folder / "port") if over_port else None
        sensors = stack.enter_context(sensors_of(folder))
        host_options, guest_options = ([option.replace("DIR", path).replace("UUID", machine.uuid) for option in options]
                                       for options in (host_options, guest_options))
        pair = Pair(folder, sensors, stack, machine, host_options, guest_options)
        machine.work()
        pair.start_host()
        yield pair, port
