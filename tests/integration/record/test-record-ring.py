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
from rig import CONFIG, KEPLER, Exporter, Sensors, load, load_result, rapl_zone, run_tests

POLICY = "devices/system/cpu/cpufreq/policy0"
POWERS_UW = {"class/powercap/intel-rapl:0/energy_uj": 40_000_000, "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj": 5_000_000}
SIGNALS = {"frequency_time", "resident"}
PATIENCE_S = 60


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
    return process["pid"], process["start_ns"], process["comm"]


class Content:
    """What one or more files say in all."""

    def __init__(self, files):
        self.energy_uj, self.signals, self.cpu_ns, self.ended, self.zones, self.options = {}, set(), {}, set(), None, None
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
            if kind == "process":
                key = key_of(reader, number)
                self.cpu_ns[key] = self.cpu_ns.get(key, 0) + ns
        self.ended |= {key_of(reader, number) for number in interval["ended"]}


def draw(sensors, share):
    for path, power_uw in POWERS_UW.items():
        sensors.control(f"{path} power {power_uw * share}")


def both_of_one_minute():
    with tempfile.TemporaryDirectory() as folder, Sensors(tree()) as sensors:
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
                    load_result(load("storm", 20, 5, 3))
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
        # Of processes whose whole life is in both, so is all of their run time; but where a report of an end is lost, as a full
        # machine may cause in one reader and not in the other, the last slice is charged to the cgroup.
        short = {key for key in one.ended & other.ended if key[2] == "load"}
        wrong = {key: (one.cpu_ns.get(key), other.cpu_ns.get(key)) for key in short if one.cpu_ns.get(key) != other.cpu_ns.get(key)}
        assert len(short) > 20 and len(wrong) <= len(short) / 20, (len(short), wrong)
        print(f"  {one.energy_uj} µJ, {sorted(one.signals)}, {len(short) - len(wrong)} of {len(short)} processes: the same in both")


if __name__ == "__main__":
    run_tests([both_of_one_minute])
