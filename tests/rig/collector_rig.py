# SPDX-License-Identifier: Apache-2.0
"""A real Collector of OpenTelemetry, as tests/lab/collector/build makes it."""
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.request

from otlp_sums import Point, Sums
from rig import ROOT, free_port, skip

SAMPLE = re.compile(r'^(\w+)\{(.*)\} (\S+) (\d+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ENERGY = re.compile(r'^(hw|kepler)_((?:\w+_)?energy(?:_\w+)?)_joules(?:_total)?$')


def point_of(name, labels, value):
    """A point from the series that Prometheus and the Collector make of it by their usual rules; None of another metric."""
    found = ENERGY.match(name)
    attributes = {key.replace("_", ".", 1): text for key, text in labels.items()}
    return Point(f"{found[1]}.{found[2].replace('_', '.')}", "J", {}, attributes, value=float(value)) if found else None


def collector():
    build = ROOT / "tests/lab/collector/build"
    done = subprocess.run([build, "--path"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        skip(f"no Collector here: {build.relative_to(ROOT)} makes one")
    return done.stdout.strip()


class Collector:
    """Takes OTLP over HTTP and gives it to its exporter `prometheus`; with `next_url` to that receiver instead, one by one."""

    def __init__(self, next_url=None):
        self.dir, self.port, self.page_port = tempfile.TemporaryDirectory(prefix="kepler-collector-"), free_port(), free_port()
        self.log = pathlib.Path(self.dir.name, "log")
        exporters = {"prometheus": {"endpoint": f"127.0.0.1:{self.page_port}", "send_timestamps": True}}
        if next_url:
            exporters = {"otlp_http": {"endpoint": next_url, "retry_on_failure": {"enabled": False},
                                       "sending_queue": {"enabled": False}}}
        config = pathlib.Path(self.dir.name, "config.yaml")
        config.write_text(json.dumps({
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{self.port}"}}}}, "exporters": exporters,
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {"metrics": {"receivers": ["otlp"], "exporters": list(exporters)}}}}))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([collector(), f"--config={config}"], stdout=log, stderr=subprocess.STDOUT)
        self.url = f"http://127.0.0.1:{self.port}"

    def sums(self):
        """(time in ms, Sums) of the newest points; (0, None) where there are none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page_port}/metrics", timeout=20) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return 0, None  # it starts
        found = [match.groups() for match in map(SAMPLE.match, lines) if match]
        newest = max((int(time_ms) for *_, time_ms in found), default=0)
        points = [point_of(name, dict(LABEL.findall(labels)), value) for name, labels, value, time_ms in found
                  if int(time_ms) == newest]
        return newest, Sums(point for point in points if point)

    def output(self):
        return self.log.read_text(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait(30)
        self.dir.cleanup()
