#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""200 virtual machines on one host, with sockets and directories: each is told the energy of its series, to the microjoule. The CPU
time and memory for each are bounded."""
import contextlib
import pathlib
import re
import selectors
import subprocess
import tempfile
import time

from passthrough_rig import Account, Machine, Record, records_in
from rig import Exporter, Sensors, need_root, rapl_zone, release_binary

MACHINES = 200
AT_WORK = 10
ROUNDS = 8
OPTIONS = ("--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--passthrough.resolution=1uJ",
           "--meter.passthrough=off", "--metrics.keep=5s")


class Guests:
    """All machines, with what each of them was sent."""

    def __init__(self, folder, stack):
        self.machines = [stack.enter_context(Machine(folder, folder / "sockets")) for _ in range(MACHINES)]
        self.accounts = {machine.uuid: Account() for machine in self.machines}
        self.newest, self.rests, self.streams = {}, {}, {}
        self.selector = selectors.DefaultSelector()

    def connect(self):
        for machine in self.machines:
            if machine.uuid not in self.streams and (stream := machine.connect()):
                self.streams[machine.uuid], self.rests[machine.uuid] = stream, b""
                self.selector.register(stream, selectors.EVENT_READ, machine.uuid)
        return len(self.streams)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for key, _ in self.selector.select(0.1):
                data = key.fileobj.recv(65536)
                assert data, "the host ended a connection"
                found, self.rests[key.data] = records_in(self.rests[key.data] + data)
                for record in map(Record.of_bytes, found):
                    self.accounts[key.data].take(record)
                    self.newest[key.data] = record

    def rest(self):
        for machine in self.machines:
            machine.work(False)


def thread_ns(exporter, name):
    for task in pathlib.Path(f"/proc/{exporter.process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int((task / "schedstat").read_text().split()[0])
    raise AssertionError(f"no thread {name}")


def of_machines(metrics):
    values = {}
    for zone in ("package", "dram"):
        for labels, value in metrics.select(f"kepler_vm_{zone}_joules_total", mode="dynamic"):
            values.setdefault(labels["vm_id"], {})[zone] = int(value * 1000000)
    return values


def check_sums(guests, exporter, folder):
    """At rest: the newest record, the file and the account of each are its series."""
    guests.rest()
    deadline, wrong = time.monotonic() + 120, True
    while wrong:
        assert time.monotonic() < deadline, wrong
        guests.read(2)
        series = of_machines(exporter.scrape())
        wrong = [machine.uuid for machine in guests.machines if machine.uuid not in guests.newest or machine.uuid not in series]
        for machine in guests.machines if not wrong else []:
            record, file = guests.newest[machine.uuid], folder / "guests" / machine.uuid / "energy"
            for zone, value in series[machine.uuid].items():
                if not record.values[zone, "dynamic"] == value == Record.of_text(file.read_text()).values[zone, "dynamic"]:
                    wrong.append((machine.uuid, zone, value, record.values))
    first = {uuid: next(iter(account.first.values())) for uuid, account in guests.accounts.items()}
    for uuid, account in guests.accounts.items():
        for zone, value in series[uuid].items():
            base = 0 if first[uuid].sequence == 1 else first[uuid].values[zone, "dynamic"]
            assert account.total_uj[zone, "dynamic"] == value - base, (uuid, zone, value, base, account.total_uj)
    return series


def check_energy(folder, sensors, stack, guests):
    exporter = stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS, f"--passthrough.sockets={folder}/sockets",
                                            f"--passthrough.dir={folder}/guests"))
    deadline = time.monotonic() + 120
    while guests.connect() < MACHINES:
        assert time.monotonic() < deadline, (len(guests.streams), exporter.output()[-2000:])
        guests.read(1)
    before = check_sums(guests, exporter, folder)
    for number in range(ROUNDS):
        for machine in guests.machines[number * AT_WORK:(number + 1) * AT_WORK]:
            machine.work()
        guests.read(4)
        after = check_sums(guests, exporter, folder)
    worked = [machine.uuid for machine in guests.machines[:ROUNDS * AT_WORK]]
    assert all(after[uuid]["package"] > before[uuid]["package"] for uuid in worked), "a machine at work was told no energy"
    assert exporter.scrape().value("kepler_exporter_passthrough_connections", channel="sockets") == MACHINES
    assert exporter.stop() == 0


def check_cost(folder, sensors, stack, guests):
    """Of the release, over sockets alone: files cost what the file system takes."""
    guests.streams.clear()
    guests.selector.close()
    guests.selector = selectors.DefaultSelector()
    binary = release_binary()
    exporter = stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS, f"--passthrough.sockets={folder}/sockets",
                                            binary=binary))
    deadline = time.monotonic() + 120
    while guests.connect() < MACHINES:
        assert time.monotonic() < deadline, (len(guests.streams), exporter.output()[-2000:])
        guests.read(1)
    guests.read(6)  # all are found, and their sockets made
    before, sent = thread_ns(exporter, "passthrough"), records(exporter)
    guests.read(30)
    cost_us = (thread_ns(exporter, "passthrough") - before) / 1e3 / (records(exporter) - sent)
    print(f"  {cost_us:.2f} us of CPU time for each machine and interval")
    assert cost_us <= 10, cost_us
    build = pathlib.Path(binary).parent
    if not (build / "build.ninja").exists():
        return
    subprocess.run(["ninja", "-C", str(build), "bench/bench-guests"], check=True, stdout=subprocess.DEVNULL)
    (folder / "bench").mkdir()
    said = subprocess.run([build / "bench/bench-guests", "1000", "20", folder / "bench"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    print(f"  {said.strip()}")
    assert int(re.search(r"(\d+) bytes each", said)[1]) < 2000, said


def records(exporter):
    return int(exporter.scrape().value("kepler_exporter_passthrough_records_total", channel="sockets"))


def main():
    need_root()
    with tempfile.TemporaryDirectory(prefix="kepler-crowd-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        (folder / "sockets").mkdir()
        (folder / "guests").mkdir()
        lines = rapl_zone("intel-rapl:0", "package-0", 3, busy_watts=45)
        sensors = stack.enter_context(Sensors(lines + rapl_zone("intel-rapl:0:0", "dram", 1, busy_watts=5, parent="intel-rapl:0")))
        guests = Guests(folder, stack)
        check_energy(folder, sensors, stack, guests)
        check_cost(folder, sensors, stack, guests)


main()
