#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R52: each allocation fails in its turn, in any caller: no crash and no hang, but an error that says so, or work goes on.

Over the release binary: reading the configuration, the doctor, and a run with its start, intervals, scrapes and end. Of the
thousands of the doctor and of a run each STRIDE-th fails, another set each day; KEPLER_NO_MEMORY=FIRST:LAST:STRIDE chooses.
A scrape that gets no memory is answered with 503, and the next one is served.

The run has no filter of system calls: when one of the 1,900 allocations fails in which libseccomp 2.5 makes it, the library loops
for ever or loads half a filter and says that all is well. This is its bug, at the start only, and systemd's time limit ends it.
"""
import os
import subprocess
import sys
import tempfile
import time

from rig import BUILD, OTHERS_ENVIRONMENT, ROOT, Exporter, Metrics, balanced, need_root, release_binary

LIBRARY = BUILD / "tests/lab/no_memory.so"
NO_MEMORY, BROKEN_OFF = b"out of memory\n", b"the connection broke off"
STRIDE = 10
FEW = 500  # so many are all tried
SECONDS = 30  # that a start, a command or an end may take; all take less than one


def environment(at, fd):
    return {"LD_PRELOAD": str(LIBRARY), "NO_MEMORY_AT": str(at), "NO_MEMORY_FD": str(fd)}


def chosen(total):
    text = os.environ.get("KEPLER_NO_MEMORY")
    if text:
        return range(*map(int, text.split(":")))
    return range(1 + int(time.time() / 86400) % STRIDE, total + 1, STRIDE)


def total_of(counter):
    counter.seek(0)
    lines = counter.read().split()
    assert lines, "nothing was counted: is the library loaded?"
    return int(lines[-1].removeprefix("allocations="))


def run_command(binary, words, at, counter):
    done = subprocess.run([binary, *words], env={**OTHERS_ENVIRONMENT, **environment(at, counter.fileno())}, capture_output=True,
                          text=True, timeout=SECONDS, check=False, pass_fds=[counter.fileno()])
    assert 0 <= done.returncode <= 2, f"{words}, allocation {at}: status {done.returncode}\n{done.stderr[-2000:]}"
    if done.returncode == 2 or not done.stdout:
        assert done.stderr.strip(), f"{words}, allocation {at}: status {done.returncode} without a word"
    return done


def every_allocation_of(binary, *words):
    with tempfile.TemporaryFile("w+") as counter:
        whole = run_command(binary, words, 0, counter)
        total, refused = total_of(counter), 0
        for at in chosen(total) if total > FEW else range(1, total + 1):
            refused += run_command(binary, words, at, counter).stdout != whole.stdout
        print(f"  {' '.join(map(str, words))}: {total} allocations, {refused} of them ignored by the caller", flush=True)
        assert refused > 0, "none was missed: the test tests nothing"


def scrape(exporter, at):
    """A response. One may say that there was no memory, or break off; the first ones, that the first interval failed."""
    deadline, missed = time.monotonic() + SECONDS, 0
    while True:
        assert exporter.process.poll() is None, f"allocation {at}: status {exporter.process.poll()}\n{exporter.output()}"
        try:
            status, _, body = exporter.get()
        except ConnectionError as error:
            status, body = 503, BROKEN_OFF if isinstance(error, ConnectionResetError) else str(error).encode()
        if status == 200:
            return balanced(Metrics(body.decode()))
        assert status == 503 and body in (NO_MEMORY, BROKEN_OFF, b"no reading yet\n"), f"allocation {at}: {status} {body}"
        missed += body in (NO_MEMORY, BROKEN_OFF)
        assert missed <= 1 and time.monotonic() < deadline, f"allocation {at}: {status} {body} again"
        time.sleep(0.05)


def run_once(binary, at, counter):
    """0: ended as told, and all was right meanwhile; else the status of a start that was refused."""
    environ = environment(at, counter.fileno())
    with Exporter("--monitor.interval=100ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--security.seccomp=false",
                  binary=binary, env=environ, wait=False, pass_fds=[counter.fileno()]) as exporter:
        try:
            exporter.wait_url(SECONDS)
        except AssertionError:
            status = exporter.process.poll()
            assert status in (1, 2) and exporter.output().strip(), f"allocation {at}: status {status}\n{exporter.output()}"
            return status
        deadline, number, first = time.monotonic() + SECONDS, 0, None
        while first is None or number < first + 2:
            assert time.monotonic() < deadline, f"allocation {at}: no new snapshot\n{exporter.output()}"
            number = scrape(exporter, at).value("kepler_exporter_snapshots_total")
            first = number if first is None else first
            time.sleep(0.05)
        status = exporter.stop(timeout=SECONDS)
        assert status == 0, f"allocation {at}: status {status} at the end\n{exporter.output()}"
    return 0


def every_allocation_of_a_run(binary):
    with tempfile.TemporaryFile("w+") as counter:
        assert run_once(binary, 0, counter) == 0
        total, refused, tried = total_of(counter), 0, 0
        for at in chosen(total):
            refused += run_once(binary, at, counter) != 0
            tried += 1
        print(f"  run: {total} allocations, {tried} tried, {refused} starts refused", flush=True)
        assert tried > 0


def main():
    need_root()
    binary = release_binary()
    sample = ROOT / "etc/kepler.yaml"
    every_allocation_of(binary, "config", "check", sample)
    every_allocation_of(binary, "config", "show", f"--config.file={sample}")
    every_allocation_of_a_run(binary)
    every_allocation_of(binary, "doctor", "--json")


if not LIBRARY.exists():
    print("SKIP: no_memory.so was not built")
    sys.exit(77)
main()
