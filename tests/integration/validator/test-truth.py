#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The validator's other meters: events of perf, a management controller over Redfish, the file of a PDU, and a law."""
import pathlib
import re
import subprocess
import tempfile
import threading

from bmc import Law
from certificates import Authority
from redfish_rig import new_machine
from remote_rig import authority, look_for_secrets, watched
from rig import BUILD, Exporter

VALIDATOR = BUILD / "kepler-validator"
PMU = "bus/event_source/devices/power"
PASSWORD = 'canary-bmc,"p4ss'


def run(exporter, *options, expect=None):
    done = subprocess.run([str(VALIDATOR), "run", f"--exporter={exporter}", "--scenario=node", "--duration=14s", *options],
                          text=True, capture_output=True, check=False, timeout=120)
    print(done.stdout, done.stderr)
    assert expect is None or done.returncode == expect, done.returncode
    return done.stdout, done.stderr


def passes(output, name):
    assert re.search(rf"^pass +{name}[ :]", output, re.MULTILINE), output


def redfish(folder):
    """A service's power over TLS; a user that is refused, and a secret that is in no output."""
    lab = new_machine(folder, law=Law(300, 100, 7))
    secret = pathlib.Path(folder, "password")
    secret.write_text(PASSWORD + "\n", encoding="utf-8")
    options = ("--truth=redfish", f"--truth.redfish-url={lab.service.url}", f"--truth.redfish-ca-file={authority().file}",
               f"--truth.redfish-password-file={secret}")
    with watched(lab, "--monitor.interval=1s") as exporter:
        exporter.intervals(3)
        output, _ = run(f"{exporter.url}/metrics", *options, "--truth.redfish-user=kepler")
        assert "Truth: redfish, 1 meters, with an assumed error of ±5 %." in output, output
        assert f"  platform: {lab.service.url}/redfish/v1/Chassis/System.Embedded.1/EnvironmentMetrics" in output, output
        passes(output, "node/platform")
        look_for_secrets(output)
        _, error = run(f"{exporter.url}/metrics", *options, "--truth.redfish-user=other", expect=2)
        assert "refuses the user or the token" in error, error
        look_for_secrets(error)
        others = pathlib.Path(folder, "others")
        others.mkdir()
        _, error = run(f"{exporter.url}/metrics", *options, f"--truth.redfish-ca-file={Authority(others).file}",
                       "--truth.redfish-user=kepler", expect=2)
        assert "certificate" in error, error


class Pdu(threading.Thread):
    """Writes 50 W into a file, every second."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.ends = path, threading.Event()
        path.write_text("50\n", encoding="ascii")

    def run(self):
        while not self.ends.wait(1):
            self.path.write_text("50\n", encoding="ascii")


def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="ascii")


def perf(folder):
    """A clock of the kernel's instead of a meter, 40 W; the exporter that reads it is right by it, and by a law of 40 W, and twice
    too low by one of 80 W."""
    root = pathlib.Path(folder)
    root.chmod(0o755)
    (root / "devices/system").mkdir(parents=True)
    (root / "devices/system/cpu").symlink_to("/sys/devices/system/cpu")
    for name, text in {"type": "1", "cpumask": "0", "format/event": "config:0-7", "events/energy-pkg": "event=0x00",
                       "events/energy-pkg.scale": "4e-8", "events/energy-pkg.unit": "Joules"}.items():
        put(root, f"{PMU}/{name}", text)
    pdu = Pdu(root / "pdu")
    pdu.start()
    with Exporter(f"--host.sysfs={root}", "--monitor.interval=1s", "--metrics.settle=0s") as exporter:
        exporter.intervals(3)
        page = f"{exporter.url}/metrics"
        output, _ = run(page, f"--host.sysfs={root}")
        assert "Truth: perf, 1 meters" in output and "  package: power/energy-pkg@cpu0" in output, output
        passes(output, "node/package")
        output, _ = run(page, "--truth=law", "--truth.law=idle=40")
        assert "a law, and not a meter: 40 W" in output, output
        passes(output, "node/package")
        output, _ = run(page, "--truth=law", "--truth.law=idle=80", expect=1)
        assert re.search(r"^fail +node/package \((scale|offset)\)", output, re.MULTILINE), output
        output, _ = run(page, "--truth=pdu-file", f"--truth.file={pdu.path}")
        assert f"  platform: {pdu.path}" in output, output
        assert exporter.stop() == 0
    pdu.ends.set()


def what_is_refused():
    for options, words in ((["--truth=law"], "truth.law: must be given with --truth=law"),
                           (["--truth=law", "--truth.law=idle"], "truth.law: must be like idle=20,cpu=10"),
                           (["--truth.redfish-url=https://a"], "truth.redfish-url: must be given with --truth=redfish"),
                           (["--truth=redfish", "--truth.redfish-url=http://a"], "must begin with https://"),
                           (["--truth=pdu-file", "--truth.file=/nonexistent"], "pdu-file has no meter"),
                           (["--truth=msr", "--host.procfs=/nonexistent"], "msr has no meter that can be read below /dev/cpu")):
        _, error = run("http://127.0.0.1:1/", *options, expect=2)
        assert words in error, error


what_is_refused()
with tempfile.TemporaryDirectory(prefix="kepler-truth-") as directory:
    redfish(directory)
with tempfile.TemporaryDirectory(prefix="kepler-truth-") as directory:
    perf(directory)
