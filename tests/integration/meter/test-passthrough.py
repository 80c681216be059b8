#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The account that a host gives a guest, as files and as a stream: to the microjoule, although the host restarts, and records are
lost, repeated and torn. The host is a writer of its own, made from docs/passthrough.md."""
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import threading
import time

from passthrough_rig import crc32c
from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, balanced, load, load_result, rapl_zone, run_tests

OPTIONS = ("--host.sysfs=/nonexistent", "--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=learned")
NODE = "kepler_node_{}_joules_total"
ZONES = ("package", "dram")
# A processor's features as Linux shows them, with and without the hypervisor's bit.
VIRTUAL, PHYSICAL = (f"devices/system/cpu/modalias text cpu:type:x86,ven0000fam0006mod008F:feature:,0000,{last},00C0"
                     for last in ("009F", "009E"))


class Host:
    """Counts the energy of a VM and sends a record every 0.2 s, as send() does that."""

    def __init__(self, send):
        self.send, self.draw, self.stopped, self.silent = send, random.Random(7), False, False
        self.total_uj = {(zone, mode): 0 for zone in ZONES for mode in ("dynamic", "idle")}
        self.thread = threading.Thread(target=self.run)
        self.restart()

    def restart(self):
        """A new epoch; its first record is sent without fail."""
        self.epoch, self.sequence = self.draw.getrandbits(63) | 1, 0
        self.values = dict.fromkeys(self.total_uj, 0)

    def step(self, watts):
        for key in self.values:
            uj = int(watts * 0.2e6 * self.draw.random()) if watts else 0
            self.values[key] += uj
            self.total_uj[key] += uj
        self.sequence += 1
        self.send(self)

    def run(self):
        while not self.stopped:
            self.step(0 if self.silent else 60)
            if not self.silent and self.draw.random() < 0.1:
                self.restart()
            time.sleep(0.2)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.thread.join()

    def times(self):
        return time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), 200_000_000

    def binary(self):
        zones = b"".join(
            struct.pack("<16sB3xIQQ", zone.encode(), 0, 1000, self.values[zone, "dynamic"], self.values[zone, "idle"])
            for zone in ZONES)
        head = b"KEP\xeb" + struct.pack("<BBH7QII", 1, len(ZONES), 72 + len(zones) + 4, self.epoch, self.sequence, *self.times(), 0,
                                        self.sequence, 1, 200)
        return head + zones + struct.pack("<I", crc32c(head + zones))

    def text(self):
        realtime, boottime, interval = self.times()
        lines = ["kepler-passthrough 1", f"epoch {self.epoch:016x}", f"sequence {self.sequence}", f"realtime_ns {realtime}",
                 f"boottime_ns {boottime}", f"interval_ns {interval}", f"vm_hash {0:016x}", f"cpu_time_us {self.sequence}",
                 "flags 1", "period_ms 200"]
        for zone in ZONES:
            lines.append(f"zone {zone} quality=measured uncertainty_ppm=1000 dynamic_uj={self.values[zone, 'dynamic']} "
                         f"idle_uj={self.values[zone, 'idle']}")
        text = "".join(line + "\n" for line in lines)
        return f"{text}end {crc32c(text.encode()):08x}\n"


def shown(metrics):
    return {(zone, mode): int(metrics.sum(NODE.format(zone), source="passthrough", mode=mode) * 10**6)
            for zone in ZONES for mode in ("dynamic", "idle")}


def settled(exporter, host):
    """The host counts nothing more until the guest has all."""
    host.silent = True
    return shown(balanced(exporter.intervals(8))), dict(host.total_uj)


def follow(host, place, seconds=15):
    with host, Exporter(f"--meter.passthrough={place}", *OPTIONS) as exporter:
        first, sent_first = settled(exporter, host)
        host.silent = False
        work = load("span", 5)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            balanced(exporter.intervals(1))
        load_result(work)
        last, sent_last = settled(exporter, host)
        for key, sent in sent_last.items():
            assert sent > sent_first[key], "the host counted nothing"
            assert last[key] - first[key] == sent - sent_first[key], (key, last[key] - first[key], sent - sent_first[key])
        metrics = balanced(exporter.intervals(1))
        assert metrics.sum("kepler_process_package_joules_total", pid=str(work.pid)) > 0
        kinds = {labels["zone"]: labels["quality"] for labels, _ in metrics.select("kepler_zone_info", source="passthrough")}
        assert kinds == dict.fromkeys(ZONES, "measured"), kinds
        assert exporter.stop() == 0


def a_stream_of_records():
    """A pipe in place of a virtio-serial port. Records are lost, repeated, late and torn; never the first of an epoch."""
    with tempfile.TemporaryDirectory(prefix="kepler-passthrough-") as folder:
        path = pathlib.Path(folder, "port")
        os.mkfifo(path)
        pipe, late = os.open(path, os.O_RDWR | os.O_NONBLOCK), []

        def send(host):
            record, chance = host.binary(), host.draw.random()
            if host.sequence > 1 and not host.silent and chance < 0.2:
                late.append(record)
                return
            if chance < 0.4:
                os.write(pipe, record[:int(chance * 100)])
            os.write(pipe, record)
            if chance < 0.6:
                os.write(pipe, late.pop() if late else record)

        follow(Host(send), path)
        os.close(pipe)


def host_with_folder(folder):
    """Writes files. They have only the newest record, so an epoch's first one could be missed: there is one epoch."""

    def send(host):
        new = pathlib.Path(folder, "energy.new")
        new.write_text(host.text(), encoding="ascii")
        new.rename(pathlib.Path(folder, "energy"))

    host = Host(send)
    host.restart = lambda: None
    return host


def a_folder_that_is_mounted():
    """The host replaces the file; the guest does not see each of them, but the first of each epoch."""
    with tempfile.TemporaryDirectory(prefix="kepler-passthrough-") as folder:
        follow(host_with_folder(folder), folder)


def counted(metrics, source):
    """Energy of the package by that source, in µJ."""
    return int(metrics.sum(NODE.format("package"), source=source) * 10**6)


def rapl_of(machine, *options):
    """What the package's sources count within some intervals, by name, and the caveat of the machine's RAPL."""
    options = (*OPTIONS[1:], *options)
    with Sensors([machine, *rapl_zone("intel-rapl:0", "package-0", 30)]) as sensors:
        with Exporter(f"--host.sysfs={sensors.mount}", *options) as exporter:
            first = exporter.intervals(6)
            last = balanced(exporter.intervals(6))
            grown = {source: counted(last, source) - counted(first, source) for source in ("rapl-sysfs", "passthrough")}
            caveats = [labels["caveat"] for labels, _ in last.select("kepler_exporter_source_caveat", source="rapl-sysfs")]
            assert exporter.stop() == 0
    return grown, caveats


def rapl_of_a_hypervisor():
    """It counts where the host reports nothing, with a caveat; the host's account is preferred to it, not to a processor's."""
    grown, caveats = rapl_of(VIRTUAL)
    assert grown["rapl-sysfs"] > 0 and caveats == ["virtual"], (grown, caveats)
    grown, caveats = rapl_of(PHYSICAL)
    assert grown["rapl-sysfs"] > 0 and not caveats, (grown, caveats)
    with tempfile.TemporaryDirectory(prefix="kepler-passthrough-") as folder:
        with host_with_folder(folder):
            grown, _ = rapl_of(VIRTUAL, f"--meter.passthrough={folder}")
            assert grown["passthrough"] > 0 and grown["rapl-sysfs"] == 0, grown
            grown, _ = rapl_of(PHYSICAL, f"--meter.passthrough={folder}")
            assert grown["passthrough"] == 0 and grown["rapl-sysfs"] > 0, grown


def a_host_that_is_not_trusted():
    """A machine that is protected from its host: what the host reports counts as its claim, and each place says so."""
    with tempfile.TemporaryDirectory(prefix="kepler-passthrough-") as folder:
        sysfs, shared = pathlib.Path(folder, "sys"), pathlib.Path(folder, "host")
        (sysfs / "devices/platform/sev-guest").mkdir(parents=True)
        shared.mkdir()
        options = (f"--host.sysfs={sysfs}", f"--meter.passthrough={shared}")
        with host_with_folder(shared), Exporter(*OPTIONS[1:], *options) as exporter:
            metrics = balanced(exporter.intervals(6))
            caveats = {labels["zone"]: labels["caveat"] for labels, _ in metrics.select("kepler_exporter_source_caveat")}
            assert caveats == dict.fromkeys(ZONES, "host-claimed"), caveats
            (node, _), = metrics.select("kepler_node_info")
            assert node["components_power_source"] == "host-claimed" and not node["platform_power_source"], node
            assert counted(metrics, "passthrough") > 0
            done = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.state-dir=", *options],
                                  capture_output=True, text=True, timeout=60, check=False, env=OTHERS_ENVIRONMENT)
            assert "this machine is protected from its host (SEV-SNP)" in " ".join(done.stdout.split()), done.stdout
            assert exporter.stop() == 0


def explain_shows_both_accounts():
    """The host's, as its records have it, and how the machine divides it."""
    with tempfile.TemporaryDirectory(prefix="kepler-passthrough-") as folder:
        host = host_with_folder(folder)
        with host, Exporter(f"--meter.passthrough={folder}", *OPTIONS) as exporter:
            exporter.intervals(6)
            command = [KEPLER, "explain", "kernel_processes", "--config.file=/dev/null",
                       f"--web.listen-address={exporter.url.removeprefix('http://')}"]
            sent = dict(host.total_uj)
            answer, text = (subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=True,
                                           env=OTHERS_ENVIRONMENT).stdout for more in (["--json"], []))
            answer = json.loads(answer)
            assert answer["host"]["source"] == "passthrough" and 0 < answer["host"]["cpu_us"] <= host.sequence, answer["host"]
            (package,) = (zone for zone in answer["zones"] if zone["zone"] == "package")
            assert package["source"] == "passthrough" and package["counter_uj"] <= sum(host.total_uj.values()), package
            assert package["counter_uj"] >= sent["package", "dynamic"] // 2, (package, sent)
            assert "The host's account of this machine, by passthrough" in text and "as the host counted it" in text, text
            assert exporter.stop() == 0


def doctor_says_what_is_missing():
    with tempfile.TemporaryDirectory(prefix="kepler-passthrough-") as folder:
        done = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.state-dir=",
                               "--host.sysfs=/nonexistent", f"--meter.passthrough={folder}"],
                              capture_output=True, text=True, timeout=60, check=False, env=OTHERS_ENVIRONMENT)
        text = " ".join(done.stdout.split())
        assert f"{folder}/energy: No such file or directory" in text, done.stdout + done.stderr


run_tests([a_stream_of_records, a_folder_that_is_mounted, doctor_says_what_is_missing, rapl_of_a_hypervisor,
           a_host_that_is_not_trusted, explain_shows_both_accounts], at_once=3)
