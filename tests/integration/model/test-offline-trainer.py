#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model offline-trainer: POST /train as upstream has it, access, hostile bodies, limits, a worker that is killed."""
import concurrent.futures
import contextlib
import http.client
import io
import json
import math
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
import zipfile

from model_rig import KEPLER_MODEL, Program, Repository, is_slow, need_trainers, weights
from model_series import request, series
from rig import OTHERS_ENVIRONMENT, Metrics, run_tests

TOKEN = "0123456789abcdef"
RIGHT = {"Authorization": f"Bearer {TOKEN}"}
QUIET = "--web.listen-address=127.0.0.1:0"


class Trainer(Program):
    def __init__(self, *args):
        self.folder = tempfile.TemporaryDirectory()
        tokens = pathlib.Path(self.folder.name, "tokens")
        tokens.touch(0o600)
        tokens.write_text(TOKEN + "\n")
        os.environ["TMPDIR"] = OTHERS_ENVIRONMENT["TMPDIR"] = self.folder.name
        super().__init__("offline-trainer", None, QUIET, f"--web.token-file={tokens}", "--no-train.only-idle", *args)

    def __exit__(self, *exc):
        super().__exit__(*exc)
        self.folder.cleanup()
        del os.environ["TMPDIR"], OTHERS_ENVIRONMENT["TMPDIR"]

    def ask(self, body=None, headers=RIGHT, path="/train"):
        host, port = self.address.rsplit(":", 1)
        peer = http.client.HTTPConnection(host, port, timeout=60)
        peer.request("POST" if body is not None else "GET", path, json.dumps(body) if isinstance(body, dict) else body, headers)
        answer = peer.getresponse()
        data = answer.read()
        peer.close()
        return answer.status, data, answer.headers

    def metric(self, name, **labels):
        return Metrics(self.ask(path="/metrics")[1].decode()).value(name, **labels)


def a_pipeline_of_upstreams_request():
    with Trainer() as trainer:
        status, body, headers = trainer.ask(request())
        assert status == 200 and headers["Content-Type"] == "application/zip", (status, body, trainer.output())
        with zipfile.ZipFile(io.BytesIO(body)) as packed, tempfile.TemporaryDirectory() as folder:
            names = packed.namelist()
            for output, idle in (("AbsPower", 40), ("DynPower", 0)):
                model = f"mine/rapl-sysfs/{output}/BPFOnly/LinearRegressionTrainer_0.json"
                assert model in names and f"mine/rapl-sysfs_{output}_model_metadata.csv" in names, names
                weights = json.loads(packed.read(model))["package"]["All_Weights"]
                assert abs(weights["Bias_Weight"] - idle) < 1, weights
            packed.extractall(folder)
            listed = subprocess.run([KEPLER_MODEL, "repo", "verify", folder], capture_output=True, text=True, check=False)
            assert listed.returncode == 0, listed
        assert trainer.metric("kepler_model_trainer_trainings_total", result="made") == 1
        assert trainer.metric("kepler_model_trainer_seconds_total") > 0
        idle = {**request()["trainer"], "isolator": "ProfileBackgroundIsolator", "idle_prom_response": series()}
        assert trainer.ask(request(trainer=idle))[0] in (200, 400)


def run(*words, status=0):
    done = subprocess.run([KEPLER_MODEL, *map(str, words)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == status, (words, done)
    return done.stdout + done.stderr


def the_answer_is_an_input():
    """The zip is taken as it is, wherever models or a repository are; nothing of it is unpacked to the disk."""
    with tempfile.TemporaryDirectory() as folder:
        body, rows, answer = (pathlib.Path(folder, name) for name in ("request.json", "rows.csv", "mine.zip"))
        body.write_text(json.dumps(request()))
        run("train-request", body, f"--output={answer}")
        body.write_text(json.dumps(series()))
        run("extract", body, f"--output={rows}")
        for words in (("validate", answer, rows), ("compare", answer, answer, rows)):
            lines = [line.split() for line in run(*words).splitlines()[1:]]
            assert len(lines) == len(words) - 2 and {line[1] for line in lines} == {"BPFOnly/LinearRegressionTrainer_0"}, lines
            assert float(lines[0][2]) < 1, lines
        said = run("validate", answer, rows, "--output-type=DynPower", "--format=json")
        assert 40 < json.loads(said)["results"][0]["mae_w"] < 80, said  # of rows that have the idle power, too
        assert "has no usable model" in run("validate", answer, rows, "--feature-group=CounterOnly", status=1)
        assert "<svg" in run("plot", answer, rows, "--model-name=LinearRegressionTrainer_0")
        assert run("repo", "list", answer).count("LinearRegressionTrainer_0") == 2
        assert run("export", answer, f"--output={folder}/models", "--pipeline-name=copy").split() == [
            f"copy/rapl-sysfs/{output}/BPFOnly/LinearRegressionTrainer_0.json" for output in ("AbsPower", "DynPower")]
        with Program("serve", answer, QUIET) as server, \
                urllib.request.urlopen(f"http://{server.address}/api/v2/models", timeout=20) as listed:
            assert {model["name"] for model in json.load(listed)["models"]} == {"LinearRegressionTrainer_0"}
        assert sorted(os.listdir(folder)) == ["mine.zip", "models", "request.json", "rows.csv"]
        with zipfile.ZipFile(answer, "a") as packed:
            packed.writestr("../outside.json", "{}")
        for words in (("validate", answer, rows), ("export", answer), ("plot", answer, rows), ("repo", "list", answer),
                      ("serve", answer), ("estimate", answer)):
            assert "its name would lead out of the archive's directory" in run(*words, status=1), words


def the_train_isolator():
    """Of models that leave power which follows the load the one with the smallest error counts; the daemon's power is taken off."""
    loads, daemon_ms = [0, 100, 300, 500, 1000, 1500, 400, 200] * 5, 200

    def points(rates):
        sums = [0.0]
        for rate in rates:
            sums.append(sums[-1] + 5 * rate)
        return [[1000 + 5 * i, f"{value:.6f}"] for i, value in enumerate(sums)]

    def cpu(owner, name, rates):
        labels = {"__name__": name, "container_id": owner, "container_name": owner, "instance": "n"}
        return {"metric": labels, "values": points(rates)}

    names = ["kepler_container_bpf_cpu_time_ms_total", "kepler_container_bpf_page_cache_hit_total"]
    of_load = {name: [cpu("daemon", name, [daemon_ms] * len(loads)), cpu("load", name, loads)] for name in names}
    power = [{"metric": {"__name__": "kepler_node_package_joules_total", "source": "rapl-sysfs", "mode": "dynamic",
                         "instance": "n"},
              "values": points([40 + 0.02 * (load + daemon_ms) for load in loads])}]
    with Repository() as models, tempfile.TemporaryDirectory() as folder:
        models.add("SGDRegressorTrainer_0", 9.0, weights(60, 20))
        models.add("SGDRegressorTrainer_1", 3.0, weights(40, 20))  # 20 mW for each ms: what is true here
        models.add("SGDRegressorTrainer_10", 1.0, weights(900, 20))  # the smallest error, and it leaves nothing of the power
        body, answer = pathlib.Path(folder, "request.json"), pathlib.Path(folder, "answer.zip")
        for background in ({"bg_hints": ["daemon"]}, {"target_hints": ["load"]},
                           {"abs_pipeline_name": "ec2", "bg_hints": ["daemon"]}):
            body.write_text(json.dumps(request(
                prom_response={**of_load, "kepler_node_package_joules_total": power},
                trainer={"dyn_trainers": ["LinearRegressionTrainer"], "isolator": "TrainIsolator", "isolator_args": background})))
            run("train-request", body, f"--output={answer}", f"--models={models.path}")
            with zipfile.ZipFile(answer) as packed:
                found = json.loads(packed.read("mine/rapl-sysfs/DynPower/BPFOnly/LinearRegressionTrainer_0.json"))
            line = found["package"]["All_Weights"]
            slope = sum(one["weight"] / one["scale"] for one in line["Numerical_Variables"].values())
            assert abs(line["Bias_Weight"]) < 0.01 and abs(slope - 0.02) < 1e-4, line
        assert "was started without any" in run("train-request", body, f"--output={answer}", status=1)
        text = body.read_text().replace('"ec2"', '"none"')
        body.write_text(text)
        assert "has no usable model" in run("train-request", body, f"--models={models.path}", status=1)
        with Trainer(f"--train.models={models.path}") as trainer:
            assert trainer.ask(text.encode())[0] == 400
            status, answer, _ = trainer.ask(text.replace('"none"', '"ec2"').encode())
            assert status == 200 and zipfile.ZipFile(io.BytesIO(answer)).testzip() is None, answer


def a_token_is_always_needed():
    done = subprocess.run([KEPLER_MODEL, "offline-trainer", QUIET], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2 and "web.token-file: must be given" in done.stderr, done
    with Trainer() as trainer:
        for headers in ({}, {"Authorization": "Bearer 0123456789abcdeX"}):
            status, body, answer = trainer.ask(request(), headers)
            assert status == 401 and answer["WWW-Authenticate"] == "Bearer", body
            assert trainer.ask(headers=headers, path="/metrics")[0] == 401
        assert trainer.ask(headers={}, path="/healthz")[0] == 200
        assert trainer.metric("kepler_model_trainer_unauthorized_total") == 4
        assert trainer.metric("kepler_model_trainer_trainings_total", result="made") == 0


def hostile_bodies():
    with Trainer() as trainer:
        wrong = [
            (b"", "not JSON"), (b"{", "not JSON"), (b"[]", "must be a JSON object"), (b"{" * 100, "64 levels of brackets"),
            (b'{"prom_response":' + b"[" * 100, "not JSON"), (b"\x80\x04.", "not JSON"), (b"PK\x03\x04", "not JSON"),
            (request(name="../../etc"), "name: must have letters"), (request(energy_source=""), "energy_source"),
            (request(prom_response=[]), "prom_response"), (request(prom_response="x"), "prom_response: must be an object"),
            (request(prom_response={"a": [{"metric": {"__name__": "x"}, "values": [[1, math.nan]]}]}), "a number in quotes"),
            (request(trainer={"abs_trainers": ["os.system"]}), "trainer.abs_trainers: there is no trainer"),
            (request(trainer={"abs_trainers": ["LinearRegressionTrainer"], "isolator": "__import__"}), "trainer.isolator: must be"),
            (request(trainer={"abs_trainers": ["LinearRegressionTrainer"], "isolator": "ProfileBackgroundIsolator"}),
             "needs idle_prom_response"),
            (request(trainer={}), "must name a trainer"),
            (request(machine_spec={"cores": -1}), "machine_spec.cores")]
        for body, why in wrong:
            status, said, _ = trainer.ask(body)
            assert status == 400 and why in said.decode(), (body if isinstance(body, bytes) else why, status, said)
        assert trainer.ask(b"x", {**RIGHT, "Content-Length": str(1 << 40)})[0] == 413
        assert trainer.ask(request())[0] == 200


def state_of(pid):
    """"" once it is gone; "Z": it is waited for."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def stop_program(pid):
    """Not before it is the program that trains, with its limits."""
    while b"train-request" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
        time.sleep(0.001)
    os.kill(pid, signal.SIGSTOP)


def limits():
    slow = request(trainer={"abs_trainers": ["GradientBoostingRegressorTrainer", "XgboostFitTrainer", "ExtraTrees"]})
    with Trainer("--train.queue=1") as trainer, concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = [answer.result()[0] for answer in [pool.submit(trainer.ask, slow) for _ in range(6)]]
        assert set(answers) == {200, 429}, answers
        assert trainer.metric("kepler_model_trainer_trainings_total", result="too_many") == answers.count(429)
        # A worker that is killed costs its request; the next one is trained.
        pending = pool.submit(trainer.ask, slow)
        pid = int(trainer.wait_for(rf"training {answers.count(200) + 1}: started as process (\d+)")[1])
        os.kill(pid, signal.SIGKILL)
        assert pending.result()[0] == 503
        assert trainer.ask(request())[0] == 200
        # One that runs ends with its server, even if it stands still.
        pending = pool.submit(trainer.ask, slow)
        pid = int(trainer.wait_for(rf"training {answers.count(200) + 3}: started as process (\d+)")[1])
        stop_program(pid)
        trainer.process.send_signal(signal.SIGKILL)
        trainer.process.wait()
        end = time.monotonic() + 20
        while state_of(pid) not in "Z" and time.monotonic() < end:
            time.sleep(0.02)
        left = state_of(pid)
        if left not in "Z":
            os.kill(pid, signal.SIGKILL)
        assert left in "Z", left
        assert isinstance(pending.exception(), (OSError, http.client.HTTPException))


def bounds_of(pid):
    """{"Max cpu time": "601", …}, what a process may use."""
    lines = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): line[26:].split()[0] for line in lines}


def a_training_has_limits():
    slow = request(trainer={"abs_trainers": ["GradientBoostingRegressorTrainer", "XgboostFitTrainer", "ExtraTrees"]})
    with Trainer("--train.deadline=3s", "--train.memory=777") as trainer, concurrent.futures.ThreadPoolExecutor(1) as pool:
        pending = pool.submit(trainer.ask, slow)
        pid = int(trainer.wait_for(r"training 1: started as process (\d+)")[1])
        stop_program(pid)  # it neither computes nor ends
        bounds = bounds_of(pid)
        status, body, _ = pending.result()
        assert status == 503 and state_of(pid) in "Z", (status, body)
        assert trainer.metric("kepler_model_trainer_trainings_total", result="failed") == 1
        assert bounds["Max cpu time"] == "4" and bounds["Max core file size"] == "0", bounds
        assert bounds["Max file size"] != "unlimited", bounds
        if not is_slow():  # the sanitizer needs more address space than any limit
            assert bounds["Max address space"] == str(777 << 20), bounds
        assert trainer.ask(request())[0] == 200


def bodies_have_few_places():
    """Each may have 64 MiB: of a hundred clients that begin one, no more than 32 can go on, and the others hear so."""
    with Trainer() as trainer, contextlib.ExitStack() as stack:
        host, port = trainer.address.rsplit(":", 1)
        peers, refused = [], 0
        head = f"POST /train HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 1000000\r\n\r\n"
        for _ in range(100):
            peer = stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
            with contextlib.suppress(OSError):
                peer.sendall(head.encode() + b"{" * 1000)
                peers.append(peer)
        deadline = time.monotonic() + 20
        while refused < 100 - 32:
            readable = select.select(peers, [], [], deadline - time.monotonic())[0]
            assert readable, refused
            for peer in readable:
                answer = peer.recv(4096)
                peers.remove(peer)
                if answer:  # else a body took longer than 5 s
                    assert answer.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: 1\r\n" in answer, answer
                    refused += 1
        assert refused == 100 - 32, refused


need_trainers()
run_tests([a_pipeline_of_upstreams_request, the_answer_is_an_input, the_train_isolator, a_token_is_always_needed, hostile_bodies,
           limits, a_training_has_limits, bodies_have_few_places])
