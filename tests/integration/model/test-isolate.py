#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model isolate on series of a machine with known physics: 30 W idle, 0.02 W for each ms of CPU time in a second.

A daemon works all the time, also while the machine is "idle"; a load comes and goes. Each isolator is judged by what it finds.
"""
import csv
import io
import json
import pathlib
import subprocess
import tempfile

from rig import BUILD

PROGRAM = BUILD / "kepler-model"
IDLE_W, W_BY_MS, STEP_S = 30, 0.02, 5
DAEMON_MS = 200  # in a second


def program(*args, status=0):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == status, (args, done.returncode, done.stderr[-2000:])
    return done


def rows_of(*args):
    return [{name: float(cell) for name, cell in row.items() if cell}
            for row in csv.DictReader(io.StringIO(program("isolate", *args).stdout))]


def watts(cpu_ms):
    return IDLE_W + W_BY_MS * cpu_ms


def series(folder, name, loads, daemon_ms=DAEMON_MS):
    """The file of a collection: in each step the load has this CPU time, in ms by the second."""
    def points(rates):
        total, out = 0, [[1000, "0"]]
        for step, rate in enumerate(rates, 1):
            total += rate * STEP_S
            out.append([1000 + step * STEP_S, f"{total:.6f}"])
        return out

    def cpu(owner, rates):
        return {"metric": {"__name__": "kepler_container_bpf_cpu_time_ms_total", "container_id": owner, "container_name": owner,
                           "instance": "n"}, "values": points(rates)}

    power = {"metric": {"__name__": "kepler_node_package_joules_total", "source": "rapl-sysfs", "package": "0", "mode": "dynamic",
                        "instance": "n"}, "values": points([watts(load + daemon_ms) for load in loads])}
    path = pathlib.Path(folder, name)
    owners = [cpu("daemon", [daemon_ms] * len(loads))] + ([cpu("load", loads)] if any(loads) else [])
    path.write_text(json.dumps({
        "kepler_container_bpf_cpu_time_ms_total": owners,
        "kepler_node_package_joules_total": [power]}))
    return path


def model(folder, output="AbsPower"):
    path = pathlib.Path(folder, f"{output}.json")
    path.write_text(json.dumps({
        "format": "kepler-model", "version": 1, "name": "known", "output": output, "source": "rapl-sysfs",
        "components": [{"name": "package", "features": [{"name": "bpf_cpu_time_ms", "scale": 1}],
                        "predictor": {"form": "linear", "weights": [IDLE_W, W_BY_MS]}}]}))
    return path


def close(rows, want, what):
    got = [row["package_power"] for row in rows]
    assert len(got) == len(want) and all(abs(a - b) < 1e-6 for a, b in zip(got, want)), (what, got, want)


def main():
    loads = [0, 100, 300, 500, 1000, 1500, 400, 200]
    with tempfile.TemporaryDirectory() as folder:
        busy, idle = series(folder, "busy.json", loads), series(folder, "idle.json", [0] * 6)
        quiet = series(folder, "quiet.json", loads, daemon_ms=0)
        with_idle = series(folder, "with-idle.json", [0] * 6 + loads, daemon_ms=0)
        whole = [watts(load + DAEMON_MS) for load in loads]

        close(rows_of(busy, "--isolator=none"), whole, "none")
        close(rows_of(busy), [power - min(whole) for power in whole], "min")
        # No row is idle, but power is a line: its value at no load is found behind the daemon's.
        close(rows_of(busy, "--isolator=idle"), [W_BY_MS * (load + DAEMON_MS) for load in loads], "line")
        close(rows_of(with_idle, "--isolator=idle"), [W_BY_MS * load for load in [0] * 6 + loads], "idle rows")
        # Processes that ran in the idle time are background: their power and CPU time are subtracted.
        rows = rows_of(busy, "--isolator=profile", f"--profile={idle}")
        close(rows, [W_BY_MS * load for load in loads], "profile")
        assert [row["bpf_cpu_time_ms"] for row in rows] == loads and "background_bpf_cpu_time_ms" not in rows[0], rows
        for background in (["--profile", idle], ["--bg-hints=daemon"], ["--target-hints=load"]):
            rows = rows_of(busy, "--isolator=trainer", f"--abs-model={model(folder)}", *background)
            close(rows, [W_BY_MS * load for load in loads], background)
            assert [row["bpf_cpu_time_ms"] for row in rows] == loads, rows

        rows = pathlib.Path(folder, "rows.csv")
        program("extract", quiet, "-o", rows)
        close(rows_of(rows), [W_BY_MS * load for load in loads], "rows")
        for args, why in (((rows, "--isolator=profile", f"--profile={idle}"), "needs the series"),
                          ((busy, "--isolator=trainer", f"--abs-model={model(folder, 'DynPower')}", "--bg-hints=x"), "AbsPower"),
                          ((busy, "--isolator=trainer", f"--abs-model={rows}", "--bg-hints=x"), "rows.csv"),
                          ((pathlib.Path(folder, "none"),), "cannot be read")):
            done = program("isolate", *args, status=1)
            assert why in done.stderr, (args, done.stderr)
        for args in (("isolate", busy, "--isolator=profile"), ("isolate", busy, "--isolator=trainer", "--profile=x"), ("isolate",)):
            program(*args, status=2)
    print("none, min, idle, profile and trainer find what they have to")


main()
