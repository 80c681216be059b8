#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scenario inference with the real exporter, and a package whose power follows what runs.

Frames are counted, and the report has the energy of a frame for each stage. Other work may make the result inconclusive.
"""
import json
import pathlib
import re
import subprocess
import tempfile

from rig import BUILD, Exporter, Sensors, rapl_zone

VALIDATOR = BUILD / "kepler-validator"
STAGES = ["kv-decode", "kv-infer", "kv-classify", "all"]

with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
        Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
        tempfile.TemporaryDirectory() as folder:
    exporter.intervals(2)
    done = subprocess.run([VALIDATOR, "run", "--scenario=inference", "--duration=18s", "--step=250ms",
                           f"--host.sysfs={sensors.mount}", f"--exporter={exporter.url}/metrics", f"--output={folder}"],
                          text=True, capture_output=True, check=False, timeout=200)
    print(done.stdout, done.stderr)
    assert done.returncode in (0, 1, 3), done.returncode
    frames = int(re.search(r"^Load in inference: (\d+) frames, ", done.stdout, re.MULTILINE)[1])
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    result = {result["name"]: result for result in report["results"]}["process/package/inference"]
    print(result)
    rows = result["table"]["rows"]
    assert [row["name"] for row in rows] == STAGES, rows
    charged = [row["cells"][2] for row in rows]
    assert abs(sum(charged[:3]) - charged[3]) < 1e-9 * charged[3], rows
    assert charged[1] == max(charged[:3]), rows  # the network takes the most
    assert frames > 0
    if result["verdict"] == "pass":
        assert abs(rows[3]["cells"][4] - 1) < 0.15, rows
    assert "machine J/frame" in pathlib.Path(folder, "report.md").read_text()
    assert exporter.stop() == 0
