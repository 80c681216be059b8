#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Authentication (R33): tokens, certificates, kubeconfigs and proxies against a fake API server, one function each.

test-kube-access.py [CASE...]
"""
import json
import threading
import time

from certificates import Authority
from fake_kubernetes import ENDLESS, FAST, Probe, make_pod, pod_id
from kube_rig import run_cases
from rig import Exporter


# ---- R33: authentication ----

def rotated_token(rig):
    first = rig.api.put(make_pod("first"))
    with rig.probe() as probe:
        probe.knows(first)
        rig.api.token = "newer"
        rig.api.cut_connections()
        probe.until(lambda p: "401" in p.stats()["error"], what="no 401")
        rig.account.set_token("newer")
        late = rig.api.put(make_pod("late"))
        probe.knows(late)
        assert all(entry[3] in ("Bearer good", "Bearer newer") for entry in rig.api.log)


def rotated_authority(rig):
    first = rig.api.put(make_pod("first"))
    with rig.probe() as probe:
        probe.knows(first)
        other = Authority(rig.directory, "other")
        rig.api.context = other.server_context()
        rig.api.cut_connections()
        probe.until(lambda p: "certificate" in p.stats()["error"], what="no complaint of the certificate")
        before = len(rig.api.log)
        time.sleep(1.5)
        assert len(rig.api.log) == before, "something was sent to a server without a trusted certificate"
        rig.account.set_authority(other)
        late = rig.api.put(make_pod("late"))
        probe.knows(late)


def bad_certificate(rig, context):
    pod = rig.api.put(make_pod("shop"))
    good, rig.api.context = rig.api.context, context
    with rig.probe() as probe:
        probe.until(lambda p: p.stats()["failures"] >= 2)
        assert "certificate" in probe.stats()["error"], probe.stats()
        assert not rig.api.log and not probe.find(pod_id(pod))
        rig.api.context = good
        probe.knows(pod)


def expired_certificate(rig):
    bad_certificate(rig, rig.authority.server_context("expired", days=-1))


def certificate_of_another_host(rig):
    bad_certificate(rig, rig.authority.server_context("other", "DNS:example.org"))


def forbidden(rig):
    pod = rig.api.put(make_pod("shop"))
    rig.api.fault = lambda request, kind: request.fail(403, "Forbidden") or True
    with rig.probe() as probe:
        probe.until(lambda p: "403: Forbidden for a test" in p.stats()["error"], what="no 403")
        rig.api.fault = None
        probe.knows(pod)


def client_certificate_from_a_kubeconfig(rig):
    rig.api.token = None
    rig.api.context = rig.authority.server_context("asks", ask_client=True)
    certificate, key = rig.authority.sign("client")
    pod = rig.api.put(make_pod("shop"))
    config = rig.directory / "kubeconfig"
    config.write_text(json.dumps({
        "current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": rig.api.url, "certificate-authority": str(rig.authority.file)}}],
        "users": [{"name": "u", "user": {"client-certificate": str(certificate), "client-key": str(key)}}]}))
    with Probe(source="apiserver", kubeconfig=config, timing=FAST) as probe:
        probe.knows(pod)
        key.chmod(0o640)
        rig.api.cut_connections()
        probe.until(lambda p: "chmod 600" in p.stats()["error"], what="used though others can read it")
        key.chmod(0o600)
        late = rig.api.put(make_pod("late"))
        probe.knows(late)


def called_by_another_name(rig):
    """The kubeconfig says where the server is, and what it is called in its certificate."""
    rig.api.context = rig.authority.server_context("named", "DNS:kubernetes.default.svc")
    pod = rig.api.put(make_pod("shop"))
    config = rig.directory / "kubeconfig"
    cluster = {"server": rig.api.url, "certificate-authority": str(rig.authority.file)}
    config.touch(0o600)
    for name in (None, "kubernetes.default.svc"):
        if name:
            cluster["tls-server-name"] = name
        config.write_text(json.dumps({
            "current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {"token": "good"}}]}))
        with Probe(source="apiserver", kubeconfig=config) as probe:
            if name:
                probe.knows(pod)
            else:
                probe.until(lambda p: "certificate" in p.stats()["error"])
    config.chmod(0o644)
    assert "chmod 600" in Probe(source="apiserver", kubeconfig=config).refused()


def nothing_to_ask(_rig):
    for options, words in (({"source": "apiserver"}, "KUBERNETES_SERVICE_HOST"), ({}, "KUBERNETES_SERVICE_HOST"),
                           ({"kubeconfig": "/nowhere"}, "/nowhere")):
        assert words in Probe(**{"in-cluster-dir": "/nowhere", **options}).refused()


def proxy_that_cannot_be_used(rig):
    """Reported at the start, but not where it would not be used."""
    for name in ("https_proxy", "ALL_PROXY"):
        environment = {name: "https://127.0.0.1:1"}
        assert "its proxy is https://" in rig.probe(environment=environment).refused()
        with rig.probe(environment={**environment, "no_proxy": "127.0.0.1"}) as probe:
            probe.knows(rig.api.put(make_pod("shop")))


def a_fault_is_in_the_log_once(rig):
    """Of the exporter itself: what the source says when it stops answering, and that it is back."""
    failed = threading.Event()

    def fault(request, _kind):
        if failed.is_set():
            return False
        request.fail(503, "ServiceUnavailable")
        return True

    rig.api.fault = fault
    (rig.directory / "token").chmod(0o600)
    (rig.directory / "kubeconfig").write_text(json.dumps({
        "current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": rig.api.url, "certificate-authority": str(rig.authority.file)}}],
        "users": [{"name": "u", "user": {"tokenFile": str(rig.directory / "token")}}]}))
    with Exporter("--kube.pods=apiserver", f"--kube.kubeconfig={rig.directory}/kubeconfig", "--kube.node-name=node-1",
                  "--monitor.interval=200ms") as exporter:
        wait_for(lambda: "no names from Kubernetes: apiserver: " in exporter.output())
        exporter.intervals(5)
        failed.set()
        wait_for(lambda: "names come from Kubernetes again (apiserver)" in exporter.output())
        assert exporter.output().count("no names from Kubernetes") == 1 and "503" in exporter.output()
        assert exporter.stop() == 0


def a_stop_waits_for_nothing(rig):
    """Neither for a list or an event that does not come, nor until a server that failed is asked again."""
    over = threading.Event()

    def silent(request, _kind):
        over.wait(60)
        request.cut()

    try:
        for kind, fault in (("list", silent), ("watch", lambda request, kind: kind == "watch" and silent(request, kind)),
                            ("list", lambda request, _kind: request.fail(503, "ServiceUnavailable") or True)):
            begin, rig.api.fault = time.monotonic(), fault
            with rig.probe(timing=ENDLESS) as probe:  # which judges how long it takes to stop
                wait_for(lambda kind=kind, begin=begin: rig.api.requests(kind, begin))
                if fault is not silent and kind == "list":
                    probe.until(lambda p: p.stats()["failures"])
    finally:
        over.set()


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


run_cases([
    a_fault_is_in_the_log_once, rotated_token, rotated_authority, expired_certificate, certificate_of_another_host, forbidden,
    client_certificate_from_a_kubeconfig, called_by_another_name, nothing_to_ask, proxy_that_cannot_be_used,
    a_stop_waits_for_nothing])
