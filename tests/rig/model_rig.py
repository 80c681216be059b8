# SPDX-License-Identifier: Apache-2.0
"""A repository of power models in upstream's layout, and kepler-model running on it."""
import contextlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import zipfile

from rig import BUILD, OTHERS_ENVIRONMENT, is_sanitized, skip

KEPLER_MODEL = pathlib.Path(os.environ.get("KEPLER_MODEL_BINARY", BUILD / "kepler-model"))
BPF = ["bpf_cpu_time_ms", "bpf_page_cache_hit"]
HEAD = ("index,model_name,model_class,model_file,features,fe_files,output_type,mae,mape,package_mae,package_mape,trainer,node_type,"
        "feature_group\n")
MACHINES = {0: {"processor": "intel_xeon_platinum_8259cl", "cores": 96, "chips": 2, "memory": 377, "frequency": 3500},
            1: {"processor": "intel_xeon_e5_2686v4", "cores": 72, "chips": 2, "memory": 503, "frequency": 3000},
            10: {"processor": "amd_epyc_7763", "cores": 128, "chips": 2, "memory": 503, "frequency": 3500}}


def weights(idle, slope, component="package"):
    return {component: {"All_Weights": {"Bias_Weight": idle, "Categorical_Variables": {}, "Numerical_Variables": {
        "bpf_cpu_time_ms": {"scale": 1000.0, "weight": slope}, "bpf_page_cache_hit": {"scale": 1.0, "weight": 0.0}}}}}


def archive(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return out.getvalue()


class Repository:
    """`ec2` has lines of three machines, and a pickle; add() puts more in."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="kepler-models-")
        self.path = pathlib.Path(self.directory.name)
        self.rows = []
        self.put("ec2/node_type_index.json", json.dumps({str(n): {"attrs": a, "members": ["m"]} for n, a in MACHINES.items()}))
        for number, mae in ((0, 5.0), (1, 7.0), (10, 1.0)):
            self.add(f"SGDRegressorTrainer_{number}", mae, weights(100 + number, 50))
        self.add("KNeighborsRegressorTrainer_1", 2.0, pickled={"metadata.json": "{}", "package.pkl": b"\x80\x04."})

    def put(self, name, data):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name("." + path.name)
        fresh.write_bytes(data if isinstance(data, bytes) else data.encode())
        fresh.rename(path)

    def add(self, name, mae, weight=None, pickled=None):
        trainer, number = name.rsplit("_", 1)
        group = "ec2/rapl-sysfs/AbsPower/BPFOnly/"
        self.rows.append(f"""0,{name},scikit,{name}.json,"['{BPF[0]}', '{BPF[1]}']",[],AbsPower,{mae},3.0,{mae},4.0,"""
                         f"{trainer},{number},BPFOnly\n")
        self.put("ec2/rapl-sysfs_AbsPower_model_metadata.csv", HEAD + "".join(self.rows))
        if weight:
            self.put(f"{group}{name}.json", json.dumps(weight))
        self.put(f"{group}{name}.zip", archive(pickled or {"metadata.json": json.dumps({"model_name": name, "mae": mae})}))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.directory.cleanup()


def need_trainers():
    if not KEPLER_MODEL.exists():
        skip("kepler-model is not built (-Dprograms=kepler-model)")
    if "offline-trainer" not in subprocess.run([KEPLER_MODEL, "--help"], capture_output=True, text=True, check=True).stdout:
        skip("kepler-model is built without its trainers (-Dtrainers=true)")


class Program:
    """kepler-model COMMAND DIR …, until it listens."""

    def __init__(self, command, directory, *args, binary=None, expect=0):
        if not KEPLER_MODEL.exists():
            skip("kepler-model is not built (-Dprograms=kepler-model)")
        self.log = tempfile.NamedTemporaryFile("w+", prefix="kepler-model-log-")
        words = [command, str(directory)] if directory else [command]
        self.process = subprocess.Popen([str(binary or KEPLER_MODEL), *words, *args],
                                        stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=OTHERS_ENVIRONMENT)
        self.address = None if expect else self.wait_for(r'listening on (\S+?)( with TLS)?"')[1]

    def output(self):
        return pathlib.Path(self.log.name).read_text()

    def wait_for(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.output())
            if found:
                return found
            assert self.process.poll() is None, self.output()
            time.sleep(0.02)
        raise AssertionError(f"no {pattern!r} in:\n{self.output()}")

    def rss_bytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(20) == 0, self.output()
        self.log.close()


@contextlib.contextmanager
def serving(command, *args):
    with Repository() as repository, Program(command, repository.path, *args) as program:
        yield repository, program


def confined_to(pid, uid):
    """Whether the process has that user in all its threads, no capability, and can gain none."""
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(fields[name], 16)]
        if fields["Uid"].split() != [str(uid)] * 4 or held or fields["NoNewPrivs"] != "1":
            return False
    return True


def is_slow():
    return is_sanitized(KEPLER_MODEL)
