#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""S8: secrets stay where they were given. The release binary, as nobody, with canaries for a token (in a kubeconfig, in a file), a
client's key and a proxy's password, against servers that take them and servers that refuse: none of it is in the log at its
most talkative, in any answer, in arguments, in the environment that Kepler has (but what it was given there), in its state
directory or in what doctor says; and there is neither a core file nor a look into the process's memory.

Each case also asserts that the secret was used: what never was given cannot leak.
"""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from certificates import Authority
from fake_kubernetes import FakeKubernetes, make_pod
from rig import OTHERS_ENVIRONMENT, Exporter, free_port, need_program, need_root, release_binary

NOBODY = 65534
TOKEN, PASSWORD = "canary-token-x7Qm", "canary-proxy-w9Zk"
PATHS = ("/", "/metrics", "/healthz", "/readyz", "/config", "/debug", "/nothing?token=1")


class Proxy:
    """CONNECT and nothing else; `status` is what it answers."""

    def __init__(self):
        self.status, self.seen = "200 OK", []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            self.seen.append(head.decode())
            client.sendall(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
            if not self.status.startswith("200"):
                return
            host, port = head.split()[1].decode().rsplit(":", 1)
            with socket.create_connection((host, int(port))) as server:
                other = threading.Thread(target=self.copy, args=(server, client), daemon=True)
                other.start()
                self.copy(client, server)

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


class Rig:
    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.dir.chmod(0o755)
        self.binary = shutil.copy(release_binary(), self.dir)  # where the unprivileged user may not look
        self.authority = Authority(directory)
        self.api = FakeKubernetes(self.authority.server_context("asks", ask_client=True), token=TOKEN)
        self.api.put(make_pod("shop"))
        self.certificate, self.key = self.authority.sign("client")
        self.proxy = Proxy()
        (self.dir / "state").mkdir()
        self.give(self.dir / "state", None)
        self.give(self.dir / "token", TOKEN)
        self.give(self.key, self.key.read_text())
        key = self.key.read_bytes()
        # Each line of the key's PEM, as it is and as a kubeconfig holds it, and its bytes.
        body = key.decode().splitlines()[1:-1]
        inside = base64.b64encode(key).decode()
        self.canaries = [TOKEN, PASSWORD, base64.b64encode(f"user:{PASSWORD}".encode()).decode(), *body, inside[40:100]]
        assert all(len(canary) >= 16 for canary in self.canaries)

    @staticmethod
    def give(path, text):
        """To the user nobody alone."""
        if text is not None:
            path.write_text(text)
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o700 if path.is_dir() else 0o600)

    def kubeconfig(self, user, proxy=None, text=None, **cluster):
        path = self.dir / "kubeconfig"
        cluster = {"server": self.api.url, "certificate-authority": str(self.authority.file), **cluster}
        if proxy:
            cluster["proxy-url"] = f"http://user:{PASSWORD}@{proxy}"
        self.give(path, text or json.dumps({
            "current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}]}, indent=1))
        return path

    def of_data(self, **more):
        data = {"client-certificate-data": self.certificate, "client-key-data": self.key}
        return {"token": TOKEN, **{name: base64.b64encode(path.read_bytes()).decode() for name, path in data.items()}, **more}

    def of_files(self):
        return {"tokenFile": str(self.dir / "token"), "client-certificate": str(self.certificate), "client-key": str(self.key)}

    def look(self, where, text):
        for canary in self.canaries:
            assert canary not in text, f"{where} has the secret {canary}:\n{text}"

    def prefix(self):
        return [need_program("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all",
                "--inh-caps=-all"]

    @contextlib.contextmanager
    def exporter(self, config, env=None):
        with Exporter("--kube.pods=apiserver", f"--kube.kubeconfig={config}", "--kube.node-name=node-1", "--log.level=debug",
                      "--monitor.interval=200ms", "--bpf.enabled=false", f"--host.state-dir={self.dir}/state",
                      "--idle.mode=learned",
                      binary=self.binary, prefix=self.prefix(), env=env) as exporter:
            yield exporter
            self.look_into(exporter, env or {})
            assert exporter.stop() == 0
            self.look("the log", exporter.output())
            for path in (self.dir / "state").rglob("*"):
                self.look(path.name, path.read_text(errors="replace"))

    def look_into(self, exporter, env):
        exporter.intervals(2)
        for path in PATHS:
            _, head, body = exporter.get(path)
            self.look(path, str(head) + body.decode())
        proc = pathlib.Path(f"/proc/{exporter.process.pid}")
        self.look("argv", (proc / "cmdline").read_text())
        given = {**OTHERS_ENVIRONMENT, **env}
        for entry in filter(None, (proc / "environ").read_text().split("\0")):
            name, _, value = entry.partition("=")
            if given.get(name) != value:
                self.look("the environment", entry)
        core = next(line for line in (proc / "limits").read_text().splitlines() if line.startswith("Max core file size"))
        assert core.split()[4:6] == ["0", "0"], core
        # A process that is not dumpable belongs to root in /proc: no core by a pipe either, and no look by its own user.
        assert (proc / "maps").stat().st_uid == 0, "it is dumpable"
        peep = subprocess.run([*self.prefix(), "cat", proc / "environ"], capture_output=True, check=False)
        assert peep.returncode != 0, "another process of the same user reads its memory"

    def wait(self, exporter, condition, what):
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, f"{what}:\n{exporter.output()}"
            time.sleep(0.05)

    def doctor(self, config):
        done = subprocess.run([*self.prefix(), self.binary, "doctor", "--verbose", "--config.file=/dev/null",
                               "--kube.pods=apiserver", "--log.level=debug", f"--kube.kubeconfig={config}"],
                              capture_output=True, text=True, check=False,
                              timeout=20)
        assert "kubeconfig" in done.stdout + done.stderr or "pods" in done.stdout, done
        self.look("doctor", done.stdout + done.stderr)

    def taken(self, config):
        with self.exporter(config) as exporter:
            self.wait(exporter, lambda: exporter.scrape().value("kepler_exporter_name_source_up", source="kubernetes") == 1,
                      "never named")

    def refused(self, config, words, env=None):
        with self.exporter(config, env) as exporter:
            self.wait(exporter, lambda: words in exporter.output(), f"nothing of '{words}' in the log")


def what_is_taken(rig):
    """A token, a certificate and its key as data, through a proxy that wants a password; and all that from files."""
    rig.taken(rig.kubeconfig(rig.of_data(), rig.proxy.address))
    basic = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    assert any(f"Basic {basic}" in head for head in rig.proxy.seen), "the proxy was not told the password"
    assert rig.api.log and all(entry[3] == f"Bearer {TOKEN}" for entry in rig.api.log)
    rig.taken(rig.kubeconfig(rig.of_files()))
    rig.doctor(rig.dir / "kubeconfig")


def what_is_refused(rig):
    """The server takes another token; the proxy refuses, or is not there; the environment names one that is not."""
    rig.api.token = "another"
    rig.refused(rig.kubeconfig(rig.of_data()), "401")
    rig.refused(rig.kubeconfig(rig.of_files()), "401")
    rig.proxy.status = "407 Proxy Authentication Required"
    rig.refused(rig.kubeconfig(rig.of_data(), rig.proxy.address), "no names from Kubernetes")
    nothing = f"127.0.0.1:{free_port()}"
    rig.refused(rig.kubeconfig(rig.of_data(), nothing), "no names from Kubernetes")
    rig.refused(rig.kubeconfig(rig.of_data()), "no names from Kubernetes",
                  {"https_proxy": f"http://user:{PASSWORD}@{nothing}"})


def what_is_no_kubeconfig(rig):
    """Secrets beside, or in, what cannot be read: the message names the line, and not what stands there."""
    whole = rig.kubeconfig(rig.of_data()).read_text()
    key = rig.of_data()["client-key-data"]
    broken = {
        "not base64": whole.replace(key, key[:-5] + "!!!!!"),
        "is not http://": rig.kubeconfig(rig.of_data(), **{"proxy-url": f"https://user:{PASSWORD}@127.0.0.1:1"}).read_text(),
        "a user in the server": rig.kubeconfig(rig.of_data(), server=f"https://user:{PASSWORD}@127.0.0.1:1").read_text(),
        "password is not supported": rig.kubeconfig(rig.of_data(password=PASSWORD)).read_text(),
        "kubeconfig:": whole.replace(f'"{TOKEN}"', f'"{TOKEN}": "'),
        "tls-server-name": rig.kubeconfig(rig.of_data(), **{"tls-server-name": "a b"}).read_text(),
    }
    for words, text in broken.items():
        config = rig.kubeconfig({}, text=text)
        rig.doctor(config)
        rig.refused(config, words)
    config = rig.kubeconfig({}, text=whole)
    config.chmod(0o644)
    rig.refused(config, "chmod 600")


def main():
    need_root()
    for case in (what_is_taken, what_is_refused, what_is_no_kubeconfig):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as directory:
            case(Rig(directory))
        print(f"{case.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)


main()
