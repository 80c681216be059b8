# SPDX-License-Identifier: Apache-2.0
"""Pods without a kubelet: an object in a real API server with the status that a kubelet would write, and, where something shall
run, the cgroups that it would make, with our processes in them. So a node can have more pods than this machine could run."""
import concurrent.futures
import contextlib
import hashlib
import os
import pathlib
import subprocess

from containers import TOP, pod_parent, remove_cgroup, remove_group
from rig import BUILD

NAMESPACES = ("prod", "dev")
ROOTS = [pathlib.Path(fields[1]) for fields in map(str.split, pathlib.Path("/proc/self/mounts").read_text().splitlines())
         if fields[2] in ("cgroup", "cgroup2") and "cpuset" not in fields[3]]


def container_id(uid, name, restarts=0):
    return hashlib.sha256(f"{uid}/{name}/{restarts}".encode()).hexdigest()


def pod_cgroup(uid, container):
    """Of a container, as a kubelet with the driver cgroupfs makes it, from the root of each hierarchy."""
    return f"{pod_parent(uid, 'cgroupfs')}/{container}".lstrip("/")


def join(cgroup):
    """For preexec_fn: into that cgroup, which is made where it does not exist."""
    for root in ROOTS:
        with contextlib.suppress(OSError):
            (root / cgroup).mkdir(parents=True, exist_ok=True)
            (root / cgroup / "cgroup.procs").write_text("0")


@contextlib.contextmanager
def runs_in(cgroup, *command):
    """A command, and nothing else, in a cgroup."""
    with subprocess.Popen(command, preexec_fn=lambda: join(cgroup)) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            remove_cgroup(cgroup)


class PodObject:
    """One pod on a node that need not be: containers "main" and "side"."""

    def __init__(self, cluster, name, node, namespace=NAMESPACES[0], labels=None):
        self.cluster, self.name, self.node, self.namespace = cluster, name, node, namespace
        self.path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        answer = cluster.create(self.path.rsplit("/", 1)[0], {
            "metadata": {"name": name, "labels": labels or {"app": name.split("-")[0]}},
            "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
                     "containers": [{"name": "main", "image": "img:1", "resources": {"requests": {"cpu": "100m"}}},
                                    {"name": "side", "image": "img:2"}]}})
        if "uid" not in answer["metadata"]:  # it exists: our first request got through, its answer did not
            _, answer = cluster.api("GET", self.path)
        self.uid = answer["metadata"]["uid"]
        self.ids = {part: container_id(self.uid, part) for part in ("main", "side")}
        self.groups, self.works = {}, []
        self.restarts = 0

    def labels(self, part):
        return {"pod_name": self.name, "container_namespace": self.namespace, "container_name": part}

    def plan(self):
        return [(self.ids[part], self.labels(part)) for part in self.ids]

    def run(self, phase="Running"):
        """What the kubelet says once its containers have begun."""
        statuses = [{"name": part, "image": "img", "imageID": "x", "ready": True, "restartCount": self.restarts,
                     "containerID": "containerd://" + found, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
                    for part, found in self.ids.items()]
        status, answer = self.cluster.api("PATCH", self.path + "/status",
                                          {"status": {"phase": phase, "qosClass": "Burstable", "containerStatuses": statuses}},
                                          "application/merge-patch+json")
        assert status == 200, answer
        return self

    def restart(self, part):
        """A new container in the same place of the same pod."""
        self.restarts += 1
        self.ids[part] = container_id(self.uid, part, self.restarts)
        return self.run()

    def join(self, part):
        """For preexec_fn: into the cgroups of a container."""
        for folder in self.groups[part]:
            with contextlib.suppress(OSError):
                (folder / "cgroup.procs").write_text(str(os.getpid()))

    def start(self, part, *command):
        """A process of ours in the container; its cgroups are made when this is the first."""
        relative = pod_cgroup(self.uid, self.ids[part])
        if self.groups.get(part, [None])[0] is None or self.groups[part][0].name != self.ids[part]:
            self.remove(part)
            self.groups[part] = []
            for root in ROOTS:
                with contextlib.suppress(OSError):
                    (root / relative).mkdir(parents=True, exist_ok=True)
                    self.groups[part].append(root / relative)
            assert self.groups[part], "no cgroup hierarchy can be written"
        work = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: self.join(part))
        self.works.append(work)
        return work

    def tick(self, part):
        """Some microseconds of work each second, until the pod is deleted."""
        return self.start(part, str(BUILD / "tests/lab/load"), "ring", "1")

    def burn(self, part, milliseconds):
        return self.start(part, str(BUILD / "tests/lab/load"), "mix", str(milliseconds), str(milliseconds), "1")

    def remove(self, part):
        for folder in self.groups.pop(part, []):
            remove_group(folder, 0.4)  # where its work still runs it stays
            with contextlib.suppress(OSError):
                folder.parent.rmdir()

    def delete(self):
        """As when a pod is taken away: its processes, its cgroups, then the object."""
        for work in self.works:
            work.terminate()
            work.wait()
        for part in list(self.groups):
            self.remove(part)
        self.cluster.api("DELETE", self.path, {"gracePeriodSeconds": 0})


def make_namespaces(cluster, *more):
    for name in (*NAMESPACES, *more):
        cluster.create("/api/v1/namespaces", {"metadata": {"name": name}})


def run_many(cluster, count, nodes, prefix="pod"):
    """`count` running pods, spread over nodes lab-0, lab-1 …"""
    make_namespaces(cluster)
    for number in range(nodes):
        cluster.create("/api/v1/nodes", {"kind": "Node", "apiVersion": "v1", "metadata": {"name": f"lab-{number}"}})

    def one(number):
        return PodObject(cluster, f"{prefix}-{number:05d}", f"lab-{number % nodes}", NAMESPACES[number % 2]).run()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(count)))


def remove_cgroups():
    for root in ROOTS:
        top = root / TOP
        for folder in [*sorted(top.rglob("*"), reverse=True), top]:
            if folder.is_dir():
                with contextlib.suppress(OSError):
                    folder.rmdir()
