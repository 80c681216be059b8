# SPDX-License-Identifier: Apache-2.0
"""What looking at a thread in /proc costs on this machine: the unit in which tests bound the exporter's own cost.

It is CPU time, and other work on the machine makes both more expensive alike, so a bound holds at any speed.
"""
import os
import pathlib
import time


def children(pid):
    """The processes that a process with one thread has started."""
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def stat_read_ns(pids):
    """The CPU time of opening, reading and closing /proc/PID/stat: the mean over `pids`."""
    began = time.thread_time_ns()
    for pid in pids:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        os.read(fd, 4096)
        os.close(fd)
    return (time.thread_time_ns() - began) / len(pids)
