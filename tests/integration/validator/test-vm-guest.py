#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run --guest-exporter`: a Kepler in a virtual machine with a real kernel, which can only estimate, and the
Kepler of its host, which has a meter. The guest's energy fails by a cause that the result names, with scale and offset, and the
host's account of the machine's CPU time is right.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from rig import BUILD, Exporter, Sensors, need_program, rapl_zone, skip

VALIDATOR = BUILD / "kepler-validator"
ROOT = pathlib.Path(__file__).parents[3]
NAME = "kepler-guest-test"
WATTS = 80  # of the host: several times as much as a model estimates, however busy the host is otherwise
# The machine rests and computes in turn, so that an offset differs from a scale.
IN_GUEST = """
/bin/busybox ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
/lab/kepler run --host.state-dir= --config.file=/dev/null --table=never --web.listen-address=0.0.0.0:28282 --monitor.interval=1s \
--model.parts=all >/lab/kepler.log 2>&1 &
while :; do /usr/bin/timeout 8 sh -c 'while :; do :; done'; sleep 8; done
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for_page(url, machine, folder):
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert machine.poll() is None, (folder / "console.log").read_text()[-2000:]
        with contextlib.suppress(OSError, urllib.error.URLError):
            page = urllib.request.urlopen(url, timeout=5).read().decode()
            if "kepler_node_package_joules_total{" in page:
                return page
        time.sleep(1)
    raise AssertionError((folder / "kepler.log").read_text()[-2000:])


@contextlib.contextmanager
def guest(folder):
    """A machine with a Kepler; gives the URL of its page on this host."""
    port = free_port()
    build = subprocess.run([ROOT / "tools/release-binary", BUILD], text=True, capture_output=True, check=True)
    program = build.stdout.strip()
    subprocess.run(["cp", program, folder / "kepler"], check=True)
    network = f"-name guest={NAME} -netdev user,id=net,hostfwd=tcp:127.0.0.1:{port}-:28282 -device virtio-net-pci,netdev=net"
    pid_file = folder / "qemu.pid"
    options = ["-k", "6.1", "-t", "540", "-c", "1", "-w", folder, "-M", "virtio_net", "-q", f"{network} -pidfile {pid_file}"]
    command = [ROOT / "tests/lab/vmtest", *options, "--", IN_GUEST]
    with subprocess.Popen(command) as machine:
        try:
            url = f"http://127.0.0.1:{port}/metrics"
            wait_for_page(url, machine, folder)
            yield url
        finally:
            with contextlib.suppress(OSError):
                os.kill(int(pid_file.read_text()), signal.SIGTERM)


need_program("qemu-system-x86_64")
if subprocess.run([ROOT / "tests/lab/getkern", "6.1"], check=False).returncode != 0:
    skip("no kernel")
with tempfile.TemporaryDirectory() as share, \
        Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=WATTS)) as sensors, \
        Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
        guest(pathlib.Path(share)) as url, tempfile.TemporaryDirectory() as report:
    exporters = [f"--exporter={exporter.url}/metrics", f"--guest-exporter={url}", f"--vm={NAME}"]
    done = subprocess.run([VALIDATOR, "run", *exporters, f"--host.sysfs={sensors.mount}", "--scenario=node", "--duration=80s",
                           f"--output={report}"], text=True, capture_output=True, check=False, timeout=300)
    print(done.stdout, done.stderr, flush=True)
    found = {result["name"]: result for result in json.loads(pathlib.Path(report, "report.json").read_text())["results"]}
    assert found["vm/cpu-time"]["verdict"] == "pass", found["vm/cpu-time"]
    estimate = found["guest/package"]
    assert estimate["verdict"] == "fail" and estimate["cause"] in ("scale", "offset"), estimate
    assert re.search(r"^ +scale \S+, offset [+-]\S+ W$", done.stdout, re.MULTILINE), done.stdout
    assert estimate["actual"]["name"] == "the host's account of the virtual machine", estimate["actual"]
    assert exporter.stop() == 0
