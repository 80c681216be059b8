#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a receiver of remote write may answer: a scripted one takes, refuses, delays and lies."""
import collections
import pathlib
import tempfile
import time

from remote_write_rig import STALE, WRITTEN, Receiver, number
from rig import Exporter, Sensors, rapl_zone, run_tests

FLOOD = b"x" * 65536


def exporter_of(sensors, receiver, *args):
    return Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s", "--remote-write.interval=1s",
                    f"--remote-write.url={receiver.url}", *args)


def sensors():
    return Sensors(rapl_zone(0, "package-0", 20))


def total(exporter, name, **labels):
    return exporter.scrape().sum(f"kepler_exporter_send_{name}", **labels)


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def by_name(series, name):
    return [(labels, number(bits), time_ms, start_ms, kind) for labels, bits, time_ms, start_ms, kind in series
            if labels["__name__"] == name]


def version_2_has_starts_and_types():
    with sensors() as tree, Receiver(lambda receiver, handler, version, series: handler.take(series)) as receiver, \
            exporter_of(tree, receiver, "--remote-write.external-labels=cluster=a", "--remote-write.headers=X-Scope-OrgID=t",
                        "--remote-write.drop=kepler_process_*") as exporter:
        requests = receiver.wait(3)
        assert all(version == 2 and headers["X-Scope-OrgID"] == "t" for version, _, headers in requests)
        times = [series[0][2] for _, series, _ in requests]
        assert times == sorted(set(times)), times
        series = requests[-1][1]
        assert all(labels["cluster"] == "a" and labels["job"] == "kepler" and labels["instance"] for labels, *_ in series)
        assert not any(labels["__name__"].startswith("kepler_process_") for labels, *_ in series)
        assert all(len({time_ms for _, _, time_ms, _, _ in each}) == 1 for _, each, _ in requests)
        joules = by_name(series, "kepler_node_package_joules_total")
        assert joules and all(0 < start_ms <= time_ms and kind == 1 for _, _, time_ms, start_ms, kind in joules), joules
        assert all(value >= 0 for _, value, *_ in joules)
        assert not any(bits == STALE for _, bits, *_ in requests[0][1])
        wait_for(lambda: total(exporter, "samples_total") >= len(series))
        assert total(exporter, "dropped_samples_total") == 0


def falls_back(answer):
    def script(receiver, handler, version, series):
        if version == 2:
            answer(handler)
        else:
            handler.answer(204)
    with sensors() as tree, Receiver(script) as receiver, exporter_of(tree, receiver) as exporter:
        versions = [version for version, _, _ in receiver.wait(5)]
        assert versions.count(2) == 1 and versions[0] == 2, versions
        first, again = receiver.requests[0][1], [s for v, series, _ in receiver.requests if v == 1 for s in series]
        assert {tuple(sorted(s[0].items())) for s in first} <= {tuple(sorted(s[0].items())) for s in again}
        wait_for(lambda: total(exporter, "samples_total") > 0)
        assert total(exporter, "dropped_samples_total") == 0


def an_old_receiver_gets_version_1():
    falls_back(lambda handler: handler.answer(415))
    falls_back(lambda handler: handler.answer(204))
    falls_back(lambda handler: handler.answer(400, b"what is this?"))


def a_receiver_that_is_busy_gets_the_same_again():
    def script(receiver, handler, version, series):
        if len(receiver.requests) == 1:
            handler.answer(429, Retry_After=3)
        elif len(receiver.requests) == 2:
            handler.answer(503)
        else:
            handler.take(series)
        receiver.times.append(time.monotonic())
    receiver = Receiver(script)
    receiver.times = []
    with sensors() as tree, receiver, exporter_of(tree, receiver) as exporter:
        requests = receiver.wait(5)
        assert requests[0][1] == requests[1][1] == requests[2][1]
        assert receiver.times[1] - receiver.times[0] >= 2.9, receiver.times
        wait_for(lambda: total(exporter, "samples_total") > 0)
        assert total(exporter, "retries_total") == 2 and total(exporter, "dropped_samples_total") == 0


def what_is_refused_is_counted_and_not_sent_again():
    def script(receiver, handler, version, series):
        if len(receiver.requests) == 2:
            handler.answer(400, b"out of bounds")
        elif len(receiver.requests) == 3:
            handler.answer(302, Location="file:///etc/passwd")
        else:
            handler.take(series)
    with sensors() as tree, Receiver(script) as receiver, exporter_of(tree, receiver) as exporter:
        requests = receiver.wait(5)
        times = [series[0][2] for _, series, _ in requests]
        assert times == sorted(set(times)), times
        lost = sum(len(series) for _, series, _ in requests[1:3])
        wait_for(lambda: total(exporter, "dropped_samples_total", reason="refused") == lost)
        assert "HTTP 400: out of bounds" in exporter.output()


def each_status_comes_again_or_never():
    """As the suite for senders of remote write has it: 5xx and 429 come again, any other 4xx never, and no status changes 2.0."""
    again, never = (500, 502, 503, 504, 429), (400, 401, 403, 404, 413, 422)
    plan = [200, *(status for one in again for status in (one, 204)), *never, 200]

    def script(receiver, handler, version, series):
        status = plan[min(len(receiver.requests), len(plan)) - 1]
        if status in (200, 204):
            handler.answer(status, **{WRITTEN: len(series)})
        else:
            handler.answer(status, b"because")
    with sensors() as tree, Receiver(script) as receiver, exporter_of(tree, receiver) as exporter:
        requests = receiver.wait(len(plan), seconds=120)[:len(plan)]
        assert all(version == 2 for version, _, _ in requests)
        sent = [series for _, series, _ in requests]
        for turn, status in enumerate(plan[:-1]):
            assert (sent[turn] == sent[turn + 1]) == (status in again), (turn, status)
        lost = sum(len(series) for series, status in zip(sent, plan) if status in never)
        wait_for(lambda: total(exporter, "dropped_samples_total", reason="refused") == lost)
        assert total(exporter, "retries_total") == len(again) and total(exporter, "dropped_samples_total") == lost


def samples_are_as_the_specification_has_them():
    """Classic histograms with their sum and count, starts of counters alone, times in milliseconds, a type for each series."""
    with sensors() as tree, Receiver(lambda receiver, handler, version, series: handler.take(series)) as receiver, \
            exporter_of(tree, receiver) as exporter:
        series = receiver.wait(3)[-1][1]
        kinds = {1: "counter", 2: "gauge", 3: "histogram", 6: "info"}
        assert all(kind in kinds for *_, kind in series) and {kind for *_, kind in series} == set(kinds)
        assert all((start_ms > 0) == (kind in (1, 3)) and abs(time_ms - time.time() * 1000) < 600000
                   for _, _, time_ms, start_ms, kind in series), exporter.output()
        assert not any(bits == STALE for _, bits, *_ in receiver.requests[0][1])
        names = collections.Counter(labels["__name__"] for labels, *_, kind in series if kind == 3)
        stems = {name.removesuffix("_count") for name in names if name.endswith("_count")}
        assert stems and all(names[f"{stem}_sum"] == names[f"{stem}_count"] and names[f"{stem}_bucket"] > names[f"{stem}_count"]
                             for stem in stems), names
        bounds = [labels["le"] for labels, *_ in series if labels["__name__"].endswith("_bucket")]
        assert bounds.count("+Inf") == sum(names[f"{stem}_count"] for stem in stems), bounds


def a_receiver_that_lies_costs_nothing():
    def script(receiver, handler, version, series):
        turn = len(receiver.requests)
        if turn == 1:
            handler.answer(204, **{"X-Prometheus-Remote-Write-Samples-Written": 1, "Content-Length": 1000})
        elif turn == 2:
            handler.send_response(200)
            handler.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
            handler.send_header("Content-Length", str(1 << 30))
            handler.end_headers()
            try:
                for _ in range(1 << 14):
                    handler.wfile.write(FLOOD)
                raise AssertionError("a gigabyte was taken")
            except OSError:
                receiver.ended = True
        elif turn == 3:
            handler.wfile.write(b"HTTP/1.1 204 No\r\n")
            try:
                for _ in range(1 << 14):
                    handler.wfile.write(b"X-A: " + FLOOD[:4096] + b"\r\n")
            except OSError:
                receiver.endless = True
        else:
            handler.take(series)
        handler.close_connection = turn < 4
    receiver = Receiver(script)
    receiver.ended = receiver.endless = False
    with sensors() as tree, receiver, exporter_of(tree, receiver, "--remote-write.timeout=5s") as exporter:
        requests = receiver.wait(6)
        assert receiver.ended and receiver.endless
        assert requests[2][1] == requests[3][1], "headers without an end are no answer"
        wait_for(lambda: total(exporter, "samples_total") > 0)
        assert total(exporter, "retries_total") == 1 and total(exporter, "dropped_samples_total") == 0


def a_queue_has_its_directory_without_landlock():
    with sensors() as tree, tempfile.TemporaryDirectory() as folder, \
            Receiver(lambda receiver, handler, version, series: handler.answer(503)) as receiver, \
            exporter_of(tree, receiver, "--security.landlock=false", f"--remote-write.queue-dir={folder}/new") as exporter:
        wait_for(lambda: total(exporter, "queue_bytes") > 0)
        assert list(pathlib.Path(folder, "new").glob("*/*.seg")), "nothing is on disk"


if __name__ == "__main__":
    run_tests([a_queue_has_its_directory_without_landlock, version_2_has_starts_and_types, an_old_receiver_gets_version_1,
               a_receiver_that_is_busy_gets_the_same_again, what_is_refused_is_counted_and_not_sent_again,
               each_status_comes_again_or_never, samples_are_as_the_specification_has_them,
               a_receiver_that_lies_costs_nothing], at_once=3)
