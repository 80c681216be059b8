#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/helm/kepler on a real API server and a real kubelet: the server takes each set of values, by its own schemas and strictly,
kubeconform agrees by the same schemas, a release is installed, changed and removed, its notes say what was not followed, and its
DaemonSet becomes ready and names its own pod.
"""
import json
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request

from chart_values import EVERYTHING, SETS, UPSTREAM
from helm_rig import CACHE, CHART, difference, helm, need_helm, template, yaml
from kube_lab import Cluster, script
from rig import BUILD, ROOT, Metrics

# The lab lacks a network for pods, so it uses the host's, and a service address of the API server, so it uses its own.
LAB_PATCH = """
- {op: add, path: /spec/template/spec/hostNetwork, value: true}
- {op: add, path: /spec/template/spec/containers/0/imagePullPolicy, value: Never}
- {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}}
- {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: KUBERNETES_SERVICE_PORT, value: "%d"}}
"""


def prepare(cluster):
    cluster.define_kinds()
    for name in ("kepler", "energy"):
        cluster.kubectl("create", "namespace", name)
        cluster.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=privileged")


def check_server_takes_each_set(cluster):
    """As a client applies it, and on the server's side, as Flux and Argo CD do."""
    version = json.loads(cluster.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"]
    count = 0
    for name, values in SETS.items():
        text = yaml.safe_dump_all(template(values, version=version))
        for how in ((), ("--server-side",)):
            done = cluster.kubectl("apply", "--dry-run=server", "--validate=strict", *how, "-f", "-", given=text, fail=True)
            warnings = [line for line in done.stderr.splitlines() if "last-applied-configuration" not in line]
            assert done.returncode == 0 and not warnings, (name, how, done.stderr)
            count += len(done.stdout.splitlines())
    typo = yaml.safe_dump_all(template({}, version=version)).replace("hostPID:", "hostPid:")
    assert cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", given=typo, fail=True).returncode != 0
    print(f"{count} objects taken by {version}, a typo refused")


def schemas(cluster, folder):
    """The server's own schemas, as files of the form that kubeconform reads: a kind of a group each, closed to unknown fields."""
    definitions = cluster.api("GET", "/openapi/v2")[1]["definitions"]
    for each in definitions.values():
        if "properties" in each and not each.get("x-kubernetes-preserve-unknown-fields"):
            each["additionalProperties"] = False
        if each.get("format") == "int-or-string":
            each["type"] = ["integer", "string"]
    for each in (each for name, each in definitions.items() if name.endswith("api.resource.Quantity")):
        each["type"] = ["string", "number"]
    definitions.update({name: {} for name in definitions if name.endswith("RawExtension")})
    text = json.dumps({"definitions": definitions}).replace('"#/definitions/', '"all.json#/definitions/')
    (folder / "all.json").write_text(text)
    for name, each in definitions.items():
        for kind in each.get("x-kubernetes-group-version-kind", []):
            group = kind["group"].split(".")[0]
            path = folder / "-".join(filter(None, (kind["kind"].lower(), group, kind["version"])))
            path.with_name(path.name + ".json").write_text(json.dumps({"$ref": f"all.json#/definitions/{name}"}))


def check_kubeconform_agrees(cluster):
    program = shutil.which("kubeconform") or shutil.which("kubeconform", path=CACHE / "go-bin")
    if not program:
        print("no kubeconform here: go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        schemas(cluster, folder)
        ask = [program, "-strict", "-summary", "-schema-location", f"{folder}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"]
        for values in SETS.values():
            text = yaml.safe_dump_all(template(values))
            done = subprocess.run(ask, input=text, capture_output=True, text=True, check=False)
            assert done.returncode == 0 and "Skipped: 0" in done.stdout, (done.stdout, done.stderr)
        typo = text.replace("hostPID:", "hostPid:")
        assert subprocess.run(ask, input=typo, capture_output=True, text=True, check=False).returncode != 0
        print(done.stdout.strip())


def check_release(cluster):
    """Installed with upstream's values, changed, and removed."""
    to = ("--kubeconfig", cluster.plane / "kubeconfig", "-n", "kepler")
    said = helm("install", "kepler", CHART, *to, values=UPSTREAM)
    for words in ("three capabilities are enough", "metrics.schema: current", "Names of pods come from: kubelet"):
        assert words in said, said
    daemon = json.loads(cluster.kubectl("-n", "kepler", "get", "daemonset", "kepler", "-o", "json"))
    first = daemon["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
    said = helm("upgrade", "kepler", CHART, *to, values=EVERYTHING | {"namespace": {"create": False}})
    assert "three capabilities" not in said, said
    daemon = json.loads(cluster.kubectl("-n", "kepler", "get", "daemonset", "kepler", "-o", "json"))
    assert daemon["spec"]["template"]["metadata"]["annotations"]["checksum/config"] != first
    # The server keeps each field as it is rendered: none is dropped or rewritten.
    ours = next(each for each in template(EVERYTHING) if each["kind"] == "DaemonSet")
    wanted, kept = (each["spec"]["template"]["spec"]["containers"][0]["securityContext"] for each in (ours, daemon))
    assert not difference(wanted, kept), difference(wanted, kept)
    helm("uninstall", "kepler", *to, "--wait")
    for where in (("-n", "kepler", "get", "daemonset,deployment,job,service,configmap,podmonitor,networkpolicy,pdb"),
                  ("get", "clusterrole,clusterrolebinding,priorityclass,securitycontextconstraints")):
        left = cluster.kubectl(*where, "-l", "app.kubernetes.io/instance=kepler", "-o", "name")
        assert not left.strip(), left
    assert cluster.kubectl("-n", "kepler", "get", "pvc", "-o", "name").strip() == "persistentvolumeclaim/kepler-models"


def names_itself():
    with urllib.request.urlopen("http://127.0.0.1:28282/metrics", timeout=5) as answer:
        metrics = Metrics(answer.read().decode())
    return bool(metrics.select("kepler_pod_bpf_cpu_time_ms_total", container_namespace="kepler", workload="kepler"))


def daemon_ready(cluster):
    status, found = cluster.api("GET", "/apis/apps/v1/namespaces/kepler/daemonsets/kepler")
    return status == 200 and found["status"].get("numberReady") == 1


def check_runs(cluster):
    folder = pathlib.Path(tempfile.mkdtemp(dir=cluster.dir))
    (folder / "chart.yaml").write_text(yaml.safe_dump_all(template({})))
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["chart.yaml"],
        "patches": [{"target": {"kind": "DaemonSet"}, "patch": LAB_PATCH % cluster.port}]}))
    cluster.kubectl("apply", "--server-side", "--validate=strict", "-k", folder)
    state = lambda: cluster.kubectl("-n", "kepler", "describe", "pods") + \
        str(cluster.kubectl("-n", "kepler", "logs", "daemonset/kepler", fail=True))
    cluster.wait(lambda: daemon_ready(cluster), state, 90)
    cluster.wait(names_itself, state, 90)


def main():
    need_helm()
    binary = subprocess.run([ROOT / "tools/release-binary", BUILD], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as images:
        image = pathlib.Path(images, "kepler.tar")
        script("image.py", "kepler", image, binary)
        with Cluster(controllers=True, images=[image]) as cluster:
            prepare(cluster)
            check_server_takes_each_set(cluster)
            check_kubeconform_agrees(cluster)
            check_release(cluster)
            check_runs(cluster)


main()
