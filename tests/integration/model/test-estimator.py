#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model estimate: the estimator's protocol, as an old Kepler speaks it and as hostile clients do."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import pwd
import signal
import socket
import stat
import tempfile
import time

from model_rig import BPF, Program, Repository, confined_to, weights
from rig import need_root, run_tests

REQUEST = {"metrics": BPF, "values": [[0, 0], [1000, 0]], "output_type": "AbsPower", "source": "rapl-sysfs",
           "system_features": ["cpu_architecture"], "system_values": ["Sky Lake"], "trainer_name": "", "filter": ""}
SPEC = {"processor": "intel_xeon_e5_2686v4", "cores": 36, "chips": 2, "memory": 503, "frequency": 3000}


@contextlib.contextmanager
def estimating(*args):
    with tempfile.TemporaryDirectory() as directory, Repository() as repository:
        spec = pathlib.Path(directory, "spec.json")
        spec.write_text(json.dumps(SPEC))
        path = pathlib.Path(directory, "estimator.sock")
        with Program("estimate", repository.path, f"--socket={path}", f"--machine-spec={spec}", *args) as program:
            yield repository, program, path
        assert not path.exists()


def dial(path):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(20)
    peer.connect(str(path))
    return peer


def ask(path, request):
    """As Kepler does: one write, one read of at most 4096 bytes."""
    with dial(path) as peer:
        peer.sendall(request if isinstance(request, bytes) else json.dumps(request).encode())
        return json.loads(peer.recv(4096))


def an_old_keplers_request():
    with estimating() as (_, _, path):
        assert stat.S_IMODE(path.lstat().st_mode) == 0o660
        for _ in range(3):  # the ratio is on each answer, not only on the first one
            answer = ask(path, REQUEST)
            assert answer == {"powers": {"package": [101, 151]}, "msg": "", "core_ratio": 0.5,
                              "model": "SGDRegressorTrainer_1"}, answer
        answer = ask(path, {**REQUEST, "values": [[n, 0] for n in range(500)]})
        assert len(answer["powers"]["package"]) == 500  # in 4096 bytes
        answer = ask(path, {**REQUEST, "metrics": ["bpf_cpu_time_ms"], "values": [[0]], "system_features": ["bpf_page_cache_hit"],
                            "system_values": [7]})
        assert answer["powers"] == {"package": [101]}


def parts_that_a_model_does_not_know():
    """Upstream's models have core and uncore of 0: absent is not 0."""
    with estimating() as (repository, program, path):
        repository.add("SGDRegressorTrainer_1", 0.5, {**weights(0, 0, "core"), **weights(111, 50), **weights(0, 0, "uncore")})
        program.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 30
        while (answer := ask(path, REQUEST))["powers"] != {"package": [111, 161]}:
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)


def what_is_wrong_is_answered():
    with estimating() as (_, _, path):
        for request, why in (({**REQUEST, "output_type": "Power"}, "output_type"),
                             ({**REQUEST, "metrics": ["x"], "values": [[1]]}, "features"),
                             ({**REQUEST, "source": "acpi"}, "source"), ({**REQUEST, "values": [[1]]}, "row 0"),
                             ({**REQUEST, "filter": "a:b"}, "attribute"), (b"{]", "not JSON"), (b"GET / HTTP/1.1", "JSON object"),
                             (b"\x80\x04}", "JSON object"), (b'{"a": ' * 100 + b"}" * 100, "levels"), (b"}", "JSON object"),
                             ({**REQUEST, "trainer_name": "KNeighborsRegressorTrainer"}, "only archives with pickles")):
            answer = ask(path, request)
            assert answer["powers"] == {} and why in answer["msg"], (request, answer)
        assert ask(path, REQUEST)["powers"]


def requests_in_any_pieces():
    with estimating() as (_, _, path):
        text = json.dumps({**REQUEST, "trainer_name": 'SGDRegressorTrainer', "note": "} \" {"}).encode()
        with dial(path) as peer:
            for byte in text:
                peer.sendall(bytes([byte]))
            assert json.loads(peer.recv(4096))["powers"]
            peer.sendall(text * 3 + b"\n \n" + text[:50])
            data = b""
            while data.count(b"\n") < 3:
                data += peer.recv(4096)
            peer.sendall(text[50:])
            while data.count(b"\n") < 4:
                data += peer.recv(4096)
            answers = [json.loads(line) for line in data.splitlines()]
            assert len(answers) == 4 and all(answer["powers"] for answer in answers)
            peer.sendall(text[:50])
            peer.shutdown(socket.SHUT_WR)
            assert "too early" in json.loads(peer.recv(4096))["msg"] and peer.recv(1) == b""
        for _ in range(50):
            dial(path).close()  # an empty connection
        assert ask(path, REQUEST)["powers"]


def a_hundred_clients_at_once():
    with estimating() as (_, program, path), concurrent.futures.ThreadPoolExecutor(100) as pool:
        def client(number):
            with dial(path) as peer:
                for turn in range(20):
                    peer.sendall(json.dumps({**REQUEST, "values": [[number * 10 + turn, 0]]}).encode())
                    watts = json.loads(peer.recv(4096))["powers"]["package"][0]
                    assert abs(watts - (101 + 50 * (number * 10 + turn) / 1000)) < 0.001, watts
            return 1
        assert sum(pool.map(client, range(100))) == 100


def clients_that_do_not_go_on():
    with estimating() as (_, program, path):
        with contextlib.ExitStack() as stack:
            halves = [stack.enter_context(dial(path)) for _ in range(40)]
            for half in halves:
                half.sendall(b'{"metrics": ["')
            idle = [stack.enter_context(dial(path)) for _ in range(150)]  # more than there are places
            assert ask(path, REQUEST)["powers"]
            assert idle
            end = time.monotonic() + 20
            assert halves[0].recv(10) == b"" and time.monotonic() < end  # its deadline is over
            assert ask(path, REQUEST)["powers"]
        with dial(path) as deaf:  # asks for more than it reads
            deaf.settimeout(0.2)
            with contextlib.suppress(OSError):
                for _ in range(2000):
                    deaf.sendall(json.dumps({**REQUEST, "values": [[1, 2]] * 1000}).encode())
            assert ask(path, REQUEST)["powers"]
        with dial(path) as long:
            with contextlib.suppress(BrokenPipeError):
                long.sendall(b'{"metrics": ["' + b"x" * (3 << 20))
            assert "too long" in json.loads(long.recv(4096))["msg"] and long.recv(1) == b""
        assert program.rss_bytes() < 400 << 20 and ask(path, REQUEST)["powers"]


@contextlib.contextmanager
def flooded_by_nobody(path):
    """400 connections of another user, each with a request that has begun."""
    ready, child = os.pipe(), os.fork()
    if child == 0:
        peers = []
        with contextlib.suppress(OSError):
            os.setuid(pwd.getpwnam("nobody").pw_uid)
            for _ in range(400):
                peers.append(dial(path))
                with contextlib.suppress(OSError):
                    peers[-1].sendall(b"{")
            os.write(ready[1], b"!")
            signal.pause()
        os._exit(1)
    try:
        os.close(ready[1])
        assert os.read(ready[0], 1) == b"!"
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def another_user_takes_all_places():
    """A client that was there before is answered, and so is each that comes."""
    need_root()
    with estimating("--socket-mode=0666") as (_, _, path), dial(path) as before:
        path.parent.chmod(0o755)
        with flooded_by_nobody(path):
            for _ in range(20):
                assert ask(path, REQUEST)["powers"]
            before.sendall(json.dumps(REQUEST).encode())
            assert json.loads(before.recv(4096))["powers"]


def a_change_of_the_repository():
    with estimating("--models.rescan=1h") as (repository, program, path):
        assert ask(path, REQUEST)["powers"] == {"package": [101, 151]}
        repository.put("ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_1.json", json.dumps(weights(7, 1)))
        program.process.send_signal(signal.SIGHUP)
        program.wait_for("(?s)pipelines.*pipelines")
        assert ask(path, REQUEST)["powers"] == {"package": [7, 8]}
        os.rename(repository.path / "ec2", repository.path / ".away")
        program.process.send_signal(signal.SIGHUP)
        program.wait_for("keeping the previous models")
        assert ask(path, REQUEST)["powers"] == {"package": [7, 8]}


def privileges_are_given_up():
    need_root()
    nobody = pwd.getpwnam("nobody")
    with estimating() as (_, program, path):
        assert confined_to(program.process.pid, 0) and ask(path, REQUEST)["powers"]
    with tempfile.TemporaryDirectory() as directory, Repository() as repository:
        repository.path.chmod(0o755)
        os.chown(directory, nobody.pw_uid, nobody.pw_gid)
        path = pathlib.Path(directory, "estimator.sock")
        with Program("estimate", repository.path, f"--socket={path}", "--security.user=nobody") as program:
            assert confined_to(program.process.pid, nobody.pw_uid) and path.stat().st_uid == nobody.pw_uid, program.output()
            assert ask(path, REQUEST)["powers"]


run_tests([an_old_keplers_request, parts_that_a_model_does_not_know, what_is_wrong_is_answered, requests_in_any_pieces,
           a_hundred_clients_at_once, clients_that_do_not_go_on, another_user_takes_all_places, a_change_of_the_repository,
           privileges_are_given_up])
