#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host that sends garbage to a guest's Kepler, as a stream, as files and as vhostmd's answers, for 20 s (KEPLER_LONG_TESTS: an
hour): random bytes, torn records, and records with right checksums whose fields are anything. The guest lives, answers, keeps its
sums, and takes at most twice the memory of one with an honest host, which has a row for each process of the machine as well."""
import contextlib
import os
import pathlib
import random
import re
import struct
import tempfile
import threading
import time
import tty

from passthrough_rig import crc32c
from rig import KEPLER, Exporter, is_sanitized

SECONDS = 3600 if os.environ.get("KEPLER_LONG_TESTS") else 20
OPTIONS = ("--host.sysfs=/nonexistent", "--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=learned")
KINDS = (b"package", b"core", b"uncore", b"dram", b"psys", b"platform", b"gpu", b"other", b"", b"package\xff", b"x" * 16)
EXTREMES = (0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
ZONES = (b"package", b"core", b"uncore", b"dram", b"psys", b"platform", b"gpu", b"other")


def metric(name, value, unit="unit='J'"):
    return f"<metric type='real64' context='vm' {unit}><name>{name}</name><value>{value}</value></metric>\n"


def record_of(fields, zones, version=1, size=None):
    body = b"".join(struct.pack("<16sB3xIQQ", *zone) for zone in zones)
    size = 72 + len(body) + 4 if size is None else size
    record = b"KEP\xeb" + struct.pack("<BBH7QII", version, len(zones), size, *fields) + body
    return record + struct.pack("<I", crc32c(record))


class Garbage:
    """Messages of all kinds; a part of them are records that count, so that what follows meets an account."""

    def __init__(self, seed):
        self.draw, self.sequence, self.epoch = random.Random(seed), 0, seed

    def number(self, bits):
        draw = self.draw
        extreme = draw.choice(EXTREMES) & (1 << bits) - 1
        return draw.choice((extreme, draw.getrandbits(bits), draw.getrandbits(draw.randint(1, bits))))

    def fields(self):
        """A record's numbers: one of the host's as it should be, in which some are anything."""
        if self.draw.random() < 0.05:
            self.epoch, self.sequence = self.draw.getrandbits(64) | 1, 0
        self.sequence += 1
        fields = [self.epoch, self.sequence, time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), 10**9, 0,
                  self.sequence * 1000, 0, 1000]
        zones = [[b"package", 0, 1000, self.sequence * 1000, 0]]
        for _ in range(self.draw.choice((0, 0, 1, 2, 5))):
            index = self.draw.randrange(len(fields))
            fields[index] = self.number(32 if index > 6 else 64)
        for _ in range(self.draw.choice((0, 0, 1, 9, 12))):
            quality = self.draw.choice((0, 1, 2, 255))
            zones.append([self.draw.choice(KINDS), quality, self.number(32), self.number(64), self.number(64)])
        return fields, zones

    def binary(self):
        chance = self.draw.random()
        if chance < 0.2:
            return self.draw.randbytes(self.draw.randint(1, 700))
        record = record_of(*self.fields(), 1 if chance < 0.8 else self.number(8), None if chance < 0.9 else self.number(16))
        if chance < 0.3:
            at = self.draw.randrange(len(record))
            return record[:at] + bytes([record[at] ^ 1 << self.draw.randrange(8)]) + record[at + 1:]
        return record[:self.draw.randrange(len(record))] if chance < 0.4 else record

    def text(self):
        chance = self.draw.random()
        if chance < 0.2:
            return self.draw.randbytes(self.draw.choice((0, 10, 4000, 5000, 100000)))
        fields, zones = self.fields()
        names = ("epoch", "sequence", "realtime_ns", "boottime_ns", "interval_ns", "vm_hash", "cpu_time_us", "flags", "period_ms")
        lines = [f"{name} {value:016x}" if name in ("epoch", "vm_hash") else f"{name} {value}"
                 for name, value in zip(names, fields)]
        for name, quality, uncertainty, dynamic, idle in zones:
            word = ("measured", "estimated", "x")[min(quality, 2)]
            lines.append(f"zone {name.decode('latin-1')} quality={word} uncertainty_ppm={uncertainty} "
                         f"dynamic_uj={dynamic} idle_uj={idle}")
        self.draw.shuffle(lines)
        text = "".join(line + "\n" for line in ["kepler-passthrough 1", *lines]).encode("latin-1")
        text += f"end {crc32c(text):08x}\n".encode()
        return text[:self.draw.randrange(len(text))] if chance < 0.4 else text

    def xml(self):
        """The first one has energy: a port without any is asked once a minute."""
        if not self.sequence:
            self.sequence = 1
            return b"<metrics>" + metric("EnergyConsumedPackage", "1").encode() + b"</metrics>\n\n"
        chance = self.draw.random()
        if chance < 0.1:
            return self.draw.randbytes(self.draw.choice((1, 700, 5000)))
        fields, zones = self.fields()
        lines = [metric("EnergyEpoch", f"{fields[0]:016x}"), metric("EnergySequence", fields[1]),
                 metric("TotalCPUTime", fields[6] / 1e6, "unit='s'")][:self.draw.choice((0, 2, 3, 3))]
        for name, quality, _, dynamic, _ in zones:
            word = ("Consumed", "Estimated", "")[min(quality, 2)]
            lines.append(metric(f"Energy{word}{name.decode('latin-1').capitalize()}", f"{dynamic // 10**6}.{dynamic % 10**6:06}"))
        self.draw.shuffle(lines)
        text = "".join(["<metrics>", *lines, self.draw.choice(("", "<a>" * 40, "<!-- x -->")), "</metrics>\n\n"]).encode("latin-1")
        return text[:self.draw.randrange(len(text))] if chance < 0.2 else text


class Sender:
    """Calls send() about a thousand times a second, or as often as the machine allows."""

    def __init__(self, send):
        self.send, self.sent, self.stopped = send, 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopped:
            for _ in range(50):
                self.send()
                self.sent += 1
            time.sleep(0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.thread.join()


class Honest:
    """A record a second, measured and estimated in turn, with each kind of zone."""

    def __init__(self):
        self.sequence, self.next_s, self.uj = 0, 0.0, 0

    def binary(self):
        if time.monotonic() < self.next_s:
            return b""
        self.next_s, self.sequence, self.uj = time.monotonic() + 1, self.sequence + 1, self.uj + 10**6
        fields = [1, self.sequence, time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), 10**9, 0, self.uj, 0, 1000]
        return record_of(fields, [[kind, self.sequence % 2, 1000, self.uj, 0] for kind in ZONES])


def over_a_port(folder, stack, host=None):
    host = host or Garbage(3)
    path = folder / type(host).__name__
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    stack.callback(os.close, pipe)

    def send():
        with contextlib.suppress(BlockingIOError):
            os.write(pipe, host.binary())

    return path, send


def of_an_honest_host(folder, stack):
    return over_a_port(folder, stack, Honest())


def at_vhostmds_port(folder, stack):
    """A terminal stands for the port; what is in it when a question is asked is discarded, so most messages are answers to one."""
    del folder
    garbage, (host_end, guest_end) = Garbage(7), os.openpty()
    tty.setraw(guest_end)
    os.set_blocking(host_end, False)
    for end in (host_end, guest_end):
        stack.callback(os.close, end)

    def send():
        with contextlib.suppress(BlockingIOError):
            if b"GET" in os.read(host_end, 4096) or garbage.draw.random() < 0.01:
                os.write(host_end, garbage.xml())

    return f"vhostmd:{os.ttyname(guest_end)}", send


def over_files(folder, stack):
    del stack
    garbage, shared = Garbage(5), folder / "host"
    shared.mkdir()

    def send():
        new = folder / "new"
        new.write_bytes(garbage.text())
        new.rename(shared / "energy")

    return shared, send


def status_of(process, key):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise AssertionError(f"no {key}")


def cpu_s(process):
    user, system = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def total(metrics, name):
    return int(metrics.sum(f"kepler_exporter_passthrough_received_{name}_total"))


def check_sums(metrics):
    """Every level sums to the node, by kind and mode: zones of both qualities and of one kind are taken together, because those
    with and without idle energy are one account of rows. A number of rows is one of a zone, of which they have all energy."""
    for zone, mode in sorted({(zone, labels["mode"]) for zone, labels in metrics.accounts()}):
        def node(name, **labels):
            return metrics.sum(f"kepler_node_{name}_joules_total", mode=mode, **labels)

        at = {"mode": mode}
        for level in ("process", "container", "namespace"):
            found = metrics.level_sum(level, zone, at) + node("unattributed", zone=zone)
            assert found == node(zone), (level, zone, mode, found, node(zone))
        rows = metrics.select(f"kepler_process_{zone}_joules_total", **at)
        for package in {labels.get("package", "") for labels, _ in rows} - {""}:
            at["package"] = package
            assert metrics.level_sum("process", zone, at) + node("unattributed", zone=zone, package=package) >= node(
                zone, package=package), (zone, at)


class Watched:
    """One guest's Kepler, looked at now and then."""

    def __init__(self, name, exporter, sender):
        self.name, self.exporter, self.sender = name, exporter, sender
        self.began, self.first_kib, self.last_kib, self.first_cpu_s = None, 0, 0, 0.0
        self.counters = {}

    def look(self):
        metrics = self.exporter.intervals(1)
        check_sums(metrics)
        for name, labels, value in metrics.samples:
            if re.fullmatch(r"kepler_(node_.*_joules|exporter_passthrough_.*)_total", name):
                key = (name, *sorted(labels.items()))
                assert value >= self.counters.get(key, 0), ("a counter fell", self.name, key, value, self.counters[key])
                self.counters[key] = value
        return metrics

    def begin(self):
        self.began, self.first_cpu_s = time.monotonic(), cpu_s(self.exporter.process)
        self.first_kib = status_of(self.exporter.process, "VmRSS")

    def judge(self):
        metrics, process = self.look(), self.exporter.process
        self.last_kib, seconds = status_of(process, "VmRSS"), time.monotonic() - self.began
        used_ms = (cpu_s(process) - self.first_cpu_s) / seconds * 1000
        print(f"  {self.name}: {self.sender.sent} messages in {SECONDS} s; records taken {total(metrics, 'records')}, refused "
              f"{total(metrics, 'refused')}, bytes skipped {total(metrics, 'skipped_bytes')}; memory {self.first_kib} kB after a "
              f"quarter, {self.last_kib} kB at the end; {used_ms:.1f} ms of CPU time a second; "
              f"{len(self.exporter.output())} bytes of log", flush=True)
        assert total(metrics, "records"), "no record was ever taken"
        assert len(self.exporter.output()) < 100000 + 100 * seconds, self.exporter.output()[-2000:]
        assert self.exporter.stop() == 0


def main():
    with tempfile.TemporaryDirectory(prefix="kepler-hostile-") as path, contextlib.ExitStack() as stack:
        watched = []
        for channel in (of_an_honest_host, over_a_port, over_files, at_vhostmds_port):
            place, send = channel(pathlib.Path(path), stack)
            sender = stack.enter_context(Sender(send))
            exporter = stack.enter_context(Exporter(f"--meter.passthrough={place}", "--no-security.landlock", *OPTIONS))
            watched.append(Watched(channel.__name__, exporter, sender))
        for share in (0.25, 0.75):
            end = time.monotonic() + SECONDS * share
            while time.monotonic() < end:
                for each in watched:
                    each.look()
                time.sleep(SECONDS / 200)
            for each in watched if share < 0.5 else ():
                each.begin()
        for each in watched:
            each.judge()
        honest, *hostile = watched
        for each in hostile if not is_sanitized(KEPLER) else ():
            assert each.last_kib <= 2 * honest.last_kib, each.name


main()
