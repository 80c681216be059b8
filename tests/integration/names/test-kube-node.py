#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A full node (R25, in short; kube-scale has its cost in full): 500 pods of 5,000 that an API server has, of about 8 KiB each.

The first list is there within a second and costs at most 5 MB more than that of one pod; lists and watches are of this node only;
a new pod's names are there within two intervals (p99) while other nodes' pods come and go. Measured of the release.
"""
import gzip
import json
import tempfile
import time

import fake_kubernetes
from certificates import Authority
from fake_kubernetes import NODE, Account, FakeKubernetes, Probe, make_pod, pod_id
from kube_rig import release_probe

PODS, OTHERS, NEW = 500, 4500, 100
INTERVAL_MS = 500
FULL = {"containers": ("main", "side"), "filler": 60,
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x" * 1000},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {f"f:field-{i}": {} for i in range(60)}}]}


def answer_at_once(fake):
    """This node's list is made before it is asked for: what the server's own work costs is not what is measured."""
    pods = [pod for pod in fake.pods.values() if pod["spec"]["nodeName"] == NODE]
    body = gzip.compress(json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": str(fake.version)},
                                     "items": pods}).encode(), 1)

    def fault(request, kind):
        if kind != "list" or request.query.get("fieldSelector") != "spec.nodeName=" + NODE:
            return False
        assert "gzip" in request.headers["Accept-Encoding"], "it does not ask for gzip"
        request.answer(200, body, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")])
        return True
    fake.fault = fault


def first_list(directory, authority, pods, others):
    """The server, its probe once it knows all, how long that took since it was asked, and its peak of memory in KiB."""
    fake = FakeKubernetes(authority.server_context())
    for index in range(pods):
        fake.put(make_pod(f"shop-{index:05d}", **FULL))
    for index in range(others):
        pod = make_pod(f"other-{index:05d}", node=f"node-{2 + index % 9}")
        fake.pods[pod["metadata"]["uid"]] = pod
    fake.compact()
    answer_at_once(fake)
    probe = Probe(Account(directory, fake, authority), source="apiserver", timing={})
    probe.until(lambda p: p.stats()["pods"] >= pods, seconds=30)
    took = time.monotonic() - fake.requests("list")[0][0]
    probe.until(lambda p: fake.requests("watch"))
    stats = probe.stats()
    assert (stats["pods"], stats["bad_pods"], stats["failures"]) == (pods, 0, 0), stats
    return fake, probe, took, stats["peak_kib"] - probe.base["rss_kib"]


def new_pods(fake, probe):
    """How long each new pod's names took, in intervals."""
    probe.ask(f"interval {INTERVAL_MS}")
    took = []
    for index in range(NEW):
        fake.put(make_pod(f"noise-{index}", node="node-2"))
        pod = fake.put(make_pod(f"new-{index}"))
        took.append(probe.until(lambda p, pod=pod: p.find(pod_id(pod)), what=f"pod {index} has no name") * 1000 / INTERVAL_MS)
    assert probe.stats()["pods"] == PODS + NEW, probe.stats()
    return sorted(took)


def main():
    fake_kubernetes.PROBE = release_probe()
    with tempfile.TemporaryDirectory() as directory:
        authority = Authority(directory)
        _, one, _, least = first_list(directory, authority, 1, 0)
        with one:
            pass
        fake, probe, took, most = first_list(directory, authority, PODS, OTHERS)
        print(f"{PODS} pods after {took * 1000:.0f} ms, peak {most} KiB, of one pod {least} KiB", flush=True)
        with probe:
            assert most - least < 5 << 10
            waits = new_pods(fake, probe)
            print(f"names of {NEW} new pods: median {waits[NEW // 2]:.2f} intervals, p99 {waits[NEW * 99 // 100]:.2f}")
            assert waits[NEW * 99 // 100] <= 2
        for entry in fake.log:
            assert entry[2].get("fieldSelector") == "spec.nodeName=" + NODE, entry


main()
