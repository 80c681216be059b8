#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Remote write against a real Prometheus: it stores what the page shows at the same time, and ended series end at once."""
import tempfile
import time
from decimal import Decimal

from prometheus_rig import series_key
from remote_write_rig import ReceivingPrometheus
from rig import Exporter, Sensors, Service, rapl_zone, run_tests, snapshots_of, Metrics

SNAPSHOTS = "kepler_exporter_snapshots_total"
NAME = "kepler-pushed"
SERIES = f'kepler_container_joules_total{{container_id=~"{NAME}.*"}}'


def exporter_of(sensors, prometheus, *args):
    return Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s", "--metrics.keep=0s", "--remote-write.interval=1s",
                    f"--remote-write.url={prometheus.url}", *args)


def sensors():
    return Sensors(rapl_zone(0, "package-0", 20) + rapl_zone(1, "package-1", 30))


def pages_until(exporter, condition, seconds=60, pages=None):
    """number of snapshot → page of all that were served until the condition held."""
    pages, deadline = {} if pages is None else pages, time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, exporter.output()
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            page = exporter.page()
            pages[snapshots_of(page)] = page
            time.sleep(0.1)
    return pages


def stored_at(prometheus, time_s):
    """(name, labels) → value of each series that has a sample of this very time."""
    found = {}
    for labels, values in prometheus.query(f'{{__name__=~"kepler_.*"}} @ {time_s:.3f}'):
        found[labels["__name__"], series_key(labels)] = values[0]
    return found


def a_receiver_has_what_the_page_shows():
    with sensors() as tree, ReceivingPrometheus() as prometheus, exporter_of(tree, prometheus) as exporter:
        pages = {}
        pages_until(exporter, lambda: prometheus.query(f"count_over_time({SNAPSHOTS}[1m]) >= 4") and
                    prometheus.query(SNAPSHOTS)[0][1][0] in pages, pages=pages)
        pages_until(exporter, lambda: True, pages=pages)
        compared = 0
        for _, values in prometheus.query(f"timestamp({SNAPSHOTS})"):
            time_s = values[0]
            number = int(prometheus.query(f"{SNAPSHOTS} @ {time_s:.3f}")[0][1][0])
            if number not in pages:
                continue
            stored, page = stored_at(prometheus, time_s), Metrics(pages[number])
            for name, labels, value in page.samples:
                if name.startswith("kepler_") and not name.startswith(("kepler_exporter_http", "kepler_exporter_send")):
                    got = stored[name, series_key(labels)]
                    assert abs(got - value) <= abs(value) * Decimal("1e-15"), (name, labels, got, value)
                    compared += 1
        assert compared > 100, (compared, sorted(pages))
        metadata = prometheus.query("kepler_build_info") or prometheus.query("kepler_exporter_build_info")
        assert metadata and metadata[0][0]["job"] == "kepler" and metadata[0][0]["instance"], metadata


def a_series_ends_when_its_process_does():
    with sensors() as tree, ReceivingPrometheus() as prometheus, exporter_of(tree, prometheus) as exporter:
        with Service(f"{NAME}.service") as service:
            process = service.run("sh", "-c", "while :; do :; done")
            try:
                pages_until(exporter, lambda: prometheus.query(SERIES))
            finally:
                process.kill()
                process.wait()
        ended = time.monotonic()
        pages_until(exporter, lambda: not prometheus.query(SERIES), seconds=60)
        assert time.monotonic() - ended < 30  # without a marker it is 5 minutes
        assert prometheus.query(f"{SERIES}[5m]"), "its samples are there"


def is_sent(exporter):
    page = exporter.scrape()
    return page.sum("kepler_exporter_send_samples_total") and page.sum("kepler_exporter_send_oldest_age_seconds") < 3


def an_outage_and_a_restart_lose_nothing():
    with sensors() as tree, ReceivingPrometheus() as prometheus, tempfile.TemporaryDirectory() as queue:
        queued = f"--remote-write.queue-dir={queue}/queue"
        with exporter_of(tree, prometheus, queued) as exporter:
            pages_until(exporter, lambda: prometheus.query(SNAPSHOTS))
            prometheus.stop()
            exporter.intervals(6)
            last = snapshots_of(exporter.page())
            assert exporter.stop() == 0, exporter.output()
        with exporter_of(tree, prometheus, queued) as exporter:
            exporter.intervals(3)
            prometheus.start()
            pages_until(exporter, lambda: is_sent(exporter) and prometheus.query(f"resets({SNAPSHOTS}[5m]) > 0"))
            values = prometheus.query(f"{SNAPSHOTS}[5m]")[0][1]
            restarted = max(i for i in range(1, len(values)) if values[i] < values[i - 1])
            during, after = values[:restarted], values[restarted:]
            assert after[0] < 4, values
            # An interval of a second may have no snapshot, or two.
            assert max(b - a for a, b in zip(during, during[1:])) <= 2 and during[-1] >= last - 2, values
            sent = exporter.scrape()
            assert sent.sum("kepler_exporter_send_dropped_samples_total") == 0


if __name__ == "__main__":
    run_tests([a_receiver_has_what_the_page_shows, a_series_ends_when_its_process_does, an_outage_and_a_restart_lose_nothing],
              at_once=3)
