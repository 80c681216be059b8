#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a fleet costs a database: many nodes made of one recorded page, scraped by a real server. The measurements behind
docs/fleet.md. By hand.

    bench/fleet_load.py PAGE [--server=prometheus|agent|victoria|disk|victoria-disk|history] [--nodes=40,120] [--interval=10]
                        [--seconds=90] [--json=FILE]

PAGE is what bench/fleet_node.py --page has kept. Each node has its own names of pods and ids of containers; all rows use energy and
CPU time in each interval, with noise, which is the worst that compression can meet. Targets are on loopback. A server that takes
more than --limit-mb is ended. Printed for each number of nodes: series, memory a series, CPU time and bytes a sample. "agent" is a
Prometheus in agent mode whose remote write is counted and discarded; "disk" makes the block of two hours of the nodes,
"victoria-disk" imports the same samples into a VictoriaMetrics and merges its parts, "history" makes a day of the energy of one
node as Parquet and in ClickHouse.
"""
import argparse
import csv
import hashlib
import http.server
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

LIMIT_NODES, LIMIT_SECONDS = 1000, 600
MARK = "\0"  # where a node's own eight digits go
SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (\S+)$")
PATH = f"{os.environ.get('KEPLER_LAB_CACHE', '/var/cache/kepler-lab')}/tools/usr/bin"


class Template:
    """A page with holes for values, and for the name of the node."""

    def __init__(self, page):
        lines, self.first, self.rates = [], [], []
        draw = random.Random(1)
        for line in page.splitlines():
            match = SAMPLE.match(line)
            if not match:
                lines.append(line.replace("%", "%%"))
                continue
            name, labels, value = match[1], match[2] or "", float(match[3])
            if name.startswith("kepler_process_") and "bench-" not in labels:
                continue  # the machine's own processes: as many as this machine happens to have
            labels = re.sub(r'(container_id="[0-9a-f]{56})[0-9a-f]{8}"', rf'\1{MARK}"', labels)
            labels = re.sub(r'(pod_name="bench-\d+)"', rf'\1-{MARK}"', labels)
            labels = re.sub(r'(pod_id="[-0-9a-f]{28})[0-9a-f]{8}"', rf'\1{MARK}"', labels)
            labels = re.sub(r'node_name="[^"]*"', f'node_name="node-{MARK}"', labels)
            lines.append(f"{name}{labels} ".replace("%", "%%") + "%s")
            self.first.append(value)
            moves = name.endswith(("_joules_total", "_ms_total", "_watts"))
            self.rates.append((10 ** draw.uniform(-2, 0.5)) * (-1 if name.endswith("_watts") else 1) if moves else 0)
        self.text, self.series = "\n".join(lines) + "\n", len(self.first)


class Node:
    def __init__(self, template, number):
        self.template, self.mark = template, hashlib.sha256(b"%d" % number).hexdigest()[:8]
        self.values, self.draw = list(template.first), random.Random(number)

    def page(self, seconds):
        """The page after so many more seconds. A rate below 0 is a power, which does not add up."""
        chance, values = self.draw.random, self.values
        for at, rate in enumerate(self.template.rates):
            if rate > 0:
                values[at] = round(values[at] + rate * seconds * (0.9 + 0.2 * chance()), 6)
            elif rate < 0:
                values[at] = round(-rate * (0.9 + 0.2 * chance()), 6)
        return (self.template.text % tuple(values)).replace(MARK, self.mark)


class Pages:
    """Serves /N/metrics of node N, and counts what is written to it."""

    def __init__(self, template, count, interval):
        self.nodes, self.written, self.requests = [Node(template, number) for number in range(count)], 0, 0
        pages = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = pages.nodes[int(self.path.split("/")[1])].page(interval).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                pages.written += len(self.rfile.read(int(self.headers["Content-Length"])))
                pages.requests += 1
                self.send_response(204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 1024

            def handle_error(self, request, client_address):
                pass  # the server ended first

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def config(self, interval, tail=""):
        targets = "".join(f"      - {{targets: ['127.0.0.1:{self.port}'], labels: {{instance: node-{number}, "
                          f"__metrics_path__: /{number}/metrics}}}}\n" for number in range(len(self.nodes)))
        return (f"global: {{scrape_interval: {interval}s, scrape_timeout: {interval}s}}\n"
                f"scrape_configs:\n  - job_name: kepler\n    static_configs:\n{targets}{tail}")


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


def program(name):
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], PATH, PATH.replace("tools/usr/bin", "go-bin")]))
    if not found:
        sys.exit(f"{name} is not installed")
    return found


class Server:
    """One of the servers with a configuration, and its own account of itself."""

    def __init__(self, kind, config, folder):
        self.kind, self.port = kind, free_port()
        file = pathlib.Path(folder, "config.yml")
        file.write_text(config)
        address = f"127.0.0.1:{self.port}"
        if kind == "victoria":
            command = [program("victoria-metrics"), f"-promscrape.config={file}", f"-storageDataPath={folder}/data",
                       f"-httpListenAddr={address}", "-loggerLevel=ERROR", "-retentionPeriod=1y"]
        else:
            more = ["--enable-feature=agent", f"--storage.agent.path={folder}/data"] if kind == "agent" else \
                [f"--storage.tsdb.path={folder}/data"]
            command = [program("prometheus"), f"--config.file={file}", f"--web.listen-address={address}",
                       "--log.level=error", *more]
        self.data = pathlib.Path(folder, "data")
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def metric(self, *names):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            page = answer.read().decode()
        for name in names:
            found = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", page, re.M)
            if found:
                return sum(map(float, found))
        return 0

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self, key="VmRSS"):
        return int(re.search(rf"^{key}:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text(), re.M)[1]) * 1024

    def samples(self):
        return self.metric(*{"prometheus": ["prometheus_tsdb_head_samples_appended_total"],
                             "agent": ["prometheus_agent_samples_appended_total"],
                             "victoria": ["vm_promscrape_scraped_samples_sum"]}[self.kind])

    def series(self):
        return self.metric(*{"prometheus": ["prometheus_tsdb_head_series"], "agent": ["prometheus_agent_active_series"],
                             "victoria": ["vm_new_timeseries_created_total"]}[self.kind])

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def disk_bytes(folder):
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def keep(options, server, **figures):
    """Notes figures of a server in the file of --json, next to those that it has."""
    if options.json:
        all_of = json.loads(options.json.read_text()) if options.json.exists() else {}
        all_of.setdefault("servers", {}).setdefault(server, {}).update(figures)
        options.json.write_text(json.dumps(all_of, indent=1) + "\n")


def load(options, template, count):
    pages = Pages(template, count, options.interval)
    tail = f"remote_write: [{{url: 'http://127.0.0.1:{pages.port}/write'}}]\n" if options.server == "agent" else ""
    with tempfile.TemporaryDirectory(prefix="kepler-fleet-") as folder:
        server = Server(options.server, pages.config(options.interval, tail), folder)
        try:
            ends = time.monotonic() + min(options.seconds, LIMIT_SECONDS)
            first = None
            while time.monotonic() < ends:
                time.sleep(1)
                assert server.process.poll() is None, "the server ended"
                if server.rss() > options.limit_mb * 1e6:
                    sys.exit(f"{count} nodes: the server takes more than {options.limit_mb} MB")
                if not first and time.monotonic() > ends - options.seconds / 2:
                    first = (server.cpu_s(), server.samples(), pages.written, time.monotonic())
            last = (server.cpu_s(), server.samples(), pages.written, time.monotonic())
            cpu, samples, written, seconds = [b - a for a, b in zip(first, last)]
            series = server.series()
            stored = disk_bytes(server.data)
            live = server.metric("go_memstats_heap_inuse_bytes")
            print(f"| {options.server} | {count} | {series:.0f} | {samples / seconds:.0f} | {server.rss() / series:.0f} | "
                  f"{server.rss('VmHWM') / series:.0f} | {live / series:.0f} | {cpu / samples * 1e6:.2f} | "
                  f"{stored / max(last[1], 1):.2f} | {written / samples:.2f} |", flush=True)
            found = {"memory_bytes_a_series": round(server.rss() / series), "cpu_us_a_sample": round(cpu / samples * 1e6, 2)}
            if options.server == "agent":
                found["bytes_a_sample"] = round(written / samples, 1)
            if options.server == "victoria":
                found["disk_bytes_a_sample"] = round(stored / last[1], 2)
            keep(options, options.server, **found)
        finally:
            server.stop()
            pages.server.shutdown()
            pages.server.server_close()


STEP, HOURS = 30, 2  # seconds between samples on disk, and their span


def history_lines(template, number, begin, per_second=1):
    """The samples of a node with their times, in this many units a second, as text of Prometheus."""
    node = Node(template, number)
    for second in range(begin, begin + HOURS * 3600, STEP):
        yield from (f"{line} {second * per_second}\n" for line in node.page(STEP).splitlines() if line[0] != "#")


def file_bytes(folder, pattern="*"):
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


def victoria_disk(options, template, count):
    """Bytes a sample in the merged parts of a VictoriaMetrics, for two hours of the nodes."""
    begin = (int(time.time()) - 86400) // 7200 * 7200  # within its retention
    with tempfile.TemporaryDirectory(prefix="kepler-fleet-") as folder:
        server = Server("victoria", "scrape_configs: []\n", folder)
        try:
            url = f"http://127.0.0.1:{server.port}"
            wait_for(url)
            for number in range(count):
                lines = history_lines(template, number, begin, 1000)
                while body := "".join(itertools.islice(lines, 50_000)).encode():
                    urllib.request.urlopen(f"{url}/api/v1/import/prometheus?extra_label=instance=node-{number}", body,
                                           timeout=120).close()
            for path in ("/internal/force_flush", "/internal/force_merge"):
                urllib.request.urlopen(url + path, timeout=300).close()
            deadline, rows = time.monotonic() + 300, 0
            while (found := file_bytes(server.data / "data")) != rows or not rows:
                assert time.monotonic() < deadline, "its parts change for ever"
                rows = found
                time.sleep(5)
            resident = server.rss()
        finally:
            server.stop()
        samples = count * template.series * HOURS * 3600 // STEP
        everything = file_bytes(server.data)
    print(f"| victoria, {HOURS} h at {STEP} s | {count} nodes | {count * template.series} series | {samples} samples | "
          f"{rows / samples:.2f} bytes a sample | with the index {everything / samples:.2f} | "
          f"resident {resident / 2**20:.0f} MiB |", flush=True)
    keep(options, "victoria", disk_bytes_a_sample=round(everything / samples, 2))


def wait_for(url):
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=10).close()
            return
        except OSError:
            assert time.monotonic() < deadline, url
            time.sleep(0.2)


def disk(options, template, count):
    """Bytes a sample in a block of Prometheus, for two hours of the nodes."""
    begin = 1_700_000_000 // 7200 * 7200
    with tempfile.TemporaryDirectory(prefix="kepler-fleet-") as folder:
        text = pathlib.Path(folder, "samples.txt")
        with text.open("w") as file:
            for number in range(count):
                for line in history_lines(template, number, begin):
                    file.write(labelled(line, number))
            file.write("# EOF\n")
        done = subprocess.run([program("promtool"), "tsdb", "create-blocks-from", "openmetrics", "-q", str(text), f"{folder}/data"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        samples = count * template.series * HOURS * 3600 // STEP
        chunks, everything = file_bytes(pathlib.Path(folder, "data"), "chunks/*"), file_bytes(pathlib.Path(folder, "data"))
    print(f"| block of {HOURS} h at {STEP} s | {count} nodes | {count * template.series} series | {samples} samples | "
          f"chunks {chunks / samples:.2f} bytes a sample | with the index {everything / samples:.2f} |", flush=True)
    keep(options, "prometheus", disk_bytes_a_sample=round(everything / samples, 2))


def labelled(line, number):
    """A sample with the label that a scrape of the node would give it."""
    head, brace, tail = line.rpartition("}")
    if brace:
        return f'{head},instance="node-{number}"}}{tail}'
    name, _, values = line.partition(" ")
    return f'{name}{{instance="node-{number}"}} {values}'


def history(template, step=300, hours=24):
    """Bytes a sample of a day of one node's energy: the file that Kepler writes, Parquet by DuckDB, and a table of ClickHouse."""
    import duckdb  # of PyPI, as chdb: only this part needs them
    from chdb import session
    node, begin = Node(template, 1), 1_700_000_000 // 86400 * 86400
    sql = pathlib.Path(__file__).resolve().parents[1] / "deploy/fleet"
    with tempfile.TemporaryDirectory(prefix="kepler-fleet-") as folder:
        os.makedirs(f"{folder}/metrics/node-1")
        os.chdir(folder)
        with open("metrics/node-1/metrics.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["time", "name", "labels", "value"])
            for second in range(0, hours * 3600, step):
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(begin + second))
                for name, labels, value in filter(None, map(energy, node.page(step).splitlines())):
                    writer.writerow([stamp, name, labels, value])
        duckdb.execute((sql / "history.sql").read_text())
        samples = duckdb.execute("SELECT count(*) FROM read_parquet('history/*/*.parquet')").fetchone()[0]
        clickhouse = session.Session()
        for statement in re.sub("^--.*$", "", (sql / "clickhouse.sql").read_text(), flags=re.M).split(";"):
            if statement.strip():
                clickhouse.query(statement)
        clickhouse.query("OPTIMIZE TABLE kepler_points FINAL")
        table = float(str(clickhouse.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE table = 'kepler_points' AND active")))
        parquet = sum(path.stat().st_size for path in pathlib.Path("history").rglob("*.parquet"))
        sizes = [os.path.getsize("metrics/node-1/metrics.csv"), parquet, table]
        os.chdir("/")
    print(f"| {samples} samples of a day, every {step} s | " +
          " | ".join(f"{what} {size / samples:.1f} bytes a sample"
                     for what, size in zip(("CSV", "Parquet", "ClickHouse"), sizes)) + " |")


def energy(line):
    """(name, labels as JSON, value) of a line of energy of all levels but processes; else None."""
    match = SAMPLE.match(line)
    if not match or not match[1].endswith("_joules_total") or match[1].startswith("kepler_process_"):
        return None
    return match[1], json.dumps(dict(re.findall(r'(\w+)="([^"]*)"', match[2] or "")), separators=(",", ":")), match[3]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--server", choices=("prometheus", "agent", "victoria", "disk", "victoria-disk", "history"),
                        default="prometheus")
    parser.add_argument("--nodes", default="40,120")
    parser.add_argument("--interval", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=90)
    parser.add_argument("--limit-mb", type=int, default=4000)
    parser.add_argument("--json", type=pathlib.Path, help="the file that gets the figures, such as deploy/fleet/measured.json")
    options = parser.parse_args()
    template = Template(options.page.read_text())
    if options.server == "history":
        history(template)
        return
    if options.server in ("disk", "victoria-disk"):
        for count in map(int, options.nodes.split(",")):
            (disk if options.server == "disk" else victoria_disk)(options, template, count)
        return
    print("| server | nodes | series | samples a second | RSS a series, bytes | highest | heap in use | CPU a sample, µs | "
          "on disk a sample, bytes | written on the wire a sample, bytes |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for count in map(int, options.nodes.split(",")):
        assert 0 < count <= LIMIT_NODES, count
        load(options, template, count)


main()
