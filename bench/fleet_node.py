#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one node of a fleet sends and what that costs it: the measurements behind docs/fleet.md. By hand, on a release build.

    KEPLER_BUILD=build bench/fleet_node.py [--pods=60] [--containers=2] [--processes=3] [--page=FILE] [--json=FILE]
                                               [--pages-only] [quick]

Pods are cgroups as Kubernetes makes them, with a sandbox each, their containers with two active processes; every active process has
a series of its own. Two simulated sockets of package and dram. Printed: series by level, bytes of a page in each format, CPU time
of a scrape; bytes and CPU time of a push by remote write (1.0, 2.0) and OTLP (levels), less those of an exporter that is not read.
With --page the text page is kept: bench/fleet_load.py makes other nodes of it.
"""
import argparse
import collections
import gzip
import http.server
import json
import pathlib
import re
import statistics
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
import containers  # noqa: E402
from pods import ACTIVE, PREFIX, Pods  # noqa: E402
from rig import Exporter, Metrics, Sensors, rapl_zone  # noqa: E402

ZONES = rapl_zone("intel-rapl:0", "package-0", 90) + rapl_zone("intel-rapl:0:0", "dram", 9, parent="intel-rapl:0") + \
    rapl_zone("intel-rapl:1", "package-1", 80) + rapl_zone("intel-rapl:1:0", "dram", 8, parent="intel-rapl:1")
LEVELS = ("process", "container", "pod", "namespace")
PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
FORMATS = {"text": {"Accept-Encoding": "identity"}, "text, gzip": {"Accept-Encoding": "gzip"},
           "protobuf": {"Accept": PROTOBUF, "Accept-Encoding": "identity"},
           "protobuf, gzip": {"Accept": PROTOBUF, "Accept-Encoding": "gzip"}}
PUSH_S = 1


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


def level_of(name, labels):
    """The level of a series of the pods' own rows; "node" for those that every node has, whatever runs there."""
    match = re.match(r"kepler_([a-z]+)_", name)
    level = match[1] if match and match[1] in LEVELS else None
    ours = any(labels.get(key, "").startswith(PREFIX + "-") for key in ("pod_name", "container_namespace"))
    return (level if ours else "system") if level and "retired" not in name else "node"


def part_of(name):
    """What a series of a row tells: the total, a zone, power, work, or names."""
    if name.endswith("_watts"):
        return "watts"
    if name.endswith("_info"):
        return "info"
    if name.endswith("_joules_total"):
        return "energy" if name.count("_") == 3 else "zones"
    return "work"


def by_level(page):
    """level → {part: series}, the bytes of their lines, and the bytes of these compressed as the exporter does it."""
    lines, parts = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    for line in page.splitlines(keepends=True):
        if not line.startswith("#"):
            (name, labels, _), = Metrics(line).samples
            level = level_of(name, labels)
            lines[level].append(line)
            parts[level][part_of(name) if level in LEVELS else "all"] += 1
    return {level: (dict(parts[level]), sum(map(len, some)), len(gzip.compress("".join(some).encode(), 1)))
            for level, some in lines.items()}


def row_counts(options):
    """Rows of the pods by level: a process row for each active process, and one for the others of its container."""
    return {"process": options.pods * (options.containers * (ACTIVE + 1) + 1), "container": options.pods * (options.containers + 1),
            "pod": options.pods, "namespace": options.namespaces}


class Sink:
    """Accepts every push; sizes of their bodies."""

    def __init__(self):
        self.sizes = []
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                sink.sizes.append(len(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("X-Prometheus-Remote-Write-Samples-Written", "0")
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def start(sensors, *options):
    exporter = Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s", "--metrics.keep=1s",
                        "--metrics.process.min-joules=0.000001", *options)
    return exporter


def wait_named(exporter, pods):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        page = exporter.page()
        if len(set(re.findall(rf'kepler_pod_joules_total{{[^}}]*pod_name="({PREFIX}-\d+)"', page))) >= pods:
            return page
        time.sleep(1)
    raise AssertionError("the pods have no names:\n" + exporter.output())


def windows(exporter, count, seconds, sink=None):
    """CPU time in ms a second of each window; sizes of what was pushed meanwhile."""
    pid, costs = exporter.process.pid, []
    if sink:
        sink.sizes.clear()
    for _ in range(count):
        began, at = cpu_seconds(pid), time.monotonic()
        time.sleep(seconds)
        costs.append((cpu_seconds(pid) - began) / (time.monotonic() - at) * 1e3)
    return costs, list(sink.sizes) if sink else []


def scrape(exporter, headers):
    """CPU ms of the first scrape of a snapshot in this format, and its bytes on the wire."""
    costs, size = [], 0
    for _ in range(5):
        time.sleep(1.3)
        began = cpu_seconds(exporter.process.pid)
        with urllib.request.urlopen(urllib.request.Request(exporter.url + "/metrics", headers=headers), timeout=20) as answer:
            size = len(answer.read())
        costs.append((cpu_seconds(exporter.process.pid) - began) * 1e3)
    return statistics.median(costs), size


def measure_pull(sensors, options, schema, result, old):
    with start(sensors, f"--metrics.schema={schema}") as exporter:
        wait_named(exporter, options.pods)
        time.sleep(8)
        page = exporter.page()
        if options.page and schema == "classic":
            options.page.write_text(page)
        rows, of, total = row_counts(options), {}, sum(not line.startswith("#") for line in page.splitlines())
        print(f"{schema}: {total} series, rows {rows}\n| level | series | of a row | text bytes a series | gzip bytes a series |\n"
              "|---|---|---|---|---|")
        for level, (parts, size, packed) in by_level(page).items():
            series, count = sum(parts.values()), rows.get(level, 1)
            of[level] = {"parts": {part: round(number / count, 3) for part, number in parts.items()},
                         "text_bytes": round(size / series, 1), "gzip_bytes": round(packed / series, 1)}
            print(f"| {level} | {series} | {series / count:.2f} | {size / series:.0f} | {packed / series:.1f} |", flush=True)
        result["pages"][schema] = {"levels": of, "formats": {}}
        for name, headers in FORMATS.items():
            cost, size = scrape(exporter, headers)
            result["pages"][schema]["formats"][name] = {"bytes_a_series": round(size / total, 1),
                                                        "cpu_us_a_series": round(cost * 1e3 / total, 2)}
            print(f"| page as {name} | {size} bytes | {cost:.2f} ms |", flush=True)
        # With the sizes that other runs have measured, as gzip's price of a series depends on the number of containers.
        packed = result["pages"][schema]["formats"]["text, gzip"]
        sizes = {at: figures for at, *figures in old.get("pages", {}).get(schema, {}).get("gzip_by_containers", [])}
        sizes[rows["container"]] = [packed["bytes_a_series"], packed["cpu_us_a_series"]]
        result["pages"][schema]["gzip_by_containers"] = [[at, *sizes[at]] for at in sorted(sizes)]
        exporter.stop()


def measure_push(sensors, options, name, push, result):
    sink = Sink() if push else None
    with start(sensors, *[option.replace("URL", sink.url if sink else "") for option in push]) as exporter:
        wait_named(exporter, options.pods)
        time.sleep(6)
        before = sent(exporter)
        costs, sizes = windows(exporter, 3 if options.quick else 5, 5, sink)
        samples, page = sent(exporter) - before, exporter.page()
        exporter.stop()
    cost = statistics.median(costs)
    if not sink:
        result["idle_cpu_ms_a_second"] = round(cost, 2)
        print(f"| {name} | {cost:.2f} ms a second | {min(costs):.2f}–{max(costs):.2f} |", flush=True)
        return
    sink.close()
    seconds, extra = 5 * len(costs), cost - result["idle_cpu_ms_a_second"]
    result["push"][name] = {"bytes_a_sample": round(sum(sizes) / samples, 1),
                            "cpu_us_a_sample": round(extra * 1e3 / (samples / seconds), 2)}
    if name.startswith("OTLP"):
        level = name.rpartition(" ")[2]
        of_row = 2  # zones of the totals: package and dram
        of_rows = of_row * page.count(f"\nkepler_{level}_joules_total{{")
        result["push"][name] |= {"points_a_row": of_row, "points_a_node": round(samples / len(sizes) - of_rows)}
    print(f"| {name} | {samples / seconds * PUSH_S:.0f} samples | {sum(sizes) / seconds * PUSH_S:.0f} bytes a push | "
          f"{sum(sizes) / samples:.1f} a sample | {extra:.2f} ms | {min(costs):.2f}–{max(costs):.2f} | "
          f"{len(sizes) / seconds:.1f} requests |", flush=True)


def sent(exporter):
    """Samples that the receiver has accepted."""
    return sum(map(int, re.findall(r"^kepler_exporter_send_samples_total\{[^}]*\} (\d+)", exporter.page(), re.M)))


def measure_pushes(sensors, options, result):
    every = f"--remote-write.interval={PUSH_S}s"
    otlp = ("--otlp.endpoint=URL", f"--otlp.interval={PUSH_S}s")
    for name, push in {"none": (),
                       "remote write 2.0": ("--remote-write.url=URL/w", every, "--remote-write.protocol=2.0"),
                       "remote write 1.0": ("--remote-write.url=URL/w", every, "--remote-write.protocol=1.0"),
                       "remote write 2.0, without processes": ("--remote-write.url=URL/w", every, "--remote-write.protocol=2.0",
                                                               "--remote-write.drop=kepler_process_*"),
                       "OTLP, container": otlp, "OTLP, process": (*otlp, "--otlp.levels=process"),
                       "OTLP, namespace": (*otlp, "--otlp.levels=namespace")}.items():
        measure_push(sensors, options, name, push, result)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=60)
    parser.add_argument("--containers", type=int, default=2)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--namespaces", type=int, default=10)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--pages-only", action="store_true", help="no pushes; --json gets the sizes of the compressed page alone")
    parser.add_argument("quick", nargs="?")
    return parser.parse_args()


def main():
    options, result = parse(), {"pages": {}, "push": {}}
    old = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    containers.enter_own_mounts(programs=False)
    result["node"] = {key: getattr(options, key) for key in ("pods", "containers", "processes", "namespaces")}
    with Sensors(ZONES) as sensors, \
            Pods(options.pods * options.containers, options.processes, options.containers, options.namespaces, sandboxes=True):
        for schema in ("classic", "current"):
            measure_pull(sensors, options, schema, result, old)
        if not options.pages_only:
            measure_pushes(sensors, options, result)
    if options.json and options.pages_only:
        for schema, page in result["pages"].items():
            old["pages"][schema]["gzip_by_containers"] = page["gzip_by_containers"]
        result = {}
    if options.json:
        options.json.write_text(json.dumps({**old, **result}, indent=1) + "\n")


main()
