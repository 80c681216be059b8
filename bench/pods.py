# SPDX-License-Identifier: Apache-2.0
"""Many containers of a few processes each: plain cgroups with the paths that Kubernetes makes, in every hierarchy of this machine,
and bundles like containerd's, from which the exporter has their names. No runtime is needed."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
import containers  # noqa: E402
from rig import BUILD  # noqa: E402

ACTIVE = 2  # processes of each container that run for some microseconds every second; the others sleep
PREFIX = "bench"


class Pods:
    """`count` containers of `processes` each, `per_pod` in a pod; with `sandboxes`, each pod has one more, of one process."""
    tasks = pathlib.Path("/run/containerd/io.containerd.runtime.v2.task/k8s.io")

    def __init__(self, count, processes, per_pod=4, namespaces=1, sandboxes=False):
        self.cgroups, self.loads = [], []
        self.roots = [root for root, controllers in containers.hierarchies() if "cpuset" not in (controllers or [])]
        self.tasks.mkdir(parents=True, exist_ok=True)
        pod = None
        for number in range(count):
            if number % per_pod == 0:
                index = number // per_pod
                pod = containers.new_pod(f"{PREFIX}-{index}", f"{PREFIX}-{index % namespaces}")
                if sandboxes:
                    notes = containers.cri_annotations("", pod)
                    self.add(pod, {**notes, "io.kubernetes.cri.container-type": "sandbox"}, [("idle", 0)])
            kinds = [("ring", ACTIVE)] + ([("idle", processes - ACTIVE - 2)] if processes > 1 + ACTIVE else [])
            self.add(pod, containers.cri_annotations(f"c{number % per_pod}", pod), kinds)

    def add(self, pod, notes, kinds):
        """A container with these notes in its bundle, and a process that sleeps for each kind of its children."""
        container_id = containers.new_id()
        cgroup = f"{containers.pod_parent(pod['uid'], 'systemd')}/cri-containerd-{container_id}.scope"
        bundle = self.tasks / container_id
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps({"ociVersion": "1.0.2", "annotations": notes,
                                                        "linux": {"cgroupsPath": cgroup}}))
        self.cgroups.append((cgroup, bundle))
        for root in self.roots:
            (root / cgroup.lstrip("/")).mkdir(parents=True, exist_ok=True)

        def join():
            for root in self.roots:
                with contextlib.suppress(OSError):
                    (root / cgroup.lstrip("/") / "cgroup.procs").write_text(str(os.getpid()))

        for mode, children in kinds:
            command = [BUILD / "tests/lab/load", mode, str(children)] if children else ["sleep", "infinity"]
            self.loads.append(subprocess.Popen(command, preexec_fn=join, stdout=subprocess.DEVNULL))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for load in self.loads:
            load.send_signal(signal.SIGKILL)  # its children die with it
        for load in self.loads:
            load.wait()
        time.sleep(1)
        for cgroup, bundle in self.cgroups:
            containers.remove_cgroup(cgroup)
            shutil.rmtree(bundle)
