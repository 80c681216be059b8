#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real API server behind a proxy that fails (R30 to R33): whatever happens to it, energy goes on, requests back off,
and names come back with it."""
import os
import pathlib
import subprocess
import sys
import time

from kube_lab import Cluster
from kube_pods import NAMESPACES, PodObject, make_namespaces, run_many, remove_cgroups
from kube_proxy import FaultProxy
from rig import Exporter, Sensors, rapl_zone

NODE = "lab-0"
FAMILY = "kepler_container_package_joules_total"


class Scene:
    """What every scenario has: sensors, a cluster, a proxy before it, and the account that the manifests make."""

    def __init__(self, sensors, cluster, proxy, token):
        self.sensors, self.cluster, self.proxy, self.token = sensors, cluster, proxy, token
        self.count = 0

    def exporter(self, **more):
        return Exporter(f"--host.sysfs={self.sensors.mount}", "--kube.pods=apiserver",
                        f"--kube.kubeconfig={self.cluster.kubeconfig(self.token, server=self.proxy.url, **more)}",
                        f"--kube.node-name={NODE}", "--metrics.settle=0s")

    def pod(self):
        """A new pod with a little work every second."""
        self.count += 1
        pod = PodObject(self.cluster, f"fault-{os.getpid()}-{self.count:03d}", NODE, NAMESPACES[self.count % 2]).run()
        pod.tick("main")
        return pod

    def new_watch(self):
        """Ends the watch: what comes next meets the mode."""
        self.proxy.disconnect()


def is_named(exporter, pod):
    metrics = exporter.scrape()
    assert not metrics.imbalance_uj(), metrics.imbalance_uj()
    rows = metrics.select(FAMILY, container_id=pod.ids["main"])
    for labels, _ in rows:
        assert labels["pod_name"] in (pod.name, pod.uid), labels
    return any(labels["pod_name"] == pod.name and labels["container_namespace"] == pod.namespace and
               labels["container_name"] == "main" for labels, _ in rows)


def named_within(scene, exporter, seconds, pod=None):
    """How long a pod took to be named; a new one when none is given."""
    pod = pod or scene.pod()
    began = time.monotonic()
    while not is_named(exporter, pod):
        took = time.monotonic() - began
        asked = [(path, status) for _, path, _, status in scene.proxy.requests[-10:]]
        assert took < seconds, f"no names after {took:.0f} s\n{exporter.output()[-2000:]}\n{asked}"
        time.sleep(0.2)
    pod.delete()
    return time.monotonic() - began


def goes_on(exporter, seconds):
    """Intervals go on, with their sums, for that long."""
    first = exporter.scrape().value("kepler_exporter_snapshots_total")
    time.sleep(seconds)
    metrics = exporter.intervals(1)
    assert not metrics.imbalance_uj(), metrics.imbalance_uj()
    assert metrics.value("kepler_exporter_snapshots_total") >= first + int(seconds * 0.8), "intervals were missed"


def asked_again(scene, exporter, status):
    """Waits for the first request from now on: a watch that is cut is asked for again after 1 to 2 s."""
    began = time.monotonic()
    while not scene.proxy.since(began):
        assert time.monotonic() - began < 25, "the API server is not asked"
        goes_on(exporter, 1)
    assert scene.proxy.since(began)[0][3] == status, scene.proxy.since(began)[0][3]


def down_at_start(scene):
    """R30: energy at once, names within 10 s (and an interval) of the server's return; so again when it goes and comes later."""
    scene.proxy.down()
    pod = scene.pod()
    began = time.monotonic()
    with scene.exporter() as exporter:
        metrics = exporter.wait_snapshot(1)
        assert time.monotonic() - began < 5, "the exporter waits for the API server"
        assert metrics.sum("kepler_process_package_joules_total") >= 0 and metrics.select("kepler_node_package_joules_total")
        goes_on(exporter, 5)
        scene.proxy.up()
        first = named_within(scene, exporter, 12, pod)
        scene.proxy.down()
        goes_on(exporter, 15)
        pod = scene.pod()
        scene.proxy.up()
        second = named_within(scene, exporter, 12, pod)
        assert exporter.stop() == 0
    return f"names {first:.1f} s and {second:.1f} s after the return"


def gone(scene):
    """R31: 410 inside the stream, then 410 to a continued list, then a server that really restarted and forgot."""
    plenty = run_many(scene.cluster, 250, 1, "plenty")
    with scene.exporter() as exporter:
        named_within(scene, exporter, 10)
        scene.proxy.mode = ("gone",)
        scene.new_watch()
        once = named_within(scene, exporter, 25)
        began = time.monotonic()
        scene.proxy.mode, scene.proxy.then = ("gone",), ("stale",)
        scene.new_watch()
        took = named_within(scene, exporter, 75)
        assert scene.proxy.mode == ("pass",), "it never listed by pages"
        requests = scene.proxy.since(began)
        assert len(requests) <= 15, requests
        scene.cluster.stop_api()
        goes_on(exporter, 3)
        scene.cluster.compact()
        scene.cluster.start_api()
        restarted = named_within(scene, exporter, 75)
        for pod in plenty:
            pod.delete()
        assert exporter.stop() == 0
    return f"{once:.1f} s after 410, {took:.1f} s and {len(requests)} requests after 410 twice, {restarted:.1f} s after a restart"


def bad_answers(scene):
    """R32: each for a while; few requests meanwhile; names when it is over, at the latest after the longest back-off."""
    took = {}
    with scene.exporter() as exporter:
        named_within(scene, exporter, 10)
        for mode in (("status", 429, 3), ("status", 500), ("status", 503), ("cut",), ("reset",), ("slow",)):
            began = time.monotonic()
            scene.proxy.mode = mode
            scene.new_watch()
            goes_on(exporter, 18)
            requests = scene.proxy.since(began)
            assert 1 <= len(requests) <= 5, (mode, len(requests))
            scene.proxy.mode = ("pass",)
            took[" ".join(map(str, mode))] = named_within(scene, exporter, 75)
        assert exporter.stop() == 0
    return ", ".join(f"{mode}: {seconds:.0f} s" for mode, seconds in took.items())


def long_outage(scene):
    """R30: one request in 10 s at most while it fails for long, and names within 10 s (and an interval) when it does no more."""
    with scene.exporter() as exporter:
        named_within(scene, exporter, 10)
        scene.proxy.mode = ("status", 503)
        scene.new_watch()
        time.sleep(5)
        began = time.monotonic()
        goes_on(exporter, 60)
        requests = scene.proxy.since(began)
        pod = scene.pod()
        scene.proxy.mode = ("pass",)
        times = [request[0] for request in requests]
        assert 4 <= len(requests) <= 6, len(requests)
        assert all(later - earlier >= 10 for earlier, later in zip(times, times[1:])), times
        took = named_within(scene, exporter, 12, pod)
        assert exporter.stop() == 0
    return f"{len(requests)} requests in 60 s, names {took:.1f} s after its end"


def slow_watch(scene):
    """R32: an event that comes at one byte a second is not waited for; the watch that follows brings it."""
    with scene.exporter() as exporter:
        named_within(scene, exporter, 10)
        scene.proxy.mode = ("slow",)
        scene.new_watch()
        began = time.monotonic()
        while not scene.proxy.since(began):
            assert time.monotonic() - began < 25, "the API server is not asked"
            goes_on(exporter, 1)
        pod = scene.pod()
        while len(scene.proxy.since(began)) < 2:
            assert time.monotonic() - began < 90, "still reading"
            goes_on(exporter, 2)
        left = time.monotonic() - began
        scene.proxy.mode = ("pass",)
        took = named_within(scene, exporter, 60, pod)
        assert exporter.stop() == 0
    return f"left after {left:.0f} s, names {took:.1f} s later"


def silent_watch(scene):
    """R32: a watch that hears nothing any more, not even bookmarks, is left for another one."""
    with scene.exporter() as exporter:
        named_within(scene, exporter, 10)
        scene.proxy.mode = ("silent",)
        pod = scene.pod()
        began = time.monotonic()
        while not scene.proxy.since(began):
            assert time.monotonic() - began < 200, "still listening"
            goes_on(exporter, 2)
        left = time.monotonic() - began
        scene.proxy.mode = ("pass",)
        took = named_within(scene, exporter, 60, pod)
        assert exporter.stop() == 0
    return f"left after {left:.0f} s, names {took:.1f} s later"


def token_and_rights(scene):
    """R33: a rotated token is used at once, a bad one and no rights are state; then good again."""
    with scene.exporter() as exporter:
        named_within(scene, exporter, 10)
        secret = pathlib.Path(scene.cluster.dir, "kepler.token")
        fresh = scene.cluster.account_token("kepler", "kepler")
        secret.write_text(fresh)
        began = time.monotonic()
        scene.new_watch()
        named_within(scene, exporter, 20)
        assert all(token == "Bearer " + fresh for _, _, token, _ in scene.proxy.since(began)), "an old token"
        secret.write_text("not-a-token")
        scene.new_watch()
        asked_again(scene, exporter, 401)
        secret.write_text(fresh)
        after_401 = named_within(scene, exporter, 75)
        scene.cluster.kubectl("delete", "clusterrolebinding", "kepler")
        time.sleep(1)
        scene.new_watch()
        asked_again(scene, exporter, 403)
        scene.cluster.install_account("apiserver")
        after_403 = named_within(scene, exporter, 75)
        assert fresh not in exporter.output(), "the token is in the log"
        assert exporter.stop() == 0
    return f"{after_401:.0f} s after 401, {after_403:.0f} s after 403"


def certificates(scene):
    """R33: an expired certificate and a foreign CA are never accepted; a rotated CA is."""
    good = scene.cluster.certificate("good")
    ca = scene.cluster.dir / "rotated-ca.crt"
    ca.write_bytes((scene.cluster.plane / "ca.crt").read_bytes())
    other = str(scene.cluster.dir / "other")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", other + ".key", "-out", other + ".crt",
                    "-days", "30", "-subj", "/CN=other", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with scene.exporter(ca=ca) as exporter:
        named_within(scene, exporter, 10)
        for name, pair in (("expired", scene.cluster.certificate("expired", -1)), ("foreign", (other + ".crt", other + ".key"))):
            scene.proxy.use_certificate(*pair)
            scene.new_watch()
            began = time.monotonic()
            goes_on(exporter, 18)
            assert not scene.proxy.since(began), f"spoke to a server with a certificate that is {name}"
        ca.write_bytes(pathlib.Path(other + ".crt").read_bytes())
        rotated = named_within(scene, exporter, 75)
        assert exporter.stop() == 0
    scene.proxy.use_certificate(*good)
    return f"{rotated:.0f} s after the rotation"


SCENARIOS = (down_at_start, gone, bad_answers, long_outage, slow_watch, silent_watch, token_and_rights, certificates)


def main():
    wanted = sys.argv[1:]
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as sensors, Cluster() as cluster, FaultProxy(cluster) as proxy:
        make_namespaces(cluster, "kepler")
        scene = Scene(sensors, cluster, proxy, cluster.install_account("apiserver"))
        try:
            for scenario in SCENARIOS:
                if not wanted or scenario.__name__ in wanted:
                    print(f"{scenario.__name__}: {scenario(scene)}", flush=True)
        finally:
            remove_cgroups()


main()
