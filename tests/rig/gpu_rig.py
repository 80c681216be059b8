# SPDX-License-Identifier: Apache-2.0
"""Boards of a library that stands in for a vendor's (tests/lab/nvml.c, hlml.c), and an exporter that reads them."""
import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

from rig import BUILD, Exporter, Sensors, balanced, rapl_zone

OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--idle.mode=off")
GPU = "kepler_{}_gpu_joules_total"


def uuid(index):
    return f"GPU-{index:08x}-0000-4000-8000-{index:012x}"


class Gpus:
    """Boards, by what the library is told of them."""

    def __init__(self, library="nvml"):
        self.folder = tempfile.TemporaryDirectory(prefix="kepler-gpu-")
        self.state = pathlib.Path(self.folder.name, "state")
        self.truth = tempfile.TemporaryFile()
        self.env = {f"{library.upper()}_LAB_STATE": str(self.state), f"{library.upper()}_LAB_TRUTH": str(self.truth.fileno())}
        self.option = f"--meter.{library}-library={BUILD}/tests/lab/{library}.so"

    def say(self, *lines):
        new = self.state.with_suffix(".new")
        new.write_text("".join(line + "\n" for line in lines))
        os.rename(new, self.state)

    def told_mj(self):
        """What each board's energy was when it was last read."""
        return [int(line) for line in os.pread(self.truth.fileno(), 32 * 128, 0).split()]


@contextlib.contextmanager
def machine(*lines, options=(), library="nvml"):
    gpus = Gpus(library)
    gpus.say(*lines)
    with gpus.folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", gpus.option, *OPTIONS, *options, env=gpus.env,
                     pass_fds=(gpus.truth.fileno(),)) as exporter:
        yield gpus, exporter
        assert exporter.stop() == 0


@contextlib.contextmanager
def sleepers(count):
    """Processes that do not run: what they use of a board is theirs all the same."""
    processes = [subprocess.Popen(["sleep", "1000"]) for _ in range(count)]
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def node_uj(metrics, index):
    return int(metrics.sum(GPU.format("node"), package=uuid(index)) * 10**6)


def process_j(metrics, pid):
    return float(metrics.sum(GPU.format("process"), pid=str(pid)))


def wait_until(exporter, condition, seconds=60):
    """The first page that fulfils the condition; all that come meanwhile sum."""
    deadline = time.monotonic() + seconds
    while True:
        metrics = balanced(exporter.intervals(1))
        if condition(metrics):
            return metrics
        assert time.monotonic() < deadline, metrics.text


def is_up(metrics, index):
    """Not before it was found: a board's first answer may be later than the first page."""
    return [up for _, up in metrics.select("kepler_exporter_source_up", zone="gpu", package=uuid(index))] == [1]


def read_at(metrics):
    """When the board's last reading was made; of several, that of the one that waits longest."""
    ages = [age for _, age in metrics.select("kepler_exporter_source_age_seconds", zone="gpu")]
    return float(metrics.value("kepler_exporter_snapshot_timestamp_seconds") - max(ages))


def settled(gpus, exporter):
    """A page, and what it has of each board's energy: nothing flows meanwhile, and each board was read since the call, because
    one that is read late has energy of before it."""
    began, told = time.time(), None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        told, before = gpus.told_mj(), told
        metrics = balanced(exporter.intervals(3))
        if told == before == gpus.told_mj() and read_at(metrics) > began:
            return metrics, told
    raise AssertionError("energy flows all the time")
