#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words of a pod's and of an image's author against the cgroup: each claims another pod, and has none of it.

One pod is named by the CRI-O bundle that its kubelet wrote. Another pod's bundle repeats annotations that claim the first in
containerd's keys, a third container carries the LABELs of an image that claim it, told by Docker's socket and by Docker's files.
Once without and once with Kubernetes: the first pod has what ran in it, its namespace no more, and every sum is exact.
"""
import contextlib
import http.server
import json
import os
import pathlib
import socketserver
import subprocess
import tempfile
import threading
import time

import containers
from fake_kubernetes import NODE, FakeKubernetes, status_of
from kube_pods import join, pod_cgroup
from rig import BUILD, Exporter, Sensors, balanced, rapl_zone

BUNDLES = pathlib.Path("/run/containers/storage/overlay-containers")
SOCKET = "/run/kepler-test-docker.sock"
MILLISECONDS = 200
OPTIONS = ["--monitor.interval=200ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--kube.pod-labels=",
           f"--runtimes.docker-socket={SOCKET}"]


class Place:
    """A cgroup in every hierarchy, with a process of ours in it that has worked for a while and stays."""

    def __init__(self, path):
        self.path = path
        self.work = None

    def __enter__(self):
        self.work = subprocess.Popen([BUILD / "tests/lab/load", "mix", str(MILLISECONDS), str(MILLISECONDS), "1"],
                                     stdout=subprocess.DEVNULL, preexec_fn=lambda: join(self.path))
        return self

    def __exit__(self, *exc):
        self.work.kill()
        self.work.wait()
        containers.remove_cgroup(self.path)


class Docker(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Docker's socket, with one list of containers."""
    daemon_threads = True

    def __init__(self, listed):
        body = json.dumps(listed).encode()

        class Request(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(SOCKET, Request)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def get_request(self):
        request, _ = super().get_request()
        return request, ("docker", 0)

    def __exit__(self, *exc):
        self.shutdown()
        super().__exit__(*exc)
        os.unlink(SOCKET)


def crio_notes(name, pod):
    return {"io.kubernetes.container.name": name, "io.kubernetes.pod.name": pod["name"], "io.kubernetes.pod.uid": pod["uid"],
            "io.kubernetes.pod.namespace": pod["namespace"], "io.kubernetes.cri-o.ContainerType": "container"}


def write_bundle(container_id, pod, notes):
    path = BUNDLES / container_id / "userdata"
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({
        "ociVersion": "1.0", "annotations": notes,
        "linux": {"cgroupsPath": "/" + pod_cgroup(pod["uid"], "crio-" + container_id)}}))


def api_pod(pod, container_id):
    return {"metadata": {"name": pod["name"], "namespace": pod["namespace"], "uid": pod["uid"], "labels": {}},
            "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "i"}]},
            "status": {"phase": "Running", "qosClass": "Burstable", "containerStatuses": [status_of("main", container_id)]}}


def rows(metrics, container_id):
    return [labels for labels, _ in metrics.select("kepler_container_package_joules_total", container_id=container_id)]


def check(metrics, victim, ids):
    """Ids of the victim's, the other pod's and the image's container."""
    pods = {labels["container_id"]: labels["pod_name"]
            for labels, _ in metrics.select("kepler_container_package_joules_total") if labels["container_id"] in ids}
    assert pods[ids[0]] == victim["name"], pods
    assert [found for found, name in pods.items() if name == victim["name"]] == [ids[0]], f"others in {victim['name']}: {pods}"
    assert {labels["container_namespace"] for labels in rows(metrics, ids[2])} == {"system"}, rows(metrics, ids[2])
    own = metrics.sum("kepler_container_package_joules_total", container_id=ids[0])
    assert own > 0
    for level, labels in (("pod", {"pod_name": victim["name"]}), ("namespace", {"container_namespace": victim["namespace"]})):
        got = metrics.sum(f"kepler_{level}_package_joules_total", **labels)
        assert got == own, f"{level} of {victim['name']}: {got} J, where {own} J was used"


def run(with_kubernetes):
    victim, other = containers.new_pod("victim-0", "prod"), containers.new_pod("other-0", "dev")
    ids = [containers.new_id() for _ in range(3)]
    claim = containers.cri_annotations("main", victim)
    write_bundle(ids[0], victim, crio_notes("main", victim))
    write_bundle(ids[1], other, {**crio_notes("main", other), **claim})
    labels = {**crio_notes("main", victim), **claim}
    config = pathlib.Path("/var/lib/docker/containers") / ids[2]
    listed = [{"Id": ids[2], "Names": ["/k8s_main"], "Image": "evil", "Labels": labels}]
    config.mkdir(parents=True)
    (config / "config.v2.json").write_text(json.dumps({
        "ID": ids[2], "Name": "/k8s_main", "Config": {"Image": "evil", "Labels": labels}}))
    options = []
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        if with_kubernetes:
            api = FakeKubernetes(token=None)
            for pod, container_id in ((victim, ids[0]), (other, ids[1])):
                api.put(api_pod(pod, container_id))
            kubeconfig = pathlib.Path(directory, "kubeconfig")
            kubeconfig.write_text(f"clusters: [{{name: a, cluster: {{server: '{api.url}'}}}}]\nusers: [{{name: a, user: {{}}}}]\n"
                                  "contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n")
            kubeconfig.chmod(0o600)
            options = ["--kube.pods=apiserver", f"--kube.kubeconfig={kubeconfig}", f"--kube.node-name={NODE}"]
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 10, busy_watts=45)))
        stack.enter_context(Docker(listed))
        exporter = stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS, *options))
        exporter.intervals(2)
        for path in (pod_cgroup(victim["uid"], "crio-" + ids[0]), pod_cgroup(other["uid"], "crio-" + ids[1]), f"docker/{ids[2]}"):
            stack.enter_context(Place(path))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            metrics = balanced(exporter.intervals(2))
            if all(rows(metrics, found) for found in ids):
                break
        if with_kubernetes:
            assert metrics.value("kepler_exporter_name_source_up", source="kubernetes") == 1
        check(balanced(exporter.intervals(2)), victim, ids)
        assert exporter.stop() == 0


def socket_is_down():
    """A socket that was configured and does not answer is shown, whatever files tell."""
    with Exporter(*OPTIONS) as exporter:
        deadline = time.monotonic() + 30
        while (found := exporter.scrape().select("kepler_exporter_name_source_up", source="runtimes")) == []:
            assert time.monotonic() < deadline, "nothing is shown"
            time.sleep(0.1)
        assert [value for _, value in found] == [0], found
        assert exporter.stop() == 0


def main():
    containers.enter_own_mounts([*containers.STATE, "/var/lib/docker"], programs=False)
    for with_kubernetes in (False, True):
        run(with_kubernetes)
        print("with Kubernetes: ok" if with_kubernetes else "without Kubernetes: ok", flush=True)
    socket_is_down()


main()
