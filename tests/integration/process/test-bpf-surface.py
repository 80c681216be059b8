#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""S5: what a running exporter has in the kernel, with all of its programs wanted. Only programs that observe; no map without a
bound; those that only the kernel writes are frozen; nothing is pinned. The functions of the kernel that they call:
tools/check-bpf-helpers.
"""
import contextlib
import json
import pathlib
import re
import subprocess

from rig import Exporter, need_program, run_tests, skip

TYPES = {"tracing", "raw_tracepoint", "syscall"}
MEGABYTES = 24
# Written by the kernel side alone, read by mapping them; and the objects' constants.
FROZEN = {"records", "works", ".rodata"}


def bpftool(*args):
    done = subprocess.run([need_program("bpftool"), "-j", "-f", *args], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def own_ids(exporter, what):
    text = ""
    for path in pathlib.Path(f"/proc/{exporter.process.pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            text += path.read_text()
    return {int(number) for number in re.findall(rf"^{what}_id:\s*(\d+)", text, re.M)}


def show(exporter, what):
    ids = own_ids(exporter, what)
    return [it for it in bpftool(what, "show") if it["id"] in ids]


def what_is_in_the_kernel():
    options = ("--bpf.io=all", "--counters.switches=true", "--counters.cycles=cpu-clock", "--monitor.interval=200ms")
    with Exporter(*options) as exporter:
        metrics = exporter.intervals(2)
        if metrics.select("kepler_exporter_activity_reader_info", reader="procfs"):
            skip("BPF is refused here")
        programs, maps = show(exporter, "prog"), show(exporter, "map")
        memory = sum(it["bytes_memlock"] for it in maps)
        print(f"  {len(programs)} programs, {len(maps)} maps of {memory / 1e6:.1f} MB")
        assert {"switch_typed", "softirq_begins"} <= {it["name"] for it in programs}, programs
        assert {it["type"] for it in programs} <= TYPES, {it["type"] for it in programs}
        assert not any(it.get("pinned") for it in programs + maps)
        assert all(it.get("max_entries", 0) > 0 or it["type"] == "task_storage" for it in maps), maps
        assert memory <= MEGABYTES * 1e6
        frozen = {".rodata" if ".rodata" in it["name"] else it["name"] for it in maps if it.get("frozen")}
        assert FROZEN <= frozen, (frozen, maps)
        assert exporter.stop() == 0


run_tests([what_is_in_the_kernel])
