#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other meters were seen to fail at, on a machine like this; one function each."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from rig import KEPLER, Exporter, Sensors, load, need_root, rapl_zone

FAST = ["--monitor.interval=200ms", "--metrics.settle=0s"]


def fake_proc(directory):
    """A /proc of plain files: two processes, one of which cannot be read at all."""
    root = pathlib.Path(directory)
    for name in ("cpuinfo", "meminfo", "stat", "uptime"):
        shutil.copy("/proc/" + name, root / name)
    own = root / "1000"
    own.mkdir()
    fields = "S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 5000 1000 100"
    (own / "stat").write_text("1000 (good one) " + fields.format(ticks=100) + " 0" * 28 + "\n")
    (own / "cgroup").write_text("0::/system.slice/good.service\n")
    bad = root / "1001"
    bad.mkdir()
    (bad / "stat").mkdir()  # EISDIR for every user
    return own / "stat", fields


def unreadable_process():
    with tempfile.TemporaryDirectory() as directory:
        stat, fields = fake_proc(directory)
        with Exporter(f"--host.procfs={directory}", "--no-bpf.enabled", *FAST) as exporter:
            exporter.intervals(2)
            stat.write_text("1000 (good one) " + fields.format(ticks=300) + " 0" * 28 + "\n")
            metrics = exporter.intervals(2)
            assert metrics.sum("kepler_container_bpf_cpu_time_ms_total", container_name="good.service") == 2000
            assert exporter.stop() == 0


def reused_pid():
    with tempfile.TemporaryDirectory() as directory:
        stat, fields = fake_proc(directory)
        with Exporter(f"--host.procfs={directory}", "--no-bpf.enabled", *FAST) as exporter:
            exporter.intervals(2)
            fresh = fields.format(ticks=50).replace(" 5000 ", " 900000 ")
            stat.write_text("1000 (newcomer) " + fresh + " 0" * 28 + "\n")
            metrics = exporter.intervals(2)
            assert metrics.sum("kepler_node_bpf_cpu_time_ms_total") == 500, "the newcomer has another's time, or not its own"
            assert not metrics.imbalance_uj()
            assert exporter.stop() == 0


def idle_interval():
    with tempfile.TemporaryDirectory() as directory:
        fake_proc(directory)
        lines = rapl_zone("intel-rapl:0", "package-0", 45)
        with Sensors(lines) as sensors, Exporter(f"--host.procfs={directory}", f"--host.sysfs={sensors.mount}",
                                                 "--no-bpf.enabled", *FAST) as exporter:
            last = exporter.intervals(2)
            for _ in range(5):
                metrics = exporter.intervals(1)
                assert metrics.sum("kepler_node_package_joules_total") >= last.sum("kepler_node_package_joules_total")
                assert not metrics.imbalance_uj()
                last = metrics
            assert last.sum("kepler_node_unattributed_joules_total", reason="no_activity") > 0
            assert exporter.stop() == 0


def concurrent_scrapers():
    """Four scrapers, faster than the interval: fresh, whole answers for each, and one value an interval (S7)."""
    with Exporter("--monitor.interval=500ms") as exporter:
        bad, values = [], [set() for _ in range(4)]

        def scrape(number):
            deadline = time.monotonic() + 4
            while time.monotonic() < deadline:
                metrics = exporter.scrape()
                if metrics.imbalance_uj():
                    bad.append(metrics.imbalance_uj())
                values[number].add((metrics.value("kepler_exporter_snapshots_total"),
                                    metrics.sum("kepler_node_bpf_cpu_time_ms_total")))

        threads = [threading.Thread(target=scrape, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not bad, bad
        for seen in values:
            assert 5 <= len(seen) <= 11, f"{len(seen)} distinct values in 8 intervals"
            assert len({number for number, _ in seen}) == len(seen), "two values in one interval"
        assert exporter.stop() == 0


def no_descriptors():
    """64 descriptors: it starts, measures, answers, and counts what it could not open."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    crowd = load("idle", 200)
    crowd.stdout.readline()
    try:
        for flags in ([], ["--no-bpf.enabled"]):
            with Exporter(*FAST, *flags, preexec=limit) as exporter:
                metrics = exporter.intervals(3)
                assert not metrics.imbalance_uj()
                assert exporter.stop() == 0
    finally:
        crowd.terminate()
        crowd.wait()


def few_descriptors():
    """21 to 32 descriptors: it starts, measures and answers, more silent peers than it has descriptors or not; that is said."""
    for count in (21, 24, 32):
        def limit(count=count):
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

        with Exporter(*FAST, preexec=limit) as exporter:
            assert not exporter.intervals(3).imbalance_uj()
            assert exporter.get("/healthz")[0] == 200
            host, port = exporter.url.removeprefix("http://").split(":")
            with contextlib.ExitStack() as stack:
                for _ in range(60):
                    stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
                for _ in range(3):
                    assert exporter.get("/healthz", timeout=10)[0] == 200
                assert not exporter.intervals(2).imbalance_uj()
                assert exporter.scrape().value("kepler_exporter_http_accept_errors_total") > 0
            assert "connections are waiting: too many open files" in exporter.output()
            assert exporter.stop() == 0, exporter.output()


def missing_kubeconfig():
    """No kubeconfig: the rest goes on and says so; one that appears is taken up."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "kubeconfig")
        with Exporter(*FAST, "--kube.pods=apiserver", f"--kube.kubeconfig={path}") as exporter:
            metrics = exporter.intervals(2)
            assert metrics.value("kepler_exporter_name_source_up", source="kubernetes") == 0
            assert re.search(r"names from Kubernetes: .*kubeconfig.*retrying", exporter.output()), exporter.output()
            done = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--kube.pods=apiserver",
                                   f"--kube.kubeconfig={path}"], capture_output=True, text=True, check=False)
            assert "Kubernetes cannot be used, so pods have no names" in done.stdout, done.stdout + done.stderr
            descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
            os.write(descriptor, KUBECONFIG)
            os.close(descriptor)
            deadline = time.monotonic() + 15
            while "recovered" not in exporter.output():
                assert time.monotonic() < deadline, exporter.output()
                time.sleep(0.1)
            assert exporter.intervals(2).value("kepler_exporter_name_source_up", source="kubernetes") == 0
            assert exporter.stop() == 0


KUBECONFIG = b"""apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def missing_libcurl():
    """Without the library of HTTP clients: the same."""
    libraries = [path for pattern in ("libcurl-gnutls.so.4", "libcurl.so.4")
                 for path in pathlib.Path("/usr/lib").rglob(pattern)]
    hide = "".join(f"mount --bind /dev/null {path}; " for path in libraries)
    hidden = ["unshare", "-m", "sh", "-c", hide + 'exec "$@"', "sh"]
    with Exporter(*FAST, "--kube.pods=kubelet", prefix=hidden) as exporter:
        metrics = exporter.intervals(2)
        assert metrics.value("kepler_exporter_name_source_up", source="kubernetes") == 0
        assert re.search(r"names from Kubernetes: .*libcurl", exporter.output()), exporter.output()
        assert exporter.stop() == 0


def refused_bpf():
    """Without CAP_BPF: the /proc reader, and one sentence that says why and what would help."""
    drop = ["setpriv", "--bounding-set=-bpf,-sys_admin,-perfmon", "--inh-caps=-bpf,-sys_admin,-perfmon"]
    with Exporter(*FAST, prefix=drop) as exporter:
        metrics = exporter.intervals(2)
        assert metrics.select("kepler_exporter_activity_reader_info", reader="procfs"), "not the procfs reader"
        assert exporter.output().count("CAP_BPF") >= 1, exporter.output()
        assert metrics.sum("kepler_node_bpf_cpu_time_ms_total", source="procfs") >= 0
        assert exporter.stop() == 0


def no_meter():
    with tempfile.TemporaryDirectory() as directory:
        with Exporter(f"--host.sysfs={directory}", *FAST) as exporter:
            metrics = exporter.intervals(3)
            sources = {labels["source"] for name, labels, _ in metrics.samples if name.endswith("_joules_total")}
            assert sources == {"trained_power_model"}, sources
            assert not [1 for name, _, _ in metrics.samples if "_package_joules" in name or "_core_joules" in name]
            assert exporter.get("/healthz")[0] == 200 and exporter.get("/readyz")[0] == 200
            assert exporter.stop() == 0


def main():
    need_root()
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for test in (unreadable_process, reused_pid, idle_interval, concurrent_scrapers, no_descriptors, few_descriptors,
                 missing_kubeconfig, missing_libcurl, refused_bpf,
                 no_meter):
        began = time.monotonic()
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
