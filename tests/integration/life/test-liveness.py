#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must not stop the loop does not, and where it stands still all the same it shows: storms of signals, files, terminals and
readers that hang, a first pass that never ends (I4, R54, R59)."""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, free_port, rapl_zone, run_tests, skip

FAST = ["--monitor.interval=200ms"]
SNAPSHOTS = "kepler_exporter_snapshots_total"
MISSED = "kepler_exporter_intervals_missed_total"
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def until(what, condition, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


@contextlib.contextmanager
def stopped(tid):
    """One thread of a process stands still; the others run."""

    def ptrace(request):
        assert libc.ptrace(request, tid, None, None) == 0, os.strerror(ctypes.get_errno())

    ptrace(PTRACE_SEIZE)
    ptrace(PTRACE_INTERRUPT)
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        ptrace(PTRACE_DETACH)


def hung_loop():
    """I4: beyond the limit /healthz says so, and nothing old is shown as if it were new; when it turns again, all is well."""
    with Exporter(*FAST, "--monitor.hang-limit=1s") as exporter:
        before = exporter.intervals(2)
        assert exporter.get("/healthz")[0] == 200
        with stopped(exporter.process.pid):
            until("/readyz answers 503", lambda: exporter.get("/readyz")[0] == 503, 2)
            until("/healthz answers 503", lambda: exporter.get("/healthz")[0] == 503, 4)
            body = exporter.get("/healthz")[2]
            assert b"has hung" in body and b"waiting" in body, body
            status, head, body = exporter.get("/metrics")
            assert status == 503 and int(head["Retry-After"]) > 0 and b"has hung" in body, (status, body)
        until("/healthz answers 200", lambda: exporter.get("/healthz")[0] == 200)
        after = exporter.intervals(2)
        assert after.value(MISSED) > before.value(MISSED)
        assert not after.imbalance_uj()
        assert exporter.stop() == 0


def limit_follows_interval():
    """A loop that waits for a long interval does not hang."""
    with Exporter("--monitor.interval=2s", "--monitor.hang-limit=1s") as exporter:
        with stopped(exporter.process.pid):
            time.sleep(3)
            assert exporter.get("/healthz")[0] == 200, "three intervals have not passed"
        assert exporter.stop() == 0


def signal_storm():
    """A reload twice an interval, and a burst of thousands: intervals come as they are due, each wish is counted."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("monitor:\n  interval: 1s\n")
        file.flush()
        with Exporter(f"--config.file={file.name}") as exporter:
            first = exporter.intervals(1)
            began = time.monotonic()
            while time.monotonic() < began + 4.2:
                exporter.process.send_signal(signal.SIGHUP)
                time.sleep(0.4)
            metrics = exporter.scrape()
            seen = metrics.value(SNAPSHOTS) - first.value(SNAPSHOTS)
            assert seen >= 4, f"{seen} snapshots in 4.2 s at an interval of 1 s"
            assert metrics.value("kepler_exporter_config_reloads_total", result="success") >= 8
            for _ in range(5000):
                exporter.process.send_signal(signal.SIGHUP)
            last = exporter.intervals(2)
            assert last.value("kepler_exporter_config_reloads_total", result="failure") == 0
            assert exporter.stop() == 0


def stray_signals():
    """What means nothing to it ends nothing."""
    with Exporter(*FAST) as exporter:
        strays = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXFSZ, signal.SIGXCPU, signal.SIGVTALRM, signal.SIGPROF,
                  signal.SIGIO, signal.SIGPIPE, signal.SIGRTMIN, signal.SIGRTMAX]
        for number in strays:
            exporter.process.send_signal(number)
        exporter.intervals(2)
        assert exporter.stop() == 0


def listens_before_the_baseline():
    """A /proc that never answers: /healthz answers until the limit, the rest says that nothing was read yet; SIGTERM ends it."""
    with Sensors(["1000/stat text 1000 (x) S"]) as proc:
        proc.process.send_signal(signal.SIGSTOP)
        flags = ["--monitor.hang-limit=2s", "--no-bpf.enabled", f"--host.procfs={proc.mount}"]
        with Exporter(*FAST, *flags, wait=False) as exporter:
            exporter.wait_url(pattern=r"listening at (http://[^\s\"]+)/metrics")
            assert exporter.get("/healthz")[0] == 200
            for path in ("/readyz", "/metrics"):
                status, head, _ = exporter.get(path)
                assert status == 503 and int(head["Retry-After"]) > 0, (path, status)
            assert exporter.get("/")[0] == 200
            until("/healthz answers 503", lambda: exporter.get("/healthz")[0] == 503, 6)
            assert "Kepler serves" not in exporter.output()
            assert exporter.stop() == 0, exporter.output()
        proc.process.send_signal(signal.SIGCONT)


def configuration_hangs():
    """A pipe in its place is refused; a file on a hanging mount costs the reload and nothing else."""
    lines = ["kepler.yaml text monitor: {interval: 200ms}", *rapl_zone("intel-rapl:0", "package-0", 45)]
    with Sensors(lines) as sensors, tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "kepler.yaml")
        shutil.copy(os.path.join(sensors.mount, "kepler.yaml"), path)
        with Exporter(f"--config.file={path}", f"--host.sysfs={sensors.mount}") as exporter:
            exporter.intervals(2)
            os.unlink(path)
            os.mkfifo(path)
            exporter.process.send_signal(signal.SIGHUP)
            until("the pipe is refused", lambda: "a pipe, not a file" in exporter.output())
            os.unlink(path)
            os.symlink(os.path.join(sensors.mount, "kepler.yaml"), path)
            sensors.control("kepler.yaml stall 7000")
            exporter.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            exporter.process.send_signal(signal.SIGHUP)
            before = exporter.scrape()
            after = exporter.intervals(10)
            assert after.value(MISSED) - before.value(MISSED) <= 1
            until("the reload is given up", lambda: "hanging mount" in exporter.output(), 8)
            sensors.control("kepler.yaml stall 0")
            until("the merged one is done", lambda: "configuration reloaded" in exporter.output())
            counts = {result: exporter.intervals(2).value("kepler_exporter_config_reloads_total", result=result)
                      for result in ("success", "failure", "merged")}
            assert counts == {"success": 1, "failure": 2, "merged": 1}, counts
            assert exporter.stop() == 0


@contextlib.contextmanager
def frozen_disk():
    """A directory on a disk of its own, and a switch that makes writing there hang, or go on."""
    for name in ("mkfs.ext4", "fsfreeze", "losetup"):
        if not shutil.which(name):
            skip(f"{name} is not installed")
    with tempfile.TemporaryDirectory() as directory:
        image, mount = os.path.join(directory, "image"), os.path.join(directory, "mount")
        os.mkdir(mount)
        with open(image, "wb") as file:
            file.truncate(4 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", image], check=True)
        if subprocess.run(["mount", "-o", "loop", image, mount], check=False).returncode != 0:
            skip("no loop device can be mounted")
        frozen = []

        def freeze(on):
            if on != bool(frozen):
                subprocess.run(["fsfreeze", "-f" if on else "-u", mount], check=True)
                frozen[:] = [1] if on else []
        try:
            yield mount, freeze
        finally:
            freeze(False)
            subprocess.run(["umount", "-l", mount], check=False)


def state_hangs():
    """The directory of the state hangs: intervals go on, it is counted, and the end waits for it no longer than it says."""
    with frozen_disk() as (mount, freeze), Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors:
        flags = ["--host.state-every=1s", "--idle.mode=learned", f"--host.state-dir={mount}/kepler",
                 f"--host.sysfs={sensors.mount}"]
        with Exporter(*FAST, *flags) as exporter:
            until("the state is written", lambda: os.path.exists(f"{mount}/kepler/kepler.state"))
            freeze(True)
            errors = "kepler_exporter_state_write_errors_total"
            until("the error is counted", lambda: exporter.scrape().value(errors) > 0)
            before = exporter.scrape().value(MISSED)
            assert exporter.intervals(10).value(MISSED) - before <= 1
            assert exporter.get("/healthz")[0] == 200
            freeze(False)
            count = exporter.scrape().value(errors)
            time.sleep(2.5)
            assert exporter.scrape().value(errors) <= count + 1, "it does not write again"
            freeze(True)
            time.sleep(1.5)
            began = time.monotonic()
            exporter.process.send_signal(signal.SIGTERM)
            until("it says so at the end", lambda: exporter.output().count("cannot save learned") >= 2, 5)
            assert time.monotonic() - began < 5
            freeze(False)  # a thread inside a write ends only with it, even after a kill
            assert exporter.process.wait(10) == 0


@contextlib.contextmanager
def table_on_terminal():
    """An exporter that draws its table on a pseudo-terminal: it, and both ends."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 60, 200, 0, 0))
    port = free_port()
    flags = ["--config.file=/dev/null", "--host.state-dir=", "--table=always", f"--web.listen-address=127.0.0.1:{port}", *FAST]
    exporter = Exporter.__new__(Exporter)
    exporter.process = subprocess.Popen([str(KEPLER), "run", *flags], stdout=slave, stderr=subprocess.DEVNULL,
                                        stdin=subprocess.DEVNULL, env=OTHERS_ENVIRONMENT)
    exporter.url = f"http://127.0.0.1:{port}"
    try:
        until("it serves", lambda: answers(exporter))
        os.set_blocking(master, False)
        yield exporter, master, slave
    finally:
        exporter.process.kill()
        exporter.process.wait()
        os.close(master)
        os.close(slave)


def terminal_is_stopped():
    """^S on the terminal of the table, and one that is full: intervals go on, the table with the terminal, and so does the end."""
    with table_on_terminal() as (exporter, master, slave):
        def goes_on():
            before = exporter.scrape().value(SNAPSHOTS)
            until("snapshots go on", lambda: exporter.scrape().value(SNAPSHOTS) > before + 4)

        until("there is a table", lambda: b"COMMAND" in read_all(master))
        os.write(master, b"\x13")
        goes_on()
        os.write(master, b"\x11")
        read_all(master)
        until("the table goes on", lambda: b"COMMAND" in read_all(master))
        full = os.open(f"/proc/self/fd/{slave}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(full, b"x" * 64)
        os.close(full)
        os.read(master, 100)  # room for less than a frame
        goes_on()
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.process.wait(10) == 0


def the_log_is_not_read():
    """Standard error is a pipe or a socket that is full: the loop and the server go on, and what was lost is counted and told."""
    for make in (os.pipe, lambda: [s.detach() for s in socket.socketpair()]):
        reader, writer = make()
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "kepler.yaml")
            pathlib.Path(path).write_text("monitor: {interval: 200ms}\nlog: {level: debug}\n")
            port = free_port()
            flags = [f"--config.file={path}", "--host.state-dir=", "--table=never", f"--web.listen-address=127.0.0.1:{port}"]
            where = {"stdout": subprocess.DEVNULL, "stderr": writer, "env": OTHERS_ENVIRONMENT}
            process = subprocess.Popen([str(KEPLER), "run", *flags], **where)
            exporter = Exporter.__new__(Exporter)
            exporter.process, exporter.url = process, f"http://127.0.0.1:{port}"
            try:
                until("it serves", lambda: answers(exporter))
                pathlib.Path(path).write_text("monitor: {intervall: 1s}\n")
                os.set_blocking(writer, False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        os.write(writer, b"x" * 512)
                os.set_blocking(writer, True)  # it is the exporter's, too
                for _ in range(20):
                    process.send_signal(signal.SIGHUP)
                    time.sleep(0.02)
                lost = "kepler_exporter_log_lost_lines_total"
                until("lines are lost", lambda: exporter.scrape().value(lost) > 0)
                before = exporter.scrape().value(SNAPSHOTS)
                until("snapshots go on", lambda: exporter.scrape().value(SNAPSHOTS) > before + 3)
                os.set_blocking(reader, False)
                with contextlib.suppress(BlockingIOError):
                    while os.read(reader, 65536):
                        pass
                process.send_signal(signal.SIGHUP)
                text = until("it is told", lambda: read_all(reader))
                assert b"were lost" in text + until("the rest", lambda: read_all(reader) or b" "), text
                process.send_signal(signal.SIGTERM)
                assert process.wait(10) == 0
            finally:
                process.kill()
                process.wait()
                os.close(reader)
                os.close(writer)


def read_all(fd):
    text = b""
    with contextlib.suppress(BlockingIOError):
        while True:
            text += os.read(fd, 65536)
    return text


def answers(exporter):
    with contextlib.suppress(OSError):
        return exporter.get("/readyz")[0] == 200
    return False


if __name__ == "__main__":
    run_tests([hung_loop, limit_follows_interval, signal_storm, stray_signals, listens_before_the_baseline, configuration_hangs,
               state_hangs, terminal_is_stopped, the_log_is_not_read])
