#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real libvirtd. Kepler reaches its machines by the lines of docs/passthrough-host.md: each XML snippet of the section on libvirt
is valid by libvirt's own schema; Kepler connects to a port without a path, which libvirt places itself, to a port that is added
while its machine runs, and to one in the directory of sockets.

The machines have no kernel, so nothing reads the ports: that QEMU has the connection is seen in the kernel's table.
"""
import os
import pathlib
import re
import shutil
import tempfile
import time

import containers
from libvirt_rig import Libvirt, Machine
from rig import ROOT, Exporter, Sensors, rapl_zone

OPTIONS = ["--monitor.interval=1s", "--metrics.settle=0s", "--passthrough.libvirt=/run/libvirt/qemu"]
SOCKETS = "/run/kepler-guests"


def snippets():
    """The indented XML of the section on libvirt."""
    page = (ROOT / "docs/passthrough-host.md").read_text()
    section = page.split("\n## libvirt\n")[1].split("\n## ")[0]
    blocks = [re.sub(r"(?m)^    ", "", block) for block in re.findall(r"(?:^    .*\n)+", section, re.M)]
    pattern = r"(?s)<(?:channel|vsock|filesystem|memoryBacking)\b.*?(?=\n…|\Z)"
    found = [element for block in blocks for element in re.findall(pattern, block)]
    assert len(found) >= 6, found
    return found


def element(word, *also):
    found = [text for text in snippets() if text.startswith("<" + word) and all(part in text for part in also)]
    assert found, (word, also)
    return found[0].strip()


def validate(monitor, directory):
    """Each snippet in a machine's definition, by the schema that libvirt has; a made-up element is refused."""
    def define(name, devices, memory=""):
        path = directory / f"{name}.xml"
        path.write_text(f"<domain type='qemu'><name>{name}</name><memory unit='MiB'>16</memory>{memory}"
                        f"<os><type arch='x86_64' machine='pc'>hvm</type></os><devices>{devices}</devices></domain>")
        done = monitor.virsh("define", "--validate", str(path))
        monitor.virsh("undefine", name)
        return done
    assert define("wrong", "<channel type='unix'><sink/></channel>").returncode
    memory = element("memoryBacking")
    for index, text in enumerate(snippets()):
        if text.startswith("<memoryBacking"):
            continue
        done = define(f"recipe{index}", text.replace("UUID", "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"), memory)
        assert done.returncode == 0, (text, done.stderr)
        print("  valid:", " ".join(text.split())[:110], flush=True)


def connected(path):
    """Bound to that path, in the state SS_CONNECTED: a listener has accepted."""
    lines = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()]
    return any(len(line) == 8 and line[7] == path and line[5] == "03" for line in lines)


def wait(exporter, what, found):
    deadline = time.monotonic() + 60
    while not found():
        assert time.monotonic() < deadline, (what, exporter.output()[-3000:])
        time.sleep(0.3)
    print(f"  {what}", flush=True)


def run(monitor, exporter, directory):
    placed, later, named = machines = [Machine(name, 1, directory) for name in ("placed", "later", "named")]
    monitor.start(placed, element("channel", "io.kepler.energy.0").replace("UUID", placed.uuid))
    monitor.start(later, "<controller type='virtio-serial' index='0'/>")
    monitor.start(named, element("channel", SOCKETS).replace("UUID", named.uuid))
    state = pathlib.Path("/run/libvirt/qemu/placed.xml").read_text()
    path = re.search(r"path='([^']*/io\.kepler\.energy\.0)'", state)[1]
    wait(exporter, "a port that libvirt has placed", lambda: connected(path))
    wait(exporter, "a port in the directory of sockets", lambda: connected(f"{SOCKETS}/{named.uuid}.sock"))
    port = directory / "port.xml"
    port.write_text(f"<channel type='unix'><source mode='bind' path='{directory}/later.sock'/>"
                    "<target type='virtio' name='io.kepler.energy.0'/></channel>")
    done = monitor.virsh("attach-device", "later", str(port), "--live")
    assert done.returncode == 0, done.stderr
    wait(exporter, "a port that is added to a running machine", lambda: connected(f"{directory}/later.sock"))
    metrics = exporter.intervals(2)
    assert int(metrics.value("kepler_exporter_passthrough_libvirt_machines")) == len(machines), metrics.text
    assert int(metrics.value("kepler_exporter_passthrough_libvirt_errors_total")) == 0
    assert int(metrics.value("kepler_exporter_passthrough_connections", channel="sockets")) == len(machines)
    done = monitor.virsh("destroy", "later")
    assert done.returncode == 0, done.stderr
    wait(exporter, "a machine that ends is left",
         lambda: int(exporter.scrape().value("kepler_exporter_passthrough_libvirt_machines")) == len(machines) - 1)


def main():
    if os.environ.get(containers.MARK) is None:
        containers.unpack()
    containers.enter_own_mounts()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="kepler-libvirt-"))
    pathlib.Path(SOCKETS).mkdir()
    monitor = None
    try:
        monitor = Libvirt(directory)
        monitor.wait_ready()
        validate(monitor, directory)
        zone = rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)
        with Sensors(zone) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS,
                                                f"--passthrough.sockets={SOCKETS}") as exporter:
            run(monitor, exporter, directory)
            assert exporter.stop() == 0
    finally:
        if monitor:
            monitor.close()
        shutil.rmtree(directory, ignore_errors=True)


main()
