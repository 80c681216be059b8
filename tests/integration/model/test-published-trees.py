#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trees that upstream has published, with the scale of the weights beside them, on the rows that they were trained on.

On rows of which nine in ten are training rows, trees that see features by the right scale are a few watts off; else a hundred.
"""
import csv
import json
import os
import pathlib
import socket
import tempfile

from model_rig import Program
from rig import ROOT, run_tests, skip

MACHINE = {"processor": "intel_xeon_platinum_8259cl", "cores": 96, "chips": 2, "memory": 377, "frequency": 3500}


def published_trees():
    shared = pathlib.Path(os.environ.get("KEPLER_SHARED", ROOT.parent / "shared"), "data")
    rows_file = shared / "ec2/ec2_m5.metal_CounterOnly_package.csv"
    if not rows_file.exists():
        skip(f"{rows_file} is not there: published models and their rows")
    rows = list(csv.DictReader(rows_file.open()))
    names = [name for name in rows[0] if name != "package_power"]
    request = {"metrics": names, "values": [[float(row[name]) for name in names] for row in rows], "output_type": "AbsPower",
               "source": "rapl-sysfs", "trainer_name": "XgboostFitTrainer"}
    with tempfile.TemporaryDirectory() as directory:
        path, spec = pathlib.Path(directory, "socket"), pathlib.Path(directory, "spec.json")
        spec.write_text(json.dumps(MACHINE))
        with Program("estimate", shared / "models/ec2-0.7.11", f"--socket={path}", f"--machine-spec={spec}"), \
                socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(path))
            peer.sendall(json.dumps(request).encode())
            data = b""
            while not data.endswith(b"\n"):
                data += peer.recv(65536)
    answer = json.loads(data)
    assert answer["model"] == "XgboostFitTrainer_0" and answer["core_ratio"] == 1, answer
    errors = [abs(watts - float(row["package_power"])) for watts, row in zip(answer["powers"]["package"], rows)]
    error = sum(errors) / len(errors)
    print(f"mean absolute error {error:.2f} W over {len(rows)} rows")
    assert error < 3, error


run_tests([published_trees])
