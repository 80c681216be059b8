#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a pid namespace of its own (a container without hostPID): what is charged is what the kernel says, with many threads, too.

A walk sees the whole machine, the kernel's iterator only the reader's own namespace: no pass may change from one to the other,
or else processes that ran for days are new in the next one and their lives are charged as work of one interval.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

from rig import KEPLER, Exporter, check_machine, load, machine_busy_s, release_binary, run_tests, seen_with_truth, skip

CROWD = 4300  # more than one walk hands over
SPANS, SPAN_SECONDS = 3, 1
INTERVAL = "--monitor.interval=200ms"
OWN = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
CPU = "kepler_node_bpf_cpu_time_ms_total"
HISTORY_SECONDS = 2
OLD = f"""
import time
while time.process_time() < {HISTORY_SECONDS}: pass
print("ready", flush=True)
while True: time.sleep(0.05)
"""


def run_time_s(pid):
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def node_s(metrics):
    return float(metrics.sum(CPU)) / 1e3


def is_walking(metrics):
    return bool(metrics.select("kepler_exporter_activity_reader_info", reader="bpf-walk"))


class Crowd:
    """Sleeping processes, and one that has a history and runs on a little."""

    def __enter__(self):
        self.old = subprocess.Popen([sys.executable, "-c", OLD], stdout=subprocess.PIPE, text=True)
        self.many = load("ring", CROWD)
        for process in (self.many, self.old):
            process.stdout.readline()
        return self

    def __exit__(self, *exc):
        for process in (self.many, self.old):
            process.kill()
            process.wait()


def charged_is_what_ran():
    """All that is charged: at most what the machine ran since before the start, and in each span what it ran then."""
    with Crowd() as crowd:
        began, old_began = machine_busy_s(), run_time_s(crowd.old.pid)
        with Exporter(INTERVAL, "--metrics.process.min-joules=0", "--metrics.settle=0s", prefix=OWN,
                      binary=release_binary()) as exporter:
            if not is_walking(exporter.intervals(2)):
                skip("no BPF walk here (Linux before 6.7, or BPF is refused)")
            looks = [seen_with_truth(exporter)]
            for _ in range(SPANS):
                time.sleep(SPAN_SECONDS)
                looks.append(seen_with_truth(exporter))
                check_machine(looks[-2], looks[-1])
            after = looks[-1][0]
            whole, charged = machine_busy_s() - began, node_s(after)
            rows = after.select("kepler_process_bpf_cpu_time_ms_total", pid=str(crowd.old.pid))
            old, truth = sum(float(value) for _, value in rows) / 1e3, run_time_s(crowd.old.pid) - old_began
            print(f"  charged {charged:.3f} s of {whole:.3f} s; an old process {old:.3f} of {truth:.3f} s; "
                  f"{after.value('kepler_exporter_threads_known')} threads")
            assert after.value("kepler_exporter_threads_known") > CROWD
            assert charged <= whole + 0.01, "more is charged than the machine ran"
            assert old <= truth + 0.01, "a life is charged"
            assert after.value("kepler_exporter_own_pid_namespace") == 1
            assert after.value("kepler_exporter_activity_partial") == 0
            assert re.search(r"its own PID namespace.*\(hostPID: true\)", exporter.output()), exporter.output()


def doctor_says_it():
    def doctor(*prefix):
        done = subprocess.run([*prefix, KEPLER, "doctor", "--verbose", "--host.state-dir="], capture_output=True, text=True,
                              check=False, env={**os.environ, "NO_COLOR": "1"})
        return done.stdout

    assert "hostPID" in doctor(*OWN), doctor(*OWN)
    if os.stat("/proc/self/ns/pid").st_ino == 0xEFFFFFFC:  # PROC_PID_INIT_INO
        assert "hostPID" not in doctor()


run_tests([charged_is_what_ran, doctor_says_it])
