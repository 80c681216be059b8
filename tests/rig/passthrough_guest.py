# SPDX-License-Identifier: Apache-2.0
"""A virtual machine of QEMU with a real kernel and Kepler in it, and how it is compared with the host's Kepler: while that is
stopped, the file of the machine's directory is the last record that it has sent."""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid

from passthrough_rig import MODES, ZONES, Record
from rig import BUILD, ROOT, Metrics, balanced, free_port

# On a busy machine the emulated timer can be too late for the kernel's check of it, which ends in a panic.
VMTEST = [ROOT / "tests/lab/vmtest", "-k", "6.1", "-a", "no_timer_check"]
HOST = ("--monitor.interval=1s", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--passthrough.resolution=1uJ",
        "--metrics.keep=60s", "--meter.passthrough=off")


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout.strip()


class QemuGuest:
    """Its folder has the directories sockets, lab and guests. `ports`: where each Kepler in it answers, by name; of those in
    `names` values are compared."""

    def __init__(self, folder, names, more_names=()):
        self.folder, self.names = folder, names
        self.uuid = str(uuid.uuid4())
        self.ports = {name: free_port() for name in (*names, *more_names)}
        (folder / "guests" / self.uuid).mkdir(parents=True)
        self.process = None

    def common_options(self):
        """QEMU's words for the machine, its monitor and its network."""
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{port}-:{28282 + index}" for index, port in enumerate(self.ports.values()))
        return [f"-uuid {self.uuid} -pidfile {self.folder}/qemu.pid -qmp unix:{self.folder}/qmp,server=on,wait=off",
                f"-netdev user,id=net{forwards} -device virtio-net-pci,netdev=net"]

    def copy_kepler(self):
        program = output(ROOT / "tools/release-binary", BUILD)
        subprocess.run(["cp", program, self.folder / "lab/kepler"], check=True)
        subprocess.run(["cp", ROOT / "tests/rig/rig.yaml", self.folder / "lab/guest.yaml"], check=True)

    def pid(self):
        return int((self.folder / "qemu.pid").read_text())

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            os.kill(self.pid(), signal.SIGTERM)
        self.process.wait()

    def log(self):
        return "".join(path.read_text()[-1500:] for path in (self.folder / "lab").glob("*.log"))

    def scrape(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[name]}/metrics", timeout=10) as page:
            return Metrics(page.read().decode())

    def values(self, name):
        """What one of them counts of the host's; None: it does not answer in time, or has no record yet."""
        with contextlib.suppress(OSError, urllib.error.URLError, http.client.HTTPException):
            metrics = balanced(self.scrape(name))
            if metrics.select("kepler_node_package_joules_total", source="passthrough"):
                name = "kepler_node_{}_joules_total"
                return {(zone, mode): int(metrics.sum(name.format(zone), source="passthrough", mode=mode) * 1000000)
                        for zone in ZONES for mode in MODES}
        return None

    def newest(self):
        with contextlib.suppress(FileNotFoundError):
            return Record.of_text((self.folder / "guests" / self.uuid / "energy").read_text(encoding="ascii"))
        return None

    def control(self, command, **arguments):
        """A command of QMP; its result."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.folder / "qmp"))
            lines = monitor.makefile("rw")
            lines.readline()
            for word, given in (("qmp_capabilities", {}), (command, arguments)):
                lines.write(json.dumps({"execute": word, "arguments": given}) + "\n")
                lines.flush()
                answer = {}
                while not {"return", "error"} & answer.keys():
                    answer = json.loads(lines.readline())
                assert "error" not in answer, answer
        return answer["return"]

    def monitor(self, line):
        """A command of the monitor for people, which has the snapshots."""
        said = self.control("human-monitor-command", **{"command-line": line})
        assert not said.strip(), said


def wait(found, what, guest):
    deadline = time.monotonic() + 480
    while not (value := found()):
        assert time.monotonic() < deadline and guest.process.poll() is None, (what, guest.log())
        time.sleep(0.3)
    return value


def look(host, guest):
    """While the host is stopped: its record, and what each Kepler in the guest has when it counts nothing more."""
    host.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)  # its thread may have begun to write
    record, seen = guest.newest(), []
    while len(seen) < 5 or any(values != seen[-1] for values in seen[-5:]):
        seen.append({name: wait(lambda name=name: guest.values(name), f"{name} does not answer", guest) for name in guest.names})
        time.sleep(1)
    host.process.send_signal(signal.SIGCONT)
    return record, seen[-1]


def counted(guest, name):
    wait(lambda: guest.values(name), f"no record by {name}", guest)
    return guest.scrape(name).value("kepler_exporter_passthrough_received_records_total", outcome="counted")


def await_records(guest):
    """Three more by each: the host sends a record once the one before it was read, so the first ones may wait in it."""
    for name in guest.names:
        count = counted(guest, name)
        wait(lambda name=name, count=count: counted(guest, name) > count + 2, f"no records by {name}", guest)


def differences(after, before):
    return {key: after[key] - before[key] for key in after}


def check(host, guest, since, what):
    now = look(host, guest)
    sent = differences(now[0].values, since[0].values)
    assert now[0].epoch == since[0].epoch and sent["package", "dynamic"] > 0, (what, since, now)
    for name in guest.names:
        got = differences(now[1][name], since[1][name])
        assert got == sent, (what, name, got, sent)
    print(f"  {what}: {sent['package', 'dynamic'] / 1e6:.6f} J of the package, 0 uJ off: {', '.join(guest.names)}", flush=True)
    return now
