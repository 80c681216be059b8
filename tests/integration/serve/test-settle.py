#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--metrics.settle=auto, the default: real Prometheis of several scrape intervals lose no birth.

An exporter for each, with no option set, and services that are born, work for a moment and end, from the start on, before the first
scrape, too. Of each series that was born Prometheus has a 0 first, and what it has grown by since is what the exporter shows.
With KEPLER_LONG_TESTS the intervals are those of production.
"""
import contextlib
import os
import time

from prometheus_rig import Prometheus, series_key
from rig import Exporter, Sensors, Service, balanced, load_result, need_program, rapl_zone

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
EVERY_S = (15, 30, 60) if LONG else (1, 5)
BIRTHS_S = 3 * max(EVERY_S)
BIRTHS = 40 if LONG else 14
WORK_S = 2  # over an interval, so that a process has a series, too
NAME = "kepler-settle-"
# Families whose rows are one service's, or one process's in it.
FAMILIES = ("kepler_container_package_joules_total", "kepler_process_package_joules_total")


def selector(family):
    return f'{family}{{container_id=~"{NAME}.*",mode="dynamic"}}'


def bear(stack):
    """Services in turn, to a timetable that no scrape interval divides."""
    began, loads = time.monotonic(), []
    for number in range(BIRTHS):
        service = stack.enter_context(Service(f"{NAME}{number}.service"))
        loads.append(service.load("span", WORK_S))
        time.sleep(max(0, began + (number + 1) * BIRTHS_S / BIRTHS - time.monotonic()))
    for each in loads:
        load_result(each)


def shown_by(exporter, family):
    return {series_key(labels): value for labels, value in balanced(exporter.scrape()).select(family, mode="dynamic")
            if labels["container_id"].startswith(NAME) and value}


def wait_until_shown(exporter, prometheus):
    """Until nothing settles, and a scrape has seen what each service and process used."""
    deadline = time.monotonic() + 8 * prometheus.every_s + 30
    while time.monotonic() < deadline:
        shown = [shown_by(exporter, family) for family in FAMILIES]
        seen = [{series_key(labels): values[0] for labels, values in prometheus.query(selector(family) + " > 0")}
                for family in FAMILIES]
        if seen == shown and len(shown[0]) >= BIRTHS:
            return
        time.sleep(0.5)
    raise AssertionError(f"{seen} is not {shown}")


def was_late(prometheus):
    """Whether Prometheus gave a scrape up that the exporter had answered: what was in it is no fault of the exporter."""
    states = [value for _, values in prometheus.query("up[1h]") for value in values]
    return 0 in states[states.index(1):]


def check(exporter, prometheus):
    wait_until_shown(exporter, prometheus)
    settle = prometheus.query("kepler_exporter_settle_seconds")[0][1][0]
    clients = prometheus.query("kepler_exporter_scrape_clients")[0][1][0]
    late = was_late(prometheus)
    for family in FAMILIES:
        shown = shown_by(exporter, family)
        stored = {series_key(labels): values for labels, values in prometheus.query(selector(family) + "[1h]")}
        lost = sum(values[0] for values in stored.values())
        counted = sum(values[-1] - values[0] for values in stored.values())
        promql = sum(values[0] for _, values in prometheus.query(f"sum(increase({selector(family)}[1h]))"))
        print(f"every {prometheus.every_s} s, settle {settle} s: {len(shown)} series of {family}, {sum(shown.values())} J; "
              f"Prometheus counted {counted} J, lost {lost} J at births; increase() says {promql:.3f} J")
        assert len(shown) >= BIRTHS and (lost == 0 or late), {k: v for k, v in stored.items() if v[0]}
        assert {k: v[-1] for k, v in stored.items() if v[-1]} == shown
    # Not the 60 s of a client that is not known yet. A busy machine makes longer gaps than it should; this test is a client, too.
    assert prometheus.every_s * 0.9 <= settle and (settle < 50 or settle <= 2 * prometheus.every_s + 2), settle
    assert clients in (1, 2), clients


def main():
    need_program("prometheus")
    with contextlib.ExitStack() as stack:
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 45)))
        pairs = []
        for every_s in EVERY_S:
            exporter = stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}"))
            pairs.append((exporter, stack.enter_context(Prometheus(exporter.url.removeprefix("http://"), every_s))))
        bear(stack)
        for exporter, prometheus in pairs:
            check(exporter, prometheus)
        for exporter, _ in pairs:
            assert exporter.stop() == 0


main()
