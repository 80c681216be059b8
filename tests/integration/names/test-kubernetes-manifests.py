#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/kubernetes against a real API server and a real kubelet.

The server takes every overlay and component, strictly, and for real; what a ServiceAccount of either overlay may do is what the
manual says and no more; the DaemonSet runs with our image's layout, becomes ready, measures with BPF, and names pods.
"""
import contextlib
import errno
import json
import re
import subprocess
import tempfile
import pathlib
import time
import urllib.request

from kube_lab import DEPLOY, Cluster, script
from rig import BUILD, ROOT, Metrics

SECRETS = "/api/v1/namespaces/default/secrets"
ALL_PODS = "/api/v1/pods?fieldSelector=spec.nodeName%3Dlocalhost"
# The lab lacks a network for pods, so it uses the host's, and a service address of the API server, so it uses its own.
LAB_PATCH = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{overlay}]
patches:
- target: {{kind: DaemonSet}}
  patch: |
    - {{op: add, path: /spec/template/spec/hostNetwork, value: true}}
    - {{op: add, path: /spec/template/spec/containers/0/imagePullPolicy, value: Never}}
    - {{op: add, path: /spec/template/spec/containers/0/env/-, value: {{name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}}}}
    - {{op: add, path: /spec/template/spec/containers/0/env/-, value: {{name: KUBERNETES_SERVICE_PORT, value: "{port}"}}}}
"""


def folder(root, text):
    """A kustomization of ours that uses the tree's: kustomize wants relative paths."""
    path = pathlib.Path(tempfile.mkdtemp(dir=root))
    relative = "/".join([".."] * len(path.parts[1:])) + str(DEPLOY)
    (path / "kustomization.yaml").write_text(text.replace("DEPLOY", relative))
    return path


def check_server_takes_all(cluster):
    cluster.define_kinds()
    cluster.kubectl("create", "namespace", "kepler")
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [DEPLOY/overlays/{}]\n"
    plain = [DEPLOY / "overlays/kubelet", DEPLOY / "overlays/apiserver", DEPLOY / "validator"]
    with_parts = [folder(cluster.dir, head.format(mode) + f"components: [DEPLOY/components/{part.name}]\n")
                  for mode in ("kubelet", "apiserver") for part in sorted((DEPLOY / "components").iterdir())]
    for path in plain + with_parts:
        ask = ("apply", "--dry-run=server", "--validate=strict", "-k", path)
        cluster.wait(lambda ask=ask: cluster.kubectl(*ask, fail=True).returncode == 0,
                     lambda ask=ask: str(cluster.kubectl(*ask, fail=True)), 10)
    typo = cluster.kubectl("kustomize", DEPLOY / "overlays/kubelet").replace("hostPID:", "hostPid:")
    assert cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", given=typo, fail=True).returncode != 0
    print(f"{len(plain + with_parts)} kustomizations taken, a typo refused")


def check_rights_apiserver(cluster):
    token = cluster.install_account("apiserver")
    cluster.wait(lambda: cluster.api("GET", ALL_PODS, token=token)[0] == 200, "pods cannot be listed", 10)
    assert cluster.api("GET", "/api/v1/namespaces/default/pods", token=token)[0] == 200
    for method, path in (("GET", SECRETS), ("GET", "/api/v1/secrets"), ("GET", "/api/v1/nodes"), ("GET", "/api/v1/configmaps"),
                         ("GET", "/api/v1/namespaces/default/pods/x"), ("DELETE", "/api/v1/namespaces/default/pods/x"),
                         ("GET", "/apis/apps/v1/replicasets"), ("GET", "/api/v1/nodes/localhost/proxy/pods")):
        status, _ = cluster.api(method, path, token=token)
        assert status == 403, f"{method} {path}: {status}"
    assert cluster.kubelet("/pods", token)[0] == 403
    assert cluster.api("GET", ALL_PODS, token="none")[0] == 401


def check_rights_kubelet(cluster):
    token = cluster.install_account("kubelet")
    cluster.wait(lambda: cluster.kubelet("/pods", token)[0] == 200, "the kubelet does not list pods", 20)
    assert json.loads(cluster.kubelet("/pods", token)[1])["kind"] == "PodList"
    cluster.wait(lambda: cluster.api("GET", ALL_PODS, token=token)[0] == 403, "pods can still be listed", 10)
    for path in (SECRETS, "/api/v1/secrets", "/api/v1/nodes"):
        assert cluster.api("GET", path, token=token)[0] == 403, path
    for path in ("/metrics", "/stats/summary", "/configz", "/logs/"): # /runningpods is part of nodes/pods
        assert cluster.kubelet(path, token)[0] == 403, path
    assert cluster.kubelet("/run/default/x/y?cmd=id", token, "POST")[0] == 403
    assert cluster.kubelet("/pods", None)[0] == 401
    assert cluster.kubelet("/pods", "none")[0] == 401


def scrape():
    with urllib.request.urlopen("http://127.0.0.1:28282/metrics", timeout=5) as answer:
        return Metrics(answer.read().decode())


def daemon_ready(cluster):
    status, found = cluster.api("GET", "/apis/apps/v1/namespaces/kepler/daemonsets/kepler")
    return status == 200 and found["status"].get("numberReady") == 1 and \
        found["status"].get("observedGeneration") == found["metadata"]["generation"] and \
        found["status"].get("updatedNumberScheduled") == 1


def daemon_state(cluster):
    return cluster.kubectl("-n", "kepler", "describe", "pods") + \
        str(cluster.kubectl("-n", "kepler", "logs", "daemonset/kepler", fail=True))


def names_itself():
    """Its own pod has a series with its names: whichever source the overlay has, it answers."""
    wanted = {"container_namespace": "kepler", "workload": "kepler", "workload_type": "DaemonSet"}
    rows = scrape().select("kepler_pod_bpf_cpu_time_ms_total", **wanted)
    return any(labels["pod_name"].startswith("kepler-") for labels, _ in rows)


def pod_process(cluster):
    """The pid of Kepler in its pod: others of that name may run on this machine."""
    pod, = (each for each in cluster.api("GET", "/api/v1/namespaces/kepler/pods")[1]["items"]
            if "deletionTimestamp" not in each["metadata"])
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # of one that has ended
            if entry.name.isdigit() and (entry / "comm").read_text() == "kepler\n" and \
                    pod["metadata"]["uid"] in (entry / "cgroup").read_text().replace("_", "-"):
                return entry.name
    raise AssertionError(f"no process of pod {pod['metadata']['name']}")


def check_mounts(cluster):
    """What the host's /sys is in the container. The lab's containerd (1.6) does not know recursiveReadOnly."""
    pid = pod_process(cluster)
    options = {}  # mount point → what it allows; the last mount of a place is the one that is seen
    for line in pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines():
        fields = line.split()
        options[fields[4]] = fields[5].split(",")
    for place in ("/host/sys", "/host/sys/fs/cgroup"):
        assert "ro" in options[place], f"{place}: {options[place]}"
    root = pathlib.Path(f"/proc/{pid}/root/host/sys/fs/cgroup")
    try:
        (root / "lab-kepler").mkdir()
    except OSError as error:
        assert error.errno == errno.EROFS, error
    else:
        (root / "lab-kepler").rmdir()
        raise AssertionError("the host's cgroup tree can be written from the container")


def check_runs(cluster, mode):
    """For real: the overlay with what only the lab needs."""
    path = folder(cluster.dir, LAB_PATCH.format(overlay="DEPLOY/overlays/" + mode, port=cluster.port))
    began = time.monotonic()
    cluster.kubectl("apply", "--validate=strict", "-k", path)
    cluster.wait(lambda: daemon_ready(cluster), lambda: daemon_state(cluster), 90)
    took = time.monotonic() - began
    cluster.wait(names_itself, lambda: daemon_state(cluster), 90)
    metrics = scrape()
    reader = metrics.select("kepler_exporter_activity_reader_info")[0][0]["reader"]
    assert reader.startswith("bpf"), daemon_state(cluster)
    log = cluster.kubectl("-n", "kepler", "logs", "daemonset/kepler")
    assert not re.search(r'"level":"(warn|error)"', log), log
    check_mounts(cluster)
    print(f"{mode}: ready after {took:.1f} s, reads with {reader}")
    return metrics


def main():
    binary = subprocess.run([ROOT / "tools/release-binary", BUILD], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as images:
        image = pathlib.Path(images, "kepler.tar")
        script("image.py", "kepler", image, binary)
        with Cluster(controllers=True, images=[image]) as cluster:
            check_server_takes_all(cluster)
            check_rights_apiserver(cluster)
            check_rights_kubelet(cluster)
            for mode in ("apiserver", "kubelet"):
                check_runs(cluster, mode)


main()
