#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus scrapes a protected exporter: TLS with a certificate of its own and a password, a token of a file, and the
token of an account that an API server knows. With a wrong secret it gets nothing."""
import contextlib
import json
import pathlib
import tempfile
import time

from certificates import Authority
from fake_kubernetes import FakeKubernetes
from prometheus_rig import Prometheus
from rig import Exporter, need_program, release_binary, run_tests

# bcrypt of "right horse", at cost 4
HASH = "$2y$04$abcdefghijklmnopqrstuuLK4yYxcGJwQr33yKnQTmKjI1WQSUD2K"
TOKEN = "0123456789abcdef-of-a-file"


class Folder:
    """Certificates of an authority, and files with secrets."""

    def __init__(self, directory):
        self.path = pathlib.Path(directory)
        self.authority = Authority(directory)
        self.server = self.authority.sign("server")
        self.client = self.authority.sign("prometheus", "DNS:prometheus.example.org")
        self.tls = f"tls_server_config:\n  cert_file: {self.server[0]}\n  key_file: {self.server[1]}\n"

    def write(self, name, text):
        path = self.path / name
        path.touch(0o600)
        path.write_text(text)
        return path

    def start(self, *args, text):
        self.server[1].chmod(0o600)
        return Exporter(f"--web.config-file={self.write('web.yml', text)}", *args, binary=release_binary())


def scrapes(exporter, settings, want):
    """Is it up to a Prometheus with these settings?"""
    target = exporter.url.split("//")[1]
    with Prometheus(target, 1, scraping=f"scheme: https, {settings},") as prometheus:
        deadline = time.monotonic() + 60
        while True:
            found = [int(values[0]) for _, values in prometheus.query('up{job="kepler"}')]
            if found == [want] and (not want or prometheus.query("kepler_exporter_snapshots_total or kepler_node_info")):
                return
            assert time.monotonic() < deadline, (settings, found, exporter.output())
            time.sleep(0.3)


def a_password_and_a_certificate():
    need_program("prometheus")
    with tempfile.TemporaryDirectory() as directory:
        folder = Folder(directory)
        tls = f"tls_config: {{ca_file: {folder.authority.file}, cert_file: {folder.client[0]}, key_file: {folder.client[1]}}}"
        with folder.start(text=folder.tls + f"  client_ca_file: {folder.authority.file}\n"
                          "  client_auth_type: RequireAndVerifyClientCert\n  client_allowed_sans: [prometheus.example.org]\n"
                          f"basic_auth_users:\n  alice: {HASH}\n") as exporter:
            scrapes(exporter, f"basic_auth: {{username: alice, password: right horse}}, {tls}", 1)
            scrapes(exporter, f"basic_auth: {{username: alice, password: wrong horse}}, {tls}", 0)
            scrapes(exporter, f"basic_auth: {{username: alice, password: right horse}}, tls_config: {{ca_file: "
                    f"{folder.authority.file}}}", 0)


def a_token_of_a_file():
    need_program("prometheus")
    with tempfile.TemporaryDirectory() as directory:
        folder = Folder(directory)
        tls = f"tls_config: {{ca_file: {folder.authority.file}}}"
        tokens = folder.write("tokens", TOKEN + "\n")
        with folder.start(f"--web.token-file={tokens}", text=folder.tls) as exporter:
            scrapes(exporter, f"authorization: {{credentials_file: {tokens}}}, {tls}", 1)
            scrapes(exporter, f"authorization: {{credentials: {TOKEN}-not}}, {tls}", 0)


def a_token_of_an_account():
    need_program("prometheus")

    def review(kind, spec):
        if kind == "TokenReview":
            return {"authenticated": spec["token"] == "token-of-prometheus", "user": {"username": "prometheus"}}
        return {"allowed": spec["nonResourceAttributes"] == {"verb": "get", "path": "/metrics"}}

    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as ended:
        folder = Folder(directory)
        api = FakeKubernetes(folder.authority.server_context("api"))
        ended.callback(api.down)
        api.review = review
        config = folder.write("kubeconfig", json.dumps({
            "current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": api.url, "certificate-authority": str(folder.authority.file)}}],
            "users": [{"name": "u", "user": {"token": "good"}}]}))
        tls = f"tls_config: {{ca_file: {folder.authority.file}}}"
        with folder.start("--web.auth=kubernetes", f"--kube.kubeconfig={config}", "--kube.pods=off", text=folder.tls) as exporter:
            scrapes(exporter, f"authorization: {{credentials: token-of-prometheus}}, {tls}", 1)
            scrapes(exporter, f"authorization: {{credentials: token-of-another}}, {tls}", 0)


run_tests([a_password_and_a_certificate, a_token_of_a_file, a_token_of_an_account])
