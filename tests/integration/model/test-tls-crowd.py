#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TLS with 700 peers that say nothing, stop within the handshake or send a byte at a time, and connect anew when they are cut:
honest clients at the same address, which come behind all of them, are answered.

test-tls-crowd.py [CASE...]
test-tls-crowd.py --ask ADDRESS CA-FILE: an honest client, which shares no interpreter with the crowd
"""
import contextlib
import pathlib
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from certificates import Authority
from model_rig import Program, Repository
from rig import run_tests

PEERS = 700
CONNECTIONS = 128  # fewer than the default, so that the peers are many
SCRAPES = 4
DEADLINE_S = 20  # of a machine that is busy; alone each is answered within a second
# A client that lets the server wait for 0.1 s is silent to it. This one never does, except while the machine does not let it run.
LATE_S = 0.05


def hello():
    """The beginning of a handshake: what a client sends before it has heard anything."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    peer = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with contextlib.suppress(ssl.SSLWantReadError):
        peer.do_handshake()
    return outgoing.read()


class Crowd:
    """PEERS connections that are kept up. at_once: bytes of HELLO that each sends first; every_s: then one at a time."""

    def __init__(self, address, at_once, every_s=None):
        self.address, self.at_once, self.every_s = address, at_once, every_s
        self.hello, self.sent, self.made = hello(), {}, 0
        self.poll = select.epoll()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def add(self):
        peer = socket.socket()
        peer.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            peer.connect(self.address)
        self.poll.register(peer, select.EPOLLOUT | select.EPOLLRDHUP)
        self.sent[peer.fileno()] = (peer, None)
        self.made += 1

    def drop(self, number):
        peer, _ = self.sent.pop(number)
        self.poll.unregister(number)
        peer.close()

    def speak(self, number, count):
        peer, sent = self.sent[number]
        sent = sent or 0
        try:
            self.sent[number] = (peer, sent + (peer.send(self.hello[sent:sent + count]) if count else 0))
        except OSError:
            self.drop(number)

    def trickle(self):
        for number in list(self.sent):
            if number in self.sent and self.sent[number][1] is not None:
                self.speak(number, 1)

    def run(self):
        spoke = time.monotonic()
        while not self.stopping.is_set():
            for _ in range(min(50, PEERS - len(self.sent))):
                self.add()
            for number, events in self.poll.poll(0.02, 200):
                if events & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                    self.drop(number)
                elif self.sent[number][1] is None:
                    self.speak(number, self.at_once)
                    if number in self.sent:
                        self.poll.modify(number, select.EPOLLRDHUP)
            if self.every_s and time.monotonic() - spoke > self.every_s:
                spoke = time.monotonic()
                self.trickle()

    def __enter__(self):
        self.thread.start()
        deadline = time.monotonic() + 30
        while self.made < PEERS:
            assert time.monotonic() < deadline, self.made
            time.sleep(0.05)
        time.sleep(1)  # they are in the backlog, before those that are judged
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        for number in list(self.sent):
            self.drop(number)


@contextlib.contextmanager
def server():
    with tempfile.TemporaryDirectory(prefix="kepler-tls-") as directory, Repository() as repository:
        authority = Authority(directory)
        certificate, key = authority.sign("server")
        key.chmod(0o600)
        with Program("serve", repository.path, "--web.listen-address=127.0.0.1:0", f"--web.max-connections={CONNECTIONS}",
                     f"--web.tls-certificate={certificate}", f"--web.tls-key={key}") as program:
            yield program, str(authority.file)


def waited_s():
    """How long this process could have run, and did not, as the kernel says."""
    return int(pathlib.Path("/proc/self/schedstat").read_text().split()[1]) / 1e9


def ask(address, ca_file):
    context = ssl.create_default_context(cafile=ca_file)
    for _ in range(SCRAPES):
        while True:
            asked, waited = time.monotonic(), waited_s()
            try:
                with urllib.request.urlopen(f"https://{address}/healthz", context=context, timeout=DEADLINE_S) as answer:
                    assert answer.status == 200
                break
            except OSError as error:
                late = waited_s() - waited
                print(f"  cut after {time.monotonic() - asked:.2f} s; this client waited for a CPU for {late:.3f} s: {error}")
                if late < LATE_S:
                    raise
        print(f"  answered after {time.monotonic() - asked:.2f} s")


def honest_clients_are_answered(at_once, every_s=None):
    with server() as (program, ca_file):
        host, port = program.address.rsplit(":", 1)
        with Crowd((host, int(port)), at_once, every_s) as crowd:
            subprocess.run([sys.executable, __file__, "--ask", program.address, ca_file], check=True, timeout=200)
            print(f"  {crowd.made} peers in all")


def silent_peers():
    honest_clients_are_answered(0)


def peers_that_stop_in_the_handshake():
    honest_clients_are_answered(10000)


def peers_that_send_a_part_of_their_hello():
    honest_clients_are_answered(100)


def peers_that_trickle():
    honest_clients_are_answered(1, 1)


def peers_that_trickle_fast():
    honest_clients_are_answered(1, 0.05)


if sys.argv[1:2] == ["--ask"]:
    ask(*sys.argv[2:])
else:
    run_tests([silent_peers, peers_that_stop_in_the_handshake, peers_that_send_a_part_of_their_hello, peers_that_trickle,
               peers_that_trickle_fast])
