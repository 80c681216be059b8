#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real kubelet with a device plugin: pods that share a board bear its idle energy by the replicas that the kubelet gave them, to
the microjoule, though nothing in them has opened it; a pod that ends, and a kubelet that starts again, are followed.

The board is that of tests/lab/nvml.c, the plugin tests/lab/kubernetes/device-plugin.
"""
import contextlib
import pathlib
import subprocess
import tempfile
import time

from kube_lab import IMAGE, LAB, Cluster
from rig import BUILD, Exporter, Sensors, balanced, rapl_zone, skip

UUID = "GPU-00000000-0000-4000-8000-000000000000"
PLUGINS = pathlib.Path("/var/lib/kubelet/device-plugins")  # the kubelet has no option for it
PODS = "/api/v1/namespaces/prod/pods"
ROW, IDS = "kepler_container_gpu_joules_total", "kepler_exporter_pod_resources_ids"


def build_plugin():
    done = subprocess.run([LAB / "build-device-plugin"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip("no Kubernetes here: " + done.stderr.strip())
    return done.stdout.strip()


class Plugin:
    """Registered with the kubelet that runs now."""

    def __init__(self, program):
        self.program, self.process = program, None
        Cluster.wait(self.register, "no plugin can be registered", 60)

    def register(self):
        (PLUGINS / "kepler-test.sock").unlink(missing_ok=True)
        self.process = subprocess.Popen([self.program, PLUGINS, "nvidia.com/gpu", *[f"{UUID}::{i}" for i in range(4)]],
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() == "registered\n":
            return True
        self.process.wait()
        return False

    def end(self):
        self.process.kill()
        self.process.wait()
        (PLUGINS / "kepler-test.sock").unlink(missing_ok=True)


def make_pod(cluster, name, replicas):
    cluster.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "nodeName": "localhost", "hostNetwork": True, "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": IMAGE, "imagePullPolicy": "Never", "command": ["sleep", "100000"],
                        "resources": {"limits": {"nvidia.com/gpu": replicas}}}]}})


def idle_uj(metrics, name, **labels):
    return int(metrics.sum(name, mode="idle", **labels) * 10**6)


def shares(exporter, seconds=5):
    """What the node's board and each pod had of idle energy in some seconds, in µJ."""
    before = balanced(exporter.intervals(2))
    time.sleep(seconds)
    after = balanced(exporter.intervals(2))
    assert not after.pod_imbalance_uj(), after.pod_imbalance_uj()
    grown = {pod: idle_uj(after, ROW, pod_name=pod) - idle_uj(before, ROW, pod_name=pod) for pod in ("large", "small")}
    return idle_uj(after, "kepler_node_gpu_joules_total") - idle_uj(before, "kepler_node_gpu_joules_total"), grown


def wait(exporter, held, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        metrics = exporter.intervals(1)
        if metrics.value(IDS, result="held") == held and metrics.value(IDS, result="nameless") == 0:
            return
        assert time.monotonic() < deadline, metrics.text + exporter.output()


def restart_kubelet(cluster):
    pid = int((cluster.node / "kubelet.pid").read_text())
    command = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    subprocess.run(["kill", "-9", str(pid)], check=True)
    with open(cluster.node / "kubelet.log", "a", encoding="utf-8") as log:
        process = subprocess.Popen([cluster.binaries / "kubelet", *command[1:]], cwd=cluster.node, stdout=log, stderr=log,
                                   start_new_session=True)
    (cluster.node / "kubelet.pid").write_text(str(process.pid))


def follow(cluster, exporter, plugins):
    make_pod(cluster, "large", 3)
    make_pod(cluster, "small", 1)
    wait(exporter, 4)
    board, pods = shares(exporter)
    print(f"  {pods} µJ of {board} µJ")
    assert sum(pods.values()) == board > 0 and abs(pods["large"] - 3 * pods["small"]) <= 40, (board, pods)
    requests = exporter.intervals(1).value("kepler_exporter_pod_resources_requests_total")
    plugins.pop().end()
    restart_kubelet(cluster)
    plugins.append(Plugin(build_plugin()))
    Cluster.wait(lambda: exporter.intervals(1).value("kepler_exporter_pod_resources_requests_total") > requests + 3,
                 "the kubelet is not asked any more", 90)
    wait(exporter, 4)
    cluster.api("DELETE", PODS + "/large", {"gracePeriodSeconds": 0})
    wait(exporter, 1, 120)
    board, pods = shares(exporter)
    assert pods == {"large": 0, "small": board} and board > 0, (board, pods)


def main():
    plugins = []
    build_plugin()  # or the test is skipped
    with contextlib.ExitStack() as stack, Cluster(images=[]) as cluster, tempfile.TemporaryDirectory() as folder, \
            Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors:
        stack.callback(lambda: [plugin.end() for plugin in plugins])
        cluster.create("/api/v1/namespaces", {"metadata": {"name": "prod"}})
        state = pathlib.Path(folder, "state")
        state.write_text("gpu 0 60000\n")
        config = cluster.kubeconfig(cluster.install_account("kubelet"))
        plugins.append(Plugin(build_plugin()))
        with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=fixed",
                      "--metrics.process.min-joules=0", "--idle.watts=gpu=40", "--gpu.idle=holder", "--kube.pods=kubelet",
                      "--kube.node-name=localhost", f"--kube.kubeconfig={config}",
                      f"--meter.nvml-library={BUILD}/tests/lab/nvml.so",
                      f"--kube.pod-resources={cluster.node}/kubelet/pod-resources/kubelet.sock",
                      env={"NVML_LAB_STATE": str(state)}) as exporter:
            Cluster.wait(lambda: "nvidia.com/gpu" in cluster.api("GET", "/api/v1/nodes/localhost")[1]["status"]["allocatable"],
                         "the plugin's devices are not allocatable")
            follow(cluster, exporter, plugins)
            assert exporter.stop() == 0


main()
