# SPDX-License-Identifier: Apache-2.0
"""The true owner of a container against the exporter's: wrong names, and how many intervals a right one took. The same of
pods, from their first process on, which is before the kubelet's status names a container."""
import bisect
import math
import pathlib
import re
import threading
import time

from rig import UID

CONTAINER_ID = re.compile(r"[0-9a-f]{64}")
POD_CGROUP = re.compile(r"pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})")
FAMILY = "kepler_{}_{}_joules_total"


def containers_of(pod):
    """(container id, its labels) of everything that a pod's status speaks of, those before a restart included."""
    meta, status = pod["metadata"], pod.get("status", {})
    for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(kind) or []:
            ids = {container.get("containerID", "")}
            for state in ("state", "lastState"):
                ids.add(container.get(state, {}).get("terminated", {}).get("containerID", ""))
            for full in ids:
                if "://" in full:
                    yield full.split("://")[1], {"pod_name": meta["name"], "container_namespace": meta["namespace"],
                                                 "container_name": container["name"]}


def pods_at_work():
    """The uids of pods that have a process."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/cgroup"):
        try:
            found.update(uid.replace("_", "-") for uid in POD_CGROUP.findall(path.read_text(encoding="utf-8")))
        except OSError:
            pass  # ended
    return found


class Owners:
    """The plan: container id or pod uid → labels, with the time at which it became known; and what was seen, in which snapshot. How
    late a name is follows from the exporter's own times of its snapshots, not from when this test came to look at them."""

    def __init__(self, exporter, zone="package"):
        self.exporter = exporter
        self.family, self.pod_family = FAMILY.format("container", zone), FAMILY.format("pod", zone)
        self.plan, self.known_at, self.right_at, self.wrong = {}, {}, {}, []
        self.lock = threading.Lock()
        self.snapshot, self.interval_s = 0, 1
        self.numbers, self.stamps = [], []  # of each snapshot that was looked at, in their order
        self.unknown, self.nameless = set(), set()

    def expect(self, container_id, labels):
        with self.lock:
            if container_id not in self.plan:
                self.plan[container_id] = labels
                self.known_at[container_id] = time.time()

    def _judge(self, found, labels, nameless):
        wanted = self.plan.get(found)
        if wanted is None:
            self.unknown.add(found)
        elif nameless:
            self.nameless.add(found)  # true as far as it goes
        elif any(labels.get(key) != value for key, value in wanted.items()):
            self.wrong.append((found, {key: labels.get(key) for key in wanted}, wanted))
        else:
            self.right_at.setdefault(found, self.snapshot)

    def look(self):
        """One response against the plan; the response."""
        metrics = self.exporter.scrape()
        with self.lock:
            self.snapshot = int(metrics.value("kepler_exporter_snapshots_total"))
            self.interval_s = float(metrics.value("kepler_exporter_interval_seconds"))
            if self.snapshot not in self.numbers[-1:]:
                self.numbers.append(self.snapshot)
                self.stamps.append(float(metrics.value("kepler_exporter_snapshot_timestamp_seconds")))
            for labels, _ in metrics.select(self.family):
                if CONTAINER_ID.fullmatch(labels["container_id"]):
                    self._judge(labels["container_id"], labels, UID.fullmatch(labels["pod_name"]))
            for labels, _ in metrics.select(self.pod_family):
                if labels["pod_id"] in self.plan:
                    self._judge(labels["pod_id"], labels, UID.fullmatch(labels["pod_name"]))
        return metrics

    def _newest_at(self, when):
        """The snapshot that was the newest at a time; those that were not scraped came each interval, too."""
        after = bisect.bisect_right(self.stamps, when)
        if after == len(self.stamps):
            return self.numbers[-1]
        return self.numbers[after] - math.ceil((self.stamps[after] - when) / self.interval_s)

    def intervals(self, only=None):
        """Of each container that got its names: how many intervals after it was known."""
        with self.lock:
            return sorted(max(0, at - self._newest_at(self.known_at[found])) for found, at in self.right_at.items()
                          if only is None or found in only)

    def never_right(self, only=None):
        with self.lock:
            return [found for found in self.plan if found not in self.right_at and (only is None or found in only)]


def percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] if values else None


class PodWatch(threading.Thread):
    """Keeps `owners` up to date with what the API server says of a node's pods, five times a second."""

    def __init__(self, cluster, owners, node="localhost"):
        super().__init__(daemon=True)
        self.cluster, self.owners = cluster, owners
        self.path = f"/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName%3D{node}"
        self.pods, self.stopping = {}, threading.Event()

    def run(self):
        while not self.stopping.wait(0.2):
            status, answer = self.cluster.api("GET", self.path)
            if status != 200:
                continue
            at_work = pods_at_work()
            for pod in answer["items"]:
                self.pods[pod["metadata"]["uid"]] = pod
                uid = pod["metadata"].get("annotations", {}).get("kubernetes.io/config.hash", pod["metadata"]["uid"])
                if uid in at_work:
                    self.owners.expect(uid, {"pod_name": pod["metadata"]["name"],
                                             "container_namespace": pod["metadata"]["namespace"]})
                for container_id, labels in containers_of(pod):
                    self.owners.expect(container_id, labels)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stopping.set()
        self.join()


def follow(owners, seconds, until=None):
    """Looks at every snapshot for that long; asserts that each response sums; stops when until() is true."""
    deadline = time.monotonic() + seconds
    responses = 0
    while time.monotonic() < deadline and not (until and until()):
        metrics = owners.look()
        assert not metrics.imbalance_uj(), metrics.imbalance_uj()
        assert not metrics.pod_imbalance_uj(), metrics.pod_imbalance_uj()
        assert not owners.wrong, owners.wrong[:3]
        responses += 1
        time.sleep(0.2)
    return responses
