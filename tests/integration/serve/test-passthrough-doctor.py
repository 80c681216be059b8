#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-passthrough-doctor.py: kepler doctor names the channel of each machine, and what is missing, on the host and inside."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import uuid

from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, need_root, rapl_zone, run_tests

IN_GUEST = "in-guest"  # this script as a virtual machine: in-guest PATH, and QEMU's words after that
PORT = 28284  # serve/passthrough listens at 28283
OWN_UUID = "c7a5fdbd-edaf-9455-926a-d65c16db1809"


def guest_main(path):
    """Burns CPU time; connects to the socket at the path as QEMU does, if there is one."""
    stream = None
    while True:
        if path and not stream:
            stream = socket.socket(socket.AF_UNIX)
            try:
                stream.connect(path)
            except OSError:
                stream = None
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            pass


def findings(*options):
    done = subprocess.run([KEPLER, "doctor", "--json", "--config.file=/dev/null", "--host.state-dir=", *options],
                          capture_output=True, text=True, timeout=60, check=False, env=OTHERS_ENVIRONMENT)
    return json.loads(done.stdout)["findings"]


def start(stack, folder, path, *words):
    binary = folder / "qemu-system-x86_64"
    if not binary.exists():
        binary.symlink_to(os.path.realpath(sys.executable))
    own = str(uuid.uuid4())
    process = subprocess.Popen([str(binary), os.path.abspath(__file__), IN_GUEST, path.replace("UUID", own), "-uuid", own, *words])
    stack.callback(process.wait)
    stack.callback(process.kill)
    return own


def of(found, text):
    return [finding for finding in found if text in finding["text"]]


def on_the_host():
    need_root()
    with tempfile.TemporaryDirectory(prefix="kepler-doctor-") as path, contextlib.ExitStack() as stack:
        folder = pathlib.Path(path)
        (folder / "sockets").mkdir()
        served = start(stack, folder, f"{folder}/sockets/UUID.sock")
        addressed = start(stack, folder, "", "-device", "vhost-vsock-pci,guest-cid=4096")
        alone = start(stack, folder, "")
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)))
        options = (f"--host.sysfs={sensors.mount}", f"--passthrough.sockets={folder}/sockets", f"--passthrough.vsock={PORT}")
        exporter = stack.enter_context(Exporter(*options, "--monitor.interval=1s", "--metrics.settle=0s"))
        deadline = time.monotonic() + 60
        while int(exporter.scrape().value("kepler_exporter_passthrough_connections", channel="sockets")) != 1:
            assert time.monotonic() < deadline, exporter.output()[-2000:]
            exporter.intervals(1)
        found = findings(*options)
        assert of(found, f"{served} receives its own energy by {folder}/sockets/{served}.sock"), found
        assert of(found, f"{addressed} receives its own energy by vsock, once its guest connects to port {PORT}"), found
        missing = of(found, f"{alone} does not receive its own energy")
        assert len(missing) == 1 and missing[0]["fix"], found
        assert "no vsock address is on its command line" in missing[0]["text"], missing
        assert f"nothing is connected at {folder}/sockets/{alone}.sock" in missing[0]["text"], missing
        assert of(findings(options[0], f"--passthrough.dir={folder}/none"), "--passthrough.dir=")
        unused = of(findings(options[0]), "could show measured energy if it were reported")
        assert len(unused) == 1 and "--passthrough.sockets=" in unused[0]["fix"], unused
        assert exporter.stop() == 0


def sysfs_of(folder, vendor, product):
    """A machine's firmware, by which managers of machines are told apart."""
    dmi = folder / "class/dmi/id"
    dmi.mkdir(parents=True)
    for name, text in (("sys_vendor", vendor), ("product_name", product), ("product_uuid", OWN_UUID.upper())):
        (dmi / name).write_text(text + "\n")
    return folder


def inside(vendor, product, *options):
    with tempfile.TemporaryDirectory(prefix="kepler-doctor-") as path:
        folder = sysfs_of(pathlib.Path(path), vendor, product)
        return [finding for finding in findings(f"--host.sysfs={folder}", *options) if finding["topic"] == "passthrough"]


def in_a_guest():
    fixes = [finding["fix"] for finding in inside("QEMU", "Standard PC (Q35 + ICH9, 2009)")]
    assert any(f"path='/run/kepler-guests/{OWN_UUID}.sock'" in fix and "virsh attach-device" in fix for fix in fixes), fixes
    assert any(f"args: -chardev socket,id=kepler,path=/run/kepler-guests/{OWN_UUID}.sock" in fix for fix in fixes), fixes
    fixes = [finding["fix"] for finding in inside("KubeVirt", "None")]
    assert len(fixes) == 1 and "autoattachVSOCK: true" in fixes[0], fixes
    found = inside("OpenStack Foundation", "OpenStack Nova")
    assert len(found) == 1 and not found[0]["fix"] and "libvirt hook" in found[0]["text"], found
    found = inside("Microsoft Corporation", "Virtual Machine")
    assert len(found) == 1 and not found[0]["fix"] and "(microsoft)" in found[0]["text"], found
    found = inside("QEMU", "Standard PC", "--meter.passthrough=/nonexistent")
    assert len(found) == 1 and "through /nonexistent yet" in found[0]["text"], found


def devices_of_a_guest():
    with tempfile.TemporaryDirectory(prefix="kepler-doctor-") as path:
        folder = sysfs_of(pathlib.Path(path), "QEMU", "Standard PC")
        for name, text in (("class/virtio-ports/vport1p1/name", "org.github.vhostmd.1\n"),
                           ("class/virtio-ports/vport1p2/name", "io.kepler.energy.0\n"),
                           ("bus/virtio/devices/virtio3/device", "0x0013\n")):
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_text(text)
        found = findings(f"--host.sysfs={folder}")
        assert of(found, "has not reported this machine's energy through /dev/vport1p2 yet"), found
        assert of(found, "/dev/vport1p1 is the port of vhostmd"), found
        assert "--meter.passthrough=vsock" in of(found, "this machine has a vsock device")[0]["fix"], found
        (folder / "class/virtio-ports/vport1p2/name").write_text("org.qemu.guest_agent.0\n")
        found = findings(f"--host.sysfs={folder}")
        assert of(found, "unless Kepler on the host answers there") and not of(found, "through /dev/vport1p1 yet"), found
        assert any("virsh attach-device" in finding["fix"] for finding in found if finding["fix"]), found
        found = findings(f"--host.sysfs={folder}", "--meter.passthrough=vhostmd:/dev/vport1p1")
        assert of(found, "has not reported this machine's energy through vhostmd:/dev/vport1p1 yet"), found
        (folder / "class/virtio-ports/vport1p2/name").write_text("io.kepler.energy.0\n")
        found = findings(f"--host.sysfs={folder}", "--meter.passthrough=off")
        assert of(found, "/dev/vport1p2, over which the host reports this machine's energy, is not read"), found


def a_tree_of_scaphandre():
    with tempfile.TemporaryDirectory(prefix="kepler-doctor-") as path:
        folder = sysfs_of(pathlib.Path(path), "QEMU", "Standard PC")
        tree = pathlib.Path(path, "shared/intel-rapl:0")
        tree.mkdir(parents=True)
        (tree / "energy_uj").write_text("123456789")
        found = findings(f"--host.sysfs={folder}", f"--meter.passthrough={tree.parent}")
        assert of(found, "is of Scaphandre and is not read: Scaphandre's exporter adds microwatts as microjoules"), found


def rapl_of_a_hypervisor():
    with tempfile.TemporaryDirectory(prefix="kepler-doctor-") as path:
        folder = sysfs_of(pathlib.Path(path), "QEMU", "Standard PC")
        cpu = folder / "devices/system/cpu"
        cpu.mkdir(parents=True)
        zone = folder / "class/powercap/intel-rapl:0"
        zone.mkdir(parents=True)
        for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
            (zone / name).write_text(text + "\n")
        for last, is_virtual in (("009E", False), ("009F", True)):
            (cpu / "modalias").write_text(f"cpu:type:x86,ven0000fam0006mod008F:feature:,0000,{last}\n")
            found = findings(f"--host.sysfs={folder}")
            said = of(found, "this virtual machine has RAPL (rapl-sysfs), which its hypervisor makes")
            assert len(said) == is_virtual, (last, found)


if len(sys.argv) > 2 and sys.argv[1] == IN_GUEST:
    guest_main(sys.argv[2])
else:
    run_tests([on_the_host, in_a_guest, devices_of_a_guest, a_tree_of_scaphandre, rapl_of_a_hypervisor], at_once=4)
