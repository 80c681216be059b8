#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model online-trainer on a server whose machine changes: models that are published, kept and replaced, drift, restarts."""
import hashlib
import json
import pathlib
import signal
import tempfile
import time
import urllib.request

from model_rig import Program, need_trainers
from model_series import STEP_S, Machine
from rig import Metrics, run_tests

SPEC = {"processor": "intel_xeon_platinum_8259cl", "cores": 4, "chips": 1, "memory": 16, "frequency": 3000}
KEY = "intel_xeon_platinum_8259cl_4_1_16_3000"
MODEL = "online/rapl-sysfs/AbsPower/BPFOnly/OnlineTrainer_0.json"


class Online:
    def __init__(self):
        self.machine = Machine()
        self.folder = tempfile.TemporaryDirectory(prefix="kepler-online-")
        self.state, self.models = (pathlib.Path(self.folder.name, name) for name in ("state", "models"))
        self.state.mkdir()
        self.models.mkdir()
        self.specs = pathlib.Path(self.folder.name, "machines.json")
        self.specs.write_text(json.dumps({"node1:28282": SPEC}))

    def start(self, *args):
        self.program = Program("online-trainer", self.models, "--web.listen-address=127.0.0.1:0", f"--server={self.machine.url}",
                               f"--state-dir={self.state}", f"--machines={self.specs}", f"--step={STEP_S}", "--interval=1s",
                               "--history=3000s", "--retrain=1s", "--trainers=LinearRegressionTrainer", "--no-only-idle", *args)
        return self.program

    def metric(self, name, **labels):
        with urllib.request.urlopen(f"http://{self.program.address}/metrics", timeout=10) as answer:
            value = Metrics(answer.read().decode()).value(name, **labels)
        return None if value is None else float(value)

    def wait(self, what, seconds=60):
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end and self.program.process.poll() is None, self.program.output()[-3000:]
            time.sleep(0.05)

    def models_of(self, result):
        return self.metric("kepler_model_online_models_total", result=result)

    def kill(self):
        self.program.process.send_signal(signal.SIGKILL)
        self.program.process.wait()

    def reveal(self, seconds):
        rows = self.metric("kepler_model_online_rows_total", machine=KEY) if self.program.process.poll() is None else 0
        self.machine.until += seconds
        self.wait(lambda: self.metric("kepler_model_online_rows_total", machine=KEY) > rows + seconds / STEP_S * 0.8)

    def published(self):
        return json.loads((self.models / MODEL).read_text())["package"]["All_Weights"]["Numerical_Variables"]

    def slope(self):
        """W for a second of CPU time in a second."""
        feature = self.published()["bpf_cpu_time_ms"]
        return 1000 * feature["weight"] / feature["scale"]


def a_machine_that_changes():
    online = Online()
    online.machine.has_names = False
    with online.start():
        # A Prometheus that has nothing yet is asked again, for a later time.
        online.program.wait_for("no points from")
        online.machine.has_names = True
        online.program.process.send_signal(signal.SIGHUP)
        online.reveal(550)
        assert online.machine.asked[1] > online.machine.asked[0], online.machine.asked
        online.wait(lambda: online.models_of("published") == 1)
        assert 28 < online.slope() < 32, online.slope()
        first = (online.models / MODEL).read_bytes()
        assert online.metric("kepler_model_online_unknown_nodes_total") >= 1
        online.reveal(60)
        online.wait(lambda: online.models_of("not_better") >= 1)
        assert (online.models / MODEL).read_bytes() == first
        assert online.metric("kepler_model_drift_alarm", machine=KEY) == 0
        assert online.metric("kepler_model_drift_ratio", machine=KEY) < 1.5
        # The machine draws three times as much: an alarm, and a new model when there is one that is better.
        online.machine.changed = online.machine.until
        online.reveal(120)
        online.wait(lambda: online.metric("kepler_model_drift_alarm", machine=KEY) == 1)
        assert "no longer fits" in online.program.output() and (online.models / MODEL).read_bytes() == first
        online.reveal(500)
        online.wait(lambda: online.models_of("published") == 2)
        assert 85 < online.slope() < 95, online.slope()
        assert online.metric("kepler_model_drift_alarm", machine=KEY) == 0
        previous = json.loads((online.state / f"{KEY}.previous.json").read_text())
        assert previous["origin"]["trainer"] == "OnlineTrainer"
        online.kill()
    # Learned values survive; the program waits for a server that is away.
    online.machine.is_away = True
    with online.start():
        online.program.wait_for("retrying in")
        assert online.metric("kepler_model_online_up") == 0
        assert online.metric("kepler_model_online_rows_total", machine=KEY) > 11000
        assert online.metric("kepler_model_online_blocks_held_out", machine=KEY) == 8
        online.kill()
    state = online.state / f"{KEY}.state"
    data = bytearray(state.read_bytes())
    data[len(data) // 2] ^= 1
    state.write_bytes(data)
    online.machine.is_away = False
    with online.start():
        online.program.wait_for("its checksum is wrong")
        assert (online.state / f"{KEY}.refused").exists()
        online.wait(lambda: online.metric("kepler_model_online_up") == 1)
        assert online.slope() > 85
    online.folder.cleanup()


def times_of_the_future():
    """One answer with them does not end the training, and neither does a state that has such a time."""
    online = Online()
    with online.start():
        online.machine.ahead_s = 30 * 86400
        online.reveal(100)
        online.program.wait_for("points outside the requested time are left out")
        online.machine.ahead_s = 0
        online.reveal(100)
        assert online.metric("kepler_model_online_until_timestamp_seconds") < time.time()
        online.kill()
    state = online.state / f"{KEY}.state"
    known = json.loads(state.read_text().split("\n", 1)[1])
    known["until"] += 30 * 86400
    text = json.dumps(known)
    state.write_text(f"kepler-online-state 2 {hashlib.sha256(text.encode()).hexdigest()}\n{text}")
    with online.start():
        online.program.wait_for("continuing from now")
        online.machine.start = time.time() - online.machine.until + online.machine.start  # its counters go on from now
        online.machine.until = time.time()
        online.reveal(10)
        online.wait(lambda: online.metric("kepler_model_online_up") == 1)
    online.folder.cleanup()


def a_task_ends_at_its_deadline():
    online = Online()
    online.machine.delay_s = 1000  # it takes the connection, and says nothing
    with online.start("--deadline=2s", "--timeout=60s"):
        online.program.wait_for("collect failed: it was ended by signal 9.* at its deadline")
        assert online.metric("kepler_model_online_tasks_total", task="collect", result="failure") == 1
        online.machine.delay_s = 0
        online.reveal(100)
    online.folder.cleanup()


def what_is_refused():
    online = Online()
    for text, why in (("{}", "has no node"), ('{"a": {}}', "has none of processor"), ("[", "machines.json")):
        online.specs.write_text(text)
        with Program("online-trainer", online.models, f"--machines={online.specs}", f"--state-dir={online.state}",
                     expect=1) as program:
            assert program.process.wait(20) == 1 and why in program.output(), program.output()
    online.folder.cleanup()


need_trainers()
run_tests([a_machine_that_changes, times_of_the_future, a_task_ends_at_its_deadline, what_is_refused])
