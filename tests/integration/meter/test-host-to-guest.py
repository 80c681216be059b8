#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host's Kepler and a guest's Kepler, one against the other: the guest's node series are the host's VM series, to the microjoule,
although either of them is killed, connections end, and records are lost, repeated, torn and late.

The virtual machine is a process with QEMU's name and command line, which works or rests when it is asked to. What would be its
virtio-serial device is this test: it takes the socket that the process has connected, and writes the bytes to a pipe that the guest
reads as its port. The account that the guest has to have is computed here from the records that it was sent, by
docs/passthrough.md alone.
"""
import contextlib
import os
import pathlib
import random
import signal
import socket
import statistics
import tempfile
import threading
import time

from passthrough_rig import MODES, ZONES, Account, Machine, Record, records_in
from rig import Exporter, Sensors, balanced, rapl_zone, run_tests

HOST = ("--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--passthrough.resolution=1uJ",
        "--metrics.keep=5s", "--meter.passthrough=off")
GUEST = ("--host.sysfs=/nonexistent", "--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=learned")


class Port:
    """The device between both: reads the machine's socket and writes the guest's port. `is_rough`: on the way, records are lost,
    repeated, torn and late."""

    def __init__(self, machine, path):
        self.machine, self.account, self.sent, self.late = machine, Account(), [], []
        self.is_rough, self.stopped, self.connections = False, False, 0
        self.draw = random.Random(3)
        os.mkfifo(path)
        self.pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.stream = None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        rest = b""
        while not self.stopped:
            if not self.stream:
                self.stream, rest = self.machine.connect(), b""
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
            os.write(self.pipe, record[:int(chance * 200)])
        self.give(record)
        if chance < 0.6:
            self.give(self.late.pop() if self.late else record)

    def give(self, data):
        record = Record.of_bytes(data)
        self.account.take(record)
        self.sent.append(record)
        os.write(self.pipe, data)

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
        os.close(self.pipe)


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
        self.machine.work()
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
        port = stack.enter_context(Port(machine, folder / "port")) if over_port else None
        sensors = stack.enter_context(sensors_of(folder))
        host_options = [option.replace("DIR", path) for option in host_options]
        guest_options = [option.replace("DIR", path).replace("UUID", machine.uuid) for option in guest_options]
        pair = Pair(folder, sensors, stack, machine, host_options, guest_options)
        machine.work()
        pair.start_host()
        yield pair, port


def check_window(pair, port, since):
    """From one rest to the next, without a new epoch: the host's difference is the guest's."""
    host, guest = pair.settle(lambda: port.sent[-1] if port.sent else None)
    account = dict(port.account.total_uj)
    if since:
        assert differences(guest, since[1]) == differences(account, since[2]), (since, host, guest, account)
        if port.sent[-1].epoch == since[3]:
            assert differences(host, since[0]) == differences(guest, since[1]), (since, host, guest)
    return host, guest, account, port.sent[-1].epoch


def work_on(pair, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        balanced(pair.guest.intervals(1))


def restart_host(pair, port, epoch):
    """Kills it at work; until the guest is sent records of another one."""
    pair.kill(pair.host)
    pair.start_host()
    pair.wait(lambda: port.sent[-1].epoch != epoch, "no record after a restart")


def over_a_port():
    with both(["--passthrough.sockets=DIR"], ["--meter.passthrough=DIR/port"]) as (pair, port):
        pair.start_guest()
        since = check_window(pair, port, None)
        work_on(pair, 4)
        now = check_window(pair, port, since)
        assert now[0]["package", "dynamic"] > since[0]["package", "dynamic"], "the machine used nothing"
        port.is_rough = True
        work_on(pair, 12)
        port.is_rough = False
        since = check_window(pair, port, now)
        metrics = pair.guest.scrape()
        for name, labels in (("records", {"outcome": "counted"}), ("records", {"outcome": "repeated"}), ("lost", {}),
                             ("skipped_bytes", {})):
            assert metrics.value(f"kepler_exporter_passthrough_received_{name}_total", **labels) > 0, (name, labels)
        assert metrics.value("kepler_exporter_passthrough_host_epochs_total") == len(port.account.last)
        assert 0 <= metrics.value("kepler_exporter_passthrough_last_record_age_seconds") < 60
        port.disconnect()
        pair.wait(lambda: port.connections == 2, "no second connection")
        pair.machine.signal(signal.SIGSTOP)
        work_on(pair, 2)
        pair.machine.signal(signal.SIGCONT)
        since = check_window(pair, port, since)
        restart_host(pair, port, since[3])
        restart_host(pair, port, port.sent[-1].epoch)
        since = check_window(pair, port, since)
        # As a guest that is paused: it reads the records of two epochs at once.
        work_on(pair, 1)
        pair.guest.process.send_signal(signal.SIGSTOP)
        count = len(port.sent)
        pair.wait(lambda: len(port.sent) > count + 1, "no record")
        restart_host(pair, port, since[3])
        pair.guest.process.send_signal(signal.SIGCONT)
        since = check_window(pair, port, since)
        # The guest begins again, and first reads the records that were written to the port meanwhile.
        pair.kill(pair.guest)
        count = len(port.sent)
        pair.wait(lambda: len(port.sent) > count + 1, "no record")
        pair.start_guest()
        since = check_window(pair, port, None)
        work_on(pair, 3)
        _, guest, _, _ = check_window(pair, port, since)
        check_delay(pair, lambda: port.sent[-1], differences(guest, port.sent[-1].values))
        assert pair.guest.stop() == 0 and pair.host.stop() == 0


def check_delay(pair, newest, shift):
    """The energy of a record is in the interval of the guest that ends an interval and 50 ms after the record's end, or before. A
    busy machine delays some of them. `shift`: by how much the guest counts less than the records say."""
    sent, delays, shown = {}, {}, None
    pair.wait(newest, "no record")
    deadline = time.monotonic() + 90
    while len(delays) < 8 and time.monotonic() < deadline:
        record = newest()
        sent.setdefault(tuple(record.values.values()), record.realtime_ns / 1e9)
        metrics = pair.guest.scrape()
        value = of_guest(metrics)
        if value != shown and shown:
            ended = sent[tuple(differences(value, shift).values())]
            delays[ended] = float(metrics.value("kepler_exporter_snapshot_timestamp_seconds")) - ended
        shown = value
    print("  delays, s:", *(f"{delay:.3f}" for delay in delays.values()))
    assert statistics.median(delays.values()) <= 0.5 + 0.05, delays


def over_a_folder():
    with both(["--passthrough.dir=DIR/guests", "--passthrough.idle", "--idle.mode=fixed", "--idle.watts=package=3",
               "--idle.share=usage"], ["--meter.passthrough=DIR/guests/UUID"], over_port=False) as (pair, _):
        file = pair.folder / "guests" / pair.machine.uuid / "energy"

        def newest():
            with contextlib.suppress(FileNotFoundError):
                return Record.of_text(file.read_text(encoding="ascii"))
            return None

        def rest():
            """The host is stopped, so that the file remains, and the guest reads it."""
            pair.host.process.send_signal(signal.SIGSTOP)
            record, before = newest(), None
            seen = []
            while not seen or any(value != before for value in seen):
                before = of_guest(balanced(pair.guest.intervals(1)))
                seen = [of_guest(balanced(pair.guest.intervals(1))) for _ in range(4)]
            pair.host.process.send_signal(signal.SIGCONT)
            return record, before

        pair.guest = pair.host
        pair.wait(newest, "no file")
        pair.start_guest()
        work_on(pair, 2)
        since, guest = rest()
        for seconds in (3, 8):
            work_on(pair, seconds)
            now, later = rest()
            assert differences(later, guest) == differences(now.values, since.values), (guest, later, since.values, now.values)
            assert now.values["package", "idle"] > since.values["package", "idle"]
        check_delay(pair, newest, differences(later, now.values))
        assert pair.guest.stop() == 0 and pair.host.stop() == 0


def a_host_that_is_silent():
    """After a minute the guest estimates; the host's next record, which has the energy of all that time, does not count."""
    with both(["--passthrough.sockets=DIR"], ["--meter.passthrough=DIR/port"]) as (pair, port):
        pair.start_guest()
        work_on(pair, 4)
        platform = "kepler_node_platform_joules_total"
        assert not pair.guest.scrape().select(platform), "an estimate beside the host's account"
        pair.host.process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + 120
        while not pair.guest.scrape().sum(platform):
            assert time.monotonic() < deadline, pair.guest.output()
            balanced(pair.guest.intervals(1))
        before, count = of_guest(balanced(pair.guest.intervals(4))), len(port.sent)
        pair.host.process.send_signal(signal.SIGCONT)
        pair.wait(lambda: of_guest(pair.guest.intervals(1)) != before, "the host's account does not count again")
        estimated = pair.guest.scrape().sum(platform)
        _, guest = pair.settle(lambda: port.sent[-1])
        assert pair.guest.scrape().sum(platform) == estimated, "the estimate goes on"
        first = [differences(port.sent[-1].values, record.values) for record in port.sent[count:count + 4]]
        assert differences(guest, before) in first, (guest, before, first)
        assert pair.guest.stop() == 0


run_tests([over_a_port, over_a_folder, a_host_that_is_silent], at_once=3)
