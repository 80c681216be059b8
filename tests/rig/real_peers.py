# SPDX-License-Identifier: Apache-2.0
"""Exporters that others wrote, as processes over the rig's simulated meters.

Each has a `.url`. Those that the lab builds (tests/lab/NAME/build) give their reason where they cannot be built.
"""
import os
import pathlib
import subprocess
import time
import urllib.request

from rig import BUILD, ROOT, free_port, need_program


class NotHere(Exception):
    """It cannot be built here; the text is the reason."""


def built(name):
    done = subprocess.run([ROOT / f"tests/lab/{name}/build"], text=True, capture_output=True, check=False)
    if done.returncode:
        raise NotHere(f"no {name}: " + (done.stderr.strip().splitlines() or ["unknown"])[-1])
    return done.stdout.strip()


class RealPeer:
    """A process with a page at .url, from the first answer on."""

    def __init__(self, command, address, path="/metrics", env=None):
        self.url = f"http://{address}{path}"
        self.process = subprocess.Popen(command, env={**os.environ, **(env or {})})

    def page(self):
        with urllib.request.urlopen(self.url, timeout=10) as answer:
            return answer.read().decode()

    def __enter__(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                self.page()
                return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.__exit__()
                    raise
                time.sleep(0.05)

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait()


class NodeExporter(RealPeer):
    """Its collector of RAPL, with the zone as a part of the metric's name or as a label."""

    def __init__(self, sensors, *options):
        address = f"127.0.0.1:{free_port()}"
        super().__init__([need_program("prometheus-node-exporter"), f"--path.sysfs={sensors.mount}", *options,
                          "--collector.disable-defaults", "--collector.rapl", "--log.level=error",
                          f"--web.listen-address={address}", "--web.telemetry-path=/node_exporter"], address, "/node_exporter")


def scaphandre(sensors, *words, modules="/dev/null"):
    """(command, environment). With --vm it reads another folder than /sys. Without /proc/modules, which this kernel may lack, it
    ends."""
    env = {"SCAPHANDRE_POWERCAP_PATH": f"{sensors.mount}/class/powercap"}
    if modules != "/dev/null" or not os.path.exists("/proc/modules"):
        env |= {"LD_PRELOAD": str(BUILD / "tests/lab/other_file.so"), "OTHER_FILE": "/proc/modules", "OTHER_FILE_IS": modules}
    return [built("scaphandre"), "--no-header", "--vm", *words], env


def scaphandre_without_modules(sensors):
    """Where it would have answered; it has ended."""
    port = free_port()
    command, env = scaphandre(sensors, "prometheus", "-p", str(port), "-a", "127.0.0.1", modules="/nowhere")
    done = subprocess.run(command, env={**os.environ, **env}, text=True, capture_output=True, check=False, timeout=60)
    assert done.returncode and "panicked" in done.stderr, done
    return f"http://127.0.0.1:{port}/metrics"


class RealScaphandre(RealPeer):
    def __init__(self, sensors):
        port = free_port()
        command, env = scaphandre(sensors, "prometheus", "-p", str(port), "-a", "127.0.0.1")
        super().__init__(command, f"127.0.0.1:{port}", env=env)


class RealScaphandreQemu:
    """It writes a counter for each process that looks like a virtual machine, into a mount namespace of its own. It has no page."""

    def __init__(self, sensors):
        command, env = scaphandre(sensors, "qemu")
        inside = 'mount -t tmpfs tmpfs /var/lib && exec "$@"'
        self.process = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "sh", *command],
                                        env={**os.environ, **env})

    def energy_uj(self, name):
        """None: there is no counter for the machine yet."""
        counter = pathlib.Path(f"/proc/{self.process.pid}/root/var/lib/libvirt/scaphandre/{name}/intel-rapl:0/energy_uj")
        try:
            return int(counter.read_text())
        except (OSError, ValueError):
            return None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait()


class RealClassicKepler(RealPeer):
    """Up to 0.9. It reads /sys/class/powercap/intel-rapl, which it finds in a mount namespace of its own."""

    def __init__(self, sensors):
        address = f"127.0.0.1:{free_port()}"
        super().__init__([ROOT / "tests/lab/classic-kepler/run", f"{sensors.mount}/class/powercap", built("classic-kepler"),
                          "-address", address, "-apiserver=false"], address, env={"ENABLE_PROCESS_METRICS": "true"})
