#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that hangs under the queue of remote write and under file.path: at the start, while Kepler runs, and at its end. Kepler
serves, measures, says which disk does not respond, goes on when that responds, and ends in time."""
import contextlib
import json
import time

from folder_rig import HangingFolder
from remote_write_rig import Receiver
from rig import Exporter, run_tests

# A thread that hangs cannot be stopped by a tracer, which is how LeakSanitizer looks for leaks at the end.
NO_LEAK_CHECK = {"ASAN_OPTIONS": "detect_leaks=0"}
QUEUE_HANGS = "the disk of remote-write.queue-dir does not respond"
PATIENCE_S = 120


def until(what, condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


class Scene:
    """Two disks, a receiver, and an exporter that uses all of them."""

    def __init__(self, stack):
        self.queue, self.folder = stack.enter_context(HangingFolder()), stack.enter_context(HangingFolder())
        self.receiver = stack.enter_context(Receiver(lambda receiver, handler, version, series: handler.take(series)))
        self.file = self.folder.behind / "metrics.jsonl"  # behind the disk that hangs

    def start(self, *more):
        return Exporter("--monitor.interval=200ms", f"--remote-write.url={self.receiver.url}", "--remote-write.interval=1s",
                        f"--remote-write.queue-dir={self.queue.path}", f"--file.path={self.folder.path}/metrics.jsonl",
                        "--file.interval=1s", *more, env=NO_LEAK_CHECK)

    def stop_disks(self):
        self.queue.stop()
        self.folder.stop()

    def let_disks_go(self):
        self.queue.go()
        self.folder.go()


def reason(exporter):
    return json.loads(exporter.get("/api/v1/receivers")[2])["receivers"][0]["last_error"]


def file_is_up(exporter):
    return exporter.scrape().value("kepler_exporter_file_up") == 1


def says_that_they_hang(scene, exporter):
    """Measuring goes on; the metrics have the state, the log the reason, once."""
    until("the receiver's state has the reason", lambda: reason(exporter) == QUEUE_HANGS)
    until("the file's state", lambda: not file_is_up(exporter))
    assert not exporter.intervals(3).imbalance_uj()
    said = exporter.output()
    assert said.count(QUEUE_HANGS) == 1, said
    assert said.count(f"the disk of {scene.folder.path}/metrics.jsonl does not respond") == 1, said
    assert exporter.get("/healthz")[0] == 200


def ends(exporter):
    began = time.monotonic()
    assert exporter.stop(timeout=60) == 0, exporter.output()
    assert time.monotonic() - began < 30, time.monotonic() - began


def data_go_on(scene, exporter):
    """What comes from now on arrives at both places."""
    requests = len(scene.receiver.requests)
    until("remote write goes on", lambda: len(scene.receiver.requests) > requests + 2)
    size = scene.file.stat().st_size if scene.file.exists() else 0
    until("the file grows", lambda: scene.file.exists() and scene.file.stat().st_size > size)
    until("the file's state", lambda: file_is_up(exporter))


def at_the_start():
    with contextlib.ExitStack() as stack:
        scene = Scene(stack)
        scene.stop_disks()
        exporter = stack.enter_context(scene.start("--no-security.landlock"))
        says_that_they_hang(scene, exporter)
        scene.let_disks_go()
        data_go_on(scene, exporter)
        assert list(scene.queue.behind.rglob("*.seg")), "the queue is not on the disk"
        ends(exporter)


def at_the_start_under_landlock():
    """Landlock's rules cannot name what does not respond: until a restart, the queue is in memory, and the file is not written."""
    with contextlib.ExitStack() as stack:
        scene = Scene(stack)
        scene.stop_disks()
        exporter = stack.enter_context(scene.start())
        limited = exporter.scrape().value("kepler_exporter_landlock_abi") > 0
        says_that_they_hang(scene, exporter)
        scene.let_disks_go()
        until("remote write goes on", lambda: len(scene.receiver.requests) > 2)
        if limited:
            until("the log says why", lambda: exporter.output().count("Permission denied") >= 2)
            assert not file_is_up(exporter) and not scene.file.exists()
        ends(exporter)


def while_it_runs_and_at_the_end():
    with contextlib.ExitStack() as stack:
        scene = Scene(stack)
        exporter = stack.enter_context(scene.start())
        data_go_on(scene, exporter)
        scene.stop_disks()
        says_that_they_hang(scene, exporter)
        scene.let_disks_go()
        data_go_on(scene, exporter)
        assert "responds" in exporter.output()
        scene.stop_disks()
        says_again = exporter.output().count(QUEUE_HANGS) + 1
        until("it says so again", lambda: exporter.output().count(QUEUE_HANGS) == says_again)
        ends(exporter)


if __name__ == "__main__":
    run_tests([at_the_start, at_the_start_under_landlock, while_it_runs_and_at_the_end])
