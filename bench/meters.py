#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of each source of energy: the table of docs/performance.md on meters. By hand, on a release build and a quiet machine.

    KEPLER_BUILD=build bench/meters.py [quick]

Exporters run side by side, one for each case, beside 2,000 sleeping processes and a little work; sensors are files in memory that
a thread moves on. The loop's part is the step "meters" of kepler_exporter_loop_step_seconds, CPU the process's own clock read from
outside. Each figure is the median, over windows of a few seconds, of the case less the case with one zone of RAPL.
"""
import contextlib
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/rig"))
import bmc  # noqa: E402
from certificates import Authority  # noqa: E402
from rig import BUILD, Exporter, load  # noqa: E402

QUICK = "quick" in sys.argv[1:]
WINDOWS, WINDOW_SECONDS, SETTLE_SECONDS = (4, 4, 10) if QUICK else (12, 10, 40)
PROCESSES, GPU_USERS = 2000, 200
QUOTED = '"canary-bmc,""p4ss"'


class Files:
    """Counters and powers in memory; counters go on by 20 W."""

    def __init__(self, folder):
        self.root, self.counters, self.texts, self.uj, self.ends = pathlib.Path(folder), [], [], 10**9, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def rapl(self, packages, parts=()):
        for package in range(packages):
            zones = [(f"intel-rapl:{package}", f"package-{package}")]
            zones += [(f"intel-rapl:{package}/intel-rapl:{package}:{i}", name) for i, name in enumerate(parts)]
            for zone, name in zones:
                self.write(f"class/powercap/{zone}/name", name)
                self.write(f"class/powercap/{zone}/max_energy_range_uj", 2**60)
                self.counters.append(self.root / f"class/powercap/{zone}/energy_uj")

    def hwmon(self, channels):
        self.write("class/hwmon/hwmon0/name", "amd_energy")
        for i in range(channels):
            self.write(f"class/hwmon/hwmon0/energy{i + 1}_label", f"Esocket{i}")
            self.counters.append(self.root / f"class/hwmon/hwmon0/energy{i + 1}_input")

    def external(self):
        self.texts.append((self.root / "meter", "kepler-meter 1\nzone=platform uw=215300000 time={:.2f}\n"))

    def step(self):
        self.uj += 20 * 500_000
        for path in self.counters:
            path.write_text(f"{self.uj}\n")
        for path, text in self.texts:
            new = path.with_suffix(".new")
            new.write_text(text.format(time.time()))
            new.rename(path)

    def run(self):
        while not self.ends.wait(0.5):
            self.step()

    def __enter__(self):
        self.step()
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.ends.set()
        self.thread.join()


def gpus(folder, boards, users, instances=0):
    state = folder / "boards"
    state.write_text("".join([f"gpu {i} {100000 + i}\n" for i in range(boards)] +
                             [f"mig {i} {at} 16 1 50\n" for i in range(boards) for at in range(instances)] +
                             [f"proc {i % boards} {pid} {90 * boards // len(users)} 100 {i // boards % max(instances, 1)}\n"
                              for i, pid in enumerate(users)]))
    return {"NVML_LAB_STATE": str(state)}


def redfish(folder, stack, shape):
    authority = Authority(str(folder))
    service = bmc.Bmc(authority.server_context(), bmc.Law(200), shape=shape)
    stack.callback(service.close)
    (folder / "credentials").touch(0o600)
    (folder / "credentials").write_text(f"kepler,{QUOTED}\n")
    return [f"--meter.redfish.url={service.url}", f"--meter.redfish.credentials={folder / 'credentials'}",
            f"--meter.redfish.ca-file={authority.file}", "--meter.redfish.period=2s"]


def case(stack, name, prepare):
    """An exporter with one zone of RAPL, and what @prepare adds: options and environment."""
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kepler-bench-", dir="/dev/shm")))
    files = Files(folder / "sys")
    options, env = prepare(folder, files)
    if not files.counters:
        files.rapl(1)
    stack.enter_context(files)
    return name, stack.enter_context(Exporter(f"--host.sysfs={files.root}", "--monitor.interval=1s", *options, env=env))


def cases(stack, users):
    def with_options(change, options=()):
        def prepare(_, files):
            change(files)
            return options, {}
        return prepare

    def bmc_of(shape, *options):
        return lambda folder, files: ([*redfish(folder, stack, shape), *options], {})

    def boards(*options, instances=0):
        library = f"--meter.nvml-library={BUILD}/tests/lab/nvml.so"
        return lambda folder, files: ([library, *options], gpus(folder, 8, users, instances))

    def external(folder, files):
        files.external()
        return [f"--meter.external={folder / 'sys/meter'}"], {}

    return [case(stack, name, prepare) for name, prepare in (
        ("RAPL, a package", with_options(lambda files: files.rapl(1))),
        ("RAPL, 8 sockets of 3 zones", with_options(lambda files: files.rapl(8, ("uncore", "dram")))),
        ("hwmon, 16 counters", with_options(lambda files: (files.rapl(1), files.hwmon(16)))),
        ("a file of another program", external),
        ("8 GPUs, 200 processes that use them", boards()),
        ("… with `--gpu.idle=holder`", boards("--gpu.idle=holder")),
        ("… each in 7 instances", boards(instances=7)),
        ("Redfish, each 2 s", bmc_of(bmc.supermicro)),
        ("… a mean of 30 s", bmc_of(lambda law: bmc.averaging(law, seconds=30))))]


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


def step_seconds(metrics):
    return tuple(float(metrics.value(f"kepler_exporter_loop_step_seconds_{part}", step="meters")) for part in ("sum", "count"))


def status_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def window(exporters):
    """For each: CPU ms a second, and µs in the step an interval."""
    began = [(cpu_seconds(exporter.process.pid), step_seconds(exporter.scrape())) for exporter in exporters]
    time.sleep(WINDOW_SECONDS)
    found = []
    for exporter, (cpu_s, (sum_s, count)) in zip(exporters, began):
        later_s = cpu_seconds(exporter.process.pid)
        last_s, last = step_seconds(exporter.scrape())
        found.append(((later_s - cpu_s) / WINDOW_SECONDS * 1e3, (last_s - sum_s) / (last - count) * 1e6))
    return found


def main():
    crowd = load("idle", PROCESSES)
    crowd.stdout.readline()
    children = subprocess.run(["pgrep", "-P", str(crowd.pid)], text=True, capture_output=True, check=True).stdout.split()
    with contextlib.ExitStack() as stack:
        stack.callback(crowd.terminate)
        named = cases(stack, [int(pid) for pid in children[:GPU_USERS]])
        exporters = [exporter for _, exporter in named]
        time.sleep(SETTLE_SECONDS)
        windows = [window(exporters) for _ in range(WINDOWS)]
        rss_mb = [status_mb(exporter.process.pid) for exporter in exporters]
        print("| case | zones | the loop, an interval | CPU, a second | VmRSS |\n|---|---|---|---|---|")
        for i, (name, exporter) in enumerate(named):
            loop_us = statistics.median(found[i][1] - (found[0][1] if i else 0) for found in windows)
            cpu_ms = statistics.median(found[i][0] - (found[0][0] if i else 0) for found in windows)
            sign = "+" if i else ""
            more_mb = rss_mb[i] - (rss_mb[0] if i else 0)
            up = exporter.scrape().sum("kepler_exporter_source_up")
            print(f"| {name} | {up:.0f} | {loop_us:{sign}.0f} µs | {cpu_ms:{sign}.3f} ms | {more_mb:{sign}.1f} MB |")
            exporter.stop()


main()
