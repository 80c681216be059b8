#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""At night: the power of a BMC by IPMI over a network, as deploy/meters/ipmi-lan reads it into a file of --meter.external. The
BMC is OpenIPMI's ipmi_sim, the client ipmitool: right power, a BMC that is busy or does not measure is a zone that is down, and
no password in what others see.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from rig import BUILD, ROOT, Exporter, balanced, close, need_root, skip

DCMI = BUILD / "tests/lab/dcmi.so"
PASSWORD = "canary-bmc"
OPTIONS = ("--metrics.settle=0s", "--idle.mode=off")
LAN = """name "bmc"
set_working_mc 0x20
loadlib "{dcmi}" "{state}"
startlan 1
  addr 127.0.0.1 {port}
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
user 1 true "" "" user 10 none md2 md5 straight
user 2 true "kepler" "{password}" admin 10 none md2 md5 straight
"""
MACHINE = """mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
mc_enable 0x20
"""


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def start(command, **keywords):
    return ended(subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **keywords))


def wait_up(exporter, up):
    deadline = time.monotonic() + 40
    while True:
        metrics = balanced(exporter.intervals(1))
        if (metrics.sum("kepler_exporter_source_up", zone="platform", source="external") == 1) == up:
            return metrics
        assert time.monotonic() < deadline, exporter.output()


def counted(exporter):
    """What a page has counted, and when its last reading was made: of one that has just come."""
    before = node_j(exporter.intervals(1))
    deadline = time.monotonic() + 30
    while node_j(metrics := exporter.intervals(1)) == before:
        assert time.monotonic() < deadline, exporter.output()
    age = float(metrics.value("kepler_exporter_source_age_seconds", zone="platform", source="external"))
    return float(metrics.value("kepler_exporter_snapshot_timestamp_seconds")) - age, node_j(metrics)


def node_j(metrics):
    return float(metrics.sum("kepler_node_platform_joules_total", source="external"))


def power_is_right(exporter, watts):
    (began, first), _, (ended_at, last) = counted(exporter), time.sleep(10), counted(exporter)
    close("watts", (last - first) / (ended_at - began), watts, 2)


def main():
    for program in ("ipmi_sim", "ipmitool"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    if not DCMI.exists():
        skip("no tests/lab/dcmi.so in the build: install libopenipmi-dev, configure and build again")
    need_root()
    with tempfile.TemporaryDirectory(prefix="kepler-ipmi-") as name:
        folder, port = pathlib.Path(name), free_port()
        state, secret, file = folder / "state", folder / "password", folder / "power"
        state.write_text("231\n", encoding="ascii")
        secret.touch(0o600)
        secret.write_text(PASSWORD, encoding="ascii")
        (folder / "lan").write_text(LAN.format(dcmi=DCMI, state=state, port=port, password=PASSWORD), encoding="ascii")
        (folder / "machine").write_text(MACHINE, encoding="ascii")
        (folder / "kept").mkdir()
        simulator = ["ipmi_sim", "-c", folder / "lan", "-f", folder / "machine", "-s", folder / "kept", "-n"]
        script = [ROOT / "deploy/meters/ipmi-lan", f"127.0.0.1:{port}", "kepler", secret, file, "1"]
        with start(simulator, stdout=subprocess.DEVNULL), \
                start(script, env={**os.environ, "IPMI_CIPHER_SUITE": "3"}, stderr=subprocess.DEVNULL), \
                Exporter("--host.sysfs=/nonexistent", f"--meter.external={file}", *OPTIONS) as exporter:
            wait_up(exporter, True)
            power_is_right(exporter, 231)
            state.write_text("412\n", encoding="ascii")
            time.sleep(4)
            power_is_right(exporter, 412)
            commands = subprocess.run(["ps", "-ef"], capture_output=True, text=True, check=True).stdout
            assert "ipmi-lan" in commands and PASSWORD not in commands, commands
            # A BMC that is busy, and one without a value that says its measurement is not active; neither is 0 W.
            for fault in ("412 c0", "0 0 0"):
                held = node_j(exporter.intervals(1))
                state.write_text(fault + "\n", encoding="ascii")
                began = time.monotonic()
                wait_up(exporter, False)
                state.write_text("412\n", encoding="ascii")
                metrics = wait_up(exporter, True)
                assert node_j(metrics) - held <= 412 * (time.monotonic() - began + 3), fault
            assert exporter.stop() == 0


main()
