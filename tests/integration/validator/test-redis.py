#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scenario redis with the real redis-server, the real exporter, and a package whose power follows what runs.

Its table is in the report, and nothing of it is left on the machine. Other work on this machine may make the result inconclusive.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from rig import BUILD, Exporter, Sensors, rapl_zone

VALIDATOR = BUILD / "kepler-validator"


def run(sensors, exporter, folder):
    done = subprocess.run([VALIDATOR, "run", "--scenario=redis", "--duration=21s", "--step=250ms", f"--host.sysfs={sensors.mount}",
                           f"--exporter={exporter.url}/metrics", f"--output={folder}"], text=True, capture_output=True, check=False,
                          timeout=200)
    print(done.stdout, done.stderr)
    assert done.returncode in (0, 1, 3), done.returncode
    return done.stdout


def requests(output):
    return {name: int(count) for name, count in re.findall(r"^Load in (.*): (\d+) requests, ", output, re.MULTILINE)}


def table(folder):
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    print(pathlib.Path(folder, "report.md").read_text())
    results = {result["name"]: result for result in report["results"]}
    return results["replicas/package"]


def main():
    if not shutil.which("redis-server"):
        print("redis-server is not installed")
        sys.exit(77)
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
            tempfile.TemporaryDirectory() as folder:
        exporter.intervals(2)
        output = run(sensors, exporter, folder)
        assert {"1 replica", "2 replicas", "3 replicas", "2 replicas again", "1 replica again"} <= requests(output).keys(), output
        result = table(folder)
        assert "Not all phases" not in result["reason"], result
        if "no series of the load's container" not in result["reason"]:
            rows = result["table"]["rows"]
            assert [row["name"] for row in rows] == ["0", "1", "2", "3"], rows
            assert len(result["table"]["columns"]) == 8, result["table"]
            powers = [row["cells"][2] for row in rows]
            assert powers == sorted(powers) or result["verdict"] == "inconclusive", powers
        assert exporter.stop() == 0
    assert not list(pathlib.Path("/tmp").glob("kepler-validator-redis-*"))


main()
