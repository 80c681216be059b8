#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The local socket: which user of the machine may see what, and rows of every level."""
import contextlib
import grp
import json
import os
import pathlib
import socket
import stat
import subprocess
import tempfile
import time

import jsonschema

from certificates import Authority
from rig import ROOT, Exporter, need_program, need_root, run_tests

SCHEMA = json.loads((ROOT / "docs/now.schema.json").read_text())
HISTORY_SCHEMA = json.loads((ROOT / "docs/history.schema.json").read_text())

NOBODY = 65534
GROUP = 54321  # of no account; as a number it needs none


class Sockets:
    """An exporter with a local socket in a directory that every user may enter."""

    def __init__(self, *args, **kwargs):
        self.directory = tempfile.TemporaryDirectory()
        os.chmod(self.directory.name, 0o755)
        self.path = pathlib.Path(self.directory.name, "kepler.sock")
        self.exporter = Exporter(f"--local.socket={self.path}", "--metrics.process.min-joules=0", *args, **kwargs)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.exporter.stop()
        self.directory.cleanup()

    def ask(self, target, uid=0, gid=0, groups=()):
        """(status, body) as that user: 0 where it cannot even connect."""
        command = ["curl", "-s", "-m", "20", "-w", "\n%{http_code}", "--unix-socket", self.path, f"http://localhost{target}"]
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, user=uid, group=gid, extra_groups=groups)
        body, _, status = answer.stdout.rpartition("\n")
        return int(status), body

    def ask_at_once(self, times, uid=0, gid=0):
        """The statuses of requests one after the other over one connection."""
        command = ["curl", "-s", "-m", "20", "-w", "%{http_code}\n", "--unix-socket", self.path]
        command += ["http://localhost/api/v1/now", "-o", "/dev/null"] * times
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, user=uid, group=gid, extra_groups=())
        return answer.stdout.split()

    def follow(self, arguments, uid=0, gid=0, words=()):
        """The answers of a request that follows, as it ended."""
        command = ["curl", "-sN", "-m", "60", *words, "--unix-socket", self.path, f"http://localhost/api/v1/now?{arguments}"]
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, user=uid, group=gid, extra_groups=())
        pages = [json.loads(line) for line in answer.stdout.splitlines()]
        for page in pages:
            jsonschema.validate(page, SCHEMA)
        return pages

    def now(self, arguments="", **user):
        """The page once it has all rows that the arguments ask for."""
        for _ in range(100):
            status, body = self.ask(f"/api/v1/now{arguments}", **user)
            if status == 200:
                page = json.loads(body)
                jsonschema.validate(page, SCHEMA)
                if page["complete"]:
                    return page
            assert status in (200, 429, 503), (status, body)  # too early for a user
            time.sleep(0.1)
        raise AssertionError("there was no complete page")


    def past(self, **user):
        for _ in range(100):
            status, body = self.ask("/api/v1/history?step=1", **user)
            if status == 200 and json.loads(body)["points"]:
                page = json.loads(body)
                jsonschema.validate(page, HISTORY_SCHEMA)
                return page
            assert status in (200, 429), (status, body)  # too early
            time.sleep(0.1)
        raise AssertionError("there was no history")


@contextlib.contextmanager
def busy(uid):
    """A process of that user that uses a CPU."""
    process = subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"], user=uid, group=uid, extra_groups=())
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def pids(page):
    return {row["pid"] for row in page["rows"]}


def without_the_option_only_root_and_the_group_connect():
    with Sockets(f"--local.group={GROUP}") as local:
        local.exporter.intervals(1)
        at = local.path.stat()
        assert stat.S_ISSOCK(at.st_mode) and stat.S_IMODE(at.st_mode) == 0o660 and at.st_gid == GROUP, at
        assert local.ask("/api/v1/now")[0] == 200 and local.ask("/metrics")[0] == 200 and local.ask("/")[0] == 200
        assert local.ask("/api/v1/now", uid=NOBODY, gid=NOBODY)[0] == 0
        assert local.ask("/metrics", uid=NOBODY, gid=NOBODY, groups=[GROUP])[0] == 200
        assert local.ask("/metrics", uid=NOBODY, gid=GROUP)[0] == 200


def a_user_sees_its_own_processes_and_the_total():
    with Sockets("--local.everyone=own") as local, busy(NOBODY) as own, busy(NOBODY - 1) as other:
        local.exporter.intervals(2)
        everything = local.now("?limit=4096")
        assert {own, other} <= pids(everything), everything
        page = local.now("?limit=4096", uid=NOBODY, gid=NOBODY)
        assert own in pids(page) and other not in pids(page), page
        row = next(row for row in page["rows"] if row["pid"] == own)
        assert row["watts"] > 0 and row["cpu_percent"] > 1 and round(row["watts"] * 1e3, 6) == int(row["watts"] * 1e3 + 0.5), row
        assert page["total_watts"] > 0 and page["unattributed_watts"] is None and "left_out" not in page, page
        assert all(row["pid"] for row in page["rows"]), "the sum of the others would be in a row of its own"
        answers = local.ask_at_once(5, uid=NOBODY, gid=NOBODY)
        assert "429" in answers and set(local.ask_at_once(5)) == {"200"}, answers
        page = local.past(uid=NOBODY, gid=NOBODY)
        assert page["total"]["joules"] and page["zones"] and not page.keys() & {"owners", "other", "idle", "unattributed"}, page
        assert all(round(joules * 1e3, 6) == int(joules * 1e3 + 0.5) for joules in page["total"]["joules"]), page
        for target in ("/metrics", "/", f"/explain/{other}", f"/api/v1/explain/{other}", "/api/v1/now?level=container"):
            assert local.ask(target, uid=NOBODY, gid=NOBODY)[0] == 403, target
        assert local.ask("/healthz", uid=NOBODY, gid=NOBODY)[0] == 200


def a_request_is_followed_by_an_answer_for_each_interval():
    with Sockets("--local.everyone=own", "--monitor.interval=1s") as local, busy(NOBODY) as own, busy(NOBODY - 1) as other:
        local.exporter.intervals(2)
        began = time.monotonic()
        pages = local.follow("follow=5&limit=3")
        took = time.monotonic() - began
        times = [page["time"] for page in pages]
        assert 3 <= len(pages) <= took + 1 and times == sorted(set(times)), (times, took)
        assert all(page["left_out"] > 0 and len(page["rows"]) == 4 for page in pages), pages
        began = time.monotonic()
        pages = local.follow("follow=5&limit=4096", uid=NOBODY, gid=NOBODY)
        assert 2 <= len(pages) <= time.monotonic() - began + 1, (len(pages), time.monotonic() - began)
        assert all(other not in pids(page) and all(row["pid"] for row in page["rows"]) for page in pages), pages
        assert own in pids(pages[-1]), pages[-1]
        assert len(local.follow("follow=5", words=["--http1.0"])) == 1  # which has no pieces


def a_quarter_of_the_connections_may_follow():
    """And one of them that reads nothing is no burden for the others."""
    with Sockets("--monitor.interval=1s") as local, contextlib.ExitStack() as stack:
        local.exporter.intervals(1)
        lazy = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(8)]
        for peer in lazy:
            peer.connect(str(local.path))
            peer.sendall(b"GET /api/v1/now?follow=60&limit=4096 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for peer in lazy:
            assert peer.recv(1, socket.MSG_PEEK), "there is an answer"
        assert len(local.follow("follow=60")) == 1
        lazy[0].close()
        for _ in range(100):  # it is noticed with the next interval
            if len(local.follow("follow=2")) > 1:
                break
        else:
            raise AssertionError("the place of a client that has gone is not free")
        assert local.ask("/api/v1/now")[0] == 200


def an_exporter_ends_while_it_is_followed():
    with Sockets("--monitor.interval=1s") as local, socket.socket(socket.AF_UNIX) as peer:
        local.exporter.intervals(1)
        peer.connect(str(local.path))
        peer.settimeout(20)
        peer.sendall(b"GET /api/v1/now?follow=60&limit=3 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while answer.count(b'{"time":') < 3:  # the first by the library, the others without it
            answer += peer.recv(65536)
        assert local.exporter.stop() == 0, local.exporter.output()
        while peer.recv(65536):
            pass


def pieces_are_encrypted_where_the_socket_has_tls():
    """Of the web server, which may have TLS on a Unix socket as well."""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        certificate, key = authority.sign("server")
        key.chmod(0o600)
        path = f"{folder}/web.sock"
        with Exporter(f"--web.listen-address=unix:{path}", f"--web.tls-certificate={certificate}", f"--web.tls-key={key}",
                      "--monitor.interval=1s") as exporter:
            for words in ["--unix-socket", path, "https://127.0.0.1"], [exporter.url]:
                command = ["curl", "-sSN", "-m", "60", "--retry", "20", "--retry-delay", "1", "--cacert", authority.file, *words]
                command[-1] += "/api/v1/now?follow=5&limit=2"
                answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                assert len([json.loads(line) for line in answer.stdout.splitlines()]) > 1, answer.stdout
            assert exporter.stop() == 0, exporter.output()


def everyone_sees_everything_where_the_option_says_so():
    with Sockets("--local.everyone=all") as local:
        local.exporter.intervals(1)
        assert local.ask("/metrics", uid=NOBODY, gid=NOBODY)[0] == 200
        assert local.now(uid=NOBODY, gid=NOBODY)["rows"][-1]["command"] == "other"


def users_have_the_power_of_their_processes():
    """Also of those that live for less than an interval, where BPF reports their ends."""
    loop = "while :; do /bin/true; done"
    with Sockets() as local, subprocess.Popen(["/bin/sh", "-c", loop], user=NOBODY, group=NOBODY, extra_groups=()) as short:
        local.exporter.intervals(1)
        local.now("?level=user")
        time.sleep(2.5)
        page = local.now("?level=user")
        short.kill()
        rows = {row.get("uid"): row for row in page["rows"]}
        assert rows[NOBODY]["owner"] == "nobody" and rows[NOBODY]["watts"] > 0 and rows[NOBODY]["joules"] is None, page
        assert rows[NOBODY]["cpu_percent"] > 1, page  # nearly all is of processes that have ended
        assert rows[None]["cpu_percent"] < rows[NOBODY]["cpu_percent"] / 5, page


def the_rows_of_each_level_make_the_total():
    with Sockets() as local, busy(0) as pid:
        local.exporter.intervals(1)
        for level in ("process", "container", "pod", "vm", "namespace", "service", "user", "gpu"):
            page = local.now(f"?level={level}&limit=4096")
            assert page["level"] == level and page["left_out"] == 0
            parts = sum(row["watts"] for row in page["rows"]) + (page["idle_watts"] or 0) + page["unattributed_watts"]
            assert abs(parts - page["total_watts"]) < 1e-6, page
        unit = [row for row in local.now("?level=service")["rows"] if row["command"] != "other"]
        assert all(row["owner"].rpartition(".")[2] in ("service", "scope", "slice", "socket", "mount") for row in unit), unit
        page = local.now("?limit=4096&sort=cpu")
        shares = [row["cpu_percent"] for row in page["rows"][:-1]]
        assert shares == sorted(shares, reverse=True)
        row = next(row for row in page["rows"] if row["pid"] == pid)
        assert row["container"] and row["namespace"], row
        for wrong in ("level=node", "sort=colour", "limit=0", "limit=many", "follow=0", "follow=61"):
            status, body = local.ask(f"/api/v1/now?{wrong}")
            assert status == 400 and wrong.partition("=")[0] in body, (status, body)


def another_instance_needs_another_path():
    with Sockets() as local:
        with Sockets(f"--local.socket={local.path}", wait=False) as other:
            assert other.exporter.process.wait(20) == 1 and "another program listens there" in other.exporter.output()
        assert local.ask("/healthz")[0] == 200
        with Sockets("--local.everyone=own", "--monitor.interval=500ms", wait=False) as other:
            assert other.exporter.process.wait(20) == 2 and "local.everyone" in other.exporter.output(), other.exporter.output()
        with Sockets("--local.group=no-such-group", wait=False) as other:
            assert other.exporter.process.wait(20) == 1 and "no-such-group" in other.exporter.output()


if __name__ == "__main__":
    need_root()
    need_program("curl")
    assert GROUP not in {group.gr_gid for group in grp.getgrall()}
    run_tests([without_the_option_only_root_and_the_group_connect, a_user_sees_its_own_processes_and_the_total,
               everyone_sees_everything_where_the_option_says_so, the_rows_of_each_level_make_the_total,
               users_have_the_power_of_their_processes,
               another_instance_needs_another_path, a_request_is_followed_by_an_answer_for_each_interval,
               a_quarter_of_the_connections_may_follow, pieces_are_encrypted_where_the_socket_has_tls,
               an_exporter_ends_while_it_is_followed])
