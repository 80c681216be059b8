#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OTLP: a receiver gets what /metrics shows of the same snapshot, to the µJ, and whatever it answers costs counters alone."""
import os
import socket
import subprocess
import threading
import time

from otlp_rig import CUMULATIVE, DELTA, Receiver, failure, success
from otlp_sums import microjoules
from rig import KEPLER, Exporter, Sensors, Service, rapl_zone, run_tests

POWERCAP = [*rapl_zone("intel-rapl:0", "package-0", 40, busy_watts=10),
            *rapl_zone("intel-rapl:0:0", "dram", 3, parent="intel-rapl:0"),
            *rapl_zone("intel-rapl:1", "package-1", 35, busy_watts=10)]
LEVELS = ("process", "container", "pod", "vm", "namespace")
FAST = ("--otlp.interval=1s", "--metrics.settle=1s", "--metrics.process.min-joules=0")


def start(sensors, receiver, *options, **more):
    return Exporter(f"--host.sysfs={sensors.mount}", f"--otlp.endpoint={receiver.url}", *FAST, *options, **more)


def sent(metrics, name, **labels):
    return int(metrics.sum(f"kepler_exporter_send_{name}", **labels))


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not (result := what()):
        assert time.monotonic() < deadline, "it has not happened"
        time.sleep(0.05)
    return result


def names_are_those_of_the_page(body, page):
    rows = {p.resource["kepler.owner.id"]: p for p in body.select("kepler.energy", kepler_level="container")
            if "kepler.owner.id" in p.resource}
    shown = {labels["container_id"] for labels, _ in page.select("kepler_container_joules_total") if labels["container_id"]}
    assert set(rows) == shown, (set(rows) ^ shown)
    for id_, point in rows.items():
        assert not id_.endswith(".service") or "container.id" not in point.resource, point.resource
        assert point.resource["host.name"] and point.resource["service.name"] == "kepler"
    pids = {p.resource["process.pid"] for p in body.select("kepler.energy", kepler_level="process") if "process.pid" in p.resource}
    assert pids == {labels["pid"] for labels, _ in page.select("kepler_process_joules_total") if labels["pid"]}
    instances = [resource["service.instance.id"] for resource in body.resources]
    assert len(set(instances)) == len(instances)


def the_page_has_the_same_sums():
    pairs, exporter = [], None

    def seen(body):
        if exporter and exporter.url:
            page = exporter.scrape()
            if int(page.value("kepler_exporter_snapshot_timestamp_seconds") * 1000) == body.time_ms:
                pairs.append((body, page))

    with Sensors(POWERCAP) as sensors, Receiver(seen=seen) as receiver, \
            start(sensors, receiver, *(f"--otlp.levels={level}" for level in LEVELS)) as exporter:
        with Service("kepler-otlp.service") as service:
            service.load("burn", 3)
            wait_for(lambda: len(pairs) >= 4)
        for body, page in pairs:
            assert not body.imbalance_uj(("process", "container", "namespace")), body.imbalance_uj()
            body.compare(page)
            names_are_those_of_the_page(body, page)
        body = pairs[-1][0]
        assert not body.select("hw.host.energy") and {p.attributes["hw.id"] for p in body.select("hw.energy")} >= {"package-0"}
        assert all(p.unit == "J" and p.temporality == CUMULATIVE and p.monotonic and 0 < p.start <= p.time and
                   p.attributes["kepler.quality"] == "measured" for p in body.points if p.metric in ("hw.energy", "kepler.energy"))
        path, headers = receiver.headers[0]
        assert path == "/v1/metrics" and headers["Content-Type"] == "application/x-protobuf", (path, headers)
        assert headers["Content-Encoding"] == "gzip" and headers["User-Agent"].startswith("OTel-OTLP-Exporter-Kepler/")
        page = exporter.scrape()
        assert sent(page, "samples_total") >= sum(len(body.points) for body in receiver.bodies[:2]), exporter.output()
        assert sent(page, "retries_total") == 0 and sent(page, "dropped_samples_total") == 0


def an_estimate_is_marked():
    with Receiver() as receiver, Exporter(f"--otlp.endpoint={receiver.url}", "--meter.enabled=false", *FAST) as exporter:
        body = receiver.wait(4)[-1]
        assert body.accounts(), exporter.output()
        assert all(p.attributes["kepler.quality"] == "estimated" for p in body.points if "kepler.quality" in p.attributes)


def deltas_add_up():
    with Sensors(POWERCAP) as sensors, Receiver() as receiver, start(sensors, receiver, "--otlp.temporality=delta") as exporter:
        bodies = receiver.wait(5)
        total = sum(body.sum_uj("hw.energy") for body in bodies)
        page = exporter.scrape()
        shown = sum(int(value * 1000000) for _, value in page.select("kepler_node_joules_total"))
        assert 0 < total <= shown, (total, shown)
        for before, body in zip(bodies, bodies[1:]):
            points = body.select("hw.energy")
            assert points and all(p.temporality == DELTA and p.start == before.points[0].time for p in points)


def a_service_that_has_gone_ends_its_series():
    with Sensors(POWERCAP) as sensors, Receiver() as receiver, \
            start(sensors, receiver, "--otlp.levels=process", "--metrics.keep=2s") as exporter:
        with Service("kepler-otlp-gone.service") as service:
            process = service.load("burn", 1)
            pid = str(process.pid)
            wait_for(lambda: any(p.resource.get("process.pid") for p in receiver.bodies[-1].points) if receiver.bodies else False)
            process.wait()
        ended = wait_for(lambda: [p for body in receiver.bodies for p in body.points if p.ended])
        assert all(p.value is None and p.metric.startswith("kepler.energy") for p in ended), (pid, exporter.output())


def retried_and_refused():
    """503 with Retry-After is sent again, the same bytes; 400 is dropped; rejected points are counted once."""
    script = [failure(503, "soon", Retry_After="1"), success(), failure(400, "no\nsuch tenant"), success(7, "too old"), success()]

    def answer(receiver, handler):
        return script[min(len(receiver.bodies) - 1, len(script) - 1)]

    with Sensors(POWERCAP) as sensors, Receiver(answer) as receiver, \
            start(sensors, receiver, "--otlp.interval=4s", "--otlp.compression=none") as exporter:
        bodies = receiver.wait(5)
        assert receiver.raw[0] == receiver.raw[1] and receiver.raw[2] != receiver.raw[1]
        taken = sum(len(bodies[i].points) for i in (1, 3, 4)) - 7
        page = wait_for(lambda: (p := exporter.scrape()) and sent(p, "samples_total") >= taken and p)
        assert sent(page, "retries_total") == 1, exporter.output()
        assert sent(page, "dropped_samples_total", reason="refused") == len(bodies[2].points)
        assert sent(page, "dropped_samples_total", reason="rejected") == 7
        assert sent(page, "dropped_samples_total", reason="replaced") == 0
        assert "HTTP 503: soon" in exporter.output() and "rejected 7 of" in exporter.output()
        assert "too old" in exporter.output() and "accepts data again" in exporter.output()


def raw_answers():
    """Name: what a peer does with a connection after the request."""

    def endless_headers(peer):
        peer.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            peer.sendall(b"X-A: " + b"a" * 1000 + b"\r\n")

    def endless_body(peer):
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while True:
            peer.sendall(b"\0" * 65536)

    return {
        "silence": lambda peer: time.sleep(30),
        "a cut": lambda peer: None,
        "endless headers": endless_headers,
        "a body of 1 GB": endless_body,
        "a length that is wrong": lambda peer: peer.sendall(b"HTTP/1.1 503 x\r\nContent-Length: 99\r\n\r\nx"),
        "a redirect to a file": lambda peer: peer.sendall(
            b"HTTP/1.1 302 x\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
        "no HTTP": lambda peer: peer.sendall(b"\xff\xfe\x00 hello\r\n\r\n"),
    }


def a_lying_receiver_costs_counters_alone():
    for name, act in raw_answers().items():
        with socket.create_server(("127.0.0.1", 0)) as server, Sensors(POWERCAP) as sensors:
            done = threading.Event()

            def serve(server=server, act=act, done=done):
                while not done.is_set():
                    try:
                        peer, _ = server.accept()
                    except OSError:
                        return
                    with peer:
                        try:
                            peer.recv(1 << 20)
                            act(peer)
                        except OSError:
                            pass

            threading.Thread(target=serve, daemon=True).start()
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
            with Exporter(f"--host.sysfs={sensors.mount}", f"--otlp.endpoint={url}", "--otlp.timeout=1s", *FAST) as exporter:
                said = ("dropped_samples_total", "retries_total", "samples_total")
                page = wait_for(lambda e=exporter: (p := e.scrape()) and any(sent(p, name) for name in said) and p)
                before = int(page.value("kepler_exporter_snapshots_total"))
                exporter.wait_snapshot(before + 1)
                assert (sent(page, "samples_total") > 0) == (name == "a body of 1 GB"), (name, exporter.output())
                began = time.monotonic()
                assert exporter.stop() == 0 and time.monotonic() - began < 5, name
            done.set()


def the_environment_is_read_and_options_win():
    with Sensors(POWERCAP) as sensors, Receiver() as receiver:
        env = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": receiver.url + "/own", "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b",
               "OTEL_METRIC_EXPORT_INTERVAL": "60000", "OTEL_SERVICE_NAME": "watts",
               "OTEL_RESOURCE_ATTRIBUTES": "host.name=named,k8s.pod.name=kepler-7x,deployment.environment.name=lab",
               "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
        with Exporter(f"--host.sysfs={sensors.mount}", *FAST, env=env):
            body = receiver.wait(2)[0]
            path, headers = receiver.headers[0]
            assert path == "/own" and headers["x-tenant"] == "a b" and "Content-Encoding" not in headers, (path, headers)
            resource = body.resources[0]
            assert resource["host.name"] == "named" and resource["service.name"] == "watts", resource
            assert resource["deployment.environment.name"] == "lab" and "k8s.pod.name" not in resource
        env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc"
        with Exporter(f"--host.sysfs={sensors.mount}", env=env, wait=False) as exporter:
            assert exporter.process.wait(30) != 0
            assert "OTEL_EXPORTER_OTLP_PROTOCOL: Kepler sends http/protobuf" in exporter.output(), exporter.output()


def the_doctor_asks_the_receiver():
    def answer(_, handler):
        return success() if handler.headers.get("x-key") == "1" else failure(401, "no key")

    with Receiver(answer) as receiver:
        for key, status, wanted in (("1", "ok", "accepts OTLP"), ("2", "fix", "HTTP 401: no key")):
            done = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.state-dir=",
                                   "--local.socket=", f"--otlp.endpoint={receiver.url}", f"--otlp.headers=x-key={key}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
            assert wanted in " ".join(done.stdout.split()), (status, done.stdout)
        assert all(not body.points for body in receiver.bodies)


os.environ.pop("OTEL_EXPORTER_OTLP_ENDPOINT", None)
assert microjoules(1.5) == 1500000
run_tests([the_page_has_the_same_sums, an_estimate_is_marked, deltas_add_up, a_service_that_has_gone_ends_its_series,
           retried_and_refused, a_lying_receiver_costs_counters_alone, the_environment_is_read_and_options_win,
           the_doctor_asks_the_receiver], at_once=3)
