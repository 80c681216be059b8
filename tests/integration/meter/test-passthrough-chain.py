#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More than one host and one guest: a guest's Kepler that is the host of another guest, and a guest that migrates to another host
and back. At each place, what a guest counts is what its host has for it, to the microjoule.

All run on this machine, so each Kepler sees all processes; machines are processes as in meter/host-to-guest.
"""
import contextlib
import pathlib
import signal
import tempfile

from passthrough_pair import GUEST, HOST, differences, of_guest, of_host, port_at
from passthrough_rig import Machine
from rig import Exporter, Sensors, balanced, rapl_zone, run_tests

QUIET = 6  # responses of each Kepler


def sensors_of(watts, busy_watts):
    lines = rapl_zone("intel-rapl:0", "package-0", watts, busy_watts=busy_watts)
    return Sensors(lines + rapl_zone("intel-rapl:0:0", "dram", 1, busy_watts=5, parent="intel-rapl:0"))


def settled(look, machines):
    """What look() has of all, when the machines rest and nothing more is counted."""
    for machine in machines:
        machine.work(False)
    seen = []
    while len(seen) < QUIET or any(value != seen[-1] for value in seen[-QUIET:]):
        seen.append(look())
    return seen[-1]


def nested():
    """Of three Keplers the second is a guest of the first one, and the host of the third."""
    with tempfile.TemporaryDirectory(prefix="kepler-chain-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        machines = [stack.enter_context(Machine(folder)) for _ in range(2)]
        sensors = stack.enter_context(sensors_of(3, 45))
        options = [(f"--host.sysfs={sensors.mount}", *HOST)]
        for level, machine in enumerate(machines):
            (folder / f"guests{level}").mkdir()
            options[level] += (f"--passthrough.dir={folder}/guests{level}",)
            options.append((*GUEST, *HOST[2:-1], f"--meter.passthrough={folder}/guests{level}/{machine.uuid}"))
        for machine in machines:
            machine.work()
        exporters = [stack.enter_context(Exporter(*words)) for words in options]

        def look():
            pages = [balanced(exporter.intervals(1)) for exporter in exporters]
            return ([of_host(page, machine) for page, machine in zip(pages, machines)], [of_guest(page) for page in pages[1:]])

        before = after = None
        for _ in range(3):
            before, after = after, settled(look, machines)
            for machine in machines:
                machine.work()
            exporters[0].intervals(8)
            if not before:
                continue
            for level in (0, 1):
                sent, got = (differences(after[side][level], before[side][level]) for side in (0, 1))
                assert sent == got and sent["package", "dynamic"] > 0, (level, sent, got)
                print(f"  guest {level + 1}: {got['package', 'dynamic'] / 1e6:.6f} J of the package, 0 uJ off", flush=True)
        for exporter in exporters[1:]:
            zones = exporter.scrape().select("kepler_zone_info", source="passthrough")
            assert {labels["quality"] for labels, _ in zones} == {"measured"}, zones
        for exporter in exporters:
            assert exporter.stop() == 0


class Place:
    """A host with its own meters and its own Kepler, which begins when a machine arrives."""

    def __init__(self, stack, folder, name, busy_watts):
        self.sockets = folder / name
        self.sockets.mkdir()
        self.sensors = stack.enter_context(sensors_of(3, busy_watts))
        self.stack, self.exporter = stack, None

    def start(self):
        self.exporter = self.stack.enter_context(Exporter(f"--host.sysfs={self.sensors.mount}", *HOST,
                                                          f"--passthrough.sockets={self.sockets}"))

    def stop(self):
        self.exporter.process.send_signal(signal.SIGKILL)
        self.exporter.process.wait()


class Machines:
    """One machine, whose process is another one after each migration."""

    def __init__(self, stack, folder):
        self.stack, self.folder, self.now, self.uuid = stack, folder, None, None

    def begin(self, place):
        if self.now:
            self.now.signal(signal.SIGKILL)
        self.now = self.stack.enter_context(Machine(self.folder, place.sockets, own=self.uuid))
        self.uuid = self.now.uuid
        self.now.work()

    def connect(self):
        with contextlib.suppress(OSError):  # it has ended
            return self.now.connect()
        return None


def migrated():
    """To a host whose processor draws another power, and back. The machine's process at the first host has ended before the second
    host's Kepler begins, because both would see it here."""
    with tempfile.TemporaryDirectory(prefix="kepler-chain-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        machine = Machines(stack, folder)
        places = [Place(stack, folder, "first", 45), Place(stack, folder, "second", 90)]
        machine.begin(places[0])
        port = port_at(stack, machine, folder / "port")
        places[0].start()
        guest = stack.enter_context(Exporter(*GUEST, f"--meter.passthrough={folder}/port"))
        here, epochs, since = places[0], 1, None
        for there in (places[1], places[0], None):
            host = here.exporter

            def look():
                return of_host(balanced(host.intervals(1)), machine), of_guest(balanced(guest.intervals(1)))

            guest.intervals(10)
            now = (*settled(look, [machine.now]), dict(port.account.total_uj), port.sent[-1])
            check_place(since, now, port.account)
            since = now
            metrics = guest.scrape()
            assert metrics.value("kepler_exporter_passthrough_host_epochs_total") == epochs == len(port.account.last)
            if there:
                machine.now.work()
                guest.intervals(6)  # so the last records at the old place are of work
                since = (None, *since[1:])
                machine.begin(there)
                here.stop()
                there.start()
                here, epochs = there, epochs + 1
                while port.sent[-1].epoch == since[3].epoch:
                    guest.intervals(1)
        assert guest.scrape().value("kepler_exporter_passthrough_received_records_total", outcome="implausible") == 0
        assert guest.stop() == 0 and here.exporter.stop() == 0


def check_place(since, now, account):
    """The guest has the difference of the records; of those of this place, that is all the host has for the machine."""
    host, guest, total, record = now
    assert record.values == host, (record.values, host)
    if not since:
        return
    assert differences(guest, since[1]) == differences(total, since[2]), (since, now)
    first, old = account.first[record.epoch], since[3]
    here = host if first.sequence == 1 else differences(host, first.values)
    there = differences(account.last[old.epoch].values, old.values)
    assert differences(guest, since[1]) == {key: here[key] + there[key] for key in here}, (here, there, guest, since)
    print(f"  {there['package', 'dynamic'] / 1e6:.6f} J at the last host, {here['package', 'dynamic'] / 1e6:.6f} J at the new one, "
          "0 uJ off", flush=True)
    assert here["package", "dynamic"] > 0 and there["package", "dynamic"] > 0


run_tests([nested, migrated], at_once=2)
