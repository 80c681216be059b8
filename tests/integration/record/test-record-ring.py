#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file of `kepler record` has what the ring of an exporter has of the same minute: zones, energy, processes and their signals.

Both read the same sensors, which draw nothing at the beginning and at the end, so that both have seen the same energy.
"""
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from record_file import Reader
from rig import CONFIG, KEPLER, Exporter, Sensors, Service, load_result, rapl_zone, run_tests

POLICY = "devices/system/cpu/cpufreq/policy0"
POWERS_UW = {"class/powercap/intel-rapl:0/energy_uj": 40_000_000, "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj": 5_000_000}
SIGNALS = {"frequency_time", "resident"}
PATIENCE_S = 60
SERVICE = "kepler-test-ring.service"


def tree():
    """A package with DRAM, and CPUs with a frequency."""
    cpus = " ".join(map(str, range(os.cpu_count())))
    return [*rapl_zone("intel-rapl:0", "package-0", 0), *rapl_zone("intel-rapl:0:0", "dram", 0, parent="intel-rapl:0"),
            f"{POLICY}/affected_cpus text {cpus}", f"{POLICY}/scaling_cur_freq text 2000000"]


def wait_for_reads(sensors, process, count):
    """Until each meter was read @count times more."""
    begun = {path: reads for path, (_, _, reads) in sensors.read_uj(POWERS_UW).items()}
    deadline = time.monotonic() + PATIENCE_S
    while any(reads < begun[path] + count for path, (_, _, reads) in sensors.read_uj(POWERS_UW).items()):
        assert process.poll() is None and time.monotonic() < deadline, process.poll()
        time.sleep(0.02)


def key_of(reader, number):
    process = reader.processes[number]
    return process["pid"], process["start_ns"]


def is_ours(reader, owner):
    return reader.owners[owner].get("container_name") == SERVICE


class Content:
    """What one or more files say in all."""

    def __init__(self, files):
        self.energy_uj, self.signals, self.zones, self.options = {}, set(), None, None
        self.cpu_ns, self.ended, self.lost_ns = {}, set(), 0  # of processes of the service; and of the service without a process
        for file in files:
            reader = Reader(file)
            for interval in reader.intervals():
                self.take(reader, interval)
            assert reader.end and reader.end[1] == 0 and not reader.is_cut, (file, reader.end)
            self.zones = [{key: zone[key] for key in zone if key != "now_ms"} for zone in reader.zones]
            self.options = sorted(reader.options)

    def take(self, reader, interval):
        for number, zone in enumerate(interval["zones"]):
            self.energy_uj[number] = self.energy_uj.get(number, 0) + (zone["energy_uj"] or 0)
        self.signals |= set(interval["signals"])
        for values in interval["signals"].values():
            assert len(values) == len(interval["parties"])
        for (kind, number), ns in zip(interval["parties"], interval["cpu_ns"]):
            if kind == "process" and is_ours(reader, reader.processes[number]["owner"]):
                key = key_of(reader, number)
                self.cpu_ns[key] = self.cpu_ns.get(key, 0) + ns
            elif kind == "owner" and is_ours(reader, number):
                self.lost_ns += ns
        self.ended |= {key_of(reader, number) for number in interval["ended"]}


def draw(sensors, share):
    for path, power_uw in POWERS_UW.items():
        sensors.control(f"{path} power {power_uw * share}")


def both_of_one_minute():
    with tempfile.TemporaryDirectory() as folder, Sensors(tree()) as sensors, Service(SERVICE) as service:
        file, ring = pathlib.Path(folder, "a.krec"), pathlib.Path(folder, "ring")
        ring.mkdir()
        options = [f"--host.sysfs={sensors.mount}", "--monitor.interval=100ms", "--monitor.resident-every=1s",
                   "--metrics.settle=0s", "--counters.switches=false"]
        with subprocess.Popen([KEPLER, "record", file, f"--config.file={CONFIG}", "--host.state-dir=", *options],
                              stderr=subprocess.PIPE, text=True) as recorder:
            try:
                wait_for_reads(sensors, recorder, 3)
                with Exporter(f"--record.dir={ring}", *options) as exporter:
                    exporter.intervals(3)
                    draw(sensors, 1)
                    storm = service.load("storm", 20, 5, 3)
                    truth_s = load_result(storm)[1]
                    draw(sensors, 0)
                    exporter.intervals(3)
                    assert exporter.stop() == 0, exporter.output()
                wait_for_reads(sensors, recorder, 3)
                recorder.send_signal(signal.SIGINT)
                said = recorder.communicate(timeout=PATIENCE_S)[1]
                assert recorder.returncode == 0, said
            finally:
                recorder.kill()
        read = sensors.read_uj(POWERS_UW)
        one, other = Content([file]), Content(sorted(ring.glob("*.krec")))
        assert one.zones == other.zones and len(one.zones) == len(POWERS_UW), (one.zones, other.zones)
        assert one.options == other.options, set(one.options) ^ set(other.options)
        assert one.energy_uj == other.energy_uj, (one.energy_uj, other.energy_uj)
        assert sorted(one.energy_uj.values()) == sorted(last - first for first, last, _ in read.values()), (one.energy_uj, read)
        assert min(one.energy_uj.values()) > 10_000_000, one.energy_uj
        assert one.signals == other.signals and SIGNALS <= one.signals, (one.signals, other.signals)
        check_processes(one, other, storm.pid, truth_s)


def check_processes(one, other, parent, truth_s):
    """The children of the storm began and ended in the service between the first and the last reading of both. Neither has more
    than their run time; and no less, and the same of each child, unless a full buffer or a process that the kernel guards lost the
    report of an end in one of the readers: the last slice is charged to the service or to the node then."""
    for content in (one, other):
        content.cpu_ns = {key: ns for key, ns in content.cpu_ns.items() if key[0] != parent}
    total_s = [(sum(content.cpu_ns.values()) + content.lost_ns) / 1e9 for content in (one, other)]
    both = one.ended & other.ended & one.cpu_ns.keys() & other.cpu_ns.keys()
    wrong = {key: (one.cpu_ns[key], other.cpu_ns[key]) for key in both if one.cpu_ns[key] != other.cpu_ns[key]}
    print(f"  {one.energy_uj} µJ, {sorted(one.signals)}, {total_s[0]:.6f} and {total_s[1]:.6f} s, truth {truth_s:.6f} s, "
          f"{len(both) - len(wrong)} of {len(both)} children: the same in both")
    assert all(0.95 * truth_s <= s <= 1.005 * truth_s for s in total_s)
    assert len(both) > 20 and len(wrong) <= len(both) / 20, wrong


if __name__ == "__main__":
    run_tests([both_of_one_minute])
