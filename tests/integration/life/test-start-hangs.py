#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call that hangs at the start does not stop serving: pipes where files should be, and a mount whose server does not answer."""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from folder_rig import suspend
from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, rapl_zone, run_tests

FAST = ["--monitor.interval=200ms"]
# A thread that hangs cannot be stopped by a tracer, which is how LeakSanitizer looks for leaks at the end.
NO_LEAK_CHECK = {"ASAN_OPTIONS": "detect_leaks=0"}
LISTENING = r"listening at (http://[^\s\"]+)/metrics"
PATIENCE_S = 40  # until it serves: two waits of 5 s, on a machine that is busy


def until(what, condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def pipes():
    """A folder for /proc in which files are pipes without a writer: it measures the rest."""
    with tempfile.TemporaryDirectory() as proc:
        for name in ("stat", "meminfo", "cpuinfo", "2/stat", "1000/stat", "self/stat"):
            path = pathlib.Path(proc, name)
            path.parent.mkdir(exist_ok=True)
            os.mkfifo(path)
        with Exporter(*FAST, "--no-bpf.enabled", f"--host.procfs={proc}") as exporter:
            assert not exporter.intervals(2).imbalance_uj()
            assert "processes are visible" in exporter.output(), exporter.output()
            assert exporter.stop() == 0


class DyingMount(Sensors):
    """A file system that looks like sensors; once its server is stopped, whatever looks into it waits for ever."""

    def __init__(self):
        files = ["kepler.yaml text monitor: {interval: 200ms}", "kubeconfig text {}", "token counter 0 1000 5"]
        super().__init__([*files, *rapl_zone("intel-rapl:0", "package-0", 45)])

    def stop(self):
        suspend(self.process)

    def must_hang(self):
        with subprocess.Popen(["ls", self.mount], stdout=subprocess.DEVNULL) as looks:
            with contextlib.suppress(subprocess.TimeoutExpired):
                looks.wait(1.5)  # longer than names are remembered
                raise AssertionError("the mount answers: this shows nothing")
            looks.kill()

    def __exit__(self, *exc):
        self.process.send_signal(signal.SIGCONT)
        super().__exit__(*exc)


KUBECONFIG = """current-context: x
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:9"}}}}]
users: [{{name: u, user: {{tokenFile: "{mount}/token"}}}}]
"""


@contextlib.contextmanager
def asks_kubernetes(mount):
    """One whose token lies on the mount."""
    with tempfile.NamedTemporaryFile("w", suffix=".kubeconfig") as file:
        file.write(KUBECONFIG.format(mount=mount))
        file.flush()
        with Exporter(*FAST, "--kube.pods=apiserver", f"--kube.kubeconfig={file.name}", env=NO_LEAK_CHECK) as exporter:
            until("a request fails", lambda: exporter.scrape().value("kepler_exporter_name_source_failures_total",
                                                                     source="kubernetes") > 0, 20)
            yield exporter


def ends(exporter):
    began = time.monotonic()
    assert exporter.stop(timeout=30) == 0, exporter.output()
    assert time.monotonic() - began < 15, time.monotonic() - began


def check_state(exporter, mount):
    """It says so, once; measures; and ends in time."""
    exporter.wait_url(PATIENCE_S)
    assert not exporter.intervals(2).imbalance_uj()
    assert exporter.output().count(f"{mount}/state does not respond: until Kepler restarts") == 1, exporter.output()
    ends(exporter)


def check_names(exporter, mount):
    exporter.wait_url(PATIENCE_S)
    metrics = exporter.intervals(2)
    assert metrics.value("kepler_exporter_name_source_up", source="kubernetes") == 0
    assert f"{mount}/kubeconfig does not respond" in exporter.output(), exporter.output()
    ends(exporter)


def check_sensors(exporter, _):
    """Nothing can be measured, a request is told so, and a signal ends it all the same."""
    exporter.wait_url(PATIENCE_S, pattern=LISTENING)
    until("/healthz answers 503", lambda: exporter.get("/healthz")[0] == 503, 20)
    assert b"has hung" in exporter.get("/metrics")[2]
    ends(exporter)
    assert "hanging start-up" in exporter.output(), exporter.output()


def check_end(exporter, _):
    """The thread that asks Kubernetes hangs in its token: the end does not."""
    until("it reads its token again", lambda: "fuse" in exporter.where_threads_wait(), 40)
    assert not exporter.intervals(2).imbalance_uj()
    ends(exporter)


def check_configuration(mount):
    """It cannot begin without, and says so."""
    command = [str(KEPLER), "run", f"--config.file={mount}/kepler.yaml", "--web.listen-address=127.0.0.1:0"]
    done = subprocess.run(command, env={**OTHERS_ENVIRONMENT, **NO_LEAK_CHECK}, capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 2 and "hanging mount" in done.stderr, (done.returncode, done.stderr)


def mounts_hang():
    """The state directory, a kubeconfig, the sensors, the configuration, a token: each on a mount that does not answer."""
    flags = {check_state: ["--host.state-dir={0}/state", "--idle.mode=learned"],
             check_names: ["--kube.pods=apiserver", "--kube.kubeconfig={0}/kubeconfig"],
             check_sensors: ["--host.sysfs={0}", "--monitor.hang-limit=1s"]}
    with contextlib.ExitStack() as stack:
        # One each: what waits behind another that hangs cannot even be killed.
        mounts = {check: stack.enter_context(DyingMount()) for check in [*flags, check_end, check_configuration]}
        exporters = {check_end: stack.enter_context(asks_kubernetes(mounts[check_end].mount))}
        for mount in mounts.values():
            mount.stop()
        mounts[check_end].must_hang()
        for check, more in flags.items():
            options = [option.format(mounts[check].mount) for option in more]
            exporters[check] = stack.enter_context(Exporter(*FAST, *options, env=NO_LEAK_CHECK, wait=False))
        check_configuration(mounts[check_configuration].mount)
        for check in [*flags, check_end]:
            check(exporters[check], mounts[check].mount)
            print(f"  {check.__name__}: ok", flush=True)


if __name__ == "__main__":
    run_tests([pipes, mounts_hang])
