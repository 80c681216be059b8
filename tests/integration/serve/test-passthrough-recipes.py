#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/passthrough-host.md that need no manager of machines, from the page's own text: QEMU takes the words, which
are Proxmox's args: as well, and connects to Kepler; Firecracker's request is one by its API, and Kepler listens where its guests
connect. The machine of QEMU has no kernel. Firecracker is a process of that name.
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import uuid

from rig import ROOT, Exporter, Sensors, need_program, need_root, rapl_zone

PLACE, PORT = "/run/kepler-guests", 28283


def section(title):
    page = (ROOT / "docs/passthrough-host.md").read_text()
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def words_of_qemu(folder, own):
    block = re.search(r"(?m)(?:^    -.*\n)+", section("QEMU and Proxmox"))[0]
    return block.replace(PLACE, str(folder)).replace("UUID", own).split()


def path_of_firecracker(folder, name):
    """Firecracker's Vsock has two keys that have to be there: a number that is 3 or more, and a path."""
    request = json.loads(re.search(r"PUT /vsock (\{.*\})", section("Firecracker and Cloud Hypervisor"))[1])
    assert request.keys() == {"guest_cid", "uds_path"} and request["guest_cid"] >= 3, request
    return request["uds_path"].replace(PLACE, str(folder)).replace("/ID.", f"/firecracker-{name}.")


def wait(exporter, what, found):
    deadline = time.monotonic() + 120
    while not found():
        assert time.monotonic() < deadline, (what, exporter.output()[-3000:])
        time.sleep(0.3)
    print(f"  {what}", flush=True)


def main():
    need_root()
    need_program("qemu-system-x86_64")
    own = str(uuid.uuid4())
    with tempfile.TemporaryDirectory(prefix="kepler-recipes-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        (folder / "firecracker").symlink_to(os.path.realpath(sys.executable))
        commands = (["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-m", "64", "-nodefaults", "-display", "none",
                     "-smbios", f"type=1,uuid={own}", *words_of_qemu(folder, own)],
                    [folder / "firecracker", "-c", "while True: pass", "--id", "web"])
        for command in commands:
            process = subprocess.Popen(command)
            stack.callback(process.wait)
            stack.callback(process.kill)
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)))
        exporter = stack.enter_context(Exporter(
            f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=0s", f"--passthrough.sockets={folder}",
            f"--passthrough.vsock={PORT}"))
        wait(exporter, "QEMU is connected",
             lambda: exporter.scrape().value("kepler_exporter_passthrough_connections", channel="sockets") == 1)
        door = pathlib.Path(f"{path_of_firecracker(folder, 'web')}_{PORT}")
        wait(exporter, "Kepler listens where Firecracker connects", door.is_socket)
        assert exporter.stop() == 0


main()
