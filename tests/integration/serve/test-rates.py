#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prices and carbon intensity: numbers, a schedule, files, feeds over HTTP and TLS with keys. What is not known is absent."""
import contextlib
import datetime
import http.server
import json
import os
import pathlib
import signal
import tempfile
import threading
import time
import urllib.request

import jsonschema

from certificates import Authority
from rig import ROOT, Exporter, need_root, run_tests, skip

SCHEMA = json.loads((ROOT / "docs/now.schema.json").read_text())
PRICE, CARBON = "kepler_energy_price_per_kilowatt_hour", "kepler_grid_carbon_intensity_grams_per_kilowatt_hour"
UP = "kepler_exporter_rate_feed_up"


@contextlib.contextmanager
def feed(answers, context=None):
    """A server: path → (status, body); gives its port and the requests' headers."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, dict(self.headers)))
            status, body = answers(self.path, self.headers)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], seen
    finally:
        server.shutdown()
        server.server_close()


def page(exporter):
    """The page's lines about rates, and /api/v1/now's."""
    exporter.intervals(1)
    with urllib.request.urlopen(exporter.url + "/metrics", timeout=10) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    with urllib.request.urlopen(exporter.url + "/api/v1/now", timeout=10) as answer:
        now = json.load(answer)
    jsonschema.validate(now, SCHEMA)
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}, now["rates"]


def wait_for(exporter, is_there):
    deadline = time.monotonic() + 60
    while True:
        series, rates = page(exporter)
        if is_there(series):
            return series, rates
        assert time.monotonic() < deadline, [name for name in series if "rate_feed" in name]


def of_rates(series):
    names = (PRICE, CARBON, "kepler_power_usage", "kepler_embodied")
    return {name: value for name, value in series.items() if name.startswith(names)}


def unset_is_absent():
    with Exporter() as exporter:
        series, rates = page(exporter)
        assert not of_rates(series) and rates is None, (of_rates(series), rates)
        assert not any("rate_feed" in name for name in series)


def numbers_and_reload():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "config.yaml")
        file.write_text("price: {per-kwh: 0.31, currency: EUR}\ncarbon: {intensity: 312, embodied: 12.5}\nsite: {pue: 1.3}\n")
        with Exporter(f"--config.file={file}") as exporter:
            series, rates = page(exporter)
            assert of_rates(series) == {
                PRICE + '{currency="EUR"}': 0.31, CARBON + '{kind="average",source="fixed"}': 312,
                "kepler_power_usage_effectiveness": 1.3, "kepler_embodied_carbon_grams_per_hour": 12.5}, of_rates(series)
            assert rates["price_per_kwh"] == 0.31 and rates["currency"] == "EUR" and rates["pue"] == 1.3, rates
            file.write_text('price: {schedule: "0.22", currency: EUR}\nsite: {pue: 1.3}\n')
            exporter.process.send_signal(signal.SIGHUP)
            series, rates = wait_for(exporter, lambda series: series.get(PRICE + '{currency="EUR"}') == 0.22)
            assert not any(name.startswith((CARBON, "kepler_embodied")) for name in series), of_rates(series)
            assert rates["carbon_grams_per_kwh"] is None, rates


def a_table_and_its_age():
    now = datetime.datetime.now(datetime.timezone.utc)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "carbon.csv")
        file.write_text("time,grams\n" + "".join(
            f"{(now + datetime.timedelta(hours=hours)).strftime('%Y-%m-%dT%H:%M:%SZ')},{grams}\n"
            for hours, grams in ((-30, 1), (-2, 298), (2, 500))))
        with Exporter(f"--carbon.file={file}", "--carbon.kind=marginal") as exporter:
            series, _ = wait_for(exporter, lambda series: series.get(UP + '{feed="carbon"}') == 1)
            assert series[CARBON + '{kind="marginal",source="file"}'] == 298, of_rates(series)
            assert 7190 < series['kepler_exporter_rate_feed_age_seconds{feed="carbon"}'] < 7400
        with Exporter(f"--carbon.file={file}", "--carbon.max-age=1h") as exporter:
            series, rates = wait_for(exporter, lambda series: series.get('kepler_exporter_rate_feed_reads_total{feed="carbon"}'))
            assert series[UP + '{feed="carbon"}'] == 0 and not of_rates(series), of_rates(series)
            assert rates["carbon_grams_per_kwh"] is None, rates


def a_file_may_be_in_a_private_place():
    """Landlock keeps the exporter out of /root, but for the files that options name, and those that replace them."""
    need_root()
    with tempfile.TemporaryDirectory(dir="/root") as folder:
        file = pathlib.Path(folder, "carbon")
        file.write_text("77\n")
        with Exporter(f"--carbon.file={file}") as exporter:
            series, _ = wait_for(exporter, lambda series: series.get('kepler_exporter_rate_feed_reads_total{feed="carbon"}'))
            assert series.get(CARBON + '{kind="average",source="file"}') == 77, exporter.output()
            if not exporter.scrape().value("kepler_exporter_landlock_abi"):
                skip("the kernel has no Landlock")
        os.utime(file, (time.time() - 4 * 3600,) * 2)  # nothing writes it any more
        with Exporter(f"--carbon.file={file}") as exporter:
            series, _ = wait_for(exporter, lambda series: series.get('kepler_exporter_rate_feed_reads_total{feed="carbon"}'))
            assert not of_rates(series) and series[UP + '{feed="carbon"}'] == 0, of_rates(series)


def feeds_over_http():
    def answers(path, _):
        if path.startswith("/api/v1/query?"):
            return 200, '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"-0.02"]}]}}'
        return 503, "x" * 5000
    with feed(answers) as (port, _):
        with Exporter(f"--price.url=http://127.0.0.1:{port}/api/v1/query?query=price", "--price.currency=EUR",
                      f"--carbon.url=http://127.0.0.1:{port}/elsewhere", "--carbon.path=a.b") as exporter:
            series, _ = wait_for(exporter, lambda series: PRICE + '{currency="EUR"}' in series and
                                 series.get('kepler_exporter_rate_feed_failures_total{feed="carbon"}'))
            assert series[PRICE + '{currency="EUR"}'] == -0.02
            assert series[UP + '{feed="price"}'] == 1 and series[UP + '{feed="carbon"}'] == 0
            assert not any(name.startswith(CARBON) for name in series), of_rates(series)


def keys_go_over_tls():
    key = "a-key-that-is-never-logged"
    with tempfile.TemporaryDirectory() as folder:
        authority, file = Authority(folder), pathlib.Path(folder, "key")
        file.write_text(key + "\n")
        os.chmod(file, 0o600)
        options = ["--carbon.path=value", f"--carbon.key-file={file}", f"--carbon.ca-file={authority.file}"]
        with feed(lambda path, headers: (200, '{"value": 88}') if headers.get("Authorization") == f"Bearer {key}" else (401, ""),
                  authority.server_context()) as (port, seen):
            with Exporter(f"--carbon.url=https://127.0.0.1:{port}/", *options) as exporter:
                series, _ = wait_for(exporter, lambda series: series.get(UP + '{feed="carbon"}') == 1)
                assert series[CARBON + '{kind="average",source="url"}'] == 88
        with feed(lambda *_: (200, '{"value": 88}')) as (port, seen):
            with Exporter(f"--carbon.url=http://127.0.0.1:{port}/", *options) as exporter:
                wait_for(exporter, lambda series: series.get('kepler_exporter_rate_feed_failures_total{feed="carbon"}'))
                assert not seen, seen
                log = exporter.output()
                assert key not in log and "a token is only sent over https" in log, log


run_tests([unset_is_absent, numbers_and_reload, a_table_and_its_age, a_file_may_be_in_a_private_place, feeds_over_http,
           keys_go_over_tls])
