#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients under the system call filter: names are looked up by every module that Debian has, TLS is spoken, and nothing is denied.

A network of its own has an API server and a name server, on 127.0.0.1 and on fe80::1%lo. Every case is an exporter in a mount
namespace of its own, which starts when the name of the API server is unknown to it: the look-up that succeeds, with the modules
that libc loads for it and the reading of resolv.conf, is the next one, under the filter.
"""
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

from certificates import Authority
from fake_kubernetes import FakeKubernetes, make_pod
from rig import Exporter, need_program, need_root, release_binary, skip

CACHE = pathlib.Path(os.environ.get("KEPLER_LAB_CACHE", "/var/cache/kepler-lab"), "tools")
INSIDE = "LAB_CONFINED_CLIENTS"
HOST = "api.kepler.test"
LINK_LOCAL = "fe80::1"
MODULES = ["resolve", "mymachines", "myhostname", "sss", "mdns4_minimal", "mdns4", "nis", "db"]
MOUNTED = ("nsswitch.conf", "resolv.conf", "hosts")
BIND = f'dir=$1; shift; for name in {" ".join(MOUNTED)}; do mount --bind $dir/$name $(readlink -f /etc/$name); done; exec "$@"'
PREFIX = ["unshare", "--mount", "sh", "-c", BIND, "sh"]


class NameServer:
    """Answers each question for HOST with 127.0.0.1, and none other; over UDP it says "truncated" where the name is asked so."""

    def __init__(self):
        scope = socket.if_nametoindex("lo")
        places = [(socket.AF_INET, ("127.0.0.1", 53)), (socket.AF_INET6, (LINK_LOCAL, 53, 0, scope))]
        self.asked = set()
        for family, place in places:
            udp, tcp = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family)
            udp.bind(place)
            tcp.bind(place)
            tcp.listen()
            threading.Thread(target=self.serve_udp, args=(udp,), daemon=True).start()
            threading.Thread(target=self.serve_tcp, args=(tcp,), daemon=True).start()

    def answer(self, question, transport):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode().lower())
            at += 1 + question[at]
        kind, name = int.from_bytes(question[at + 1:at + 3], "big"), ".".join(labels)
        self.asked.add((transport, name))
        known = name.endswith(HOST)
        cut = known and name.startswith("big.") and transport == "udp"
        answers = known and kind == 1 and not cut
        flags = 0x8580 | (0x0200 if cut else 0) | (0 if known else 3)
        head = question[:2] + flags.to_bytes(2, "big") + bytes([0, 1, 0, answers, 0, 0, 0, 0])
        record = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x7f\x00\x00\x01" if answers else b""
        return head + question[12:at + 5] + record

    def serve_udp(self, udp):
        while True:
            question, peer = udp.recvfrom(4096)
            udp.sendto(self.answer(question, "udp"), peer)

    def serve_tcp(self, tcp):
        while True:
            connection, _ = tcp.accept()
            with connection:
                while length := int.from_bytes(connection.recv(2, socket.MSG_WAITALL), "big"):
                    answer = self.answer(connection.recv(length, socket.MSG_WAITALL), "tcp")
                    connection.sendall(len(answer).to_bytes(2, "big") + answer)


def forward(port):
    """Connections to the link-local address go to the API server, which knows 127.0.0.1 only."""
    def pump(one, other):
        with one, other:
            while True:
                for ready in select.select([one, other], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    (other if ready is one else one).sendall(data)

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=pump, args=(connection, socket.create_connection(("127.0.0.1", port))), daemon=True).start()

    listener = socket.socket(socket.AF_INET6)
    listener.bind((LINK_LOCAL, port, 0, socket.if_nametoindex("lo")))
    listener.listen()
    threading.Thread(target=accept, daemon=True).start()


class Case:
    """Starts knowing no name; settle() gives it what the case is about."""

    def __init__(self, directory, name, url, later, libraries, authority):
        self.name, self.later, self.dir = name, later, pathlib.Path(directory, name)
        self.dir.mkdir()
        self.write({"nsswitch.conf": "hosts: files\n", "resolv.conf": "nameserver 127.0.0.1\n", "hosts": "127.0.0.1 localhost\n"})
        (self.dir / "token").touch(0o600)
        (self.dir / "token").write_text("good")
        config = self.dir / "kubeconfig"
        config.write_text(
            "{current-context: lab, contexts: [{name: lab, context: {cluster: c, user: u}}],"
            f' clusters: [{{name: c, cluster: {{server: "{url}", certificate-authority: {authority.file}}}}}],'
            f" users: [{{name: u, user: {{tokenFile: {self.dir}/token}}}}]}}\n")
        self.exporter = Exporter("--kube.pods=apiserver", f"--kube.kubeconfig={config}", "--kube.node-name=node-1",
                                 "--monitor.interval=200ms", "--bpf.enabled=false", binary=release_binary(), wait=False,
                                 prefix=[*PREFIX, self.dir], env={"LD_LIBRARY_PATH": str(libraries)})

    def write(self, files):
        for name, text in files.items():
            (self.dir / name).write_text(text)  # in its place: that is what is mounted

    def settle(self):
        self.exporter.wait_url()
        status = pathlib.Path(f"/proc/{self.exporter.process.pid}/status").read_text()
        assert "Seccomp:\t2" in status, f"{self.name}: not confined:\n{self.exporter.output()}"
        self.write(self.later)

    def is_named(self):
        """True when the API server has answered; fails when the program has ended."""
        status = self.exporter.process.poll()
        assert status is None, f"{self.name}: ended with {status} (SIGSYS is -31):\n{self.exporter.output()}"
        return self.exporter.scrape().value("kepler_exporter_name_source_up", source="kubernetes") == 1

    def check(self):
        metrics = self.exporter.scrape()
        denied = metrics.value("kepler_exporter_denied_system_calls_total")
        assert denied == 0, f"{self.name}: {denied} calls denied:\n{self.exporter.output()}"
        maps = pathlib.Path(f"/proc/{self.exporter.process.pid}/maps").read_text()
        module = self.later["nsswitch.conf"].split()[1]
        if module in MODULES:
            assert re.search(rf"/libnss_{module}[.-]", maps), f"{self.name}: not loaded"
        assert self.exporter.stop() == 0


def cases():
    """(name, server's host, what files become)"""
    dns = {"nsswitch.conf": "hosts: dns\n", "resolv.conf": "nameserver 127.0.0.1\n"}
    yield "files", HOST, {"nsswitch.conf": "hosts: files\n", "hosts": f"127.0.0.1 {HOST}\n"}
    yield "dns", HOST, dns
    yield "dns-tcp", "big." + HOST, {**dns, "resolv.conf": "nameserver 127.0.0.1\noptions edns0 rotate trust-ad\n"}
    yield "dns-link-local", HOST, {**dns, "resolv.conf": f"nameserver {LINK_LOCAL}%lo\n"}
    for module in MODULES:
        yield module, HOST, {**dns, "nsswitch.conf": f"hosts: {module} dns\n"}


def hang_up():
    """The services that some modules ask: they accept, listen and hang up, which makes the modules go all their way."""
    def serve(listener):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(0.1)
                try:
                    connection.recv(4096)
                except OSError:
                    pass

    for folder in ("/run", "/var/lib"):
        subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    for path in ("/run/systemd/resolve/io.systemd.Resolve", "/run/dbus/system_bus_socket", "/run/avahi-daemon/socket",
                 "/var/lib/sss/pipes/nss"):
        pathlib.Path(path).parent.mkdir(parents=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        threading.Thread(target=serve, args=(listener,), daemon=True).start()


def find_modules(directory):
    """A folder of every module that is installed or unpacked here; the names of those that are nowhere."""
    where = ["/lib", "/usr/lib", CACHE / "usr/lib", CACHE / "lib"]
    missing = []
    directory.mkdir()
    for module in MODULES:
        file = next((f for place in where for f in pathlib.Path(place).glob(f"*-linux-gnu*/libnss_{module}.so.2")), None)
        if file:
            (directory / file.name).symlink_to(file)
        else:
            missing.append(module)
    return missing


def inside(directory):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "address", "add", LINK_LOCAL + "/64", "dev", "lo", "nodad"], check=True)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    libraries = directory / "modules"
    missing = find_modules(libraries)
    hang_up()
    authority = Authority(directory)
    api = FakeKubernetes(authority.server_context(subject_names=f"DNS:{HOST},DNS:big.{HOST},IP:127.0.0.1,IP:{LINK_LOCAL}"))
    api.put(make_pod("shop"))
    server = NameServer()
    forward(api.port)
    wanted = [case for case in cases() if case[0] not in missing]
    running = [Case(directory, name, f"https://{host}:{api.port}", later, libraries, authority) for name, host, later in wanted]
    # The zone of an address in a URL is looked up at each connection: the first is refused, since nothing listens yet.
    zone = Case(directory, "zone-in-url", f"https://[{LINK_LOCAL}%25lo]:{api.port}", {"nsswitch.conf": "hosts: files\n"}, libraries,
                authority)
    running.append(zone)
    for case in running:
        case.settle()
    deadline = time.monotonic() + 40
    waiting = list(running)
    while waiting:
        assert time.monotonic() < deadline, "without names: " + ", ".join(
            f"{case.name}:\n{case.exporter.output()}" for case in waiting)
        waiting = [case for case in waiting if not case.is_named()]
        time.sleep(0.1)
    assert ("tcp", "big." + HOST) in server.asked
    for case in running:
        case.check()
    print(f"under the filter: {', '.join(case.name for case in running)}")
    if missing:
        skip("no module " + ", ".join(missing) + ": tests/lab/unpack-packages fetches them")


def main():
    need_root()
    need_program("unshare")
    need_program("ip")
    if INSIDE not in os.environ:
        release_binary()  # outside: a build uses no file in there
        os.execvpe("unshare", ["unshare", "--net", "--mount", sys.executable, __file__], {**os.environ, INSIDE: "1"})
    with tempfile.TemporaryDirectory(prefix="kepler-clients-") as directory:
        inside(pathlib.Path(directory))


main()
