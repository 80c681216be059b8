#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model serve within 256 MiB, its limit in Kubernetes: many models, large files, requests for much, slow readers.

At night with 50,000 models and 2 GB of files, else with 3,000 and 300 MB.
"""
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import tempfile
import threading
import time
import zlib

from model_rig import BPF, HEAD, MACHINES, Program, is_slow, weights
from rig import Metrics, run_tests

QUIET = "--web.listen-address=127.0.0.1:0"
LONG = "KEPLER_LONG_TESTS" in os.environ
LIMIT = 256 << 20
LARGE = 14 << 20
ASKED = {"metrics": BPF, "output_type": "AbsPower", "source": "rapl-sysfs", "node_type": -1, "weight": False, "trainer_name": "",
         "filter": "", "machine_spec": None}


def stored_zip(name, data):
    """An archive with one file that is not compressed; zipfile takes a second for what this does in milliseconds."""
    crc = zlib.crc32(data)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, crc, len(data), len(data), len(name), 0) + name
    facts = (crc, len(data), len(data), len(name), 0, 0, 0, 0, 0, 0)
    central = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 33, *facts) + name
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local) + len(data), 0)
    return local + data + central + end


class ManyModels:
    """`pipe` has so many lines in groups of their own, and so many archives of 14 MiB."""

    def __init__(self, lines, large=0, groups=40):
        self.directory = tempfile.TemporaryDirectory(prefix="kepler-models-")
        self.path = pathlib.Path(self.directory.name)
        top = self.path / "pipe"
        rows, parents = [HEAD], {}
        for group in [*range(groups), "BPFOnly"]:
            name = f"Group{group}" if group != "BPFOnly" else group
            parents[group] = top / "rapl-sysfs/AbsPower" / name
            parents[group].mkdir(parents=True)
        (top / "node_type_index.json").write_text(json.dumps({str(n): {"attrs": a, "members": ["m"]} for n, a in MACHINES.items()}))
        features = f"\"['{BPF[0]}', '{BPF[1]}']\""
        for i in range(lines):
            group, name = i % groups, f"SGDRegressorTrainer{i}_{list(MACHINES)[i % len(MACHINES)]}"
            (parents[group] / f"{name}.json").write_text(json.dumps(weights(100 + i % 50, 50)))
            rows.append(f"0,{name},scikit,{name}.json,{features},[],AbsPower,{1 + i % 7}.0,3.0,{1 + i % 7}.0,4.0,"
                        f"SGDRegressorTrainer{i},1,Group{group}\n")
        block = os.urandom(1 << 20)
        for i in range(large):
            name = f"LargeTrainer{i}_1"
            data = i.to_bytes(4, "big") + block * (LARGE >> 20)
            (parents["BPFOnly"] / f"{name}.zip").write_bytes(stored_zip(b"metadata.json", data))
            rows.append(f"0,{name},scikit,{name}.zip,{features},[],AbsPower,{1 + i},3.0,{1 + i},4.0,LargeTrainer{i},1,BPFOnly\n")
        (top / "rapl-sysfs_AbsPower_model_metadata.csv").write_text("".join(rows))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.directory.cleanup()


class Server(Program):
    def __init__(self, repository, *args):
        os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1"  # what is freed counts as free
        super().__init__("serve", repository.path, QUIET, *args)

    def connect(self):
        host, port = self.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=60)

    def ask(self, method, path, body=None, peer=None):
        host, port = self.address.rsplit(":", 1)
        peer = peer or http.client.HTTPConnection(host, port, timeout=60)
        peer.request(method, path, body)
        answer = peer.getresponse()
        return answer.status, answer.read(), answer.headers

    def metrics(self):
        return Metrics(self.ask("GET", "/metrics")[1].decode())

    def peak_bytes(self):
        return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) * 1024

    def assert_is_small(self):
        """The sanitizer's own memory is not the server's: with it twice as much is allowed."""
        limit = LIMIT * 2 if is_slow() else LIMIT
        assert self.peak_bytes() < limit, f"{self.peak_bytes() >> 20} MiB"


def differing_requests_for_large_files():
    """Each request has other blanks, so that none is answered from memory by its bytes."""
    with ManyModels(10, large=3) as repository, Server(repository) as server:
        assert server.peak_bytes() < LIMIT
        for i in range(60):
            asked = {**ASKED, "trainer_name": f"LargeTrainer{i % 3}"}
            status, body, _ = server.ask("POST", "/model", json.dumps(asked) + " " * i)
            assert status == 200 and len(body) > LARGE, (status, body[:100])
        server.assert_is_small()
        assert server.metrics().value("kepler_model_server_response_bytes") < 64 << 20


def slow_readers_of_large_files():
    """They share one body of each file; when all that may be sent is taken by others, a request is refused with Retry-After."""
    with ManyModels(10, large=12) as repository, Server(repository) as server, contextlib.ExitStack() as stack:
        path = "/api/v2/files/pipe/rapl-sysfs/AbsPower/BPFOnly/LargeTrainer"
        slow = []
        for i in range(120):
            peer = stack.enter_context(server.connect())
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.sendall(f"GET {path}{i % 12}_1.zip HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            slow.append(peer)
        statuses = [peer.recv(12, socket.MSG_WAITALL)[9:] for peer in slow]
        assert set(statuses) == {b"200", b"503"}, set(statuses)
        status, _, headers = server.ask("GET", path + "11_1.zip")
        assert status == 503 and headers["Retry-After"] == "1", status
        assert server.ask("POST", "/model", json.dumps({**ASKED, "metrics": ["x"]}))[0] == 400  # what is small is answered
        assert server.ask("GET", "/healthz")[0] == 200
        server.assert_is_small()
        stack.close()
        end = time.monotonic() + 30
        while server.ask("GET", path + "11_1.zip")[0] != 200:  # the server closes their connections by itself
            assert time.monotonic() < end


def large_files_are_described_without_being_read():
    with ManyModels(10, large=4) as repository, Server(repository, "--models.rescan=1h") as server:
        def read_bytes():
            return int(re.search(r"rchar: (\d+)", pathlib.Path(f"/proc/{server.process.pid}/io").read_text())[1])

        def describe(number):
            status, body, _ = server.ask("GET", f"/api/v2/model?features={','.join(BPF)}&pickles=true&trainer=LargeTrainer{number}")
            assert status == 200, body
            return json.loads(body)["file"]

        said = [describe(number) for number in range(4)]
        before = read_bytes()
        for _ in range(10):
            assert [describe(number) for number in range(4)] == said
        assert read_bytes() - before < 2 * LARGE, read_bytes() - before  # what is not in memory is known all the same
        path = repository.path / "pipe/rapl-sysfs/AbsPower/BPFOnly/LargeTrainer3_1.zip"
        path.write_bytes(stored_zip(b"metadata.json", b"{}" * 100))
        assert describe(3)["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()  # it has changed, and is read again


def probes_are_answered_during_large_requests():
    """Each is a pass over all models; before, one of them took minutes with 12,000 models."""
    count = 50000 if LONG else 3000
    with ManyModels(count) as repository, Server(repository) as server:
        done = threading.Event()
        heavy = f"/best-models?filter=mae:0.000001;{';'.join(['mape:0.000001'] * 14)};cores:1"

        def load():
            answers = []
            while not done.is_set():
                answers.append(server.ask("GET", heavy)[:2])
            return answers

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            loads = [pool.submit(load) for _ in range(16)]
            for _ in range(20):
                assert server.ask("GET", "/healthz")[:2] == (200, b"ok\n")
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("(?s)pipelines.*pipelines", 300)
            done.set()
            answers = [answer for future in loads for answer in future.result()]
        assert {status for status, _ in answers} <= {200, 503}, {status for status, _ in answers}
        best = json.loads(server.ask("GET", "/best-models?output-type=AbsPower")[1])["AbsPower"]
        assert not best, best  # weights alone: an estimator of upstream's would ask for an archive
        assert json.loads(server.ask("GET", heavy)[1]) == {"AbsPower": {}, "DynPower": {}}
        listed = json.loads(server.ask("GET", "/api/v2/models?limit=1000000")[1])
        assert len(listed["models"]) == 1000 and listed["total"] == count, listed["total"]
        path = "/api/v2/files/pipe/rapl-sysfs/AbsPower/Group39/SGDRegressorTrainer39_0.json"
        assert json.loads(server.ask("GET", path)[1])["package"]
        server.assert_is_small()


def a_repository_of_gigabytes():
    with ManyModels(100, large=150 if LONG else 22) as repository, Server(repository) as server:
        for number in range(0, 22):
            assert server.ask("GET", f"/api/v2/files/pipe/rapl-sysfs/AbsPower/BPFOnly/LargeTrainer{number}_1.zip")[0] == 200
        listed = json.loads(server.ask("GET", "/api/v2/models?limit=1000")[1])
        assert listed["total"] == (250 if LONG else 122)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("(?s)pipelines.*pipelines", 300)
        assert server.ask("GET", "/api/v2/files/pipe/rapl-sysfs/AbsPower/BPFOnly/LargeTrainer0_1.zip")[0] == 200
        server.assert_is_small()


run_tests([differing_requests_for_large_files, slow_readers_of_large_files, large_files_are_described_without_being_read,
           probes_are_answered_during_large_requests, a_repository_of_gigabytes])
