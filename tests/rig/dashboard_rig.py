# SPDX-License-Identifier: Apache-2.0
"""Machines that have everything that the dashboards show, and a real Prometheus with our rules that scrapes them.

One simulated machine (two sockets, two GPUs, pods, a virtual machine, rates) is measured by one exporter for each schema, as the
jobs `classic`, `current` and `both`; the job `estimate` has no meter. The job `shop` is an application that counts its requests.
"""
import contextlib
import http.server
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import containers
from fake_kubernetes import FakeKubernetes, make_pod, pod_id
from gpu_rig import uuid
from kube_pods import join, pod_cgroup
from passthrough_rig import Machine
from pod_resources import PodResources, container, devices, pod
from rig import BUILD, Exporter, Sensors, free_port, need_program, rapl_zone
from rule_files import RULES

SCHEMAS = ("classic", "current", "both")
ESTIMATE = "estimate"
PODS = {"web": "shop", "train": "lab", "hold": "lab"}  # name → namespace
RATES = ("--price.per-kwh=0.31", "--price.currency=EUR", "--carbon.embodied=12.5", "--site.pue=1.3")
IDLE = ("--idle.watts=package=20", "--idle.watts=dram=3", "--idle.watts=psys=70", "--idle.watts=gpu=40")
COMMON = ("--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=1", "--runtimes.enabled=false",
          "--kube.pods=kubelet")
WORK = "while :; do i=0; while [ $i -lt 8000 ]; do i=$((i+1)); done; sleep 0.1; done"


class Pod:
    """A pod that the kubelet reports, with one process that works a little, or sleeps."""

    def __init__(self, fake, name, namespace, works):
        made = make_pod(name, namespace)
        made["status"]["podIP"] = "127.0.0.1"
        self.api = fake.put(made)
        self.cgroup = pod_cgroup(self.api["metadata"]["uid"], pod_id(self.api))
        command = ["sh", "-c", WORK] if works else ["sleep", "100000"]
        self.process = subprocess.Popen(command, preexec_fn=lambda: join(self.cgroup))

    def end(self):
        self.process.kill()
        self.process.wait()
        containers.remove_cgroup(self.cgroup)


def shop(stack):
    """An application's page: the address of its counter of requests, 20 a second."""
    began = time.monotonic()

    class Page(http.server.BaseHTTPRequestHandler):

        def do_GET(self):
            body = (f'http_requests_total{{pod="web",namespace="shop"}} {20 * (time.monotonic() - began):.0f}\n').encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    return f"127.0.0.1:{server.server_address[1]}"


def zones():
    """Two sockets of 30 W, of which 20 are idle power, and more as the machine works."""
    lines = []
    for socket in (0, 1):
        lines += rapl_zone(f"intel-rapl:{socket}", f"package-{socket}", 30, busy_watts=12)
        parent = f"intel-rapl:{socket}"
        lines += rapl_zone(f"intel-rapl:{socket}:0", "core", 14, parent=parent, busy_watts=9)
        lines += rapl_zone(f"intel-rapl:{socket}:1", "dram", 4, parent=parent, busy_watts=1)
    return lines + rapl_zone("intel-rapl:2", "psys", 90, busy_watts=26)


class Fleet:
    """The machines and their exporters; target_of: job → address."""

    def __init__(self, stack):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kepler-dashboards-")))
        self.fake = FakeKubernetes(token="")
        stack.callback(self.fake.down)
        self.pods = {}
        for name, namespace in PODS.items():
            self.pods[name] = Pod(self.fake, name, namespace, works=name != "hold")
            stack.callback(self.pods[name].end)
        machine = stack.enter_context(Machine(self.folder))
        machine.work()
        held = [
            pod(name, container("main", devices("nvidia.com/gpu", uuid(index))), namespace=PODS[name])
            for index, name in enumerate(("train", "hold"))
        ]
        (self.folder / "state").write_text(f"gpu 0 210000\ngpu 1 45000\nproc 0 {self.pods['train'].process.pid} 80 1000\n")
        sensors = stack.enter_context(Sensors(zones()))
        self.target_of, self.exporters = {"shop": shop(stack)}, {}
        (self.folder / "carbon").write_text("312\n")
        for schema in SCHEMAS:
            (self.folder / f"guests-{schema}").mkdir()
            kubelet = PodResources(self.folder / f"{schema}.sock", b"".join(held))
            stack.callback(kubelet.close)
            self.start(
                stack,
                schema,
                f"--metrics.schema={schema}",
                f"--host.sysfs={sensors.mount}",
                "--idle.mode=fixed",
                *IDLE,
                "--idle.share=size",
                "--gpu.idle=holder",
                f"--meter.nvml-library={BUILD}/tests/lab/nvml.so",
                f"--kube.pod-resources={kubelet.path}",
                *RATES,
                f"--carbon.file={self.folder}/carbon",
                f"--passthrough.dir={self.folder}/guests-{schema}",
                f"--remote-write.url=http://127.0.0.1:{free_port()}/api/v1/write",  # which nothing answers
                env={"NVML_LAB_STATE": str(self.folder / "state")})
        (self.folder / "sys").mkdir()
        self.start(stack, ESTIMATE, "--metrics.schema=both", f"--host.sysfs={self.folder}/sys", "--carbon.intensity=312", *RATES)

    def start(self, stack, job, *options, env=None):
        unit = f"requests metric=http_requests_total label=app=web port={self.target_of['shop'].rpartition(':')[2]}"
        exporter = stack.enter_context(Exporter(*COMMON, f"--kube.kubelet-url={self.fake.url}", f"--units.rule={unit}",
                                                "--units.refresh=2s", *options, env=env))
        self.exporters[job] = exporter
        self.target_of[job] = exporter.url.removeprefix("http://")


class Prometheus:
    """Scrapes the fleet every 4 s and evaluates our rules every 10 s, with windows of 30 s: a rate in a
    window that is not full yet is too low."""

    def __init__(self, fleet, binary=None):
        self.dir, self.at = tempfile.TemporaryDirectory(prefix="kepler-prometheus-"), None
        self.url = f"http://127.0.0.1:{free_port()}"
        folder = pathlib.Path(self.dir.name)
        for path in RULES.glob("*.yaml"):
            text = re.sub(r"(?m)^  interval: .*$", "  interval: 10s", path.read_text())
            (folder / path.name).write_text(text.replace("[5m]", "[30s]").replace(":5m]", ":10s]").replace(":1m]", ":10s]"))
        jobs = [{"job_name": job, "static_configs": [{"targets": [target]}]} for job, target in fleet.target_of.items()]
        (folder / "prometheus.yml").write_text(
            json.dumps({  # JSON is YAML
                "global": {"scrape_interval": "4s", "scrape_timeout": "4s", "evaluation_interval": "10s"},
                "rule_files": [f"{folder}/{path.name}" for path in RULES.glob("*.yaml")], "scrape_configs": jobs
            }))
        self.process = subprocess.Popen([
            binary or need_program("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={self.url.removeprefix('http://')}", "--log.level=error"
        ])

    def get(self, path, **arguments):
        """The data of an answer; an error of a query is one of the test."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?" + urllib.parse.urlencode(arguments), timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it starts
                raise
            raise AssertionError((arguments, json.load(error).get("error"))) from None

    def query(self, promql):
        return self.get("query", query=promql, **({"time": self.at} if self.at else {}))["result"]

    def stop_the_clock(self, exporters, seconds):
        """From here on queries are of one moment, at which the last scrape of each target had succeeded and its page had watts: on
        a busy machine a scrape or a reading takes too long at times, and then gauges have no value until the next."""
        parts = ("sum(up)", *(f"count(count by (job) (kepler_{level}_watts))" for level in ("node", "process", "vm")))
        deadline = time.monotonic() + seconds
        while not self.at:
            assert time.monotonic() < deadline, self.query("up")
            moment = time.time()
            found = self.get("query", query=" + ".join(parts), time=moment)["result"]
            self.at = moment if found and float(found[0]["value"][1]) == 4 * exporters + 1 else None
            time.sleep(0.2)

    def wait(self, promql, seconds):
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(urllib.error.URLError):
                if self.query(promql):
                    return
            assert time.monotonic() < deadline, promql
            time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait(30)
        self.dir.cleanup()


def filled(expr, job, window="30s", span="1m"):
    """An expression as Grafana sends it, with every variable but the job at All."""
    for name, value in {"$__rate_interval": window, "$__range": span, "$__interval": "2s", "$job": job}.items():
        expr = expr.replace(name, value)
    return re.sub(r"\$(cluster|instance|namespace|pod|vm)\b", ".*", expr)
