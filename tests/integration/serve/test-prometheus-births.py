#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What formats with births are for: a real Prometheus 3 with created-timestamp-zero-ingestion counts the first joules of a series.

The exporter lets nothing settle, so that each series is born with what its service has used. Services are born, work for a moment
and end. A Prometheus that takes the births from the page has stored a 0 first of each series; one without the feature has not, and
its increase() lacks what each was born with.
"""
import contextlib
import time

from prometheus_rig import Prometheus, prometheus_3, series_key
from rig import Exporter, Sensors, Service, balanced, load_result, rapl_zone

EVERY_S = 5
BIRTHS = 10
WORK_S = 2
NAME = "kepler-births-"
FAMILIES = ("kepler_container_package_joules_total", "kepler_container_joules_total", "kepler_process_joules_total")
ZEROS = "created-timestamp-zero-ingestion"
# Its scrapes, with which features, and whether it stores the births.
CLIENTS = {
    "protobuf": ("PrometheusProto", [ZEROS], True),
    "protobuf, without the feature": ("PrometheusProto", [], False),
    "OpenMetrics 2.0": ("OpenMetricsText2.0.0", [ZEROS, "openmetrics2"], True),
}


def selector(family):
    return f'{family}{{container_id=~"{NAME}.*",mode="dynamic"}}'


def shown_by(metrics, family):
    return {series_key(labels): value for labels, value in metrics.select(family, mode="dynamic")
            if labels["container_id"].startswith(NAME) and value}


def wait_until_stored(exporter, prometheus):
    """Until Prometheus has what the exporter shows of each series."""
    deadline = time.monotonic() + 10 * EVERY_S
    while time.monotonic() < deadline:
        metrics = balanced(exporter.scrape())
        shown = [shown_by(metrics, family) for family in FAMILIES]
        stored = [{series_key(labels): values[0] for labels, values in prometheus.query(selector(family) + " > 0")}
                  for family in FAMILIES]
        if stored == shown and all(len(each) >= BIRTHS for each in shown):
            return
        time.sleep(0.5)
    raise AssertionError(f"{stored} is not {shown}")


def first_of(values):
    """What increase() does not count. A series that is born while a slow scrape is under way has its 0 behind the first sample."""
    return 0 if 0 in values else values[0]


def check(exporter, name, prometheus, takes_births):
    wait_until_stored(exporter, prometheus)
    assert prometheus.query("kepler_exporter_interval_duration_seconds_bucket"), "no histogram"
    for family in FAMILIES:
        stored = [values for _, values in prometheus.query(selector(family) + "[1h]")]
        lost = sum(first_of(values) for values in stored)
        counted = sum(values[-1] - first_of(values) for values in stored)
        promql = sum(values[0] for _, values in prometheus.query(f"sum(increase({selector(family)}[1h]))"))
        print(f"{name}: {len(stored)} series of {family}; counted {counted} J, lost {lost} J at births; "
              f"increase() says {promql:.3f} J")
        assert counted > 0 and lost == 0 if takes_births else lost > counted, stored


def main():
    binary = prometheus_3()
    with contextlib.ExitStack() as stack:
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 45)))
        exporter = stack.enter_context(Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s"))
        target = exporter.url.removeprefix("http://")
        clients = {name: stack.enter_context(Prometheus(target, EVERY_S, binary, f"scrape_protocols: [{protocol}],", features))
                   for name, (protocol, features, _) in CLIENTS.items()}
        loads = []
        for number in range(BIRTHS):
            service = stack.enter_context(Service(f"{NAME}{number}.service"))
            loads.append(service.load("span", WORK_S))
            time.sleep(2.3)  # at another time of each scrape interval
        for each in loads:
            load_result(each)
        for name, prometheus in clients.items():
            check(exporter, name, prometheus, CLIENTS[name][2])
        assert exporter.stop() == 0


main()
