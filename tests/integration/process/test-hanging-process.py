#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of an unprivileged user that look like virtual machines.

A read of the memory of a process of tests/lab/hang.c, as of /proc/PID/cmdline, waits for ever. Snapshots must go on, SIGTERM must
end the program, and a program that starts while these processes live must serve. Their use is charged to their cgroup, and
everything adds up. A name alone makes no machine: the executable must be a hypervisor, and then the machine belongs to that user,
by its id and name. A part that waits for such a read never goes on, so the deadlines here are long: no load of the machine fails
the test.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from rig import BUILD, Exporter, Sensors, need_root, rapl_zone, skip

COUNT = 24  # more than there are threads to lose
PATIENCE_S = 60
# A thread that hangs like that cannot be stopped by a tracer, which is how LeakSanitizer looks for leaks at the end.
NO_LEAK_CHECK = {"ASAN_OPTIONS": "detect_leaks=0"}


@contextlib.contextmanager
def hanging(count):
    binary = BUILD / "tests/lab/hang"
    if not binary.exists():
        skip("no tests/lab/hang in the build: install libfuse3-dev and fuse3, configure and build again")
    if not os.path.exists("/dev/fuse"):
        skip("no /dev/fuse")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="kepler-hang-"))
    directory.chmod(0o755)
    mount = directory / "mount"
    mount.mkdir()
    program = directory / "qemu-system-x86_64"  # any user can give a file this name
    shutil.copy(binary, program)
    process = subprocess.Popen([program, mount, "kvm", str(count)], stdout=subprocess.PIPE, text=True)
    try:
        words = process.stdout.readline().split()
        assert words and words[0] == "hanging", "no process hangs"
        yield [int(word) for word in words[1:]]
    finally:
        process.kill()
        subprocess.run(["umount", "-l", mount], check=False)
        process.wait()
        process.stdout.close()
        shutil.rmtree(directory, ignore_errors=True)


def must_hang(pid):
    try:
        subprocess.run(["cat", f"/proc/{pid}/cmdline"], stdout=subprocess.DEVNULL, timeout=0.5, check=False)
    except subprocess.TimeoutExpired:
        return
    raise AssertionError(f"/proc/{pid}/cmdline can be read: the test tests nothing")


def snapshots_go_on(exporter):
    metrics = exporter.wait_snapshot(exporter.scrape().value("kepler_exporter_snapshots_total") + 5, seconds=PATIENCE_S)
    assert not metrics.imbalance_uj(), metrics.imbalance_uj()
    return metrics


def wait_for(exporter, condition):
    """The first response of which @condition is true."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition(metrics := snapshots_go_on(exporter)):
        assert time.monotonic() < deadline, metrics.text
    return metrics


def ends(exporter):
    assert exporter.stop(timeout=PATIENCE_S) == 0, exporter.output()


def all_reads_are_late(metrics):
    reads = metrics.value("kepler_exporter_process_reads_outstanding")
    return 0 < reads == metrics.value("kepler_exporter_process_reads_late_total")


def check(metrics):
    """Some reads are under way, but fewer than there are processes; none of the processes is a machine."""
    assert metrics.value("kepler_exporter_process_reads_outstanding") < COUNT
    assert not machines(metrics), machines(metrics)


def machines(metrics):
    """Of our user: there may be others on this computer."""
    rows = metrics.select("kepler_vm_package_joules_total")
    return {(labels["vm_id"], labels["vm_name"]) for labels, _ in rows if "@65534" in labels["vm_id"]}


def spin(program, script):
    return subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", program, "-c", script + "while :; do :; done"])


def names(options):
    with tempfile.TemporaryDirectory(prefix="kepler-names-") as directory:
        os.chmod(directory, 0o755)
        program = pathlib.Path(directory, "qemu-system-x86_64")
        shutil.copy(os.path.realpath("/bin/sh"), program)
        processes = [spin("/bin/sh", "echo kvm > /proc/self/comm; "), spin(program, "")]
        try:
            with Exporter(*options) as exporter:
                pathlib.Path(f"/proc/{processes[0].pid}/comm").read_text().index("kvm")
                wait_for(exporter, machines)
                found = machines(snapshots_go_on(exporter))
                assert len(found) == 1, found  # the second
                (vm_id, vm_name), pid = found.pop(), processes[1].pid
                assert vm_id.startswith(f"qemu/{pid}-") and vm_id.endswith("@65534"), vm_id
                assert vm_name == f"qemu-{pid}@65534", vm_name
                ends(exporter)
        finally:
            for process in processes:
                process.kill()
                process.wait()


def main():
    need_root()
    zone = rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)
    options = ["--monitor.interval=200ms", "--metrics.settle=0s"]
    with Sensors(zone) as sensors:
        options.append(f"--host.sysfs={sensors.mount}")
        names(options)
        with Exporter(*options, env=NO_LEAK_CHECK) as exporter:
            exporter.intervals(2)
            with hanging(COUNT) as pids:
                must_hang(pids[0])
                check(wait_for(exporter, all_reads_are_late))
                assert exporter.output().count("hangs") == 1, exporter.output()
                ends(exporter)
                with Exporter(*options, env=NO_LEAK_CHECK) as second:
                    snapshots_go_on(second)
                    ends(second)


main()
