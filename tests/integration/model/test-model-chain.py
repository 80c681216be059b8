#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a trained model to an estimated zone, with both programs: export into a repository, serve over TLS with token and signature,
fetch, estimate; a newer edition is used without a restart of either program, and a broken one is refused while the last stays."""
import json
import os
import pathlib
import tempfile
import time

from certificates import Authority, openssl
from model_rig import Program
from rig import Exporter, balanced, run_tests

CPUS = os.cpu_count()
TOKEN = "0123456789abcdef"


def write_model(path, name, idle_w):
    """Of one feature alone, which is no group of upstream's."""
    most = 1000 * CPUS
    path.write_text(json.dumps({
        "format": "kepler-model", "version": 1, "name": name, "output": "AbsPower", "source": "rapl-sysfs",
        "machine": {"processor": "lab_x", "cores": CPUS, "chips": 1}, "origin": {"trainer": "LinearRegressionTrainer"},
        "components": [{"name": "package", "error": {"mae_w": 1, "mape_percent": 3, "rows": 50, "bound_w": idle_w / 10},
                        "features": [{"name": "bpf_cpu_time_ms", "scale": most, "minimum": 0, "maximum": most}],
                        "predictor": {"form": "linear", "weights": [idle_w, 80]}}]}))


def export(model, repository):
    with Program("export", model, f"--output={repository}", "--pipeline-name=lab", expect=1) as run:
        assert run.process.wait(30) == 0, run.output()
        assert run.output() == "lab/rapl-sysfs/AbsPower/own.bpf_cpu_time_ms/LinearRegressionTrainer_0.json\n", run.output()
        return repository / run.output().strip()


def serve(folder, repository):
    certificate, key = Authority(folder).sign("server")
    signing, tokens = folder / "signing.pem", folder / "tokens"
    openssl("genpkey", "-algorithm", "ed25519", "-out", signing)
    openssl("pkey", "-in", signing, "-pubout", "-out", folder / "public.pem")
    tokens.write_text(TOKEN + "\n")
    for secret in (key, signing, tokens):
        secret.chmod(0o600)
    return Program("serve", repository, "--web.listen-address=127.0.0.1:0", "--models.rescan=1s", f"--models.signing-key={signing}",
                   f"--web.tls-certificate={certificate}", f"--web.tls-key={key}", f"--web.token-file={tokens}")


def wait_for(exporter, condition):
    deadline = time.monotonic() + 60
    while True:
        metrics = balanced(exporter.intervals(1))
        if condition(metrics):
            return metrics
        assert time.monotonic() < deadline, exporter.output()


def model_of(metrics):
    return [row["model"] for row, _ in metrics.select("kepler_node_model_info", zone="package")]


def idle_j(metrics):
    return float(metrics.value("kepler_node_package_joules_total", mode="idle", source="trained_power_model"))


def seconds(metrics):
    return float(metrics.value("kepler_exporter_snapshot_timestamp_seconds"))


def from_a_model_to_a_zone():
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as sysfs:
        folder = pathlib.Path(directory)
        repository, model = folder / "models", folder / "model.json"
        repository.mkdir()
        write_model(model, "lab-1", 20)
        served = export(model, repository)
        with serve(folder, repository) as server, Exporter(
                "--idle.mode=learned", "--metrics.settle=0s", "--monitor.interval=1s", f"--host.sysfs={sysfs}",
                "--model.machine=vm=false,processor=lab_x,sockets=1",
                f"--model.url=https://{server.address}/?processor=lab_x&cores={CPUS}&chips=1", "--model.refresh=10s",
                f"--model.ca-file={folder}/lab-ca.crt", f"--model.token-file={folder}/tokens",
                f"--model.public-key={folder}/public.pem") as exporter:
            first = wait_for(exporter, lambda metrics: model_of(metrics) == ["lab-1"])
            first = balanced(exporter.intervals(2))
            assert first.value("kepler_node_model_error_watts", zone="package") == 2
            assert first.value("kepler_node_model_outside", zone="package") == 0
            assert first.value("kepler_node_model_info", zone="package", machine="lab_x", output="AbsPower") == 1
            write_model(model, "lab-2", 30)
            export(model, repository)
            second = wait_for(exporter, lambda metrics: model_of(metrics) == ["lab-2"])
            gained_j, span_s = idle_j(second) - idle_j(first), seconds(second) - seconds(first)
            assert 20 * span_s - 0.1 < gained_j <= 30 * span_s + 0.1, (gained_j, span_s)
            assert second.value("kepler_node_model_changes_total", zone="package") == 1
            assert second.value("kepler_node_model_error_watts", zone="package") == 3
            served.write_text("{")
            third = wait_for(exporter, lambda metrics: metrics.value("kepler_exporter_model_fetch_up") == 0)
            assert "cannot find model for AbsPower" in exporter.output() and model_of(third) == ["lab-2"], exporter.output()
            power_w = (idle_j(third) - idle_j(second)) / (seconds(third) - seconds(second))
            assert abs(power_w - 30) < 0.1, power_w
            assert exporter.stop() == 0


run_tests([from_a_model_to_a_zone])
