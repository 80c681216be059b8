#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R27: under everything that comes and goes on a node, memory, descriptors and threads stay what they were once warm.

Processes and services are born and end, meters fail and return, scrapers of each format come and hang up, reloads change the
schema. 20 s here, after 10 s to warm up; with KEPLER_LONG_TESTS half an hour after five minutes, with KEPLER_SOAK_SECONDS as long
as that says.
Memory is the release binary's.
"""
import os
import pathlib
import re
import signal
import socket
import tempfile
import time

from rig import Exporter, Sensors, Service, balanced, rapl_zone, release_binary, run_tests

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
SECONDS = int(os.environ.get("KEPLER_SOAK_SECONDS", "1800" if LONG else "20"))
WARM_SECONDS = max(10, min(300, SECONDS // 6))
GROWTH_MB = 1
PACKAGE = "class/powercap/intel-rapl:0"
DRAM = f"{PACKAGE}/intel-rapl:0:0"
ZONES = rapl_zone("intel-rapl:0", "package-0", 45) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")
CONFIG = "monitor:\n  interval: 200ms\nmetrics:\n  settle: 0s\n  keep: 2s\n  schema: {}\n"


def held(pid):
    """(resident MB, descriptors, threads) of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return (int(re.search(r"^VmRSS:\s+(\d+)", status, re.M)[1]) / 1024, len(os.listdir(f"/proc/{pid}/fd")),
            int(re.search(r"^Threads:\s+(\d+)", status, re.M)[1]))


def hang_up(exporter):
    """A scraper that asks and goes."""
    host, port = exporter.url.split("//")[1].split(":")
    with socket.create_connection((host, int(port)), timeout=5) as peer:
        peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")


class Churn:
    """One turn of everything, about a second long, with work of a new service in it."""

    def __init__(self, exporter, sensors, config):
        self.exporter, self.sensors, self.config, self.turns = exporter, sensors, config, 0
        self.threads = 0  # the most that a turn has ended with: those of pools come and go

    def turn(self):
        self.turns += 1
        with Service(f"kepler-soak-{self.turns}.service") as service:
            work = service.load("storm", 50, 1, 1)
            self.sensors.control(f"{DRAM}/energy_uj errno {5 if self.turns % 3 else 0}")
            if self.turns % 10 == 0:
                self.config.write_text(CONFIG.format("both" if self.turns % 20 else "classic"))
                self.exporter.process.send_signal(signal.SIGHUP)
            hang_up(self.exporter)
            for headers in ({}, {"Accept-Encoding": "gzip"}, {"Accept": "application/openmetrics-text"}):
                status, _, _ = self.exporter.get(headers=headers)
                assert status == 200, status
            balanced(self.exporter.scrape())
            work.wait()
        self.threads = max(self.threads, held(self.exporter.process.pid)[2])

    def go_on(self, seconds):
        """The most threads of that time; at least a reload is in it, which is read on one of its own."""
        deadline, least, self.threads = time.monotonic() + seconds, self.turns + 10, 0
        while time.monotonic() < deadline or self.turns < least:
            self.turn()
        return self.threads


def grown(before, after, warm, most):
    """What a time has left more of, or None."""
    if after[0] - before[0] >= GROWTH_MB:
        return "memory grows"
    if after[1] > before[1] + 2:  # those of scrapers that have just gone
        return "descriptors grow"
    return "threads grow" if most > warm else None


def nothing_grows():
    with tempfile.TemporaryDirectory() as folder, Sensors(ZONES) as sensors:
        config = pathlib.Path(folder, "kepler.yaml")
        config.write_text(CONFIG.format("both"))
        with Exporter(f"--host.sysfs={sensors.mount}", f"--config.file={config}", binary=release_binary()) as exporter:
            pid = exporter.process.pid
            churn = Churn(exporter, sensors, config)
            warm = churn.go_on(WARM_SECONDS)
            for _ in range(3):  # tables follow what else the machine runs, once; a leak grows each time
                before = held(pid)
                most = churn.go_on(SECONDS)
                after = held(pid)
                print(f"  {churn.turns} turns: {before[0]:.1f} MB, {before[1]} descriptors, {warm} threads; "
                      f"then {after[0]:.1f} MB, {after[1]}, {most}")
                grows = grown(before, after, warm, most)
                if not grows:
                    break
                warm = max(warm, most)
            assert not grows, grows
            assert exporter.stop() == 0


run_tests([nothing_grows])
