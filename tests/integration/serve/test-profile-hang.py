#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler profile beside file systems that do not answer: a mapped file, the list of a runtime, and memory that cannot be looked at.

Each costs a wait of two seconds once; the command ends, its energy adds up, and the functions without names are "[unreadable]".
"""
import contextlib
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time

from rig import BUILD, KEPLER, ROOT, Sensors, need_program, rapl_zone, run_tests, skip

PATIENCE_S = 60
# Code of a file: it pushes and pops, and then jumps 62 bytes back. Its bytes are valid UTF-8 (U+0080 is c2 80).
LOOP = "PX" * 30 + "u\u0080"
RUNS_A_FILE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY);
	volatile char *code = mmap(NULL, 4096, 7, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED || code[0] != 'P')
		return 1;
	code[4095] = 0; /* a page of its own: that of the file goes when the file is opened again, and does not come back */
	puts("runs");
	fflush(stdout);
	/* The result is not zero: the loop goes on. */
	__asm__ volatile("xor %%eax, %%eax; inc %%eax; jmp *%0" : : "c"(code) : "eax", "memory");
	return 0;
}
"""
# The same code in memory without a file, as of a runtime.
RUNS_MEMORY = "#include <unistd.h>\n" + RUNS_A_FILE.replace(
    "7, MAP_PRIVATE, fd, 0)", "7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)").replace(
    "if (code == MAP_FAILED", "if (read(fd, (void *)code, 4096) < 63")


class DyingMount(Sensors):
    """Once its server is stopped, whatever looks into it waits for ever."""

    def __init__(self):
        super().__init__(["code text " + LOOP])

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(1.1)  # names are remembered for a second
        with subprocess.Popen(["cat", self.mount + "/code"], stdout=subprocess.DEVNULL) as looks:
            with contextlib.suppress(subprocess.TimeoutExpired):
                looks.wait(1)
                raise AssertionError("the mount answers: this shows nothing")
            self.process.send_signal(signal.SIGCONT)
            looks.wait(PATIENCE_S)
            self.process.send_signal(signal.SIGSTOP)
        time.sleep(1.1)

    def __exit__(self, *exc):
        self.process.send_signal(signal.SIGCONT)
        super().__exit__(*exc)


@contextlib.contextmanager
def running(text, path):
    if platform.machine() != "x86_64":
        skip("the code of the file is x86-64's")
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory, "looper")
        subprocess.run([need_program("cc"), "-O1", "-x", "c", "-o", program, "-"], input=text, text=True, check=True)
        with subprocess.Popen([program, path], stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout.readline() == "runs\n"
                yield process.pid
            finally:
                process.kill()


def must_be_unreadable(pid, *words):
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=12)) as sensors:
        began = time.monotonic()
        done = subprocess.run([KEPLER, "profile", f"--config.file={ROOT / 'tests/rig/rig.yaml'}", "--host.state-dir=",
                               f"--host.sysfs={sensors.mount}", f"--pid={pid}", "--duration=4s", *words], capture_output=True,
                              text=True, check=True, timeout=PATIENCE_S)
    print(f"  {time.monotonic() - began:.1f} s: {done.stderr.splitlines()[-1]}")
    found = [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in done.stdout.splitlines()]
    whole, micro = re.search(r"(\d+)\.(\d{6}) J", done.stderr).groups()
    assert sum(uj for _, uj in found) == int(whole + micro), done
    unreadable = sum(uj for frames, uj in found if "[unreadable]" in frames)
    assert unreadable > 0.8 * sum(uj for frames, uj in found if not frames[-1].endswith("_[k]")) > 0, done
    assert re.search(r"[1-9]\d* samples have an \[unreadable\] function: .* within 2 s \(1 times\)", done.stderr), done.stderr


def a_mapped_file_does_not_answer():
    with DyingMount() as mount, running(RUNS_A_FILE, mount.mount + "/code") as pid:
        mount.stop()
        must_be_unreadable(pid)


def the_list_of_a_runtime_does_not_answer():
    with DyingMount() as mount, running(RUNS_MEMORY, mount.mount + "/code") as pid:
        link = pathlib.Path(f"/tmp/perf-{pid}.map")
        link.symlink_to(mount.mount + "/code")
        try:
            mount.stop()
            must_be_unreadable(pid)
        finally:
            link.unlink()


def the_memory_of_a_process_cannot_be_looked_at():
    binary = BUILD / "tests/lab/hang"
    if not binary.exists():
        skip("no tests/lab/hang in the build: install libfuse3-dev and fuse3, configure and build again")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="kepler-hang-"))
    directory.chmod(0o755)
    (directory / "mount").mkdir()
    process = subprocess.Popen([binary, directory / "mount", "hangs", "1"], stdout=subprocess.PIPE, text=True)
    try:
        words = process.stdout.readline().split()
        assert words and words[0] == "hanging", "no process hangs"
        must_be_unreadable(int(words[1]), "--frequency=999")
    finally:
        process.kill()
        subprocess.run(["umount", "-l", directory / "mount"], check=False)
        process.wait()
        process.stdout.close()
        shutil.rmtree(directory, ignore_errors=True)


run_tests([a_mapped_file_does_not_answer, the_list_of_a_runtime_does_not_answer, the_memory_of_a_process_cannot_be_looked_at])
