#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start, reload, full disks, small memory, kills and the end (R50, R51, R53, R54, R59): nothing is left behind."""
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from plant import BUILD, KEPLER, Exporter, Sensors, is_sanitized, load, need_root, rapl_zone

FAST = ["--monitor.interval=200ms"]
SANITIZED = is_sanitized(KEPLER)


def orphans():
    """BPF programs of ours that no process holds: pinned, or leaked by the kernel."""
    bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
    if not os.path.exists(bpftool):
        return []
    out = subprocess.run([bpftool, "-j", "prog", "show"], capture_output=True, text=True, check=False).stdout
    return [p["id"] for p in json.loads(out or "[]") if p.get("name", "").startswith("kepler") and not p.get("pids")]


def clean_stop():
    for sig in (signal.SIGTERM, signal.SIGINT):
        with Exporter(*FAST) as exporter:
            exporter.intervals(2)
            assert exporter.stop(sig) == 0, exporter.output()
    assert not orphans(), "BPF programs are left"


def kill_at_random():
    """R50: killed at random moments, with state and its file; the next start is at once right."""
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as state:
        for _ in range(int(os.environ.get("KEPLER_KILLS", "12"))):
            with Exporter(*FAST, f"--host.state-dir={state}", wait=False) as exporter:
                time.sleep(rng.uniform(0, 0.8))
                exporter.process.send_signal(signal.SIGKILL)
                exporter.process.wait()
        for name in os.listdir(state):
            if ".new-" in name:
                os.utime(os.path.join(state, name), (0, 0))  # as if it had been left long ago
        with Exporter(*FAST, f"--host.state-dir={state}") as exporter:
            assert not exporter.intervals(2).imbalance_uj()
            assert exporter.stop() == 0
        assert not [name for name in os.listdir(state) if ".new-" in name]
    assert not orphans(), "BPF programs are left"


def reload():
    """R54: a bad file keeps the old configuration and says so; a good one is taken."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("monitor:\n  interval: 200ms\nmetrics:\n  schema: classic\n")
        file.flush()
        with Exporter(f"--config.file={file.name}") as exporter:
            exporter.intervals(2)
            assert exporter.scrape().value("kepler_exporter_config_last_reload_successful") == 1
            bad = "monitor:\n  intervall: 200ms\n"
            pathlib.Path(file.name).write_text(bad)
            exporter.process.send_signal(signal.SIGHUP)
            metrics = exporter.intervals(3)
            assert metrics.value("kepler_exporter_config_last_reload_successful") == 0
            assert re.search(r":2:\d+: .*monitor\.interval", exporter.output()), exporter.output()
            assert not metrics.select("kepler_build_info"), "the schema changed"
            pathlib.Path(file.name).write_text("monitor:\n  interval: 200ms\nmetrics:\n  schema: both\n")
            exporter.process.send_signal(signal.SIGHUP)
            metrics = exporter.intervals(3)
            assert metrics.value("kepler_exporter_config_last_reload_successful") == 1
            assert metrics.select("kepler_build_info"), "the schema did not change"
            counts = {labels["result"]: int(value)
                      for labels, value in metrics.select("kepler_exporter_config_reloads_total")}
            assert counts == {"success": 1, "failure": 1}, counts
            assert exporter.stop() == 0


def full_disk():
    """R51: no room for the state: it measures on, and counts."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "full", directory], check=True)
        try:
            pathlib.Path(directory, "filler").write_bytes(b"x" * 4096)
            with Exporter(*FAST, f"--host.state-dir={directory}") as exporter:
                assert not exporter.intervals(3).imbalance_uj()
                assert exporter.stop() == 0
        finally:
            subprocess.run(["umount", directory], check=True)


def little_memory():
    """R53: 64 MB of address space for data, 1,500 processes: it serves."""
    if SANITIZED:
        return  # the sanitizer's own shadow is larger than the limit

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))

    crowd = load("ring", 1500)
    crowd.stdout.readline()
    try:
        with Exporter(*FAST, preexec=limit) as exporter:
            assert not exporter.intervals(5).imbalance_uj()
            assert exporter.stop() == 0
    finally:
        crowd.terminate()
        crowd.wait()


def start_time():
    """R59 and the first snapshot: node and "other" series within a second (0.1 s without sanitizers is bench's business)."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}") as exporter:
        metrics = exporter.scrape()
        seconds = time.monotonic() - exporter.began
        assert metrics.select("kepler_node_package_joules_total")
        assert metrics.select("kepler_process_package_joules_total", command="other", pid="")
        assert seconds < 2, f"{seconds:.2f} s"
        assert exporter.stop() == 0


def main():
    need_root()
    print(f"{BUILD}, sanitized: {SANITIZED}")
    for test in (start_time, clean_stop, kill_at_random, reload, full_disk, little_memory):
        began = time.monotonic()
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


main()
