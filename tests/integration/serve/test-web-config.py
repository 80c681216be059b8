#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--web.config-file: TLS, certificates of clients, users, headers, the limit; changes while it runs."""
import base64
import pathlib
import socket
import ssl
import subprocess
import tempfile
import time

from certificates import Authority
from rig import Exporter, Metrics, release_binary, run_tests

# bcrypt of "right horse", at cost 4
HASH = "$2y$04$abcdefghijklmnopqrstuuLK4yYxcGJwQr33yKnQTmKjI1WQSUD2K"
USERS = f"basic_auth_users:\n  alice: {HASH}\n"
CLOSED = ("/", "/metrics", "/api/v1/now", "/api/v1/history", "/explain", "/explain?row=none", "/nowhere")


def basic(name, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def wait_for(what, exporter):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.05)


class Lab:
    """A folder with an authority, a certificate, and the file web.yml, which names them without their folder."""

    def __init__(self, directory):
        self.folder = pathlib.Path(directory)
        self.authority = Authority(directory)
        certificate, key = self.authority.sign("server")
        key.chmod(0o600)
        self.tls = f"tls_server_config:\n  cert_file: {certificate.name}\n  key_file: {key.name}\n"
        self.file = self.folder / "web.yml"

    def start(self, text, *args, **kwargs):
        self.file.write_text(text)
        self.file.chmod(0o600)
        return Exporter(f"--web.config-file={self.file}", *args, binary=release_binary(), **kwargs)

    def context(self, certificate=None):
        context = ssl.create_default_context(cafile=str(self.authority.file))
        if certificate:
            context.load_cert_chain(*certificate)
        return context


def users():
    """Every path but health checks needs the password. The hash is computed once, and wrong guesses are refused as well."""
    with tempfile.TemporaryDirectory() as directory, Lab(directory).start(USERS) as exporter:
        def status(path="/metrics", headers=None):
            return exporter.get(path, headers or {})[0]

        for path in CLOSED:
            assert status(path) == status(path, basic("alice", "wrong")) == status(path, basic("bob", "right horse")) == 401, path
        assert status("/healthz") == 200
        right = basic("alice", "right horse")
        wait_for(lambda: status("/metrics", right) == 200, exporter)
        page = exporter.get("/metrics", right)[2].decode()
        counts = Metrics(page)
        assert counts.value("kepler_exporter_http_password_comparisons_total") == 3
        assert counts.value("kepler_exporter_http_wrong_passwords_total") == 2
        assert exporter.get("/metrics")[1]["WWW-Authenticate"].startswith("Basic realm=")
        assert "right horse" not in exporter.output() and HASH not in page
        assert "denied" not in exporter.output().lower(), exporter.output()
        assert exporter.stop() == 0


def posts_wait_too():
    """A client that sends a body, or asks whether it may, is answered as well while its password is compared."""
    with tempfile.TemporaryDirectory() as directory, Lab(directory).start(USERS) as exporter:
        body = pathlib.Path(directory, "body")
        body.write_bytes(b"x" * 100000)
        for user, want in (("alice:right horse", "405"), ("alice:other", "401")):
            done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-u", user, "--data-binary", f"@{body}",
                                   exporter.url + "/metrics"], capture_output=True, text=True, timeout=30, check=False)
            assert done.stdout == want, (user, done)


def tls_and_clients():
    """A client needs a certificate of the authority with an allowed name; versions below 1.2 are not spoken."""
    with tempfile.TemporaryDirectory() as directory:
        lab = Lab(directory)
        other = Authority(directory, "other")
        text = lab.tls + (f"  client_ca_file: {lab.authority.file.name}\n  client_auth_type: RequireAndVerifyClientCert\n"
                          "  client_allowed_sans: [prometheus.example.org, 192.0.2.7]\n  min_version: TLS13\n"
                          "http_server_config:\n  http2: true\n  headers:\n    Strict-Transport-Security: max-age=7\n"
                          "    X-Frame-Options: sameorigin\n")
        good = lab.authority.sign("good", "DNS:prometheus.example.org")
        by_address = lab.authority.sign("address", "IP:192.0.2.7")
        named_else = lab.authority.sign("else", "DNS:else.example.org")
        foreign = other.sign("foreign", "DNS:prometheus.example.org")
        with lab.start(text) as exporter:
            assert exporter.url.startswith("https://")
            assert "http2: true is not supported" in exporter.output()

            def answer(certificate=None):
                try:
                    return exporter.get("/healthz", {}, context=lab.context(certificate))
                except (OSError, ssl.SSLError) as error:
                    return (type(error).__name__,)

            status, headers, _ = answer(good)
            assert status == 200 and headers["Strict-Transport-Security"] == "max-age=7", headers
            assert headers["X-Frame-Options"] == "sameorigin", headers
            assert answer(by_address)[0] == 200
            for refused in (None, named_else, foreign):
                assert answer(refused)[0] != 200, refused
            old = lab.context(good)
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            try:
                exporter.get("/healthz", {}, context=old)
                raise AssertionError("TLS 1.2 was spoken")
            except OSError:
                pass
            page = exporter.get("/metrics", {}, context=lab.context(good))[2].decode()
            assert Metrics(page).value("kepler_exporter_http_client_certificates_refused_total") >= 2


def renewal():
    """A renewed certificate is used from the next connection on; what is broken meanwhile changes nothing but the metric."""
    with tempfile.TemporaryDirectory() as directory:
        lab = Lab(directory)
        with lab.start(lab.tls + USERS) as exporter:
            port = int(exporter.url.rsplit(":", 1)[1])
            right = basic("alice", "right horse")

            def served():
                return ssl.get_server_certificate(("127.0.0.1", port))

            def reloads():
                page = exporter.get("/metrics", right, context=lab.context())[2].decode()
                return [line.split()[1] for line in page.splitlines()
                        if line.startswith("kepler_exporter_config_last_reload_successful ")]

            first = served()
            wait_for(lambda: exporter.get("/metrics", right, context=lab.context())[0] == 200, exporter)
            assert reloads() == ["1"]
            lab.authority.sign("server")  # the same files; the key is replaced before the certificate
            wait_for(lambda: served() != first, exporter)
            lab.file.write_text(lab.tls + USERS + "typo: 1\n")
            wait_for(lambda: "web configuration refused, keeping the old one" in exporter.output(), exporter)
            assert f"{lab.file}:6:1: typo: there is no such key here" in exporter.output(), exporter.output()
            wait_for(lambda: reloads() == ["0"], exporter)
            assert exporter.get("/metrics", {}, context=lab.context())[0] == 401
            lab.file.write_text(USERS)  # plain HTTP is never an answer to a request over TLS
            wait_for(lambda: "tls_server_config was removed, which needs a restart" in exporter.output(), exporter)
            assert reloads() == ["0"]
            lab.file.write_text(lab.tls + USERS.replace("alice", "carol"))
            wait_for(lambda: exporter.get("/metrics", basic("carol", "right horse"), context=lab.context())[0] == 200, exporter)
            assert exporter.get("/metrics", right, context=lab.context())[0] == 401
            assert "denied" not in exporter.output().lower(), exporter.output()


def in_a_private_place():
    """What the file names in /root is still read after a change, although the exporter is confined: Landlock and seccomp hold."""
    with tempfile.TemporaryDirectory(dir="/root") as directory:
        lab = Lab(directory)
        with lab.start(lab.tls + USERS) as exporter:
            port = int(exporter.url.rsplit(":", 1)[1])
            first = ssl.get_server_certificate(("127.0.0.1", port))
            certificate = pathlib.Path(directory, "lab-server.crt")
            renewed = Authority(directory, "renewed").sign("server")
            lab.file.write_text(f"tls_server_config:\n  cert_file: {renewed[0].name}\n  key_file: {renewed[1].name}\n"
                                + USERS.replace("alice", "carol"))
            renewed[1].chmod(0o600)
            wait_for(lambda: ssl.get_server_certificate(("127.0.0.1", port)) != first, exporter)
            certificate.unlink()
            context = ssl.create_default_context(cafile=f"{directory}/renewed-ca.crt")
            wait_for(lambda: exporter.get("/metrics", basic("carol", "right horse"), context=context)[0] == 200, exporter)
            page = Metrics(exporter.get("/metrics", basic("carol", "right horse"), context=context)[2].decode())
            assert page.value("kepler_exporter_landlock_abi") > 0, "Landlock is not in force"
            assert page.value("kepler_exporter_denied_system_calls_total") == 0, exporter.output()
            assert exporter.output().count("web configuration read again") == 1, exporter.output()
            assert exporter.stop() == 0


def users_that_vanish():
    """A file that no longer names users opens the server, which is said, unless tokens still protect it."""
    headers = "http_server_config:\n  headers:\n    X-Frame-Options: deny\n"
    with tempfile.TemporaryDirectory() as directory:
        lab = Lab(directory)
        tokens = pathlib.Path(directory, "tokens")
        tokens.touch(0o600)
        tokens.write_text("0123456789abcdef-of-a-test\n")
        for args, opens in (((), True), ((f"--web.token-file={tokens}",), False)):
            with lab.start(USERS + headers, *args) as exporter:
                assert exporter.get("/metrics", {})[0] == 401
                lab.file.write_text(headers)
                wait_for(lambda: "web configuration read again" in exporter.output(), exporter)
                assert ("basic_auth_users was removed: from now on every client" in exporter.output()) == opens, exporter.output()
                assert exporter.get("/metrics", {})[0] == (200 if opens else 401)


def explain_asks_where_it_can():
    """`kepler explain` speaks TLS as the web configuration says; where that has users, it asks the local socket."""
    with tempfile.TemporaryDirectory() as directory:
        lab = Lab(directory)
        for text, through in ((lab.tls, "--web.listen-address"), (lab.tls + USERS, "--local.socket")):
            socket_path = f"--local.socket={directory}/kepler.sock"
            with lab.start(text, socket_path, "--kube.pods=off") as exporter:
                right = basic("alice", "right horse")
                wait_for(lambda: exporter.get("/metrics", right, context=lab.context())[0] == 200, exporter)
                address = exporter.url.removeprefix("https://")
                asked = [release_binary(), "explain", str(exporter.process.pid), "--config.file=/dev/null",
                         f"--web.config-file={lab.file}",
                         f"--web.listen-address={address if 'listen' in through else '127.0.0.1:1'}",
                         socket_path if "socket" in through else "--local.socket="]
                done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
                assert done.returncode == 0 and "kepler" in done.stdout, (through, done)
                without = subprocess.run([*asked, "--local.socket="], capture_output=True, text=True, timeout=60, check=False)
                assert (without.returncode == 0) == ("listen" in through), without
                assert "socket" not in through or "only its local socket can be asked" in without.stderr, without


def refused_at_the_start():
    """A file that is not fit stops the start, with the position."""
    with tempfile.TemporaryDirectory() as directory:
        lab = Lab(directory)
        for text, args, why in (
                ("", (), "web.yml:1:1: has no key"),
                ("basic_auth_users:\n  alice: plain\n", (), "web.yml:2:10: basic_auth_users.alice: must be a bcrypt hash"),
                (lab.tls.replace(".crt", ".none"), (), "web.yml:2:14: tls_server_config.cert_file: "),
                (lab.tls, (f"--web.tls-certificate={lab.folder}/lab-server.crt", f"--web.tls-key={lab.folder}/lab-server.key"),
                 "web.tls-certificate: "),
        ):
            exporter = lab.start(text, *args, wait=False)
            assert exporter.process.wait(20) != 0 and why in exporter.output(), (text, exporter.output())


def the_limit():
    """Above the limit the answer is 429, but not for health checks."""
    with tempfile.TemporaryDirectory() as directory, Lab(directory).start("rate_limit:\n  interval: 1h\n  burst: 3\n") as exporter:
        assert [exporter.get("/api/v1/now", {})[0] == 429 for _ in range(4)] == [False, False, False, True]
        assert exporter.get("/healthz", {})[0] == 200


def half_open_handshakes():
    """200 peers that connect and send nothing, or a part of the handshake, do not keep out one that comes after them."""
    with tempfile.TemporaryDirectory() as directory:
        lab = Lab(directory)
        with lab.start(lab.tls, "--web.max-connections=64") as exporter:
            wait_for(lambda: exporter.get("/metrics", {}, context=lab.context())[0] == 200, exporter)
            port = int(exporter.url.rsplit(":", 1)[1])
            opening = ssl.MemoryBIO()
            client = lab.context().wrap_bio(ssl.MemoryBIO(), opening, server_hostname="127.0.0.1")
            try:
                client.do_handshake()
            except ssl.SSLWantReadError:
                pass
            hello = opening.read()
            peers = []
            for number in range(200):
                peer = socket.create_connection(("127.0.0.1", port), timeout=10)
                peer.sendall((b"", hello[:20], hello)[number % 3])
                peers.append(peer)
            for _ in range(5):
                began = time.monotonic()
                assert exporter.get("/metrics", {}, context=lab.context(), timeout=20)[0] == 200
                assert time.monotonic() - began < 5
            for peer in peers:
                peer.close()


run_tests([users, posts_wait_too, tls_and_clients, renewal, in_a_private_place, users_that_vanish, explain_asks_where_it_can,
           refused_at_the_start, the_limit, half_open_handshakes])
