#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real node (kubelet, containerd, runc) with everything that makes pods, while other work fills both CPUs: every container is
named after its pod within two intervals (p99) and never after another, from both sources, and parts sum to the whole. A pod is one
series from its first moment on, also where a runtime that knows less than Kubernetes tells of it first."""
import collections
import json
import os
import time

from kube_lab import IMAGE, Cluster
from kube_names import CONTAINER_ID, Owners, PodWatch, follow, percentile
from rig import UID, Exporter, Sensors, Service, load, rapl_zone, release_binary

BURN = "i=0; while [ $i -lt {}0000 ]; do i=$((i+1)); done"


def container(name, script, **more):
    return {"name": name, "image": IMAGE, "imagePullPolicy": "Never", "command": ["sh", "-c", script],
            "resources": {"requests": {"cpu": "20m"}, "limits": {"cpu": "200m"}}, **more}


def pod_spec(*containers, init=(), restart="Always"):
    return {"hostNetwork": True, "terminationGracePeriodSeconds": 0, "restartPolicy": restart,
            "initContainers": list(init), "containers": list(containers)}


def template(app, spec):
    return {"metadata": {"labels": {"app": app}, "annotations": {"team": "a\"b\\c"}}, "spec": spec}


def forever():
    return container("main", "while :; do :; done")


def workloads():
    """One of each kind: (path, object)."""
    job = {"template": {"spec": pod_spec(container("main", BURN.format(20)), restart="Never")}, "backoffLimit": 0}

    def apps(kind, name, spec):
        return f"/apis/apps/v1/namespaces/shop/{kind.lower()}s", {
            "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template(name, spec),
                     **({} if kind == "DaemonSet" else {"replicas": 2}),
                     **({"serviceName": name} if kind == "StatefulSet" else {})}}

    sidecar = container("proxy", "while :; do sleep 0.1; done", restartPolicy="Always")
    yield apps("Deployment", "web", pod_spec(forever(), init=[container("prepare", BURN.format(10)), sidecar]))
    yield apps("DaemonSet", "agent", pod_spec(container("main", "while :; do sleep 0.05; done")))
    yield apps("StatefulSet", "db", pod_spec(container("main", "while :; do sleep 0.05; done")))
    yield "/apis/batch/v1/namespaces/shop/jobs", {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": job}
    yield "/apis/batch/v1/namespaces/shop/cronjobs", {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job}}}
    yield "/api/v1/namespaces/shop/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "again"}, "spec": pod_spec(container("main", BURN.format(20)))}


WORKLOADS = {"web-": ("web", "Deployment"), "agent-": ("agent", "DaemonSet"), "db-": ("db", "StatefulSet"),
             "once-": ("once", "Job"), "tick-": ("tick", "CronJob"), "same": None}


def static_pod(cluster, name):
    """Written atomically: the kubelet watches the folder."""
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, "spec": pod_spec(forever())}
    path = cluster.node / "static" / (name + ".json")
    new = cluster.node / (name + ".new")
    new.write_text(json.dumps(body))
    new.rename(path)
    return path


def ephemeral(cluster, pod):
    """A container that was not in the pod's specification when it began."""
    body = {"spec": {"ephemeralContainers": [container("look", "while :; do :; done")]}}
    body["spec"]["ephemeralContainers"][0].pop("resources")
    status, answer = cluster.api("PATCH", f"/api/v1/namespaces/shop/pods/{pod}/ephemeralcontainers", body,
                                 "application/strategic-merge-patch+json")
    assert status == 200, answer


def same_name(cluster):
    """A pod, and another one of that name right after it."""
    path = "/api/v1/namespaces/shop/pods"
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "same"}, "spec": pod_spec(forever())}
    cluster.create(path, body)
    yield
    cluster.api("DELETE", path + "/same", {"gracePeriodSeconds": 0})
    cluster.wait(lambda: cluster.api("GET", path + "/same")[0] == 404, "the pod stays", 30)
    cluster.create(path, body)
    yield


def check_workloads(metrics):
    seen = {}
    dynamic = metrics.select("kepler_pod_package_joules_total", mode="dynamic")
    series = collections.Counter(labels["pod_id"] for labels, _ in dynamic)
    assert set(series.values()) == {1}, series
    for labels, _ in metrics.select("kepler_pod_package_joules_total"):
        for prefix, wanted in WORKLOADS.items():
            if labels["container_namespace"] == "shop" and labels["pod_name"].startswith(prefix):
                if wanted:
                    assert (labels["workload"], labels["workload_type"]) == wanted, labels
                seen[prefix] = labels
    assert set(seen) == set(WORKLOADS), f"no series of {set(WORKLOADS) - set(seen)}"


class PodCounters:
    """kepler_pod_*: one series a pod, which a restart of its container does not end or set back."""

    def __init__(self):
        self.last = {}

    def look(self, metrics):
        for labels, value in metrics.select("kepler_pod_package_joules_total"):
            key = (labels["pod_id"], labels["mode"])
            assert value >= self.last.get(key, 0), (labels, value, self.last[key])
            self.last[key] = value


class Burners:
    """Work that leaves no CPU idle."""

    def __init__(self, count):
        self.loads = [load("span", 3600) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for burner in self.loads:
            burner.kill()
            burner.wait()


def beside_runtime(cluster):
    """The words in front of a command that let it see the state of the lab's containerd where a node has it."""
    script = 'mkdir -p /run/containerd && mount --bind "$0" /run/containerd && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, str(cluster.node / "containerd/state")]


def run(cluster, sensors, source, prefix=()):
    token = cluster.install_account(source)
    if source == "kubelet":
        cluster.wait(lambda: cluster.kubelet("/pods", token)[0] == 200, "no right to /pods", 40)
    began = time.monotonic()
    # Like the DaemonSet's pod it has a CPU share of its own, and is what users get.
    with Service("kepler-test-names.service") as service, Burners(os.cpu_count()), \
            Exporter(f"--host.sysfs={sensors.mount}", f"--kube.pods={source}", f"--kube.kubeconfig={cluster.kubeconfig(token)}",
                     "--kube.node-name=localhost", "--metrics.settle=0s", "--kube.pod-labels=app,team", prefix=prefix,
                     preexec=service.join, binary=release_binary()) as exporter:
        exporter.intervals(2)
        if prefix:
            assert exporter.scrape().value("kepler_exporter_name_source_up", source="runtimes") == 1
        owners = Owners(exporter)
        counters = PodCounters()
        with PodWatch(cluster, owners) as watch:
            for path, body in workloads():
                cluster.create(path, body)
            again = same_name(cluster)
            next(again)
            static = static_pod(cluster, "mirror")
            follow(owners, 20)
            counters.look(owners.look())
            ephemeral(cluster, next(p["metadata"]["name"] for p in watch.pods.values() if p["metadata"]["name"].startswith("web-")))
            next(again)
            follow(owners, 75, until=lambda: any(labels["pod_name"].startswith("tick-") for labels in list(owners.plan.values()))
                   and time.monotonic() - began > 50)
            follow(owners, 6)
            metrics = owners.look()
            counters.look(metrics)
            check_workloads(metrics)
            check_kinds(watch, owners, metrics)
            static.unlink()
        assert not owners.wrong, owners.wrong[:3]
        for what, pattern in (("pods", UID), ("containers", CONTAINER_ID)):
            late = owners.intervals([found for found in owners.plan if pattern.fullmatch(found)])
            print(f"{source}: {len(late)} {what} named, none wrongly, after {percentile(late, 0.5)} (p50), "
                  f"{percentile(late, 0.99)} (p99) intervals")
            assert percentile(late, 0.99) <= 2, late
        print(f"never: {len(owners.never_right())}; by the pod's uid only: {len(owners.nameless)}; others: {len(owners.unknown)}")
        assert not owners.never_right(), [(found, owners.plan[found]) for found in owners.never_right()]
        assert exporter.stop() == 0


def check_kinds(watch, owners, metrics):
    """Each kind of container was met: init, sidecar, ephemeral, restarted, static."""
    names = {(labels["pod_name"].split("-")[0], labels.get("container_name")) for found, labels in owners.plan.items()
             if found in owners.right_at}
    for wanted in (("web", "prepare"), ("web", "proxy"), ("web", "main"), ("web", "look"), ("mirror", "main"), ("again", "main")):
        assert wanted in names, (wanted, sorted(names))
    restarted = [found for found, labels in owners.plan.items()
                 if CONTAINER_ID.fullmatch(found) and labels["pod_name"] == "again"]
    assert len(restarted) >= 2, "the container did not restart"
    assert len(metrics.select("kepler_pod_package_joules_total", pod_name="again", mode="dynamic")) == 1
    assert metrics.select("kepler_pod_info", pod_name="mirror-localhost", qos_class="Burstable", workload_type="StaticPod")
    groups = {labels["pod_id"] for labels, _ in metrics.select("kepler_pod_package_joules_total", pod_name="mirror-localhost")}
    assert len(groups) == 1, f"the static pod is {len(groups)} pods"
    labelled = metrics.select("kepler_pod_package_joules_total", label_app="web", label_team='a"b\\c')
    assert labelled, "the pods' labels are missing"


def clean(cluster):
    cluster.kubectl("delete", "namespace", "shop", "--wait=false", fail=True)
    cluster.wait(lambda: cluster.api("GET", "/api/v1/namespaces/shop")[0] == 404, "the namespace stays", 120)


def main():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as sensors, Cluster(controllers=True, images=[]) as cluster:
        for source, prefix in (("apiserver", ()), ("kubelet", ()), ("kubelet", beside_runtime(cluster))):
            cluster.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
            cluster.wait(lambda: cluster.api("GET", "/api/v1/namespaces/shop/serviceaccounts/default")[0] == 200, "no account", 30)
            run(cluster, sensors, source, prefix)
            clean(cluster)


main()
