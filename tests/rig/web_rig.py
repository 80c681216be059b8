# SPDX-License-Identifier: Apache-2.0
"""A crowd of processes that cost nothing, so that a page gets large, and peers that are slow with it."""
import contextlib
import multiprocessing
import pathlib
import selectors
import shutil
import signal
import socket
import tempfile
import threading
import time

from rig import Exporter, release_binary, skip

STAT = "{pid} (worker-{pid}) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 5000 1000 100" + " 0" * 28 + "\n"
LARGE = ["--no-bpf.enabled", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--metrics.schema=both",
         "--metrics.max-series=1000000"]


class LargePage:
    """An exporter whose page has about 530 bytes and three series for each of `processes`, which are files."""

    def __init__(self, processes, *args, binary=None, **kwargs):
        self.procfs = pathlib.Path(tempfile.mkdtemp(prefix="kepler-proc-", dir="/dev/shm"))
        for name in ("cpuinfo", "meminfo", "stat", "uptime"):
            shutil.copy("/proc/" + name, self.procfs / name)
        self.pids = range(1000, 1000 + processes)
        for pid in self.pids:
            (self.procfs / str(pid)).mkdir()
            (self.procfs / str(pid) / "cgroup").write_text(f"0::/system.slice/w{pid % 20}.service\n")
        self.run_to(100)
        self.exporter = Exporter(f"--host.procfs={self.procfs}", *LARGE, *args, binary=binary or release_binary(), **kwargs)

    def run_to(self, ticks):
        for pid in self.pids:
            (self.procfs / str(pid) / "stat").write_text(STAT.format(pid=pid, ticks=ticks))

    def __enter__(self):
        self.exporter.wait_snapshot(1)
        self.run_to(300)
        metrics = self.exporter.intervals(2)
        assert len(metrics.select("kepler_process_cpu_seconds_total")) >= len(self.pids)
        self.bytes = len(metrics.text)
        return self

    def __exit__(self, *exc):
        self.exporter.__exit__(*exc)
        shutil.rmtree(self.procfs)


def drip(address, count, source, mss, receive_buffer, bytes_each_s, gzip):
    """Asks for /metrics `count` times at once and reads little; a client that is cut connects again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ask = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + (b"Accept-Encoding: gzip\r\n" if gzip else b"") + b"\r\n"
    peers = selectors.DefaultSelector()
    again = [0.0] * count

    def dial():
        peer = socket.socket()
        peer.setblocking(False)
        if receive_buffer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if mss:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
        peer.bind((source, 0))
        peer.connect_ex(address)
        peers.register(peer, selectors.EVENT_WRITE)

    while True:
        now = time.monotonic()
        for _ in [at for at in again if at <= now]:
            dial()
        again = [at for at in again if at > now]
        for key, events in peers.select(0.05):
            peer = key.fileobj
            try:
                if events & selectors.EVENT_WRITE:
                    peer.send(ask)
                    peers.modify(peer, selectors.EVENT_READ)
                elif peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or not peer.recv(max(1, bytes_each_s // 20)):
                    raise ConnectionResetError  # what it had received would still be there to be read
            except OSError:
                peers.unregister(peer)
                peer.close()
                again.append(now + 0.2)
        time.sleep(0.05)


def trickle(address, count, first, more):
    """Sends `first` over each of `count` connections, and then `more` for ever; a client that is cut connects again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    peers = []
    while True:
        while len(peers) < count:
            peer = socket.socket()
            peer.setblocking(False)
            peer.connect_ex(address)
            peers.append([peer, first])
        for entry in [*peers]:
            try:
                entry[0].send(entry[1])
                entry[1] = more
            except BlockingIOError:
                pass  # not connected yet
            except OSError:
                entry[0].close()
                peers.remove(entry)
        time.sleep(0.1)


def address_of(exporter):
    host, port = exporter.url.removeprefix("http://").rsplit(":", 1)
    return host, int(port)


@contextlib.contextmanager
def attack(target, *args):
    process = multiprocessing.get_context("fork").Process(target=target, args=args, daemon=True)
    process.start()
    try:
        yield
        assert process.is_alive(), "the attack ended"
    finally:
        process.kill()
        process.join()


def slow_readers(exporter, count, source="127.0.0.1", mss=1400, receive_buffer=2304, bytes_each_s=20, gzip=False):
    """`count` connections, kept up as long as the context lasts."""
    return attack(drip, address_of(exporter), count, source, mss, receive_buffer, bytes_each_s, gzip)


def slow_headers(exporter, count):
    return attack(trickle, address_of(exporter), count, b"GET /metrics HTTP/1.1\r\nHost: h\r\n", b"X: y\r\n")


def slow_bodies(exporter, count):
    return attack(trickle, address_of(exporter), count, b"GET /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n", b"x")


def serve_beside(exporter, seconds, slowest_s=10):
    """What a scraper and a kubelet see meanwhile: health is always there, and a page, but for some "try again"."""
    until = time.monotonic() + seconds
    seen = {"/metrics": [], "/healthz": []}
    while time.monotonic() < until:
        for path, answers in seen.items():
            began = time.monotonic()
            status, headers, body = exporter.get(path, timeout=30)
            assert status == 200 or (status == 503 and headers["Retry-After"]), (path, status, body[:200])
            answers.append((status, time.monotonic() - began))
    for path, answers in seen.items():
        good = sum(status == 200 for status, _ in answers)
        slowest = max(took for _, took in answers)
        print(f"    {path}: {good} of {len(answers)}, slowest {slowest * 1e3:.0f} ms")
        assert good >= len(answers) * (1 if path == "/healthz" else 0.5) and slowest < slowest_s


class SteadyReader(threading.Thread):
    """Reads one page at `rate` bytes a second, as over a slow link."""

    def __init__(self, exporter, rate):
        super().__init__(daemon=True)
        self.address, self.rate, self.bytes = address_of(exporter), rate, 0
        self.peer = socket.socket()
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1400)

    def run(self):
        with self.peer:
            self.peer.connect(self.address)
            self.peer.settimeout(10)
            self.peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            began = time.monotonic()
            with contextlib.suppress(OSError):
                while data := self.peer.recv(16384):
                    self.bytes += len(data)
                    time.sleep(max(0, self.bytes / self.rate - (time.monotonic() - began)))


class MemoryLimit:
    """A memory cgroup of `limit` bytes, v1 or v2, for a process to be started in."""

    def __init__(self, limit):
        v1 = pathlib.Path("/sys/fs/cgroup/memory/kepler-memory-test")
        v2 = pathlib.Path("/sys/fs/cgroup/kepler-memory-test")
        self.path, name = (v1, "memory.limit_in_bytes") if v1.parent.exists() else (v2, "memory.max")
        try:
            self.path.mkdir(exist_ok=True)
            (self.path / name).write_text(str(limit))
        except OSError as error:
            skip(f"no memory cgroup can be made: {error}")
        self.peak = self.path / ("memory.max_usage_in_bytes" if self.path == v1 else "memory.peak")

    def join(self):
        (self.path / "cgroup.procs").write_text("0")

    def peak_bytes(self):
        return int(self.peak.read_text()) if self.peak.exists() else 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        time.sleep(0.1)  # the kernel empties a cgroup a moment after its last task
        with contextlib.suppress(OSError):
            self.path.rmdir()
