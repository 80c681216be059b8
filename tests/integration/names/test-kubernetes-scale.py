#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""5,000 pods on 20 nodes in a real API server (R25): the exporter of one node learns its own 250 only, cheaply, and the names of
pods that appear are right within 2 intervals (p99)."""
import time

from kube_lab import Cluster
from kube_names import Owners, follow, percentile
from kube_pods import PodObject, run_many, remove_cgroups
from rig import Exporter, Sensors, rapl_zone, release_binary

PODS, NODES, NEW = 5000, 20, 60
NODE = "lab-0"


def pod_objects(cluster):
    began = time.monotonic()
    pods = run_many(cluster, PODS, NODES)
    print(f"{PODS} pods on {NODES} nodes in {time.monotonic() - began:.0f} s")
    return [pod for pod in pods if pod.node == NODE]


def first_list(cluster, config, sensors):
    """What knowing the node's pods costs."""
    usage = {}
    for mode in ("off", "apiserver"):
        with Exporter(f"--host.sysfs={sensors.mount}", f"--kube.pods={mode}", f"--kube.kubeconfig={config}",
                      f"--kube.node-name={NODE}", binary=release_binary()) as exporter:
            metrics = exporter.intervals(6)
            usage[mode] = (float(metrics.value("kepler_exporter_cpu_seconds_total")),
                           float(metrics.value("kepler_exporter_resident_memory_bytes")) / 1e6)
    cpu_ms = (usage["apiserver"][0] - usage["off"][0]) * 1000
    memory = usage["apiserver"][1] - usage["off"][1]
    print(f"{PODS // NODES} pods of this node: {cpu_ms:.0f} ms CPU and {memory:.1f} MB more than without")
    return cpu_ms, memory


def newcomers(cluster, config, sensors, old):
    with Exporter(f"--host.sysfs={sensors.mount}", "--kube.pods=apiserver", f"--kube.kubeconfig={config}",
                  f"--kube.node-name={NODE}", "--monitor.interval=1s", "--metrics.settle=0s") as exporter:
        exporter.intervals(3)
        owners = Owners(exporter)
        owners.look()
        for pod in old[:20]:  # known long before they do anything
            for found, labels in pod.plan():
                owners.expect(found, labels)
            pod.burn("main", 1000)
        follow(owners, 6)
        fresh = []
        for number in range(NEW):
            pod = PodObject(cluster, f"new-{number:03d}", NODE).run()
            pod.burn("main", 500)
            owners.expect(pod.ids["main"], pod.labels("main"))
            fresh.append(pod)
            follow(owners, 0.5)
        follow(owners, 10, until=lambda: not owners.never_right({pod.ids["main"] for pod in fresh}))
        wanted = {pod.ids["main"] for pod in fresh}
        late = owners.intervals(wanted)
        assert not owners.never_right(wanted), owners.never_right(wanted)
        assert not owners.never_right({pod.ids["main"] for pod in old[:20]})
        print(f"{len(late)} new pods: names after {percentile(late, 0.5)} (p50), {percentile(late, 0.99)} (p99) intervals")
        assert percentile(late, 0.99) <= 2, late
        for pod in fresh + old[:20]:
            pod.delete()
        assert exporter.stop() == 0


def main():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as sensors, Cluster() as cluster:
        cluster.kubectl("create", "namespace", "kepler")
        config = cluster.kubeconfig(cluster.install_account("apiserver"))
        try:
            old = pod_objects(cluster)
            cpu_ms, memory = first_list(cluster, config, sensors)
            assert cpu_ms <= 60 and memory <= 12, (cpu_ms, memory)
            newcomers(cluster, config, sensors, old)
        finally:
            remove_cgroups()


main()
