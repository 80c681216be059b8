#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""10 pods a second come, work and go, over a real API server: no energy is shown under another pod's name, every response sums,
and memory stays flat. One minute; with KEPLER_LONG_TESTS half an hour."""
import os
import threading
import time

from kube_lab import Cluster
from kube_names import Owners, follow, percentile
from kube_pods import PodObject, make_namespaces, remove_cgroups
from rig import Exporter, Sensors, rapl_zone, release_binary

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
SECONDS = int(os.environ.get("KEPLER_CHURN_SECONDS", 1800 if LONG else 60))
RATE = 10
LIFE = 4  # seconds of a pod
NODE = "lab-0"


class Generator(threading.Thread):
    """Starts a pod each 1/RATE s; names come again and again, so that a name never identifies a pod."""

    def __init__(self, cluster, owners):
        super().__init__(daemon=True)
        self.cluster, self.owners = cluster, owners
        self.made, self.behind = 0, 0
        self.failure = None

    def run(self):
        try:
            self.churn()
        except BaseException as error:  # of another thread: the main one raises it
            self.failure = error

    def churn(self):
        living, ends = [], time.monotonic() + SECONDS
        due = time.monotonic()
        while time.monotonic() < ends:
            pod = PodObject(self.cluster, f"churn-{self.made % (2 * RATE * LIFE):03d}", NODE, ("prod", "dev")[self.made % 2])
            for found, labels in pod.plan():
                self.owners.expect(found, labels)
            # the kubelet speaks up before, or after, the work has begun
            if self.made % 2:
                pod.run()
            work = pod.burn("main", 30)
            if not self.made % 2:
                pod.run()
            living.append((time.monotonic() + LIFE, pod, work))
            self.made += 1
            while living and living[0][0] < time.monotonic():
                self.end(*living.pop(0)[1:])
            due += 1 / RATE
            self.behind += due < time.monotonic() - 1
            time.sleep(max(0, due - time.monotonic()))
        for _, pod, work in living:
            self.end(pod, work)

    @staticmethod
    def end(pod, work):
        work.wait()
        pod.delete()


def watch_it(exporter, owners, generator):
    """Responses; samples of (time, resident MB, fds)."""
    samples, began = [], time.monotonic()
    while generator.is_alive():
        metrics = owners.look()
        assert not metrics.imbalance_uj() and not metrics.pod_imbalance_uj(), (metrics.imbalance_uj(), metrics.pod_imbalance_uj())
        assert not owners.wrong, owners.wrong[:3]
        samples.append((time.monotonic() - began, float(metrics.value("kepler_exporter_resident_memory_bytes")) / 1e6,
                        int(metrics.value("kepler_exporter_open_fds"))))
        time.sleep(0.3)
    return samples


def main():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as sensors, Cluster() as cluster:
        make_namespaces(cluster, "kepler")
        config = cluster.kubeconfig(cluster.install_account("apiserver"))
        try:
            with Exporter(f"--host.sysfs={sensors.mount}", "--kube.pods=apiserver", f"--kube.kubeconfig={config}",
                          f"--kube.node-name={NODE}", "--metrics.settle=0s", "--metrics.keep=20s",
                          binary=release_binary()) as exporter:
                exporter.intervals(2)
                owners = Owners(exporter)
                generator = Generator(cluster, owners)
                generator.start()
                samples = watch_it(exporter, owners, generator)
                if generator.failure:
                    raise generator.failure
                follow(owners, 5)
                late = owners.intervals()
                worked = {found for found, labels in owners.plan.items() if labels["container_name"] == "main"}
                missed = owners.never_right(worked)
                # names of ended containers are kept for 10 minutes: before that memory cannot be flat
                settled = samples[int(len(samples) * 0.4)]
                half = settled[1], samples[-1][1]
                print(f"{generator.made} pods in {SECONDS} s, {len(owners.wrong)} wrong owners in {len(samples)} responses; names "
                      f"after {percentile(late, 0.5)} (p50), {percentile(late, 0.99)} (p99) intervals; {len(missed)} never named; "
                      f"resident {half[0]:.1f} MB after 2/5, {half[1]:.1f} MB at the end; fds {samples[-1][2]}")
                assert generator.made >= 0.9 * RATE * SECONDS, f"only {generator.made} pods: this machine is too slow"
                assert len(missed) <= 0.01 * len(worked), len(missed)
                assert percentile(late, 0.99) <= 2, late[-50:]
                assert half[1] - half[0] <= (1 if SECONDS >= 1800 else 8), samples[::100]
                assert samples[-1][2] <= settled[2] + 4, samples[::100]
                assert exporter.stop() == 0
        finally:
            remove_cgroups()


main()
