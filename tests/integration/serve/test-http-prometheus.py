#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes a page of hostile names: it takes every sample, and none that we did not write.

Once as OpenMetrics, which it asks for by itself, and once as protobuf, which Debian's 2.42 asks for with native-histograms.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: kepler
    static_configs: [{{targets: ['{target}']}}]
"""


def fetch(url, accept):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def query(base, expression):
    url = base + "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]["result"]
    except OSError:
        return []


def wait_for(base, expression, seconds=60):
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        result = query(base, expression)
        if result:
            return result
        time.sleep(0.2)
    raise AssertionError(f"no answer to {expression}")


def count_samples(text):
    return sum(1 for line in text.split("\n") if line and not line.startswith("#"))


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def check(target, base, protobuf):
    _, text = fetch(f"http://{target}/metrics", "text/plain")
    kind, openmetrics = fetch(f"http://{target}/metrics", "application/openmetrics-text")
    assert kind.startswith("application/openmetrics-text"), kind
    wait_for(base, 'up{job="kepler"} == 1')
    # Every line arrives, and every one is a series of its own; protobuf has what text has: its births are no series.
    want = count_samples(text if protobuf else openmetrics)
    scraped = float(wait_for(base, "scrape_samples_scraped")[0]["value"][1])
    kept = float(wait_for(base, "scrape_samples_post_metric_relabeling")[0]["value"][1])
    series = float(wait_for(base, 'count({__name__=~"kepler_.*"})')[0]["value"][1])
    assert scraped == kept == series == want, (scraped, kept, series, want)
    assert count_samples(openmetrics) > count_samples(text) > 1000, count_samples(text)
    # The values that it read add up: both levels and the node.
    parts = ('sum by (source,mode) (kepler_process_package_joules_total) + '
             'sum by (source,mode) (kepler_process_retired_joules_total{zone="package"}) + '
             'sum by (source,mode) (kepler_pending_joules{level="process",zone="package"}) + '
             'sum by (source,mode) (kepler_node_unattributed_joules_total{zone="package"})')
    wrong = query(base, f'abs(({parts}) - sum by (source,mode) (kepler_node_package_joules_total)) > 1e-6')
    assert not wrong, wrong
    assert len(wait_for(base, parts)) == 2


def scrape(target, protobuf):
    port = free_port()
    features = ["--enable-feature=native-histograms"] if protobuf else []
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(target=target))
        prometheus = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address=127.0.0.1:{port}", "--log.level=error", *features])
        try:
            check(target, f"http://127.0.0.1:{port}", protobuf)
        finally:
            prometheus.terminate()
            prometheus.wait()


def main():
    if not shutil.which("prometheus"):
        print("prometheus is not installed")
        return 77
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        target = server.stdout.readline().decode().strip()
        try:
            scrape(target, protobuf=False)
            scrape(target, protobuf=True)
        finally:
            server.stdin.close()
        assert server.wait() == 0
    print("ok: every sample taken, none forged, sums hold, as OpenMetrics and as protobuf")
    return 0


if __name__ == "__main__":
    sys.exit(main())
