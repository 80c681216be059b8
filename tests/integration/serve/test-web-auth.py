#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--web.auth=kubernetes: tokens that an API server decides about, the rows of one namespace, and an API server that is away."""
import contextlib
import json
import pathlib
import re
import subprocess
import tempfile
import time
import uuid

from certificates import Authority
from fake_kubernetes import NODE, FakeKubernetes, make_pod, pod_id
from kube_pods import pod_cgroup, runs_in
from rig import Exporter, Metrics, Sensors, rapl_zone, release_binary, run_tests

# Who owns which token, and what each may read.
OWNERS = {"token-of-prometheus": "prometheus", "token-of-a-developer": "developer", "token-of-another": "another"}
# As a real one does with its role system:discovery: every account may get all below /api.
PATHS = {"prometheus": {"/metrics"}}
SPACES = {"developer": {"prod"}}


def review(kind, spec):
    if kind == "TokenReview":
        owner = OWNERS.get(spec["token"])
        return {"authenticated": True, "user": {"username": owner, "groups": ["g"]}} if owner else {"error": "no such token"}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource:
        assert (resource["verb"], resource["resource"], resource.get("group", "")) == ("get", "pods", ""), resource
        return {"allowed": resource["namespace"] in SPACES.get(spec["user"], ())}
    assert path["verb"] == "get" and spec["groups"] == ["g"], spec
    return {"allowed": path["path"].startswith("/api/") or path["path"] in PATHS.get(spec["user"], ())}


class Lab:
    """An API server over TLS, and a kubeconfig for Kepler's own account."""

    def __init__(self, directory):
        self.folder = pathlib.Path(directory)
        authority = Authority(directory)
        self.api = FakeKubernetes(authority.server_context())
        self.api.review = review
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.touch(0o600)
        self.kubeconfig.write_text(json.dumps({
            "current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.api.url, "certificate-authority": str(authority.file)}}],
            "users": [{"name": "u", "user": {"token": "good"}}]}))

    def start(self, *args, pods="off"):
        return Exporter("--web.auth=kubernetes", f"--kube.kubeconfig={self.kubeconfig}", f"--kube.pods={pods}",
                        f"--kube.node-name={NODE}", *args, binary=release_binary())

    def reviews(self):
        return [entry[2]["kind"] for entry in self.api.requests("review")]


@contextlib.contextmanager
def lab():
    with tempfile.TemporaryDirectory() as directory:
        made = Lab(directory)
        try:
            yield made
        finally:
            made.api.down()


def get(exporter, token=None, path="/metrics", **more):
    return exporter.get(path, {"Authorization": f"Bearer {token}"} if token else {}, **more)


def wait_for(what, exporter):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.05)


def the_api_server_decides():
    """Each token and path once; what it says is kept, and tokens are in no log line and no metric."""
    with lab() as cluster, cluster.start() as exporter:
        assert get(exporter, path="/healthz")[0] == 200
        status, headers, _ = get(exporter)
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer"), (status, headers)
        assert not cluster.reviews()
        for _ in range(3):
            wait_for(lambda: get(exporter, "token-of-prometheus")[0] == 200, exporter)
            assert get(exporter, "token-of-nobody")[0] == 401
            assert get(exporter, "token-of-a-developer")[0] == 403
            assert get(exporter, "token-of-prometheus", "/nowhere")[0] == 404
            assert get(exporter, "token-of-a-developer", "/nowhere")[0] == 403
            assert get(exporter, "token-of-prometheus", "/api/v1/now?namespace=prod")[0] == 200
            assert get(exporter, "token-of-a-developer", "/api/v1/now?namespace=prod")[0] == 403
            assert get(exporter, "token-of-a-developer", "/?namespace=prod")[0] == 403
            assert get(exporter, "token-of-a-developer", "/explain/1")[0] == 403
            assert get(exporter, "token-of-a-developer", "/metrics?namespace=%70rod")[0] == 400
        asked = cluster.reviews()
        assert asked.count("TokenReview") == 3, asked
        assert all(entry[3] == "Bearer good" for entry in cluster.api.requests("review"))
        def newest():
            return get(exporter, "token-of-prometheus")[2].decode()

        wait_for(lambda: Metrics(newest()).value("kepler_exporter_web_auth_refused_requests_total", reason="forbidden") >= 12,
                 exporter)
        page = newest()
        counts = Metrics(page)
        assert counts.value("kepler_exporter_web_auth_reviews_total", result="authenticated") == 2
        assert counts.value("kepler_exporter_web_auth_reviews_total", result="unauthenticated") == 1
        assert counts.value("kepler_exporter_web_auth_up") == 1
        said = exporter.output() + page
        assert "token-of" not in said and "good" not in re.sub("good reading", "", said), said[-3000:]
        assert "denied" not in exporter.output().lower(), exporter.output()
        assert exporter.stop() == 0


def samples(page):
    return [line for line in page.splitlines() if line and not line.startswith("#")]


def one_namespace_alone():
    """A developer sees the rows of one namespace as they are on the whole page; no other row, no process, nothing of the node."""
    spaces = {"prod": "web", "bank": "vault"}
    zones = [*rapl_zone(0, "package-0", 20, busy_watts=10), *rapl_zone(1, "dram", 3)]
    with lab() as cluster, Sensors(zones) as sensors, contextlib.ExitStack() as ended:
        pods = {space: cluster.api.put(make_pod(name, namespace=space, uid=str(uuid.uuid4()))) for space, name in spaces.items()}
        for pod in pods.values():
            ended.enter_context(runs_in(pod_cgroup(pod["metadata"]["uid"], pod_id(pod)), "sh", "-c", "while :; do :; done"))
        exporter = ended.enter_context(cluster.start(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s",
                                                     "--metrics.schema=both", pods="apiserver"))

        def whole():
            return get(exporter, "token-of-prometheus")[2].decode()

        wait_for(lambda: all(re.search(f'^kepler_pod_joules_total.*pod_name="{name}".* [1-9]', whole(), re.M)
                             for name in spaces.values()), exporter)
        assert get(exporter, "token-of-a-developer")[0] == 403
        assert get(exporter, "token-of-a-developer", "/metrics?namespace=bank")[0] == 403
        assert get(exporter, "token-of-a-developer", "/metrics?namespace=system")[0] == 403
        assert get(exporter, "token-of-prometheus", "/metrics?namespace=prod")[0] == 403
        SPACES["developer"].add("kernel")
        status, _, page = get(exporter, "token-of-a-developer", "/metrics?namespace=prod")
        assert status == 200, page
        shown = samples(page.decode())
        levels = {re.match("kepler_([a-z]+)_", line)[1] for line in shown}
        assert levels == {"container", "pod", "namespace"}, levels
        for line in shown:
            assert re.search('(?:container_)?namespace="prod"', line), line
            assert "bank" not in line and "vault" not in line, line
        assert any('pod_name="web"' in line for line in shown)
        for _ in range(20):  # the same snapshot, before and after
            before, page, after = whole(), get(exporter, "token-of-a-developer", "/metrics?namespace=prod")[2].decode(), whole()
            if before == after:
                break
        else:
            raise AssertionError("no two pages of one snapshot")
        wanted = [line for line in samples(before) if re.match("kepler_(container|pod|namespace)_", line) and
                  re.search('[{,](?:container_)?namespace="prod"', line)]
        assert samples(page) == wanted, set(samples(page)) ^ set(wanted)
        for accept in ("application/openmetrics-text", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                       "encoding=delimited"):
            status, _, body = exporter.get("/metrics?namespace=prod", {"Authorization": "Bearer token-of-a-developer",
                                                                       "Accept": accept, "Accept-Encoding": "gzip"})
            assert status == 200 and b"web" in body and b"kepler_pod_joules" in body, (accept, body)
            for other in (b"vault", b"bank", b"kepler_node_info", b"kepler_node_package", b"kepler_process_", b"kepler_vm_",
                          b"kepler_exporter"):
                assert other not in body, (accept, other)
        assert get(exporter, "token-of-a-developer", "/metrics?namespace=kernel")[0] == 400


def confined_in_a_private_place():
    """A kubeconfig in /root, and the token of Kepler's own account, which is replaced: Landlock and seccomp hold."""
    with lab() as cluster, tempfile.TemporaryDirectory(dir="/root") as private:
        config = json.loads(cluster.kubeconfig.read_text())
        token = pathlib.Path(private, "token")
        token.touch(0o600)
        token.write_text("good")
        config["users"][0]["user"] = {"tokenFile": str(token)}
        cluster.kubeconfig = pathlib.Path(private, "kubeconfig")
        cluster.kubeconfig.write_text(json.dumps(config))
        with cluster.start() as exporter:
            wait_for(lambda: get(exporter, "token-of-prometheus")[0] == 200, exporter)
            cluster.api.token = "newer"
            assert get(exporter, "token-of-a-developer")[0] == 503
            replacement = pathlib.Path(private, "replacement")
            replacement.touch(0o600)
            replacement.write_text("newer")
            replacement.rename(token)
            wait_for(lambda: get(exporter, "token-of-a-developer")[0] == 403, exporter)
            page = Metrics(get(exporter, "token-of-prometheus")[2].decode())
            assert page.value("kepler_exporter_landlock_abi") > 0, "Landlock is not in force"
            assert page.value("kepler_exporter_denied_system_calls_total") == 0, exporter.output()
            assert exporter.stop() == 0


def without_the_api_server():
    """What is kept counts while it is away, all else is refused; a server that says nothing keeps no other request waiting."""
    with lab() as cluster, cluster.start() as exporter:
        wait_for(lambda: get(exporter, "token-of-prometheus")[0] == 200, exporter)
        cluster.api.down()
        status, headers, body = get(exporter, "token-of-another")
        assert (status, headers["Retry-After"]) == (503, "2"), (status, body)
        assert get(exporter, "token-of-prometheus")[0] == 200
        wait_for(lambda: "are refused with status 503" in exporter.output(), exporter)
        cluster.api.up()
        wait_for(lambda: get(exporter, "token-of-another")[0] == 403, exporter)
        wait_for(lambda: "decides about clients of the web server again" in exporter.output(), exporter)

        cluster.api.fault = lambda request, kind: request.silent()
        began = time.monotonic()
        with subprocess.Popen(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer of-a-third-one",
                               exporter.url + "/metrics"], stdout=subprocess.PIPE, text=True) as slow:
            longest = 0
            while slow.poll() is None:
                asked = time.monotonic()
                assert get(exporter, "token-of-prometheus")[0] == 200
                longest = max(longest, time.monotonic() - asked)
            assert slow.stdout.read() == "503"
        lasted = time.monotonic() - began
        print(f"  503 after {lasted:.1f} s; meanwhile the slowest other answer took {longest * 1000:.0f} ms")
        assert 1 < lasted < 6 and longest < 1, (lasted, longest)

        def refused_with(fault):
            """Tokens that are not known are refused before, while and after the server is asked."""
            cluster.api.fault = fault
            asked = len(cluster.reviews())

            def is_over():
                status = get(exporter, f"of-{uuid.uuid4()}")[0]
                assert status == 503, status
                return len(cluster.reviews()) > asked

            wait_for(is_over, exporter)

        for answer in (b"<html>", b"", b"{}", b'{"kind":"TokenReview","status":{"authenticated":true}}', b"[" * 100000):
            refused_with(lambda request, kind, answer=answer: request.answer(201, answer) or True)
        refused_with(lambda request, kind: request.fail(403, "Forbidden") or True)
        wait_for(lambda: "system:auth-delegator" in exporter.output(), exporter)
        cluster.api.fault = None
        wait_for(lambda: get(exporter, "of-a-fourth-one")[0] == 401, exporter)
        assert exporter.stop() == 0


run_tests([the_api_server_decides, one_namespace_alone, confined_in_a_private_place, without_the_api_server])
