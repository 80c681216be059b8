# SPDX-License-Identifier: Apache-2.0
"""The exporter with a meter that it asks over a network, with a password in a file: what tests of such meters share."""
import contextlib
import functools
import pathlib
import subprocess
import tempfile
import time

from certificates import Authority
from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, balanced, rapl_zone

OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=off")
NODE_J = "kepler_node_platform_joules_total"
UP = "kepler_exporter_source_up"
AGE = "kepler_exporter_source_age_seconds"
READ_ERRORS = "kepler_exporter_source_read_errors_total"
SECRET = "canary-"  # of all passwords here
DOWN_S = 6  # two periods, an interval, and a busy machine


@functools.cache
def keys():
    return tempfile.TemporaryDirectory(prefix="kepler-remote-")


@functools.cache
def authority():
    return Authority(keys().name)


@functools.cache
def server_context():
    return authority().server_context()


class Machine:
    """Of one test: the service, the file with its password, and the options of meter.NAME with which it is found."""

    def __init__(self, directory, name, service, quoted_password):
        self.service, self.quoted = service, quoted_password
        self.credentials = pathlib.Path(directory) / "credentials"
        self.write(f"kepler,{quoted_password}\n")
        self.options = [*OPTIONS, f"--meter.{name}.period=1s", f"--meter.{name}.url={service.url}",
                        f"--meter.{name}.credentials={self.credentials}", f"--meter.{name}.ca-file={authority().file}"]

    def write(self, text, mode=0o600):
        new = self.credentials.with_suffix(".new")
        new.touch(0o600)
        new.write_text(text)
        new.chmod(mode)
        new.rename(self.credentials)


@contextlib.contextmanager
def watched(lab, *options, package=True):
    """The exporter on that machine, with a package beside it or without any other meter; nothing of the password comes out."""
    with contextlib.ExitStack() as stack:
        stack.callback(lab.service.close)
        sysfs = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 50))).mount if package else "/nonexistent"
        exporter = stack.enter_context(Exporter(f"--host.sysfs={sysfs}", *lab.options, *options))
        yield exporter
        look_around(exporter)
        assert exporter.stop() == 0, exporter.output()
        look_for_secrets(exporter.output())


def look_for_secrets(text):
    assert SECRET not in text, text


def look_around(exporter):
    """Nothing of the password in what others can see, and nothing that the system call filter denied."""
    if exporter.process.poll() is not None:
        return
    for name in ("cmdline", "environ", "comm"):
        look_for_secrets(pathlib.Path(f"/proc/{exporter.process.pid}/{name}").read_text(errors="replace"))
    for path in ("/metrics", "/", "/healthz"):
        look_for_secrets(exporter.get(path)[2].decode())
    assert exporter.scrape().sum("kepler_exporter_denied_system_calls_total") == 0, exporter.output()


def wait_until(exporter, condition, seconds=20):
    """The first page that fulfils the condition; all that come meanwhile sum."""
    deadline = time.monotonic() + seconds
    while True:
        metrics = balanced(exporter.intervals(1))
        if condition(metrics):
            return metrics
        assert time.monotonic() < deadline, metrics.text + exporter.output()


def is_up(metrics):
    return bool(metrics.select(UP, zone="platform")) and metrics.value(UP, zone="platform") == 1


def node_j(metrics):
    return float(metrics.sum(NODE_J))


def read_at(metrics):
    """When the meter of the whole machine was read, whose energy the page has."""
    return float(metrics.value("kepler_exporter_snapshot_timestamp_seconds") - metrics.value(AGE, zone="platform"))


def watts_between_readings(exporter, seconds=4):
    """Between two states of the counter: no start and no end is in it."""
    wait_until(exporter, lambda metrics: node_j(metrics) > 0)
    states = []
    while len(states) < 2:
        before = node_j(exporter.intervals(1))
        metrics = wait_until(exporter, lambda metrics: node_j(metrics) > before)
        states.append((read_at(metrics), node_j(metrics)))
        time.sleep(seconds if len(states) == 1 else 0)
    (began, first), (ended, last) = states
    return (last - first) / (ended - began)


def counted_and_flowed(law, exporter):
    """What a page has counted, and what had flowed when its last reading was made."""
    metrics = balanced(exporter.intervals(1))
    return node_j(metrics), law.joules(ago=time.time() - read_at(metrics))


def doctor(*options):
    done = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.sysfs=/nonexistent", *options],
                          text=True, capture_output=True, check=False, timeout=60, env=OTHERS_ENVIRONMENT)
    look_for_secrets(done.stdout + done.stderr)
    return done.stdout
