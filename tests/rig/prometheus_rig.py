# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes one exporter, and what it has stored of it."""
import json
import pathlib
import subprocess
import tempfile
import urllib.parse
import urllib.request
from decimal import Decimal

from rig import ROOT, free_port, need_program, skip


def prometheus_3():
    """The one that tests/lab/prometheus/build has built: Debian's is version 2."""
    build = ROOT / "tests/lab/prometheus/build"
    done = subprocess.run([build, "--path"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        skip(f"no Prometheus 3 here: {build.relative_to(ROOT)} makes one")
    return pathlib.Path(done.stdout.strip(), "prometheus")


class Prometheus:
    """Scrapes `target` every `every_s`, with these settings of its own, and those features of version 3; and another job."""

    def __init__(self, target, every_s, binary=None, scraping="", features=(), more=""):
        self.dir = tempfile.TemporaryDirectory(prefix="kepler-prometheus-")
        self.port, self.every_s = free_port(), every_s
        config = pathlib.Path(self.dir.name, "prometheus.yml")
        config.write_text(f"global: {{scrape_interval: {every_s}s, scrape_timeout: {min(every_s, 10)}s}}\n"
                          f"scrape_configs: [{{job_name: kepler, {scraping} static_configs: [{{targets: ['{target}']}}]}}, "
                          f"{more}]\n")
        self.process = subprocess.Popen(
            [binary or need_program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={self.dir.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error",
             *([f"--enable-feature={','.join(features)}"] if features else [])])

    def query(self, promql):
        """[(labels, [values])], an instant's as one."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": promql})
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                results = json.load(answer)["data"]["result"]
        except OSError:
            return []  # it starts
        return [(r["metric"], [Decimal(text) for _, text in r.get("values") or [r["value"]]]) for r in results]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait(30)
        self.dir.cleanup()


def series_key(labels):
    """What tells a series from others, without what Prometheus adds; it stores no empty label."""
    return tuple(sorted((k, v) for k, v in labels.items() if k not in ("__name__", "instance", "job") and v))
