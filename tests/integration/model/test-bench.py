#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model bench: one command makes models of a machine whose sensors follow its load, and Kepler estimates with them.

With KEPLER_LONG_TESTS=1 also from a Prometheus, and from recordings.
"""
import contextlib
import csv
import fcntl
import http.server
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

from certificates import Authority
from prometheus_rig import Prometheus
from rig import BUILD, Exporter, Sensors, free_port, need_program, rapl_zone, run_tests

PROGRAM = BUILD / "kepler-model"
IDLE_W, BUSY_W = 20, 30  # of the package: always, and for each CPU that is busy
FILES = ["AbsPower.held-out.csv", "AbsPower.html", "AbsPower.json", "AbsPower.txt", "DynPower.held-out.csv",
         "DynPower.html", "DynPower.json", "DynPower.txt", "dynamic.csv", "rows.csv", "series.json", "stress.json",
         "summary.txt"]
PLAN = ["--load=cpu", "--load=matrix", "--instances=1,2", "--load-time=3s", "--pause=1s", "--idle=4s", "--step=1s",
        "--frequencies=current", "--trainers=LinearRegressionTrainer,Ridge,PolynomialRegressionTrainer",
        "--folds=5"]
SENSORS = rapl_zone("intel-rapl:0", "package-0", IDLE_W, busy_watts=BUSY_W) + \
    rapl_zone("intel-rapl:0:0", "dram", 4, parent="intel-rapl:0", busy_watts=3)


def truth_w(busy):
    """Of the package, with that many CPUs busy."""
    return IDLE_W + BUSY_W * busy


def bench(folder, *args, status=0, seconds=120):
    done = subprocess.run([PROGRAM, "bench", folder, *map(str, args)], capture_output=True, text=True, check=False,
                          timeout=seconds)
    assert done.returncode == status, (args, done.returncode, done.stdout[-1000:], done.stderr[-3000:])
    return done


@contextlib.contextmanager
def metered(*options):
    with Sensors(SENSORS) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=500ms", "--metrics.settle=0s",
                     "--metrics.process.min-joules=0", *options) as exporter:
        yield exporter


TOKEN = "a-token-of-the-exporter"


@contextlib.contextmanager
def guarded(folder, exporter):
    """As the proxy with TLS and a token that the documents advise: its URL, and the options of a client of it."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            allowed = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            body = urllib.request.urlopen(exporter.url + self.path, timeout=30).read() if allowed else b"no"
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    authority = Authority(folder)
    token = pathlib.Path(folder, "token")
    token.touch(mode=0o600)
    token.write_text(TOKEN + "\n")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = authority.server_context().wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}", f"--ca-file={authority.file}", f"--token-file={token}"
        server.shutdown()


def check_models(folder):
    """Both are judged by rows they had not seen, the report says so, and `validate` reads them."""
    rows = list(csv.DictReader(pathlib.Path(folder, "rows.csv").open()))
    off = [float(row["package_power"]) - truth_w(float(row["bpf_cpu_time_ms"]) / 1000) for row in rows]
    print(f"{len(rows)} rows, {statistics.mean(map(abs, off)):.2f} W from what CPU time says")
    assert len(rows) > 12 and statistics.mean(map(abs, off)) < 5, off
    steps = json.loads(pathlib.Path(folder, "stress.json").read_text())["steps"]
    assert [(step["load"], step["instances"], step["failed"]) for step in steps] == [
        ("idle", 0, 0), ("cpu", 1, 0), ("matrix", 1, 0), ("cpu", 2, 0), ("matrix", 2, 0)], steps
    for kind in ("AbsPower", "DynPower"):
        model = json.loads(pathlib.Path(folder, f"{kind}.json").read_text())
        assert model["output"] == kind and model["machine"]["cores"] == os.cpu_count(), model["machine"]
        errors = {part["name"]: part["error"] for part in model["components"]}
        assert set(errors) == {"package", "dram"} and all(error["blocked"] for error in errors.values()), errors
        table = "rows.csv" if kind == "AbsPower" else "dynamic.csv"
        report = subprocess.run([PROGRAM, "validate", f"{folder}/{kind}.json", f"{folder}/{table}", "--format=json"],
                                capture_output=True, text=True, check=True).stdout
        for result in json.loads(report)["results"]:
            # On rows that it has learned from it is no worse than twice the error that it states of others.
            assert result["mae_w"] <= 2 * errors[result["component"]]["mae_w"] + 0.5 < 8, (result, errors)
        assert "<svg" in pathlib.Path(folder, f"{kind}.html").read_text()
    summary = pathlib.Path(folder, "summary.txt").read_text()
    assert len(re.findall("held-out rows, in blocks of time", summary)) == 4, summary
    watts = [float(row["package_power"]) for row in rows]
    assert ("AbsPower.json: package: the loads changed its power by less" in summary) == (
        max(watts) - min(watts) < 0.1 * max(watts)), (watts, summary)
    print(summary, end="")


def estimates(folder):
    """Kepler on a machine without a meter, with that model."""
    with Sensors([]) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--model.machine=vm=false", "--monitor.interval=500ms", "--metrics.settle=0s",
                     f"--model.file={folder}/AbsPower.json") as exporter:
        metrics = exporter.intervals(3)
        watts = float(metrics.sum("kepler_node_package_watts", source="trained_power_model"))
        truth = truth_w(float(metrics.value("kepler_node_cpu_usage_ratio")) * os.cpu_count())
        print(f"estimated: package {watts:.1f} W, by the sensors' law {truth:.1f} W")
        assert metrics.select("kepler_node_model_info", zone="package") and abs(watts - truth) < 12, (watts, truth)
        assert exporter.stop() == 0


def without_a_prometheus():
    need_program("stress-ng")
    with tempfile.TemporaryDirectory() as folder:
        with metered() as exporter:
            args = [f"--exporter={exporter.url}/metrics", *PLAN]
            plan = bench(folder, *args, "--dry-run").stdout
            assert "4 steps on" in plan and "take 0:00:20" in plan and os.listdir(folder) == [], plan
            done = bench(folder, *args)
        # 500 ms of the exporter are two in each step; at 1 s some steps would have the energy of two, others none.
        with metered("--monitor.interval=1s") as slow, tempfile.TemporaryDirectory() as other:
            said = bench(other, f"--exporter={slow.url}/metrics", *PLAN, status=1).stderr
            assert "step: 1 s is shorter than two of the exporter's intervals of 1 s; use --step=2s or longer" in said, said
            assert not os.path.exists(f"{other}/stress.json")
        assert sorted(os.listdir(folder)) == FILES, os.listdir(folder)
        assert "AbsPower.json: package: mean error" in done.stdout, done.stdout
        check_models(folder)
        # All is done: the same command only says so, and --from makes a phase and those after it again.
        when = {name: os.stat(f"{folder}/{name}").st_mtime_ns for name in FILES}
        assert "of 6" not in bench(folder, *args).stderr
        done = bench(folder, *args, "--from=isolate")
        assert re.findall(r"of 6: (\w+)", done.stderr) == ["isolate", "train", "report"], done.stderr
        changed = {name for name in FILES if os.stat(f"{folder}/{name}").st_mtime_ns != when[name]}
        assert changed == set(FILES) - {"series.json", "stress.json", "rows.csv"}, changed
        estimates(folder)


def stopped_run_is_continued():
    need_program("stress-ng")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as secrets, metered() as exporter, \
            guarded(secrets, exporter) as (url, ca, token):
        args = [f"--exporter={url}", ca, token, *PLAN]
        with subprocess.Popen([PROGRAM, "bench", folder, *args, "--pause=0s"], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            log = pathlib.Path(folder, "stress.json")
            deadline = time.monotonic() + 60
            while not log.exists() or len(json.loads(log.read_text())["steps"]) < 3:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.1)
            busy = bench(folder, *args, status=1)
            assert "another run of bench uses it" in busy.stderr, busy.stderr
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 3 and "with --from=collect it uses the loads that have run" in err, err
        assert sorted(os.listdir(folder)) == ["series.json", "stress.json"], os.listdir(folder)
        assert not json.loads(log.read_text())["complete"]
        before = log.read_text()
        done = bench(folder, *args, "--from=collect", "--folds=3")
        assert re.findall(r"of 6: (\w+)", done.stderr) == ["collect", "extract", "isolate", "train", "report"], done.stderr
        assert sorted(os.listdir(folder)) == FILES and log.read_text() == before
        # Results of loads that were stopped are not discarded by the command without --from.
        assert "of 6" not in bench(folder, *args).stderr and log.read_text() == before


def from_a_prometheus():
    need_program("stress-ng")
    with tempfile.TemporaryDirectory() as folder, metered() as exporter, \
            Prometheus(exporter.url.removeprefix("http://"), 1) as prometheus:
        deadline = time.monotonic() + 30
        while not prometheus.query("count_over_time(kepler_node_package_joules_total[1m]) > 2"):
            assert time.monotonic() < deadline, "Prometheus does not scrape"
            time.sleep(0.2)
        bench(folder, f"--server=http://127.0.0.1:{prometheus.port}", *PLAN)
        assert sorted(os.listdir(folder)) == FILES, os.listdir(folder)
        check_models(folder)


def from_recordings():
    need_program("stress-ng")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as ring:
        with metered(f"--record.dir={ring}"):
            bench(folder, f"--recording-dir={ring}", *PLAN)
        assert sorted(os.listdir(folder)) == sorted(set(FILES) - {"series.json"} | {"recorded.csv"}), os.listdir(folder)
        check_models(folder)
        times = [float(row["timestamp"]) for row in csv.DictReader(pathlib.Path(folder, "rows.csv").open())]
        steps = json.loads(pathlib.Path(folder, "stress.json").read_text())["steps"]
        assert steps[0]["start"] - 1 <= times[0] < steps[0]["start"] + 2 and steps[-1]["end"] - 2 < times[-1] <= \
            steps[-1]["end"] + 2, (times[0], times[-1], steps)


def refused_secrets():
    """Before any load: no token and a wrong one, a token that would go over plain HTTP or that others can read."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as secrets, metered() as exporter, \
            guarded(secrets, exporter) as (url, ca, token):
        wrong = pathlib.Path(secrets, "wrong")
        wrong.touch(mode=0o600)
        wrong.write_text("another-token\n")
        seen = pathlib.Path(secrets, "seen")
        seen.touch(mode=0o644)
        for args, why in (([f"--exporter={url}", ca], "refused (401): check token-file"),
                          ([f"--exporter={url}", ca, f"--token-file={wrong}"], "refused (401)"),
                          ([f"--exporter={url}", token], "certificate"),
                          ([f"--exporter={exporter.url}", token], "https"),
                          ([f"--exporter={url}", ca, f"--token-file={seen}"], "others can read it")):
            said = bench(folder, *args, status=1).stderr
            assert why in said and "nothing can be read from the exporter" in said, (args, said)
            assert TOKEN not in said and not os.path.exists(f"{folder}/stress.json"), said


def refusals():
    """Before hours of load: nothing has run, and nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        for args, why in (([f"--exporter=http://127.0.0.1:{port}/metrics"], "nothing can be read from the exporter"),
                          (["--from=train"], "start with --from=stress"), (["--folds=1"], "folds"),
                          (["--exporter=localhost:1"], "must begin with http://"), (["--benchmark=a/b"], "without a slash"),
                          (["--step=1500ms"], "whole seconds"), (["--trainers=Ridge,Forest"], 'there is no trainer "Forest"'),
                          (["--feature-group=Counters"], "there is no group"),
                          ([f"--recording-dir={folder}"], "does kepler run with --record.dir?")):
            done = subprocess.run([PROGRAM, "bench", folder, *args], capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode in (1, 2) and why in done.stderr, (args, done.stderr)
            assert not os.path.exists(f"{folder}/stress.json")
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another run of bench uses it" in bench(folder, status=1).stderr
        os.close(lock)


TESTS = [without_a_prometheus, stopped_run_is_continued, refused_secrets, refusals]
run_tests(TESTS + [from_a_prometheus, from_recordings] if os.environ.get("KEPLER_LONG_TESTS") else TESTS)
