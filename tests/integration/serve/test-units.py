#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joules per unit of work: HTTP servers in the cgroups of pods, read by the exporter itself and by a real Prometheus.

The truth is on both sides: a server counts its requests, and kepler_pod_joules_total has the energy of its pod in each snapshot.
"""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from decimal import Decimal

import containers
from fake_kubernetes import NODE, FakeKubernetes, status_of
from kube_pods import join, pod_cgroup
from prometheus_rig import Prometheus
from rig import BUILD, Exporter, Sensors, free_port, need_root, rapl_zone, run_tests

BEFORE = 1000  # requests that a server counts from the beginning
OPTIONS = ["--metrics.settle=0s", "--metrics.processes=hidden", "--units.refresh=2s"]
ENERGY, UNITS, PODS = "kepler_unit_joules_total", "kepler_units_total", "kepler_pod_joules_total"


def serve(address, port, before):
    """A server whose page has, besides its counter, what such pages have. It works as hard whatever is asked of it."""
    counted, lock = {"200": int(before), "404": 0}, threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path == "/metrics":
                with lock:
                    body = "# TYPE http_requests_total counter\n" + "".join(
                        f'http_requests_total{{code="{code}",path="/a,b}}\\""}} {count}\n' for code, count in counted.items())
                body += 'http_requests_total_created{code="200"} 1.7e9\nother{odd="# \\\\"} +Inf\n'
            else:
                with lock:
                    counted["404" if self.path == "/missing" else "200"] += 1
                body = "done\n"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # a reader that has given up
    Server((address, int(port)), Handler).serve_forever()


class Pod:
    """A server in the cgroup of a pod, and beside it a load that does not depend on requests."""

    def __init__(self, name, address, port):
        self.pod, self.id = containers.new_pod(name, "shop"), containers.new_id()
        self.name, self.address, self.port = name, address, port
        self.path = pod_cgroup(self.pod["uid"], self.id)
        self.server, self.work = None, None

    def start(self, before=BEFORE):
        self.server = subprocess.Popen([sys.executable, __file__, "--serve", self.address, str(self.port), str(before)],
                                       stdout=subprocess.DEVNULL, preexec_fn=lambda: join(self.path))
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                return self.get("/metrics")
            assert time.monotonic() < deadline and self.server.poll() is None, "the server does not start"
            time.sleep(0.05)

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.address}:{self.port}{path}", timeout=30) as answer:
            return answer.read()

    def ask(self, count, path="/"):
        for _ in range(count):
            self.get(path)

    def object(self, **labels):
        status = {"phase": "Running", "qosClass": "Burstable", "podIP": self.address,
                  "containerStatuses": [status_of("main", self.id)]}
        return {"metadata": {"name": self.name, "namespace": "shop", "uid": self.pod["uid"], "labels": labels},
                "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "i"}]}, "status": status}

    def __enter__(self):
        self.start()
        self.work = subprocess.Popen([BUILD / "tests/lab/load", "mix", "100", "100", "1000000"], stdout=subprocess.DEVNULL,
                                     preexec_fn=lambda: join(self.path))
        return self

    def __exit__(self, *exc):
        for process in (self.server, self.work):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        containers.remove_cgroup(self.path)

    def row(self, metrics, family, **labels):
        found = metrics.select(family, pod_name=self.name, **labels)
        assert len(found) <= 1, found
        return found[0][1] if found else None


class Lab:
    def __init__(self, stack, pods):
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        self.api = FakeKubernetes(token=None)
        stack.callback(self.api.down)
        self.kubeconfig = pathlib.Path(directory, "kubeconfig")
        self.kubeconfig.write_text(f"clusters: [{{name: a, cluster: {{server: '{self.api.url}'}}}}]\n"
                                   "users: [{name: a, user: {}}]\n"
                                   "contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n")
        self.kubeconfig.chmod(0o600)
        for pod in pods:
            stack.enter_context(pod)
            self.api.put(pod.object(app="web"))
        self.sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 10, busy_watts=45)))

    def exporter(self, *options):
        return Exporter(f"--host.sysfs={self.sensors.mount}", "--kube.pods=apiserver", f"--kube.kubeconfig={self.kubeconfig}",
                        f"--kube.node-name={NODE}", *OPTIONS, *options)


def wait_for(exporter, is_there, seconds=120):
    deadline = time.monotonic() + seconds
    while True:
        metrics = exporter.intervals(1)
        if is_there(metrics):
            return metrics
        assert time.monotonic() < deadline, "\n".join(l for l in metrics.text.splitlines() if "unit" in l)


def rule(port, name="requests"):
    return f"--units.rule={name} metric=http_requests_total match=code=200 namespace=shop label=app=web port={port}"


def failures(metrics):
    return metrics.value("kepler_exporter_unit_failures_total", unit="requests")


def two_pods(stack):
    port = free_port()
    return [Pod(f"web-{i}", f"127.0.7.{i}", port) for i in (1, 2)]


def runs_of(path, pod):
    """[(energy of the pod, energy of its unit)] in snapshots that follow each other, from the file that the exporter writes; a
    busy machine misses some, and another run begins."""
    snapshots = {}
    for line in path.read_text().splitlines():
        with contextlib.suppress(ValueError):  # the last one is being written
            one = json.loads(line, parse_float=Decimal)
            of = snapshots.setdefault(one["time"], {})
            if one["name"] == "kepler_exporter_snapshots_total":
                of["number"] = int(one["value"])
            elif (one["labels"].get("pod_name"), one["labels"].get("mode")) == (pod.name, "dynamic"):
                of[one["name"]] = Decimal(one["value"])
    runs, last = [[]], None
    for number, of in sorted((of.pop("number"), of) for of in snapshots.values() if len(of) == 3):
        if last is not None and number != last + 1:
            runs.append([])
        runs[-1].append((of[PODS], of[ENERGY]))
        last = number
    return runs


def assert_same_energy(path, pod):
    """From round to round, the unit has exactly what the pod has from one snapshot to another."""
    deadline = time.monotonic() + 240
    while True:
        run = max(runs_of(path, pod), key=lambda run: len({unit for _, unit in run}))
        if len({unit for _, unit in run}) >= 4:
            break
        assert time.monotonic() < deadline, run
        time.sleep(0.5)
    steps = [later - sooner for (_, sooner), (_, later) in zip(run, run[1:]) if later != sooner]
    spans = {run[j][0] - run[i][0] for i in range(len(run)) for j in range(i + 1, len(run))}
    # A round adds the energy of its pod between two snapshots; the first one may begin before the run.
    assert all(step > 0 for step in steps), run
    assert all(step in spans for step in steps[2:]), (steps, sorted(spans))


def energy_of_requests():
    """3 to 1 requests in pods that use about the same: units are exact, and the energy is the pods' own to the microjoule."""
    with contextlib.ExitStack() as stack:
        pods = two_pods(stack)
        lab = Lab(stack, pods)
        for pod in pods:
            lab.api.put(pod.object(app="other"))
        path = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()), "snapshots.json")
        exporter = stack.enter_context(lab.exporter(
            rule(pods[0].port), f"--file.path={path}", "--file.interval=1s",
            *(f"--file.keep={name}" for name in (ENERGY, PODS, "kepler_exporter_snapshots_total"))))
        metrics = wait_for(exporter, lambda m: all((pod.row(m, PODS, mode="dynamic") or 0) > 40 for pod in pods))
        assert not metrics.select(UNITS), metrics.text
        earlier = [pod.row(metrics, PODS, mode="dynamic") for pod in pods]
        for pod in pods:
            lab.api.put(pod.object(app="web"))
        wait_for(exporter, lambda m: all(pod.row(m, UNITS) is not None for pod in pods))
        for pod, count in zip(pods, (300, 100)):
            pod.ask(count)
            pod.ask(7, "/missing")  # another code: not counted
        wanted = [Decimal(300), Decimal(100)]
        metrics = wait_for(exporter, lambda m: [pod.row(m, UNITS) for pod in pods] == wanted)
        assert_same_energy(path, pods[0])
        metrics = exporter.intervals(6)
        assert not metrics.pod_imbalance_uj()
        assert [pod.row(metrics, UNITS) for pod in pods] == wanted, metrics.select(UNITS)
        per_unit = [pod.row(metrics, ENERGY, mode="dynamic") / pod.row(metrics, UNITS) for pod in pods]
        energy = [pod.row(metrics, ENERGY, mode="dynamic") for pod in pods]
        print(f"{energy[0]:.1f} J and {energy[1]:.1f} J, {per_unit[0]:.3f} J and {per_unit[1]:.3f} J a request")
        for pod, before in zip(pods, earlier):
            labels = metrics.select(ENERGY, pod_name=pod.name, mode="dynamic")[0][0]
            same = metrics.select(PODS, pod_name=pod.name, mode="dynamic")[0][0]
            assert labels == {**same, "unit": "requests"}, (labels, same)
            assert 0 < pod.row(metrics, ENERGY, mode="dynamic") <= pod.row(metrics, PODS, mode="dynamic") - before
        assert not failures(metrics), metrics.text
        assert exporter.stop() == 0


def what_fails_is_absent():
    """A server that stands still: its series end, the other's go on; then neither energy nor requests of the gap are there."""
    with contextlib.ExitStack() as stack:
        pods = two_pods(stack)
        lab = Lab(stack, pods)
        exporter = stack.enter_context(lab.exporter(rule(pods[0].port)))
        wait_for(exporter, lambda m: all(pod.row(m, UNITS) is not None for pod in pods))
        pods[0].ask(10)
        wait_for(exporter, lambda m: pods[0].row(m, UNITS) == 10)
        pods[0].server.send_signal(signal.SIGSTOP)
        metrics = wait_for(exporter, lambda m: pods[0].row(m, UNITS) is None)
        assert pods[0].row(metrics, ENERGY, mode="dynamic") is None
        assert pods[1].row(metrics, UNITS) == 0
        assert failures(metrics) >= 1
        assert "units of work: requests cannot be counted" in exporter.output(), exporter.output()
        assert "shop/web-1" in exporter.output(), exporter.output()
        pods[0].server.send_signal(signal.SIGCONT)
        pods[0].ask(5)  # in the gap, unless a reading came before
        metrics = wait_for(exporter, lambda m: pods[0].row(m, UNITS) is not None)
        assert 10 <= pods[0].row(metrics, UNITS) <= 15
        last = pods[0].row(metrics, UNITS)
        # A restart of the server resets its counter: what it counts then is there.
        pods[0].server.kill()
        pods[0].server.wait()
        pods[0].start(before=0)
        pods[0].ask(3)
        metrics = wait_for(exporter, lambda m: (pods[0].row(m, UNITS) or 0) >= last)
        wait_for(exporter, lambda m: pods[0].row(m, UNITS) is not None)
        # A pod that is not selected any more is not read any more.
        lab.api.put(pods[1].object(app="other"))
        wait_for(exporter, lambda m: pods[1].row(m, UNITS) is None)
        assert exporter.stop() == 0


def doctor(lab, *options):
    """Its findings about units."""
    done = subprocess.run([BUILD / "kepler", "doctor", "--verbose", "--host.state-dir=", f"--host.sysfs={lab.sensors.mount}",
                           "--kube.pods=apiserver", f"--kube.kubeconfig={lab.kubeconfig}", f"--kube.node-name={NODE}", *options],
                          stdout=subprocess.PIPE, text=True, check=False)
    return " ".join(done.stdout.split())


def doctor_says_what_is_counted():
    with contextlib.ExitStack() as stack:
        pods = two_pods(stack)
        lab = Lab(stack, pods)
        port = pods[0].port
        assert "requests are counted in 2 pods of this node" in (said := doctor(lab, rule(port))), said
        said = doctor(lab, rule(free_port()))
        assert "requests cannot be counted: pod shop/web-" in said and "check --units.rule" in said, said
        said = doctor(lab, rule(port).replace("http_requests_total", "requests_total"))
        assert "the page has no series requests_total" in said, said
        said = doctor(lab, rule(port).replace("app=web", "app=none"))
        assert "the rule selects none that runs here" in said, said
        said = doctor(lab, rule(port), "--kube.pods=off")
        assert "Kubernetes is not asked for pods" in said, said


def unset_is_absent():
    with contextlib.ExitStack() as stack:
        pods = two_pods(stack)
        lab = Lab(stack, pods)
        exporter = stack.enter_context(lab.exporter())
        metrics = wait_for(exporter, lambda m: all(pod.row(m, PODS, mode="dynamic") is not None for pod in pods))
        assert not any("kepler_unit" in name or "exporter_unit" in name for name in metrics.named), sorted(metrics.named)
        assert exporter.stop() == 0


def from_a_prometheus():
    """The same counters by way of a real Prometheus, whose labels say the pod."""
    with contextlib.ExitStack() as stack:
        pods = two_pods(stack)
        lab = Lab(stack, pods)
        jobs = ", ".join(f"{{targets: ['{pod.address}:{pod.port}'], labels: {{namespace: shop, pod: {pod.name}}}}}" for pod in pods)
        prometheus = stack.enter_context(
            Prometheus(f"127.0.0.1:{free_port()}", 1, more=f"{{job_name: web, static_configs: [{jobs}]}}"))
        query = 'query=sum by (namespace, pod) (http_requests_total{code="200"})'
        exporter = stack.enter_context(lab.exporter(f"--units.rule=requests url=http://127.0.0.1:{prometheus.port} {query}"))
        wait_for(exporter, lambda m: all(pod.row(m, UNITS) is not None for pod in pods))
        for pod, count in zip(pods, (30, 10)):
            pod.ask(count)
        wait_for(exporter, lambda m: [pod.row(m, UNITS) for pod in pods] == [30, 10])
        prometheus.process.terminate()
        wait_for(exporter, lambda m: not m.select(UNITS) and not m.select(ENERGY) and failures(m) >= 1)
        assert exporter.stop() == 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    need_root()
    run_tests([energy_of_requests, what_fails_is_absent, doctor_says_what_is_counted, unset_is_absent, from_a_prometheus])
