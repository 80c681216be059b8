#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start, reload, full disks, small memory, kills and the end (R50, R51, R53, R54, R59): nothing is left behind."""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from rig import BUILD, KEPLER, Exporter, Sensors, is_sanitized, load, need_root, rapl_zone, release_binary, skip

FAST = ["--monitor.interval=200ms"]
LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
BINARY = release_binary() if LONG else KEPLER  # a thousand starts


def unheld():
    """BPF programs of ours that no process holds, by number: no other gets a number again."""
    bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
    if not os.path.exists(bpftool):
        return set()
    out = subprocess.run([bpftool, "-j", "prog", "show"], capture_output=True, text=True, check=False).stdout
    return {p["id"] for p in json.loads(out or "[]") if p.get("name", "").startswith("kepler") and not p.get("pids")}


def orphans():
    """Those that stay so, pinned or leaked: for a moment the kernel keeps those of an exporter, ours or another's, that ended."""
    left, deadline = unheld(), time.monotonic() + 10
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left &= unheld()
    return left


def clean_stop():
    for sig in (signal.SIGTERM, signal.SIGINT):
        with Exporter(*FAST) as exporter:
            exporter.intervals(2)
            assert exporter.stop(sig) == 0, exporter.output()
    assert not orphans(), "BPF programs are left"


class Directory:
    """What happens in a directory, as the kernel tells it (inotify)."""

    CREATE, MODIFY, CLOSE_WRITE, MOVED_TO = 0x100, 0x2, 0x8, 0x80
    ANY = CREATE | MODIFY | CLOSE_WRITE | MOVED_TO

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        assert self.fd >= 0 and libc.inotify_add_watch(self.fd, str(path).encode(), self.ANY) >= 0

    def wait(self, event, seconds):
        """True once `event` came."""
        deadline = time.monotonic() + seconds
        while select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
            data = os.read(self.fd, 65536)
            while data:
                _, mask, _, size = struct.unpack_from("iIII", data)
                data = data[16 + size:]
                if mask & event:
                    return True
        return False

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.close(self.fd)


def check_state(directory):
    """The state file is there as a whole, or not at all. True when it is there."""
    path = pathlib.Path(directory, "kepler.state")
    if not path.exists():
        return False
    body, _, trailer = path.read_bytes().rpartition(b"crc32 ")
    assert body.startswith(b"kepler-state 1 ") and b"\nrapl-sysfs/package-0 " in body, path.read_bytes()
    assert int(trailer, 16) == zlib.crc32(body), path.read_bytes()
    return True


def kill_at_random():
    """R50: killed at random moments, half of them in a write of the state; the next start is right at once, no file is torn."""
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    kills = int(os.environ.get("KEPLER_KILLS", "1000" if LONG else "12"))
    events = [Directory.CREATE, Directory.MODIFY, Directory.CLOSE_WRITE, Directory.MOVED_TO]
    found = written = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as state, Directory(state) as changes, \
            Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors:
        flags = ["--monitor.interval=100ms", f"--host.state-dir={state}", "--host.state-every=1s",
                 "--idle.mode=learned", f"--host.sysfs={sensors.mount}"]
        for number in range(kills):
            with Exporter(*flags, binary=BINARY, wait=number % 2 == 0) as exporter:
                if number % 2:
                    time.sleep(rng.uniform(0, 0.8))
                else:
                    slowest = max(slowest, time.monotonic() - exporter.began)
                    while changes.wait(Directory.ANY, 0):
                        pass
                    written += changes.wait(events[number // 2 % len(events)], 20)
                exporter.process.send_signal(signal.SIGKILL)
                exporter.process.wait()
            found += check_state(state)
        for name in os.listdir(state):
            if ".new-" in name:
                os.utime(os.path.join(state, name), (0, 0))  # as if it had been left long ago
        with Exporter(*flags, binary=BINARY) as exporter:
            slowest = max(slowest, time.monotonic() - exporter.began)
            assert not exporter.intervals(2).imbalance_uj()
            assert "learned again" not in exporter.output(), exporter.output()
            assert exporter.stop() == 0
        assert check_state(state)
        assert not [name for name in os.listdir(state) if ".new-" in name]
    print(f"{kills} kills, {written} in a write, slowest start {slowest:.2f} s")
    assert written == (kills + 1) // 2 and found > kills // 4
    assert not orphans() and not pinned(), "BPF programs are left"


def pinned():
    return [name for _, names, files in os.walk("/sys/fs/bpf") for name in names + files if "kepler" in name]


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
            assert counts == {"success": 1, "failure": 1, "merged": 0}, counts
            assert exporter.stop() == 0


@contextlib.contextmanager
def mounted(where, *args):
    subprocess.run(["mount", *args, where], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", where], check=True)


@contextlib.contextmanager
def disk_full(directory):
    with mounted(directory, "-t", "tmpfs", "-o", "size=4k", "full"):
        pathlib.Path(directory, "filler").write_bytes(b"x" * 4096)
        yield "No space left on device"


@contextlib.contextmanager
def disk_read_only(directory):
    with mounted(directory, "-t", "tmpfs", "-o", "ro", "read-only"):
        yield "Read-only file system"


@contextlib.contextmanager
def disk_broken(directory):
    """A disk that fails: ext4 shuts itself down, as after an error of the device."""
    shutdown, at_once = 0x8004587D, struct.pack("I", 2)  # EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
    with tempfile.NamedTemporaryFile() as image:
        image.truncate(4 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", image.name], check=True)
        with mounted(directory, "-o", "loop", image.name):
            folder = os.open(directory, os.O_RDONLY)
            fcntl.ioctl(folder, shutdown, at_once)
            os.close(folder)
            yield "Input/output error"


def unwritable_state():
    """R51: no room for the state, no right, no disk: it measures on, and the error is logged and a metric."""
    errors = "kepler_exporter_state_write_errors_total"
    for make in (disk_full, disk_read_only, disk_broken):
        with tempfile.TemporaryDirectory() as directory, Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
                make(directory) as why:
            flags = [f"--host.state-dir={directory}", "--host.state-every=1s", "--idle.mode=learned",
                     f"--host.sysfs={sensors.mount}"]
            with Exporter(*FAST, *flags) as exporter:
                deadline = time.monotonic() + 20
                while exporter.scrape().value(errors) < 2:
                    assert time.monotonic() < deadline, f"{why}: not counted\n{exporter.output()}"
                    time.sleep(0.1)
                assert f"cost factors: {directory}" in exporter.output() and why in exporter.output(), exporter.output()
                assert not exporter.intervals(3).imbalance_uj()
                assert exporter.stop() == 0
        print(f"  {why}: counted")


def other_versions():
    """R55: a state file of an older or a newer Kepler is not taken, not fatal, and replaced; what was counted begins anew."""
    starts = []
    for version in ("0", "2", "1.1"):
        with tempfile.TemporaryDirectory() as state, Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
                Directory(state) as changes:
            flags = [*FAST, f"--host.state-dir={state}", "--host.state-every=1s", "--idle.mode=learned",
                     f"--host.sysfs={sensors.mount}"]
            body = f"kepler-state {version} 0123456789abcdef\npackage-0 something else\n".encode()
            pathlib.Path(state, "kepler.state").write_bytes(body + b"crc32 %08x\n" % zlib.crc32(body))
            said = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", f"--host.state-dir={state}"],
                                  capture_output=True, text=True, timeout=60, check=False).stdout
            assert "of another version" in " ".join(said.split()), said
            with Exporter(*flags) as exporter:
                assert "of another version" in exporter.output(), exporter.output()
                metrics = exporter.intervals(3)
                assert metrics.value("kepler_exporter_state_write_errors_total") == 1, "it was not read"
                assert not metrics.imbalance_uj()
                assert metrics.value("kepler_exporter_snapshots_total") < 100
                starts.append(metrics.value("kepler_exporter_start_time_seconds"))
                assert changes.wait(Directory.MOVED_TO, 20), "it is not replaced"
                assert exporter.stop() == 0
            assert check_state(state)
            with Exporter(*flags) as exporter:
                assert "another version" not in exporter.output() and "learned again" not in exporter.output()
                assert exporter.stop() == 0
    assert sorted(set(starts)) == starts, "a start has a start time of its own"


class Confines:
    """A cgroup with a limit of a controller, of either version."""

    def __init__(self, controller, v1, v2):
        """`v1` and `v2`: file → text."""
        self.root = pathlib.Path("/sys/fs/cgroup", controller)
        if not self.root.is_dir():
            self.root = pathlib.Path("/sys/fs/cgroup")
            controllers = self.root / "cgroup.controllers"
            if not controllers.exists() or controller not in controllers.read_text().split():
                skip(f"no cgroup controller {controller}")
            (self.root / "cgroup.subtree_control").write_text(f"+{controller}")
            v1 = v2
        self.path = self.root / f"kepler-test-{controller}-{os.getpid()}"
        self.path.mkdir()
        for name, text in v1.items():
            (self.path / name).write_text(text)

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def read(self, *names):
        for name in names:
            if (self.path / name).exists():
                return (self.path / name).read_text()
        return ""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        time.sleep(0.1)  # the kernel empties a cgroup a moment after its last task
        self.path.rmdir()


@contextlib.contextmanager
def crowd(count):
    processes = load("ring", count)
    processes.stdout.readline()
    try:
        yield
    finally:
        processes.terminate()
        processes.wait()


def little_memory():
    """R53: a cgroup of 64 MB, 1,500 processes: it serves, and the kernel kills nothing."""
    limit = str(64 << 20)
    v1, v2 = {"memory.limit_in_bytes": limit}, {"memory.max": limit, "memory.swap.max": "0"}
    with Confines("memory", v1, v2) as memory, crowd(1500):
        with Exporter(*FAST, binary=release_binary(), preexec=memory.join) as exporter:
            assert not exporter.intervals(10).imbalance_uj()
            for _ in range(20):
                exporter.scrape()
            used = int(memory.read("memory.max_usage_in_bytes", "memory.peak", "memory.current"))
            killed = re.search(r"^oom_kill (\d+)", memory.read("memory.oom_control", "memory.events"), re.M)
            print(f"  {used >> 20} MB of 64 were used")
            assert used > 1 << 20, "it is not in the cgroup"
            assert not killed or int(killed[1]) == 0
            assert exporter.stop() == 0


def little_cpu():
    """R53: 5 % of one CPU, 500 processes: late is counted, sums hold, it answers, and liveness does not end it."""
    quota, period = 5000, 100000
    v1, v2 = {"cpu.cfs_period_us": str(period), "cpu.cfs_quota_us": str(quota)}, {"cpu.max": f"{quota} {period}"}
    with Confines("cpu", v1, v2) as cpu, crowd(500):
        with Exporter("--monitor.interval=500ms", binary=release_binary(), preexec=cpu.join) as exporter:
            began, before = time.monotonic(), exporter.scrape()
            after = exporter.intervals(8)
            assert not after.imbalance_uj()
            due = (time.monotonic() - began) / 0.5
            ran = float(after.value("kepler_exporter_snapshots_total") - before.value("kepler_exporter_snapshots_total"))
            counter = "kepler_exporter_intervals_missed_total"
            missed = float(after.value(counter) - before.value(counter))
            print(f"  {ran:.0f} of {due:.1f} intervals ran, {missed:.0f} were missed")
            assert abs(ran + missed - due) <= 2.5, "an interval that did not run is not counted"
            assert re.search(r"nr_throttled [1-9]", cpu.read("cpu.stat")), "it was not held back: this shows nothing"
            assert exporter.get("/healthz")[0] == 200
            assert exporter.stop() == 0


def start_time():
    """R59 and the first snapshot: node and "other" series before the first interval is over (how soon is bench's business)."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1h") as exporter:
        metrics = exporter.scrape()
        print(f"  first scrape after {time.monotonic() - exporter.began:.2f} s")
        assert metrics.select("kepler_node_package_joules_total")
        assert metrics.select("kepler_process_package_joules_total", command="other", pid="")
        assert exporter.stop() == 0


def wakeups():
    """Nothing to answer and nothing to look for: an interval takes the loop's timer, the reader's turn, and little else."""
    wakes = "kepler_exporter_wakeups_total"
    with tempfile.TemporaryDirectory() as sysfs:
        zone = pathlib.Path(sysfs, "class/powercap/intel-rapl:0")
        zone.mkdir(parents=True)
        for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
            (zone / name).write_text(text + "\n")
        with Exporter(f"--host.sysfs={sysfs}", "--monitor.interval=200ms") as exporter:
            before = exporter.intervals(5)
            time.sleep(6)
            after = exporter.scrape()
            snapshots = after.value("kepler_exporter_snapshots_total") - before.value("kepler_exporter_snapshots_total")
            each = (after.value(wakes) - before.value(wakes)) / snapshots
            assert snapshots > 10 and 1 <= each < 10, f"{each:.1f} wake-ups an interval, {snapshots} intervals"
            with open(f"/proc/{exporter.process.pid}/timerslack_ns", encoding="ascii") as file:
                assert int(file.read()) == 5_000_000
            assert exporter.stop() == 0


def main():
    need_root()
    print(f"{BUILD}, sanitized: {is_sanitized(BINARY)}")
    tests = (start_time, clean_stop, kill_at_random, reload, unwritable_state, other_versions, little_memory, little_cpu,
             wakeups)
    wanted = sys.argv[1:] or ([kill_at_random.__name__] if LONG else [test.__name__ for test in tests])
    for test in tests:
        if test.__name__ not in wanted:
            continue
        began = time.monotonic()
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


main()
