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
import signal
import time

from passthrough_pair import Dialogue, both, differences, of_guest
from passthrough_rig import Record
from rig import balanced, run_tests, snapshots_of

RECORDS = 8


def check_window(pair, port, since):
    """From one rest to the next, without a new epoch: the host's difference is the guest's."""
    host, guest = pair.settle(lambda: port.sent[-1] if port.sent else None)
    account, record = dict(port.account.total_uj), port.sent[-1]
    pair.machine.work()
    if since:
        assert differences(guest, since[1]) == differences(account, since[2]), (since, host, guest, account)
        if record.epoch == since[3].epoch:
            assert differences(host, since[0]) == differences(guest, since[1]), (since, host, guest)
    return host, guest, account, record


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
        restart_host(pair, port, since[3].epoch)
        restart_host(pair, port, port.sent[-1].epoch)
        since = check_window(pair, port, since)
        # As a guest that is paused: it reads the records of two epochs at once.
        work_on(pair, 1)
        pair.guest.process.send_signal(signal.SIGSTOP)
        count = len(port.sent)
        pair.wait(lambda: len(port.sent) > count + 1, "no record")
        restart_host(pair, port, since[3].epoch)
        pair.guest.process.send_signal(signal.SIGCONT)
        since = check_window(pair, port, since)
        # The guest begins again, and first reads the records that were written to the port meanwhile.
        pair.kill(pair.guest)
        count = len(port.sent)
        pair.wait(lambda: len(port.sent) > count + 1, "no record")
        pair.start_guest()
        since = check_window(pair, port, None)
        work_on(pair, 3)
        _, guest, _, record = check_window(pair, port, since)
        check_appearance(pair, lambda: port.sent[-1], differences(guest, record.values))
        assert pair.guest.stop() == 0 and pair.host.stop() == 0


def taken(metrics):
    """How many records the guest has taken by then, with those that it knows to be lost: a sequence, but for where it begins."""
    records = metrics.value("kepler_exporter_passthrough_received_records_total", outcome="counted")
    return int(records + metrics.value("kepler_exporter_passthrough_received_lost_total"))


def first_sequence(pair, newest, shift):
    """Where the count of taken() begins. The host is stopped until the guest shows its last record."""
    pair.host.process.send_signal(signal.SIGSTOP)

    def is_shown():
        last, counts = newest(), set()
        for _ in range(4):
            metrics = pair.guest.intervals(1)
            counts.add(taken(metrics))
            if len(counts) > 1 or differences(of_guest(metrics), last.values) != shift:
                return None
        return (last.sequence - counts.pop(),) if newest().sequence == last.sequence else None

    begin = pair.wait(is_shown, "the last record is not shown")[0]
    pair.host.process.send_signal(signal.SIGCONT)
    return begin


def check_appearance(pair, newest, shift):
    """What the guest has taken by the end of an interval, by its own count, it shows at the end of the next one, so it never lets
    a whole interval pass. No time is judged, so this holds on a busy machine; bench/passthrough_delay.py measures times.
    `shift`: by how much the guest counts more than the records say."""
    begin, records, judged, due = first_sequence(pair, newest, shift), {}, set(), None
    deadline, page = time.monotonic() + 300, pair.guest.scrape()
    while len(judged) < RECORDS:
        assert time.monotonic() < deadline, f"only {judged} of these records were seen: {records.keys()}"
        record = newest()
        records[record.sequence] = record
        page = pair.guest.wait_snapshot(snapshots_of(page.text))
        if due:
            late = {key: value + shift[key] - of_guest(page)[key] for key, value in due.values.items()}
            assert max(late.values()) <= 0, f"energy of a record is late by an interval, uJ: {late}"
            judged.add(due.sequence)
        due = records.get(begin + taken(page))


def over_vhostmd():
    """The guest asks at the port of vhostmd, and the host's Kepler answers; it is killed, and answers are lost and repeated."""
    with both(["--passthrough.sockets=DIR"], [], over_port=False) as (pair, _), Dialogue(pair.machine) as port:
        # Landlock permits to write to real ports only.
        pair.guest_options = (*pair.guest_options, f"--meter.passthrough=vhostmd:{port.path}", "--no-security.landlock")
        pair.start_guest()
        work_on(pair, 2)
        since = check_window(pair, port, None)
        work_on(pair, 3)
        now = check_window(pair, port, since)
        assert now[0]["package", "dynamic"] > since[0]["package", "dynamic"], "the machine used nothing"
        port.is_rough = True
        work_on(pair, 12)
        port.is_rough = False
        since = check_window(pair, port, now)
        restart_host(pair, port, since[3].epoch)
        since = check_window(pair, port, since)
        work_on(pair, 3)
        check_window(pair, port, since)
        metrics = pair.guest.scrape()
        assert metrics.value("kepler_exporter_passthrough_host_epochs_total") == len(port.account.last)
        (labels, _), = metrics.select("kepler_zone_info", source="passthrough", zone="package")
        assert labels["quality"] == "measured" and labels["scope"] == "vm_dynamic", labels
        assert pair.guest.stop() == 0 and pair.host.stop() == 0


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
            before, seen = None, []
            while not seen or any(value != before for value in seen):
                before = of_guest(balanced(pair.guest.intervals(1)))
                seen = [of_guest(balanced(pair.guest.intervals(1))) for _ in range(4)]
            record = newest()
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
        check_appearance(pair, newest, differences(later, now.values))
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
        # A zone counts from one of the host's records after the silence on; on a busy machine, that is not the first one.
        for key, value in differences(guest, before).items():
            counted = [port.sent[-1].values[key] - record.values[key] for record in port.sent[count:]]
            assert value in counted, (key, value, counted)
        assert pair.guest.stop() == 0


run_tests([over_a_port, over_a_folder, over_vhostmd, a_host_that_is_silent], at_once=3)
