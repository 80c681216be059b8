#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Access and resolution: a unix socket, the Host of a request, one value an interval (S7); confined as users have it."""
import contextlib
import http.client
import os
import pathlib
import re
import signal
import socket
import ssl
import stat
import subprocess
import tempfile
import time

from certificates import Authority
from rig import ROOT, Exporter, Metrics, balanced, free_port, need_program, release_binary, run_tests


class OverSocket(http.client.HTTPConnection):
    """What `curl --unix-socket` does."""

    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self.path)


def ask(connection, path="/metrics", host=None):
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def start(directory, *args, **kwargs):
    return Exporter(f"--web.listen-address=unix:{directory}/kepler.sock", *args, binary=release_binary(), **kwargs)


def a_unix_socket():
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "kepler.sock")
        with start(directory, "--web.socket-mode=0640") as exporter:
            balanced(exporter.intervals(1))
            assert stat.S_IMODE(path.lstat().st_mode) == 0o640 and os.listdir(directory) == ["kepler.sock"]
            status, body = ask(OverSocket(path))
            assert status == 200 and "kepler_exporter_snapshots_total" in body
            assert ask(OverSocket(path), "/healthz", host="any.example")[0] == 200  # what connects was let in by its mode
            other = start(directory, wait=False)
            assert other.process.wait(20) == 1 and "another program listens there" in other.output(), other.output()
            assert ask(OverSocket(path))[0] == 200
            exporter.process.send_signal(signal.SIGKILL)
            exporter.process.wait()
        assert path.exists()  # and stale
        with start(directory) as exporter:
            assert stat.S_IMODE(path.lstat().st_mode) == 0o660
            assert ask(OverSocket(path), "/healthz")[0] == 200
            assert "denied" not in exporter.output().lower(), exporter.output()
            assert exporter.stop() == 0
        assert not os.listdir(directory)


NGINX = """daemon off;
master_process off;
pid {0}/pid;
error_log {0}/errors;
events {{}}
http {{
    access_log off;
    client_body_temp_path {0};
    proxy_temp_path {0};
    fastcgi_temp_path {0};
    uwsgi_temp_path {0};
    scgi_temp_path {0};
    server {{
        listen 127.0.0.1:{1};
        location = /metrics {{ {2} }}
    }}
}}
"""
OTHER_USER = 65534


def a_proxy_of_the_group():
    """docs/security.md: nginx as another user, whose group the folder has, serves what a Prometheus asks for over TCP."""
    nginx, port = need_program("nginx"), free_port()
    line = re.search(r"`(proxy_pass http://unix:)(/run/kepler)(/[^`]+)`", (ROOT / "docs/security.md").read_text())
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as work:
        os.chown(directory, 0, OTHER_USER)
        os.chmod(directory, 0o2750)
        os.chown(work, OTHER_USER, OTHER_USER)
        config = pathlib.Path(work, "nginx.conf")
        config.write_text(NGINX.format(work, port, line[1] + directory + line[3]))
        with start(directory) as exporter:
            exporter.wait_snapshot(1)
            process = subprocess.Popen([nginx, "-e", f"{work}/errors", "-c", str(config)], user=OTHER_USER, group=OTHER_USER,
                                       extra_groups=[])
            try:
                deadline = time.monotonic() + 20
                status, body = 0, ""
                while status != 200:
                    assert process.poll() is None and time.monotonic() < deadline, (status, body)
                    with contextlib.suppress(ConnectionRefusedError):
                        status, body = ask(http.client.HTTPConnection("127.0.0.1", port, timeout=10), host="any.example")
                    time.sleep(0.02)
                balanced(Metrics(body))
            finally:
                process.kill()
                process.wait()
            assert exporter.stop() == 0


def hosts():
    with Exporter("--web.allowed-hosts=*.lab.example", "--kube.node-name=node7.example", binary=release_binary()) as exporter:
        exporter.wait_snapshot(1)
        address = exporter.url.removeprefix("http://")
        for host, want in (("localhost", 200), ("10.1.2.3:28282", 200), ("[fe80::1]", 200), (socket.gethostname(), 200),
                           ("kepler.monitoring.svc", 200), ("a.lab.example:80", 200), ("node7.example", 200),
                           ("evil.example", 421), ("lab.example.evil", 421), ("localhost.evil.example", 421)):
            for path in ("/metrics", "/healthz"):
                status, body = ask(http.client.HTTPConnection(address, timeout=10), path, host)
                assert status == want and (status == 200 or "--web.allowed-hosts" in body), (host, path, status, body)
        assert exporter.stop() == 0


def own_names():
    """Scrapers know the machine by its full name: accepted where they can connect, refused on the loopback; logged once."""
    full = f"{socket.gethostname()}.lab.example"
    for listen, want in ((), 421), (("--web.listen-address=:0",), 200):
        with Exporter(*listen, binary=release_binary()) as exporter:
            exporter.wait_snapshot(1)
            address = exporter.url.removeprefix("http://")
            for host, expected in ((full, want), (f"{full}:28282", want), ("evil.example", 421), ("evil.example", 421)):
                status, _ = ask(http.client.HTTPConnection(address, timeout=10), "/healthz", host)
                assert status == expected, (listen, host, status)
            exporter.intervals(2)
            refused = exporter.scrape().value("kepler_exporter_http_misdirected_requests_total")
            assert refused == (2 if want == 200 else 4), refused
            assert exporter.stop() == 0
            assert exporter.output().count('HTTP requests for evil.example are refused with status 421') == 1, exporter.output()
            assert "--web.allowed-hosts=evil.example" in exporter.output() and "denied" not in exporter.output()


def one_value_an_interval():
    """A thousand scrapes between two readings: the same bytes each time."""
    with Exporter("--monitor.interval=30s", binary=release_binary()) as exporter:
        while exporter.get()[0] == 503:  # no reading yet
            time.sleep(0.05)
        connection = http.client.HTTPConnection(exporter.url.removeprefix("http://"), timeout=10)
        bodies = set()
        for _ in range(1000):
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            bodies.add(answer.read())
            assert answer.status == 200
        connection.close()
        assert len(bodies) == 1, len(bodies)
        assert exporter.stop() == 0


def reload(exporter, path, text):
    """The new configuration has been taken or refused: 1 or 0."""
    count = exporter.scrape().sum("kepler_exporter_config_reloads_total")
    path.write_text(text)
    exporter.process.send_signal(signal.SIGHUP)
    metrics = exporter.scrape()
    deadline = time.monotonic() + 20
    while metrics.sum("kepler_exporter_config_reloads_total") == count or \
            metrics.value("kepler_exporter_snapshots_total") < 2:
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.1)
        metrics = exporter.scrape()
    return exporter.intervals(2).value("kepler_exporter_config_last_reload_successful")


def fast_updates():
    """Below a second where others can connect: only where that was said, at the start and later."""
    fast = ["--web.listen-address=:0", "--monitor.interval=500ms"]
    refused = Exporter(*fast, binary=release_binary(), wait=False)
    assert refused.process.wait(20) != 0 and "web.allow-fast-updates allows it" in refused.output(), refused.output()
    with Exporter(*fast, "--web.allow-fast-updates", binary=release_binary()) as exporter:
        exporter.wait_snapshot(1)
        assert exporter.stop() == 0
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        path = pathlib.Path(file.name)
        path.write_text("monitor:\n  interval: 1s\n")
        with Exporter("--web.listen-address=:0", f"--config.file={path}", binary=release_binary()) as exporter:
            exporter.wait_snapshot(1)
            assert reload(exporter, path, "monitor:\n  interval: 200ms\n") == 0
            assert exporter.scrape().value("kepler_exporter_interval_seconds") == 1
            assert reload(exporter, path, "monitor:\n  interval: 200ms\nweb:\n  allow-fast-updates: true\n") == 1
            assert exporter.scrape().value("kepler_exporter_interval_seconds") * 10 == 2
            assert exporter.stop() == 0


TOKEN, LATER = "0123456789abcdef", "the-token-after-a-reload"
CLOSED = ("/", "/metrics", "/api/v1/now", "/explain/kernel", "/there/is/none")


def tokens_and_tls():
    """Every path but health checks needs a token, which SIGHUP renews; `kepler explain` has it from the same configuration."""
    with tempfile.TemporaryDirectory() as directory:
        authority = Authority(directory)
        certificate, key = authority.sign("server")
        key.chmod(0o600)
        tokens = pathlib.Path(directory, "tokens")
        tokens.touch(0o600)
        tokens.write_text(TOKEN + "\n")
        context = ssl.create_default_context(cafile=str(authority.file))
        options = (f"--web.tls-certificate={certificate}", f"--web.tls-key={key}", f"--web.token-file={tokens}")
        with Exporter(*options, binary=release_binary()) as exporter:
            def status(path="/metrics", token=None):
                return exporter.get(path, {"Authorization": f"Bearer {token}"} if token else {}, context=context)[0]

            assert exporter.url.startswith("https://"), exporter.url
            for path in CLOSED:
                assert status(path) == status(path, LATER) == 401, path
            while status("/readyz") == 503:
                time.sleep(0.05)
            assert status("/healthz") == status("/readyz") == 200
            assert [status(path, TOKEN) for path in CLOSED] == [200, 200, 200, 202, 404]
            asked = [str(release_binary()), "explain", "self", "--config.file=/dev/null", *options,
                     f"--web.listen-address={exporter.url.removeprefix('https://')}"]
            done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
            assert "401" not in done.stdout + done.stderr and ": not found" in done.stderr, done
            tokens.write_text(LATER + "\n")
            exporter.process.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + 20
            while status("/metrics", LATER) == 401:
                assert time.monotonic() < deadline, exporter.output()
                time.sleep(0.02)
            assert status("/metrics", TOKEN) == 401
            tokens.write_text("short\n")
            exporter.process.send_signal(signal.SIGHUP)
            while "reload refused" not in exporter.output():
                assert time.monotonic() < deadline, exporter.output()
                time.sleep(0.02)
            assert f"{tokens}:1: a token must have" in exporter.output()
            assert status("/metrics", LATER) == 200
            assert "denied" not in exporter.output().lower(), exporter.output()
            assert exporter.stop() == 0
    missing = Exporter(f"--web.token-file={directory}/none", binary=release_binary(), wait=False)
    assert missing.process.wait(20) != 0 and f"{directory}/none: cannot be read" in missing.output(), missing.output()


run_tests([a_unix_socket, hosts, tokens_and_tls, own_names, one_value_an_interval, fast_updates, a_proxy_of_the_group])
