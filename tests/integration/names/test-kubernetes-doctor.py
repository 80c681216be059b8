#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler doctor --cluster` against a real API server, and through its proxy of pods with running Keplers.

Everything in the lab has just been created, and the doctor gives it time. So it asks through a proxy, which makes the times in
objects an hour older; one case asks the server itself.

The lab has no network for pods, so each pod is an exporter on an address of this machine, and no kubelet and no controller: the
statuses that they would write are written by the test. The server's own answers are real: lists, selectors, access reviews for the
accounts and roles of deploy/kubernetes, and the proxy.
"""
import calendar
import contextlib
import copy
import http.client
import http.server
import json
import re
import subprocess
import threading
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


class Aging(http.server.BaseHTTPRequestHandler):
    """Passes requests on as the administrator, as kubectl proxy does; what was created is an hour older in the answers."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @staticmethod
    def age(found):
        then = time.strptime(found[2].decode(), "%Y-%m-%dT%H:%M:%SZ")
        return found[1] + time.strftime('"%Y-%m-%dT%H:%M:%SZ"', time.gmtime(calendar.timegm(then) - 3600)).encode()

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        cluster = self.server.cluster
        connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls, timeout=60)
        connection.request(self.command, self.path, body or None, {
            "Authorization": "Bearer " + cluster.token, "Accept": self.headers.get("Accept", "*/*"),
            "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if "/proxy/" not in self.path:
            text = re.sub(rb'("(?:creationTimestamp|lastTransitionTime|time)": ?)"([^"]*Z)"', self.age, text)
        self.send_response_only(answer.status)
        self.send_header("Date", answer.getheader("Date"))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        connection.close()

    do_GET = do_POST = pass_on


@contextlib.contextmanager
def aging(cluster):
    """The URL of such a proxy."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Aging)
    server.daemon_threads = True
    server.cluster = cluster
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


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


def report(way):
    """`way`: a kubeconfig, or the URL of a proxy."""
    flag = f"--api-server={way}" if str(way).startswith("http:") else f"--kubeconfig={way}"
    done = subprocess.run([KEPLER, "doctor", "--cluster", "--json", flag], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.stdout and not done.stderr, (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert done.returncode == (0 if found["healthy"] else 1)
    return found


def expect(way, *ids):
    """The findings besides that an exporter here may only estimate, by their ids."""
    found = [one for one in report(way)["findings"] if one["id"] != "node-estimates"]
    assert sorted(one["id"] for one in found) == sorted(ids), json.dumps(found, indent=1)
    return {one["id"]: one for one in found}


def check_healthy(way):
    expect(way)
    found = report(way)
    assert found["kubernetes"].startswith("v1.") and found["node_count"] == len(ADDRESSES), found
    for one in found["nodes"]:
        assert one["exporter"]["interval_seconds"] == 1 and one["clock_skew_seconds"] == 0, one


def check_faults(cluster, way):
    """One at a time; each is undone."""
    merge(cluster, "nodes", "node-1", {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}})
    pod = cluster.api("GET", CREATE["pods"] + "/kepler-1")[1]
    assert cluster.api("DELETE", CREATE["pods"] + "/kepler-1?gracePeriodSeconds=0")[0] == 200
    assert expect(way, "node-without-pod")["node-without-pod"]["nodes"] == ["node-1"]
    merge(cluster, "nodes", "node-1", {"spec": {"taints": None}})
    assert "although it may run" in expect(way, "node-without-pod")["node-without-pod"]["what"]
    create_pod(cluster, pod)
    expect(way)
    crashed = copy.deepcopy(pod["status"]["containerStatuses"])
    crashed[0].update(ready=False, restartCount=5, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
    set_status(cluster, "pods", "kepler-1", {"containerStatuses": crashed})
    assert "CrashLoopBackOff" in expect(way, "pod-not-running")["pod-not-running"]["what"]
    set_status(cluster, "pods", "kepler-1", {"containerStatuses": pod["status"]["containerStatuses"]})
    merge(cluster, "podmonitors", "kepler", {"metadata": {"labels": {"release": "other"}}})
    command = expect(way, "monitor-not-selected")["monitor-not-selected"]["command"]
    assert command == f"kubectl -n {NAMESPACE} label podmonitor kepler --overwrite release=prom", command
    cluster.kubectl(*command.split()[1:])  # the command mends it
    expect(way)
    merge(cluster, "podmonitors", "kepler", {"spec": {"podMetricsEndpoints": [{"port": "web", "interval": "15s"}]}})
    expect(way, "monitor-port-missing")
    merge(cluster, "podmonitors", "kepler", {"spec": {"podMetricsEndpoints": [{"port": "metrics", "interval": "500ms"}]}})
    expect(way, "scrape-too-fast")
    merge(cluster, "podmonitors", "kepler", {"spec": {"podMetricsEndpoints": [{"port": "metrics", "interval": "15s"}]}})
    merge(cluster, "leases", "node-0", {"spec": {"renewTime": rfc3339(time.time() + 90)}})
    assert expect(way, "clock-skew")["clock-skew"]["nodes"] == ["node-0"]
    merge(cluster, "leases", "node-0", {"spec": {"renewTime": rfc3339(time.time() - 3)}})
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kepler"
    rules = lambda verbs: cluster.api("PATCH", role, {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]},
                                      "application/merge-patch+json")
    rules(["list"])
    cluster.wait(lambda: any(one["id"] == "right-missing" for one in report(way)["findings"]), "the verb is not missed", 20)
    assert "may not watch pods" in expect(way, "right-missing")["right-missing"]["what"]
    rules(["list", "watch"])
    cluster.wait(lambda: report(way)["healthy"], "the verb is still missed", 20)


def create_pod(cluster, pod):
    create(cluster, "pods", {"metadata": {key: pod["metadata"][key] for key in ("name", "namespace", "labels")},
                             "spec": {"nodeName": pod["spec"]["nodeName"],
                                      "containers": [{"name": "kepler", "image": "kepler:0.1.0"}]},
                             "status": pod["status"]})


def check_absence(cluster, way, config):
    """What keeps a pod off a node on purpose is a note, and what has just come is given time."""
    pod = cluster.api("GET", CREATE["pods"] + "/kepler-1")[1]
    assert cluster.api("DELETE", CREATE["pods"] + "/kepler-1?gracePeriodSeconds=0")[0] == 200
    expect(way, "node-without-pod")
    expect(config, "node-new")  # the server's own times
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "metered", "operator": "In", "values": ["yes"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    for change, undo in (({"affinity": affinity}, {"affinity": None}),
                         ({"nodeSelector": {"metered": "yes"}}, {"nodeSelector": None})):
        template(cluster, change)
        assert expect(way, "node-excluded")["node-excluded"]["nodes"] == ["node-1"]
        merge(cluster, "nodes", "node-1", {"metadata": {"labels": {"metered": "yes"}}})
        assert "although it may run" in expect(way, "node-without-pod")["node-without-pod"]["what"]
        merge(cluster, "nodes", "node-1", {"metadata": {"labels": {"metered": None}}})
        template(cluster, undo)
    create_pod(cluster, pod)
    expect(way)


def template(cluster, change):
    """A change of the pods' specification that the controller has seen and carried out."""
    changed = merge(cluster, "daemonsets", "kepler", {"spec": {"template": {"spec": change}}})
    set_status(cluster, "daemonsets", "kepler", {**changed["status"], "observedGeneration": changed["metadata"]["generation"]})


def check_rollout(cluster, way, config):
    """It is a note while it goes on, by the times that the server itself keeps."""
    changed = merge(cluster, "daemonsets", "kepler", {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}})
    expect(way, "daemonset-not-observed")
    status = {**changed["status"], "observedGeneration": changed["metadata"]["generation"]}
    set_status(cluster, "daemonsets", "kepler", {**status, "updatedNumberScheduled": 1})
    expect(way, "daemonset-not-updated")
    expect(config, "rollout-in-progress")
    set_status(cluster, "daemonsets", "kepler", status)
    expect(way)


def check_memory(cluster, way):
    pod = cluster.api("GET", CREATE["pods"] + "/kepler-1")[1]
    template(cluster, {"containers": [{"name": "kepler", "image": "kepler:0.1.0", "resources": {"limits": {"memory": "1Gi"}},
                                       "env": [{"name": "KEPLER_KUBE_PODS", "value": "apiserver"}],
                                       "ports": [{"name": "metrics", "containerPort": PORT}]}]})
    for hours in (1, 30):
        ended = copy.deepcopy(pod["status"]["containerStatuses"])
        then = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - hours * 3600))
        ended[0].update(restartCount=1, lastState={"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": then}})
        set_status(cluster, "pods", "kepler-1", {"containerStatuses": ended})
        found = expect(way, *(["pod-out-of-memory"] if hours < 24 else []))
        if found:
            command = found["pod-out-of-memory"]["command"]
            cluster.kubectl(*command.split()[1:])  # the command raises the limit
            daemonset = cluster.api("GET", CREATE["daemonsets"] + "/kepler")[1]
            limits = daemonset["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
            assert limits == {"memory": "2Gi"}, limits
            template(cluster, {})
    set_status(cluster, "pods", "kepler-1", {"containerStatuses": pod["status"]["containerStatuses"]})
    expect(way)


def every_pod(endpoint):
    return {"metadata": {"name": "all", "namespace": NAMESPACE, "labels": {"release": "prom"}},
            "spec": {"namespaceSelector": {"any": True}, "selector": {}, "podMetricsEndpoints": [endpoint]}}


def check_monitors_of_others(cluster, way):
    for endpoint, finding in (({"port": "web"}, None), ({"port": "metrics", "path": "/stats"}, None),
                              ({"portNumber": PORT}, "scraped-twice"),
                              ({"port": "metrics", "relabelings": [{"action": "keep", "regex": "x"}]}, None)):
        create(cluster, "podmonitors", every_pod(endpoint))
        expect(way, *([finding] if finding else []))
        kepler = cluster.api("GET", CREATE["podmonitors"] + "/kepler")[1]
        assert cluster.api("DELETE", CREATE["podmonitors"] + "/kepler")[0] == 200
        expect(way, *(["monitor-missing"] if endpoint in ({"port": "web"}, {"port": "metrics", "path": "/stats"}) else []))
        create(cluster, "podmonitors", {"metadata": {key: kepler["metadata"][key] for key in ("name", "namespace", "labels")},
                                        "spec": kepler["spec"]})
        assert cluster.api("DELETE", CREATE["podmonitors"] + "/all")[0] == 200
    expect(way)


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
        way = stack.enter_context(aging(cluster))
        check_healthy(config)
        check_healthy(way)
        check_faults(cluster, way)
        check_absence(cluster, way, config)
        check_rollout(cluster, way, config)
        check_memory(cluster, way)
        check_monitors_of_others(cluster, way)
        check_own_rights(cluster)


main()
