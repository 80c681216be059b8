#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` over exporters that others wrote, next to ours, in one report over a simulated meter.

Scaphandre is built from its crate (tests/lab/scaphandre/build). Other exporters that run already are judged as well if PEER_URLS
has their URLs; only what they answer is printed then. The page of Scaphandre that is written for tests by day (peer_pages.py) has
the metrics, types and labels of the real one.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

from peer_pages import Scaphandre
from rig import BUILD, ROOT, Exporter, Sensors, free_port, rapl_zone, skip

ZONES = {"package": "class/powercap/intel-rapl:0/energy_uj", "dram": "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"}


def scaphandre(sensors, port):
    """With --vm it reads another folder than /sys. Without /proc/modules, which this kernel may lack, it ends."""
    built = subprocess.run([ROOT / "tests/lab/scaphandre/build"], text=True, capture_output=True, check=False)
    if built.returncode:
        skip("no Scaphandre here: " + (built.stderr.strip().splitlines() or ["unknown"])[-1])
    env = {**os.environ, "SCAPHANDRE_POWERCAP_PATH": f"{sensors.mount}/class/powercap"}
    if not os.path.exists("/proc/modules"):
        env |= {"LD_PRELOAD": str(BUILD / "tests/lab/other_file.so"), "OTHER_FILE": "/proc/modules", "OTHER_FILE_IS": "/dev/null"}
    command = [built.stdout.strip(), "--no-header", "--vm", "prometheus", "-p", str(port), "-a", "127.0.0.1"]
    return subprocess.Popen(command, env=env)


def page(url):
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            assert time.monotonic() < deadline, "Scaphandre does not answer"
            time.sleep(0.1)


def shape(text):
    """{metric: (type, labels)}; labels of processes that were asked for alone are left out."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    labels = {}
    for name, found in re.findall(r"^(\w+)\{(.*)\} \S+$", text, re.MULTILINE):
        labels.setdefault(name, set(re.findall(r'(\w+)="', found)) - {"cmdline"})
    return {name: (types.get(name), labels[name]) for name in labels}


def judge(sensors, urls, *options):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BUILD / "kepler-validator", "run", f"--host.sysfs={sensors.mount}", f"--output={folder}", *options,
                               *(f"--exporter={url}" for url in urls)], text=True, capture_output=True, check=False, timeout=300)
        print(done.stdout, done.stderr)
        report = json.loads(pathlib.Path(folder, "report.json").read_text())
    return {(result["exporter"], result["name"]): (result["verdict"], result["reason"]) for result in report["results"]}


lines = rapl_zone("intel-rapl:0", "package-0", 25, busy_watts=10) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")
with Sensors(lines + ["class/powercap/intel-rapl:0:0 link intel-rapl:0/intel-rapl:0:0"]) as lab:
    peer_port = free_port()
    peer = scaphandre(lab, peer_port)
    try:
        theirs = f"http://127.0.0.1:{peer_port}/metrics"
        more = os.environ.get("PEER_URLS", "").split()
        for _ in range(3):  # processes have a power at the third reading
            real = shape(page(theirs))
            time.sleep(2.1)
        for metric, what in shape(Scaphandre(lab, ZONES).page()).items():
            assert real.get(metric) == what, (metric, real.get(metric), what)
        with Exporter(f"--host.sysfs={lab.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter:
            exporter.intervals(2)
            ours = exporter.url + "/metrics"
            fast = judge(lab, [ours, theirs, *more], "--scenario=node", "--duration=26s")
            time.sleep(2.5)  # else the first page is of the run before
            slow = judge(lab, [ours, theirs, *more], "--scenario=node", "--duration=60s", "--step=2500ms")
            assert exporter.stop() == 0
        assert fast[theirs, "correctness/updates"][0] == "fail", fast
        assert slow[theirs, "correctness/descriptions"][0] == "fail", slow
        for name in ("correctness/answers", "correctness/updates", "node/package", "node/dram"):
            assert slow[theirs, name][0] == "pass", (name, slow[theirs, name])
            assert slow[ours, name][0] == "pass", (name, slow[ours, name])
    finally:
        peer.kill()
        peer.wait()
