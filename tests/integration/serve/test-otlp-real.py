#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OTLP into receivers that others wrote: a Prometheus 3 and a Collector have the sums of /metrics, to the µJ."""
import time

from collector_rig import Collector, point_of
from otlp_rig import Receiver, failure, success
from otlp_sums import Sums
from prometheus_rig import prometheus_3
from remote_write_rig import ReceivingPrometheus
from rig import Exporter, Sensors, Service, rapl_zone, run_tests

POWERCAP = [*rapl_zone("intel-rapl:0", "package-0", 40, busy_watts=10),
            *rapl_zone("intel-rapl:0:0", "dram", 3, parent="intel-rapl:0"),
            *rapl_zone("intel-rapl:1", "package-1", 35, busy_watts=10)]
LEVELS = ("process", "container", "pod", "vm", "namespace")
PAIRS = 4


def start(sensors, url, *options):
    levels = (f"--otlp.levels={level}" for level in LEVELS)
    return Exporter(f"--host.sysfs={sensors.mount}", f"--otlp.endpoint={url}", "--otlp.interval=1s", "--metrics.settle=1s",
                    "--metrics.keep=2s", "--metrics.process.min-joules=0", *levels, *options)


def wait_for(what, exporter, seconds=60):
    deadline = time.monotonic() + seconds
    while not (result := what()):
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.05)
    return result


def compare(exporter, stored):
    """`stored()` gives (time in ms, Sums) of what the receiver has; each is compared with the page of the same snapshot."""
    pages, seen = {}, set()

    def look():
        page = exporter.scrape()
        pages[int(page.value("kepler_exporter_snapshot_timestamp_seconds") * 1000)] = page
        time_ms, sums = stored()
        if time_ms in pages and time_ms not in seen and sums.points:
            wrong = sums.imbalance_uj(("process", "container", "namespace"))
            assert not wrong, wrong
            sums.compare(pages[time_ms])
            assert sums.select("hw.energy") and sums.select("kepler.energy", kepler_level="process")
            seen.add(time_ms)
        return len(seen) >= PAIRS

    with Service("kepler-otlp-real.service") as service:
        service.load("burn", 3)
        wait_for(look, exporter)
    page = exporter.scrape()
    assert page.sum("kepler_exporter_send_samples_total") and not page.sum("kepler_exporter_send_dropped_samples_total")


def a_prometheus_3_has_the_sums_of_the_page():
    def stored():
        times = prometheus.query("timestamp(hw_energy_joules_total)")
        if not times:
            return 0, None
        time_s = max(values[0] for _, values in times)
        points = [point_of(labels["__name__"], labels, values[0])
                  for labels, values in prometheus.query(f'{{__name__=~"(hw|kepler)_.*joules.*"}} @ {time_s:.3f}')]
        return int(time_s * 1000), Sums(point for point in points if point)

    with Sensors(POWERCAP) as sensors, ReceivingPrometheus(prometheus_3(), ["--web.enable-otlp-receiver"]) as prometheus, \
            start(sensors, f"http://127.0.0.1:{prometheus.port}/api/v1/otlp") as exporter:
        compare(exporter, stored)
        unit = prometheus.query("kepler_energy_joules_total")
        assert all(labels["job"] == "kepler" and labels["instance"] for labels, _ in unit), unit


def a_collector_shows_the_sums_of_the_page():
    with Sensors(POWERCAP) as sensors, Collector() as collector, start(sensors, collector.url) as exporter:
        compare(exporter, collector.sums)


def a_collector_whose_backend_is_busy_gets_the_same_again():
    """It answers for its backend: 503 for what may come again, 400 for what may not; of a partial success it says nothing."""
    script = [failure(503, "later"), failure(429, "slower", Retry_After="1"), success(7, "too old"), failure(400, "no tenant"),
              success()]

    def answer(receiver, handler):
        return script[min(len(receiver.bodies) - 1, len(script) - 1)]

    with Sensors(POWERCAP) as sensors, Receiver(answer) as backend, Collector(backend.url) as collector, \
            start(sensors, collector.url, "--otlp.interval=4s") as exporter:
        bodies = backend.wait(5, seconds=60)
        assert bodies[0].points == bodies[1].points == bodies[2].points, exporter.output()
        taken = len(bodies[2].points) + len(bodies[4].points)
        page = wait_for(lambda: (p := exporter.scrape()).sum("kepler_exporter_send_samples_total") >= taken and p, exporter)
        dropped = {reason: int(page.sum("kepler_exporter_send_dropped_samples_total", reason=reason))
                   for reason in ("refused", "rejected", "replaced")}
        assert dropped == {"refused": len(bodies[3].points), "rejected": 0, "replaced": 0}, (dropped, exporter.output())
        # A request to a Collector that is still starting counts as well.
        assert page.sum("kepler_exporter_send_retries_total") >= 2, exporter.output()
        assert "HTTP 503" in exporter.output() and "HTTP 400" in exporter.output(), exporter.output()


if __name__ == "__main__":
    run_tests([a_prometheus_3_has_the_sums_of_the_page, a_collector_shows_the_sums_of_the_page,
               a_collector_whose_backend_is_busy_gets_the_same_again])
