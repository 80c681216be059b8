#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler doctor --cluster` against a real API server, and through its proxy of pods with running Keplers.

The lab has no network for pods, so each pod is an exporter on an address of this machine, and no kubelet and no controller: the
statuses that they would write are written by the test. The server's own answers are real: lists, selectors, access reviews for the
accounts and roles of deploy/kubernetes, and the proxy.
"""
import contextlib
import copy
import json
import subprocess
import time

import jsonschema

from cluster_world import LISTS, NAMESPACE, World, rfc3339
from kube_lab import Cluster
from rig import KEPLER, ROOT, Exporter

SCHEMA = json.loads((ROOT / "docs/doctor-cluster.schema.json").read_text())
ADDRESSES = ["198.18.77.1", "198.18.77.2"]  # for benchmarks (RFC 2544): the server's proxy refuses loopback
PORT = 28399
CREATE = {kind: path for kind, path in LISTS.items() if kind != "prometheusagents"}
CREATE["daemonsets"] = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
CREATE["podmonitors"] = f"/apis/monitoring.coreos.com/v1/namespaces/{NAMESPACE}/podmonitors"
CREATE["prometheuses"] = "/apis/monitoring.coreos.com/v1/namespaces/monitoring/prometheuses"
ORDER = ("namespaces", "nodes", "leases", "podmonitors", "prometheuses", "daemonsets", "pods")


def definition(kind, version="v1"):
    plural = kind.lower() + ("es" if kind == "Prometheus" else "s")
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": plural + ".monitoring.coreos.com"},
            "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced",
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "properties": {"spec": {
                             "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}]}}


KINDS = {"namespaces": ("v1", "Namespace"), "nodes": ("v1", "Node"), "leases": ("coordination.k8s.io/v1", "Lease"),
         "podmonitors": ("monitoring.coreos.com/v1", "PodMonitor"), "prometheuses": ("monitoring.coreos.com/v1", "Prometheus"),
         "daemonsets": ("apps/v1", "DaemonSet"), "pods": ("v1", "Pod")}


def create(cluster, kind, given):
    """The object, and the status that a kubelet or a controller would write."""
    version, name = KINDS[kind]
    whole = {"apiVersion": version, "kind": name, **copy.deepcopy(given)}
    status, answer = cluster.api("POST", CREATE[kind], whole)
    assert status in (201, 409), (kind, status, answer)
    if "status" in given:
        set_status(cluster, kind, given["metadata"]["name"], given["status"])


def set_status(cluster, kind, name, status):
    code, answer = cluster.api("PATCH", f"{CREATE[kind]}/{name}/status", {"status": status}, "application/merge-patch+json")
    assert code == 200, (kind, code, answer)


def merge(cluster, kind, name, change):
    code, answer = cluster.api("PATCH", f"{CREATE[kind]}/{name}", change, "application/merge-patch+json")
    assert code == 200, (kind, code, answer)
    return answer


def install(cluster, world):
    for kind in ("PodMonitor", "ServiceMonitor", "Prometheus"):
        cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(kind))
    cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("PrometheusAgent", "v1alpha1"))
    for path in (LISTS["podmonitors"], LISTS["prometheuses"], LISTS["servicemonitors"], LISTS["prometheusagents"]):
        cluster.wait(lambda path=path: cluster.api("GET", path)[0] == 200, "the operator's kinds are not there", 20)
    for kind in ("kube-node-lease",):
        cluster.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": kind}})
    for index, pod in enumerate(world["pods"]):
        pod["status"].update(podIP=ADDRESSES[index], podIPs=[{"ip": ADDRESSES[index]}])
    for kind in ORDER:
        for given in world[kind]:
            create(cluster, kind, given)
    rbac = "/apis/rbac.authorization.k8s.io/v1/"
    cluster.create(rbac + "clusterroles", {"kind": "ClusterRole", "metadata": {"name": "kepler"}, "rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}]})
    cluster.create(rbac + "clusterrolebindings", {
        "kind": "ClusterRoleBinding", "metadata": {"name": "kepler"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kepler"},
        "subjects": [{"kind": "ServiceAccount", "name": "kepler", "namespace": NAMESPACE}]})


def report(config):
    done = subprocess.run([KEPLER, "doctor", "--cluster", "--json", f"--kubeconfig={config}"], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.stdout and not done.stderr, (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert done.returncode == (0 if found["healthy"] else 1)
    return found


def expect(config, *ids):
    """The findings besides that an exporter here may only estimate, by their ids."""
    found = [one for one in report(config)["findings"] if one["id"] != "node-estimates"]
    assert sorted(one["id"] for one in found) == sorted(ids), json.dumps(found, indent=1)
    return {one["id"]: one for one in found}


def check_healthy(config):
    expect(config)
    found = report(config)
    assert found["kubernetes"].startswith("v1.") and found["node_count"] == len(ADDRESSES), found
    for one in found["nodes"]:
        assert one["exporter"]["interval_seconds"] == 1 and one["clock_skew_seconds"] == 0, one


def check_faults(cluster, config):
    """One at a time; each is undone."""
    merge(cluster, "nodes", "node-1", {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}})
    pod = cluster.api("GET", CREATE["pods"] + "/kepler-1")[1]
    assert cluster.api("DELETE", CREATE["pods"] + "/kepler-1?gracePeriodSeconds=0")[0] == 200
    assert expect(config, "node-without-pod")["node-without-pod"]["nodes"] == ["node-1"]
    merge(cluster, "nodes", "node-1", {"spec": {"taints": None}})
    assert "although it may run" in expect(config, "node-without-pod")["node-without-pod"]["what"]
    create(cluster, "pods", {"metadata": {key: pod["metadata"][key] for key in ("name", "namespace", "labels")},
                             "spec": {"nodeName": "node-1", "containers": [{"name": "kepler", "image": "kepler:0.1.0"}]},
                             "status": pod["status"]})
    expect(config)
    crashed = copy.deepcopy(pod["status"]["containerStatuses"])
    crashed[0].update(ready=False, restartCount=5, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
    set_status(cluster, "pods", "kepler-1", {"containerStatuses": crashed})
    assert "CrashLoopBackOff" in expect(config, "pod-not-running")["pod-not-running"]["what"]
    set_status(cluster, "pods", "kepler-1", {"containerStatuses": pod["status"]["containerStatuses"]})
    merge(cluster, "podmonitors", "kepler", {"metadata": {"labels": {"release": "other"}}})
    command = expect(config, "monitor-not-selected")["monitor-not-selected"]["command"]
    assert command == f"kubectl -n {NAMESPACE} label podmonitor kepler --overwrite release=prom", command
    cluster.kubectl(*command.split()[1:])  # the command mends it
    expect(config)
    merge(cluster, "podmonitors", "kepler", {"spec": {"podMetricsEndpoints": [{"port": "web", "interval": "15s"}]}})
    expect(config, "monitor-port-missing")
    merge(cluster, "podmonitors", "kepler", {"spec": {"podMetricsEndpoints": [{"port": "metrics", "interval": "500ms"}]}})
    expect(config, "scrape-too-fast")
    merge(cluster, "podmonitors", "kepler", {"spec": {"podMetricsEndpoints": [{"port": "metrics", "interval": "15s"}]}})
    merge(cluster, "leases", "node-0", {"spec": {"renewTime": rfc3339(time.time() + 90)}})
    assert expect(config, "clock-skew")["clock-skew"]["nodes"] == ["node-0"]
    merge(cluster, "leases", "node-0", {"spec": {"renewTime": rfc3339(time.time() - 3)}})
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kepler"
    rules = lambda verbs: cluster.api("PATCH", role, {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]},
                                      "application/merge-patch+json")
    rules(["list"])
    cluster.wait(lambda: any(one["id"] == "right-missing" for one in report(config)["findings"]), "the verb is not missed", 20)
    assert "may not watch pods" in expect(config, "right-missing")["right-missing"]["what"]
    rules(["list", "watch"])
    cluster.wait(lambda: report(config)["healthy"], "the verb is still missed", 20)


def check_own_rights(cluster):
    """Kepler's own account: what it may not do is reported, and its rights are judged by its own answers."""
    cluster.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
                   {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "kepler"}})
    found = report(cluster.kubeconfig(cluster.account_token(NAMESPACE, "kepler")))["findings"]
    assert {one["id"] for one in found} == {"doctor-right-missing"}, found
    assert {"may not list nodes", "may not list daemonsets.apps"} <= {one["what"] for one in found}, found


def main():
    world = World(nodes=len(ADDRESSES), port=PORT)
    with contextlib.ExitStack() as stack:
        for address in ADDRESSES:
            subprocess.run(["ip", "address", "add", address + "/32", "dev", "lo"], check=True)
            stack.callback(subprocess.run, ["ip", "address", "del", address + "/32", "dev", "lo"], check=False)
        for address in ADDRESSES:
            stack.enter_context(Exporter("--monitor.interval=1s", f"--web.listen-address={address}:{PORT}", "--kube.pods=off"))
        cluster = stack.enter_context(Cluster())
        config = cluster.plane / "kubeconfig"
        config.chmod(0o600)
        install(cluster, world)
        check_healthy(config)
        check_faults(cluster, config)
        check_own_rights(cluster)


main()
