#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The release binary with everything that asks and sends: units of work of a pod and of a Prometheus, remote write with a queue on
disk, OTLP, a file, and both rates by HTTP. Under the system call filter and Landlock all of it works, and no call is denied.
"""
import contextlib
import ctypes
import json
import pathlib
import tempfile
import time

from fake_kubernetes import NODE, FakeKubernetes, make_pod
from otlp_rig import Receiver as OtlpReceiver
from page_server import PageServer
from remote_write_rig import Receiver as WriteReceiver
from rig import Exporter, Sensors, need_root, rapl_zone, release_binary

CREATE_RULESET, RULESET_VERSION = 444, 1


def landlock_abi():
    return max(ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, RULESET_VERSION), 0)


def pages(name):
    """What a pod, a Prometheus and a service with prices say."""
    if name == "metrics":
        return f"# TYPE http_requests_total counter\nhttp_requests_total {int(time.monotonic() * 10)}\n"
    if name.startswith("api/v1/query"):
        metric = {"namespace": "shop", "pod": "web"}
        return json.dumps({"status": "success", "data": {"resultType": "vector", "result": [
            {"metric": metric, "value": [time.time(), str(int(time.monotonic()))]}]}})
    return json.dumps({"value": 0.25})


def check_threads(exporter):
    """Each thread is confined; their names."""
    names = set()
    for task in pathlib.Path(f"/proc/{exporter.process.pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has ended
            status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines())
            assert status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", status
            names.add(status["Name"])
    return names


def works(metrics, file):
    """What does not work yet, by name."""
    feeds = metrics.select("kepler_exporter_rate_feed_up")
    units = {labels["unit"]: value for labels, value in metrics.select("kepler_exporter_unit_reads_total")}
    queued = metrics.select("kepler_exporter_send_samples_total")
    done = {
        "remote write and OTLP": len(queued) == 2 and all(value > 0 for _, value in queued),
        "rates": len(feeds) == 2 and all(value == 1 for _, value in feeds),
        "units": all(units.get(unit, 0) > 1 for unit in ("requests", "tokens")),
        "a file that was rotated": file.with_name(file.name + ".1").exists(),
        "names": metrics.value("kepler_exporter_name_source_up", source="kubernetes") == 1,
    }
    return [name for name, is_done in done.items() if not is_done]


def main():
    need_root()
    binary = release_binary()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kepler-feeds-")))
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 45)))
        server = stack.enter_context(PageServer(pages))
        api = FakeKubernetes(token=None)
        stack.callback(api.down)
        pod = make_pod("web", "shop")
        pod["status"]["podIP"] = "127.0.0.1"
        api.put(pod)
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(f"clusters: [{{name: a, cluster: {{server: '{api.url}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
                              "contexts: [{name: a, context: {cluster: a, user: u}}]\ncurrent-context: a\n")
        kubeconfig.chmod(0o600)
        written = stack.enter_context(WriteReceiver(lambda receiver, handler, version, series: handler.take(series)))
        otlp = stack.enter_context(OtlpReceiver())
        port = server.server_address[1]
        (folder / "out").mkdir()
        file = folder / "out/metrics.jsonl"
        exporter = stack.enter_context(Exporter(
            f"--host.sysfs={sensors.mount}", "--monitor.interval=500ms", "--metrics.settle=0s",
            "--kube.pods=apiserver", f"--kube.kubeconfig={kubeconfig}", f"--kube.node-name={NODE}",
            "--units.refresh=1s", f"--units.rule=requests metric=http_requests_total label=app=web port={port}",
            f"--units.rule=tokens url={server.url('')[:-1]} query=sum by (namespace, pod) (tokens_total)",
            f"--remote-write.url={written.url}", "--remote-write.interval=1s", f"--remote-write.queue-dir={folder}/queue",
            f"--otlp.endpoint={otlp.url}", "--otlp.interval=1s",
            f"--file.path={file}", "--file.interval=1s", "--file.max-size=64KiB",
            f"--price.url={server.url('price')}", "--price.path=value", "--price.currency=EUR",
            f"--carbon.url={server.url('carbon')}", "--carbon.path=value", binary=binary))
        deadline = time.monotonic() + 120
        while missing := works(metrics := exporter.intervals(1), file):
            assert time.monotonic() < deadline, (missing, exporter.output())
        names = check_threads(exporter)
        assert list((folder / "queue").rglob("*.seg")), "no queue on disk"
        assert metrics.value("kepler_exporter_denied_system_calls_total") == 0, exporter.output()
        assert metrics.value("kepler_exporter_landlock_abi") == landlock_abi(), exporter.output()
        if landlock_abi():  # another folder of the same name, which nothing but Landlock protects from root
            (folder / "out").rename(folder / "before")
            (folder / "out").mkdir()
            while "Permission denied" not in exporter.output():
                assert time.monotonic() < deadline, exporter.output()
                time.sleep(0.1)
            assert not list((folder / "out").iterdir())
        assert exporter.stop() == 0
        assert written.requests and otlp.bodies
        print("confined: " + ", ".join(sorted(names)))


main()
