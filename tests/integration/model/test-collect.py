#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model collect and extract: what a real Prometheus has stored of an exporter becomes rows with all of the sensors' energy.

The sensors' power is 0 at first and at the end, so that the rows and the sensors are of the same energy.
"""
import contextlib
import csv
import http.server
import io
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from decimal import Decimal

from prometheus_rig import Prometheus
from record_file import Writer
from rig import BUILD, Exporter, Sensors, free_port, load, load_result, rapl_zone, run_tests

PROGRAM = BUILD / "kepler-model"
WATTS = {"class/powercap/intel-rapl:0/energy_uj": 40, "class/powercap/intel-rapl:1/energy_uj": 31,
         "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj": 6}
EVERY_S = 1


def program(*args, status=0):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == status, (args, done.returncode, done.stderr[-2000:])
    return done


def wait_for(condition, what, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def rows_of(path, *options):
    return list(csv.DictReader(io.StringIO(program("extract", path, *options).stdout)))


def energy_j(rows, column):
    """Of rows that are one step apart, or more where the exporter restarted."""
    return sum(float(row[column]) * EVERY_S for row in rows if row[column])


def is_stored(prometheus, exporter, name):
    shown, stored = exporter.scrape().sum(name), prometheus.query(f"sum({name})")
    return stored and abs(stored[0][1][0] - shown) < Decimal("0.000001")


@contextlib.contextmanager
def scraped(schema):
    """An exporter over sensors, and a Prometheus that has scraped it from before the first joule to behind the last."""
    lines = rapl_zone("intel-rapl:0", "package-0", 0) + rapl_zone("intel-rapl:1", "package-1", 0) + \
        rapl_zone("intel-rapl:0:0", "dram", 0, parent="intel-rapl:0")
    with Sensors(lines) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=200ms", "--metrics.settle=0s",
                     f"--metrics.schema={schema}", "--metrics.process.min-joules=0") as exporter, \
            Prometheus(exporter.url.removeprefix("http://"), EVERY_S) as prometheus:
        wait_for(lambda: len(prometheus.query("count_over_time(up[1m]) > 2")) == 1, "Prometheus does not scrape")
        began, before = time.time() - 2 * EVERY_S, sensors.truth_uj()
        for path, watts in WATTS.items():
            sensors.control(f"{path} power {watts * 1000000}")
        load_result(load("span", 5))
        for path in WATTS:
            sensors.control(f"{path} power 0")
        after = sensors.truth_uj()
        exporter.intervals(2)
        name = "kepler_node_package_joules_total" if schema == "classic" else "kepler_node_cpu_joules_total"
        wait_for(lambda: is_stored(prometheus, exporter, name), "Prometheus does not have the last joules")
        time.sleep(2 * EVERY_S)
        yield prometheus, began, time.time(), {path: (after[path] - before[path]) / 1e6 for path in WATTS}


def collect(prometheus, path, began, ended, *options, port=None):
    return program("collect", path, f"--server=http://127.0.0.1:{port or prometheus.port}", f"--start-time={began:.3f}",
                   f"--end-time={ended:.3f}", f"--step={EVERY_S}", *options)


def energy_is_the_sensors():
    for schema in ("classic", "current"):
        with scraped(schema) as (prometheus, began, ended, truth), tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "series.json")
            print(collect(prometheus, path, began, ended).stderr.strip())
            assert sorted(os.listdir(folder)) == ["series.json"]
            rows = rows_of(path)
            package = truth["class/powercap/intel-rapl:0/energy_uj"] + truth["class/powercap/intel-rapl:1/energy_uj"]
            dram = truth["class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"]
            got = energy_j(rows, "package_power"), energy_j(rows, "dram_power")
            print(f"{schema}: {len(rows)} rows, package {got[0]:.6f} J of {package:.6f} J, dram {got[1]:.6f} J of {dram:.6f} J")
            assert abs(got[0] - package) < 1e-5 and abs(got[1] - dram) < 1e-5, (got, package, dram)
            assert max(float(row["bpf_cpu_time_ms"]) for row in rows) > 100, rows
            if schema == "classic":
                owners = rows_of(path, "--output-type=DynPower")
                assert len(owners) > len(rows) and any(row["owner"] for row in owners)


class Gate:
    """Between a client and Prometheus: it stops answering when `passed` queries of points have passed."""

    def __init__(self, port, passed):
        self.port, self.left, self.reached = free_port(), passed, threading.Event()
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if "query_range" in self.path and gate.left is not None:
                    if gate.left == 0:
                        gate.reached.set()
                        time.sleep(60)
                        return
                    gate.left -= 1
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{self.path}", timeout=20) as answer:
                    body = answer.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def killed_run_is_continued():
    with scraped("classic") as (prometheus, began, ended, _), tempfile.TemporaryDirectory() as folder:
        whole, parts = pathlib.Path(folder, "whole.json"), pathlib.Path(folder, "parts.json")
        gate = Gate(prometheus.port, 7)
        with subprocess.Popen([PROGRAM, "collect", parts, f"--server=http://127.0.0.1:{gate.port}", f"--start-time={began:.3f}",
                               f"--end-time={ended:.3f}", f"--step={EVERY_S}"], stderr=subprocess.PIPE) as process:
            assert gate.reached.wait(30)
            process.send_signal(signal.SIGKILL)
        assert sorted(os.listdir(folder)) == ["parts.json.part", "parts.json.progress"], os.listdir(folder)
        with open(f"{parts}.part", "a") as file:
            file.write('{"half a chunk')
        gate.left = None
        # Without times: the continued run has them.
        done = program("collect", parts, f"--server=http://127.0.0.1:{gate.port}")
        assert "since it was continued" in done.stderr, done.stderr
        collect(prometheus, whole, began, ended)
        assert json.loads(whole.read_text()) == json.loads(parts.read_text())
        refused = program("collect", whole, f"--server=http://127.0.0.1:{gate.port}", status=1)
        assert "already exists" in refused.stderr, refused.stderr
        gate.server.shutdown()


def times_come_from_a_log():
    with scraped("classic") as (prometheus, began, ended, truth), tempfile.TemporaryDirectory() as folder:
        log, path = pathlib.Path(folder, "log.json"), pathlib.Path(folder, "series.json")
        stamp = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)) for when in (began, ended)]
        log.write_text(json.dumps({"startTimeUTC": stamp[0], "endTimeUTC": stamp[1], "steps": []}))
        program("collect", "-i", log, "-o", path, "--no-such-thing", status=2)
        program("collect", "--data-path", folder, "-i", log.name, "-o", path.name, "-s", f"http://127.0.0.1:{prometheus.port}",
                "--step", "1")
        lacks = program("extract", path, "-fg", "AcceleratorOnly", status=1)
        assert "no feature accelerator_intel_qat" in lacks.stderr, lacks.stderr
        got = energy_j(rows_of(path), "dram_power")
        assert abs(got - truth["class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"]) < 1e-5, got
        nothing = program("collect", pathlib.Path(folder, "none.json"), f"--server=http://127.0.0.1:{prometheus.port}",
                          "--end-time=2001-01-01T00:00:00Z", status=1)
        assert "does it scrape Kepler?" in nothing.stderr, nothing.stderr


def recording_has_the_same():
    lines = rapl_zone("intel-rapl:0", "package-0", 0) + rapl_zone("intel-rapl:1", "package-1", 0) + \
        rapl_zone("intel-rapl:0:0", "dram", 0, parent="intel-rapl:0")
    with Sensors(lines) as sensors, tempfile.TemporaryDirectory() as folder:
        with Exporter(f"--host.sysfs={sensors.mount}", f"--record.dir={folder}", "--monitor.interval=200ms",
                      "--metrics.settle=0s") as exporter:
            exporter.intervals(2)
            before = sensors.truth_uj()
            for path, watts in WATTS.items():
                sensors.control(f"{path} power {watts * 1000000}")
            load_result(load("span", 3))
            for path in WATTS:
                sensors.control(f"{path} power 0")
            after = sensors.truth_uj()
            exporter.intervals(5)
            assert exporter.stop() == 0
        truth = {path: (after[path] - before[path]) / 1e6 for path in WATTS}
        recording = next(pathlib.Path(folder).glob("*.krec"))
        for level in ("container", "node"):
            done = program("extract", recording, f"--level={level}")
            print(done.stderr.strip())
            energy = {name: float(joules) for name, joules in re.findall(r"(\w+) [\d.]+ to [\d.]+ W, ([\d.]+) J", done.stderr)}
            package = truth["class/powercap/intel-rapl:0/energy_uj"] + truth["class/powercap/intel-rapl:1/energy_uj"]
            assert abs(energy["package"] - package) < 1e-3, (energy, truth)
            assert abs(energy["dram"] - truth["class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"]) < 1e-3, (energy, truth)
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            middle = statistics.median(float(row["package_power"]) for row in rows)
            assert abs(middle / 71 - 1) < 0.01, rows
            assert len(rows) > 12 and max(float(row["bpf_cpu_time_ms"]) for row in rows) > 100, rows
        owners = rows_of(recording, "--output-type=DynPower")
        assert any(row["owner"] for row in owners) and len(owners) > len(rows)
        refused = program("extract", recording, "--level=vm", status=1)
        assert "levels container and node" in refused.stderr, refused.stderr


def recording_has_stolen_time():
    """Of a guest that waits 0.3 s a second from its sixth second on, on one of its CPUs, and does not say so before."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "guest.krec")
        with Writer(path) as out:
            platform = out.zone("platform", source="platform_power_model", flags=3)
            web = out.owner("web")
            nginx = out.process(100, 10**9, "nginx", web)
            out.interval(10 * 10**9, zones={platform: None})
            for second in range(11, 31):
                out.interval(second * 10**9, zones={platform: 9 * 10**6}, parties=[(nginx, 800_000_000)], utilisation=0.5,
                             steal=(300_000_000, 100_000_000) if second > 15 else None)
        for options in (("--level=container",), ("--level=node",), ("--output-type=DynPower",)):
            rows = rows_of(path, "--energy-source=platform_power_model", *options)
            assert [row["cpu_steal_seconds"] for row in rows[:5]] == [""] * 5 and len(rows) == 20, rows
            assert all(abs(float(row["cpu_steal_seconds"]) - 0.3) < 1e-9 for row in rows[5:]), rows
            assert all(abs(float(row["bpf_cpu_time_ms"]) - 800) < 1e-6 for row in rows), rows


run_tests([recording_has_the_same, recording_has_stolen_time, energy_is_the_sensors, killed_run_is_continued,
           times_come_from_a_log], at_once=2)
