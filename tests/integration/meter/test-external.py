#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files in which another program writes what a meter reads: a plug's counter to the microjoule, a power that varies, and a script
that ends, writes nonsense or comes back. The file is in a directory that Kepler otherwise keeps itself from reading (/root)."""
import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time

from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, balanced, close, load, load_result, rapl_zone, run_tests

OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=off")
NODE = "kepler_node_{}_joules_total"


class Instrument:
    """Writes a counter that follows the power it is set to, ten times a second, as a script would; knows what it has said."""

    def __init__(self, path, form):
        self.path, self.form = path, form
        self.power_w, self.energy_uj, self.stopped = 200.0, 1_000_000, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        at = time.time()
        while not self.stopped:
            time.sleep(0.1)
            now = time.time()
            self.energy_uj += int(self.power_w * (now - at) * 1e6)
            at = now
            self.write(self.form(self, now))

    def write(self, text):
        new = self.path.with_suffix(".new")
        new.write_text(f"kepler-meter 1\n{text}\n")
        os.chmod(new, 0o600)
        new.rename(self.path)

    def __enter__(self):
        self.write(self.form(self, time.time()))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.thread.join()


def counter(instrument, now):
    return f"zone=platform uj={instrument.energy_uj} time={now:.6f} name=plug"


def power(instrument, now):
    return f"zone=platform uw={int(instrument.power_w * 1e6)} time={now:.6f}"


def package_power(instrument, now):
    return f"zone=package-0 uw={int(instrument.power_w * 1e6)} time={now:.6f}"


def private_folder():
    return tempfile.TemporaryDirectory(prefix="kepler-external-", dir=pathlib.Path.home())


def node_uj(metrics):
    return int(metrics.sum(NODE.format("platform"), source="external") * 10**6)


def read_at(metrics):
    """When the plug's last reading was made."""
    return float(metrics.value("kepler_exporter_snapshot_timestamp_seconds") -
                 metrics.value("kepler_exporter_source_age_seconds", zone="platform", source="external"))


def is_up(metrics):
    return metrics.sum("kepler_exporter_source_up", zone="platform", source="external") == 1


def wait_state(exporter, up, seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        metrics = balanced(exporter.intervals(1))
        assert metrics.value("kepler_exporter_source_up", zone="package") == 1, "RAPL is disturbed"
        if is_up(metrics) == up:
            return metrics
        assert time.monotonic() < deadline, metrics.text


def a_counter_is_charged_to_the_microjoule():
    with private_folder() as folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, \
            Instrument(pathlib.Path(folder, "plug"), counter) as plug, \
            Exporter(f"--host.sysfs={sensors.mount}", f"--meter.external={plug.path}", *OPTIONS) as exporter:
        work = load("span", 6)
        for watts in (100, 400, 250):
            plug.power_w = watts
            balanced(exporter.intervals(4))
        load_result(work)
        plug.power_w = 0.0
        metrics = balanced(exporter.intervals(8))
        seen = node_uj(metrics)
        # The first value is the baseline: what the plug counted before Kepler read it is not the node's.
        assert 0 <= plug.energy_uj - 1_000_000 - seen < 600_000_000, (seen, plug.energy_uj)
        paths = {labels["path"] for labels, _ in metrics.select("kepler_zone_info", source="external")}
        assert paths == {"plug"}, paths
        assert metrics.sum("kepler_process_platform_joules_total", pid=str(work.pid)) > 0
        told = plug.energy_uj
        plug.power_w = 300.0
        time.sleep(2)
        plug.power_w = 0.0
        after = balanced(exporter.intervals(8))
        assert node_uj(after) - seen == plug.energy_uj - told, "not to the microjoule"
        assert exporter.stop() == 0


def a_power_is_integrated():
    with private_folder() as folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, \
            Instrument(pathlib.Path(folder, "plug"), power) as plug, \
            Exporter(f"--host.sysfs={sensors.mount}", f"--meter.external={plug.path}", *OPTIONS) as exporter:
        steps = []  # energy, and when it had grown to that
        while len(steps) < 10:
            metrics = balanced(exporter.intervals(1))
            seen = node_uj(metrics)
            if seen and (not steps or seen > steps[-1][0]):
                steps.append((seen, read_at(metrics)))
        close("power", (steps[-1][0] - steps[0][0]) / 1e6 / (steps[-1][1] - steps[0][1]), 200, 10)
        assert exporter.stop() == 0


def a_script_that_fails_costs_its_zone():
    with private_folder() as folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", f"--meter.external={folder}/plug", *OPTIONS) as exporter:
        path = pathlib.Path(folder, "plug")
        with Instrument(path, counter) as plug:
            wait_state(exporter, True, seconds=60)  # found while Kepler runs
        wait_state(exporter, False)  # it has ended: its value is old
        with Instrument(path, counter) as plug:
            plug.energy_uj += 10**12
            metrics = wait_state(exporter, True)
            plug.form = lambda *_: "zone=platform uj=nonsense"
            wait_state(exporter, False)
            plug.form = lambda plug, now: f"zone=platform uw=900000000000 time={now:.6f}"
            held = wait_state(exporter, False)
            assert node_uj(held) - node_uj(metrics) < 20_000 * 10**6, "a spike"
            plug.form = counter
            wait_state(exporter, True)
        assert exporter.stop() == 0


def doctor_says_what_is_wrong():
    with private_folder() as folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors:
        path = pathlib.Path(folder, "plug")
        path.write_text("kepler-meter 1\nzone=platform watts=5\n")
        done = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.state-dir=",
                               f"--host.sysfs={sensors.mount}", f"--meter.external={path}"],
                              capture_output=True, text=True, timeout=60, check=False,
                              env=OTHERS_ENVIRONMENT)
        text = " ".join(done.stdout.split())
        assert 'plug (--meter.external): line 2: "watts=5" is not one of zone=' in text, done.stdout + done.stderr


def ten_minutes_of_varying_load():
    """At night: a counter to the microjoule, and a power that is a mean of each tenth of a second, within 1 %."""
    draw, end = random.Random(1), time.monotonic() + 600
    with private_folder() as folder, Instrument(pathlib.Path(folder, "plug"), counter) as plug, \
            Instrument(pathlib.Path(folder, "board"), package_power) as board, \
            Exporter("--host.sysfs=/nonexistent", *(f"--meter.external={one.path}" for one in (plug, board)), *OPTIONS) as exporter:
        wait_state(exporter, True)
        plug.power_w = board.power_w = 0.0
        began, first = balanced(exporter.intervals(8)), (plug.energy_uj, board.energy_uj)
        while time.monotonic() < end:
            plug.power_w, board.power_w = draw.uniform(50, 900), draw.uniform(20, 400)
            quiet = time.monotonic() + draw.uniform(8, 20)
            while time.monotonic() < quiet:
                balanced(exporter.intervals(1))
        plug.power_w = board.power_w = 0.0
        metrics = balanced(exporter.intervals(8))
        assert node_uj(metrics) - node_uj(began) == plug.energy_uj - first[0], "not to the microjoule"
        name = NODE.format("package")
        counted = float(metrics.sum(name, source="external") - began.sum(name, source="external"))
        close("power", counted, (board.energy_uj - first[1]) / 1e6, 1)


AT_NIGHT = [ten_minutes_of_varying_load] if os.environ.get("KEPLER_LONG_TESTS") else []

run_tests([*AT_NIGHT, a_counter_is_charged_to_the_microjoule, a_power_is_integrated, a_script_that_fails_costs_its_zone,
           doctor_says_what_is_wrong], at_once=4)
