# SPDX-License-Identifier: Apache-2.0
"""A disk that hangs on request, and responds again: tests/lab/folderfs."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from rig import BUILD, need_root, skip

WAITING_CALLS = {"0", "275"}  # read() and splice(), in which the server waits for the next call, by /proc/PID/syscall of x86-64


def suspend(process):
    """Until it stands still: the signal alone may leave it running for a while on a busy machine."""
    process.send_signal(signal.SIGSTOP)
    while pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)


class HangingFolder:
    """`path` is a folder below a mount that hangs between stop() and go()."""

    def __init__(self):
        binary = BUILD / "tests/lab/folderfs"
        if not binary.exists():
            skip(f"no {binary.relative_to(BUILD)} in the build: install libfuse3-dev and fuse3, configure and build again")
        if not os.path.exists("/dev/fuse"):
            skip("no /dev/fuse")
        need_root()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="kepler-disk-"))
        self.files, self.mount = self.dir / "files", self.dir / "mount"
        self.path, self.behind = self.mount / "folder", self.files / "folder"
        self.behind.mkdir(parents=True)
        self.mount.mkdir()
        self.process = subprocess.Popen([binary, self.files, self.mount])
        deadline = time.monotonic() + 30
        while not self.path.exists():
            assert self.process.poll() is None and time.monotonic() < deadline, "folderfs did not start"
            time.sleep(0.01)
        # The kernel learns that this server has no call for closing a file, because such a call could not be interrupted.
        (self.path / "first").write_text("")
        (self.path / "first").unlink()

    def stop(self):
        """Not within a call: that one could not be interrupted, and a program that waits for it could not end."""
        while True:
            suspend(self.process)
            if pathlib.Path(f"/proc/{self.process.pid}/syscall").read_text().split()[0] in WAITING_CALLS:
                return
            self.process.send_signal(signal.SIGCONT)

    def go(self):
        self.process.send_signal(signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.go()
        subprocess.run(["umount", "-l", self.mount], check=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
