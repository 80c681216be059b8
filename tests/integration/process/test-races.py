#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loop, the server, the meters' readers and the writer of recordings at once, under ThreadSanitizer: no report, and every
response sums (S11).

Four scrapers (text, OpenMetrics, gzip, and one that hangs up), questions of how a number came about, reloads that change schema and
interval, short processes, sensors that stall, vanish and come back, and recordings of which the oldest make room; with all that is
counted at context switches, and of input and output. The build is the test's own, in tsan/ of the build folder.
"""
import glob
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time

from rig import BUILD, ROOT, Exporter, Sensors, load, load_result, need_program, rapl_zone

SECONDS = int(os.environ.get("KEPLER_RACE_SECONDS", "600" if os.environ.get("KEPLER_LONG_TESTS") else "20"))
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
PACKAGE = "class/powercap/intel-rapl:0"
DRAM = f"{PACKAGE}/intel-rapl:0:0"
REPORT_STATUS = 66


def build():
    """`kepler` with ThreadSanitizer, brought up to date."""
    need_program("meson")
    directory = BUILD / "tsan"
    clean = {k: v for k, v in os.environ.items()
             if k not in ("CFLAGS", "LDFLAGS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "MAKEFLAGS", "DESTDIR")}
    commands = [["ninja", "-C", str(directory), "kepler"]]
    if not (directory / "build.ninja").exists():
        commands.insert(0, ["meson", "setup", str(directory), str(ROOT), "-Db_sanitize=thread", "-Dtests=disabled"])
    for command in commands:
        done = subprocess.run(command, env=clean, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return directory / "kepler"


def imbalance_current_uj(metrics):
    """As Metrics.imbalance_uj() for today's Kepler's names, which have dynamic energy and one package here."""
    wrong = {}
    for labels, node in metrics.select("kepler_node_cpu_active_joules_total"):
        zone = labels["zone"]
        unattributed = metrics.sum("kepler_node_unattributed_joules_total", zone=zone, mode="dynamic")
        for level in ("process", "container"):
            error = metrics.sum(f"kepler_{level}_cpu_joules_total", zone=zone) \
                + metrics.sum(f"kepler_{level}_cpu_retired_joules_total", zone=zone) \
                + metrics.sum("kepler_pending_joules", level=level, zone=zone, mode="dynamic") + unattributed - node
            if error:
                wrong[("current", level, zone)] = int(error * 1000000)
    return wrong


class Actors:
    """Functions that run again and again in threads of their own until the time is over."""

    def __init__(self, seconds):
        self.deadline = time.monotonic() + seconds
        self.failures = []
        self.turns = {}
        self.threads = []

    def add(self, name, function, pause=0.0):
        def run():
            while time.monotonic() < self.deadline and not self.failures:
                try:
                    function()
                except Exception as error:  # a thread's failure is the test's
                    self.failures.append(f"{name}: {error!r}")
                self.turns[name] = self.turns.get(name, 0) + 1
                time.sleep(pause)

        self.threads.append(threading.Thread(target=run, name=name))

    def play(self):
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()
        print(", ".join(f"{name} {count}" for name, count in sorted(self.turns.items())))
        assert not self.failures, self.failures


def scraper(exporter, seen, **headers):
    def scrape():
        metrics = exporter.scrape(**headers)
        wrong = metrics.imbalance_uj() | imbalance_current_uj(metrics)
        assert not wrong, wrong
        seen.update(name for name in metrics.types)
    return scrape


def rude_scraper(exporter):
    """Asks, and hangs up at once or in the middle of the answer."""
    host, port = exporter.url.removeprefix("http://").rsplit(":", 1)
    rng = random.Random(1)

    def scrape():
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * rng.randrange(1, 4))
            connection.recv(rng.choice((1, 4096, 1 << 20)))
    return scrape


def reloader(exporter, path):
    number = 0

    def reload():
        nonlocal number
        schema = ("classic", "current", "both")[number % 3]
        share = ("node", "usage", "equal", "size")[number % 4]
        path.write_text("nonsense: [\n" if number % 7 == 6 else
                        f"monitor: {{interval: {(100, 150)[number % 2]}ms}}\n"
                        f"metrics: {{schema: {schema}, settle: {number % 2}s, keep: {1 + number % 3}s, max-series: 1000, "
                        f"process: {{min-joules: 0.2}}}}\n"
                        f"idle: {{mode: fixed, watts: [package=10], share: {share}}}\n"
                        f"log: {{format: {('text', 'json')[number % 2]}}}\n")
        exporter.process.send_signal(signal.SIGHUP)
        number += 1
    return reload


def breaker(sensors):
    """One fault after another; all is well again at the end of a turn."""
    rng = random.Random(2)
    faults = ((f"{PACKAGE}/energy_uj stall 400", f"{PACKAGE}/energy_uj stall 0"),
              (f"{DRAM} rename gone", f"gone rename {DRAM}"),
              (f"{PACKAGE}/energy_uj errno 5", f"{PACKAGE}/energy_uj errno 0"),
              (f"{PACKAGE} rename class/powercap/intel-rapl:9", f"class/powercap/intel-rapl:9 rename {PACKAGE}"),
              (f"{DRAM}/energy_uj mask garbage", f"{DRAM}/energy_uj unmask"))

    def fault():
        begin, end = rng.choice(faults)
        sensors.control(begin)
        time.sleep(rng.uniform(0.05, 0.6))
        sensors.control(end)
    return fault


def asker(exporter):
    """How did the numbers of this process come about? An answer takes an interval, so most are that it is on its way."""
    def ask():
        status = exporter.get(f"/explain/{os.getpid()}")[0]
        assert status in (200, 202, 404, 429, 503), status
    return ask


def reports(directory):
    return [pathlib.Path(path).read_text() for path in sorted(glob.glob(f"{directory}/tsan.*"))]


def play(binary, directory, sensors):
    config = pathlib.Path(directory, "kepler.yaml")
    config.write_text("monitor: {interval: 100ms}\n")
    recordings = pathlib.Path(directory, "recordings")
    recordings.mkdir()
    more = (f"--record.dir={recordings}", "--record.max-size=64KiB", "--counters.switches=true", "--counters.cycles=cpu-clock",
            "--bpf.io=on", "--monitor.resident-every=1s")
    options = f"halt_on_error=0 exitcode={REPORT_STATUS} log_path={directory}/tsan second_deadlock_stack=1"
    # Without randomisation of addresses TSan's shadow fits on every kernel.
    with Exporter(f"--config.file={config}", f"--host.sysfs={sensors.mount}", f"--host.state-dir={directory}", *more,
                  binary=binary, env={"TSAN_OPTIONS": options}, prefix=["setarch", "-R"]) as exporter:
        names = set()
        actors = Actors(SECONDS)
        actors.add("text", scraper(exporter, names))
        actors.add("openmetrics", scraper(exporter, names, Accept=OPENMETRICS))
        actors.add("gzip", scraper(exporter, names, **{"Accept-Encoding": "gzip"}))
        actors.add("page", lambda: (exporter.get("/"), exporter.get("/readyz"), exporter.get("/healthz")), 0.1)
        actors.add("explain", asker(exporter), 0.05)
        actors.add("rude", rude_scraper(exporter), 0.02)
        actors.add("reload", reloader(exporter, config), 0.25)
        actors.add("sensors", breaker(sensors), 0.1)
        storm = load("storm", 100, 2, SECONDS)
        actors.play()
        load_result(storm)
        assert {"kepler_process_package_joules_total", "kepler_process_cpu_joules_total"} <= names, names
        reloads = exporter.scrape().sum("kepler_exporter_config_reloads_total")
        assert list(recordings.iterdir()), "nothing was recorded"
        assert reloads >= 6, f"{reloads} reloads: too few to race with each schema twice"
        status = exporter.stop()
        found = reports(directory)
        assert not found and status == 0, f"status {status}\n" + "\n".join(found)[:8000]


def main():
    binary = build()
    assert b"__tsan_init" in binary.read_bytes()
    lines = rapl_zone("intel-rapl:0", "package-0", 45) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")
    with tempfile.TemporaryDirectory(prefix="kepler-races-") as directory, Sensors(lines) as sensors:
        play(binary, directory, sensors)
    print(f"{SECONDS} s, no report")


main()
