#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R26: what our BPF programs cost a machine that switches between tasks 200,000 times a second and more.

Nothing of ours runs on a context switch: without bpf.io, which bench/io.py measures, programs are attached to the ends of tasks
and to new cgroups, and what reads run times is called once an interval. Its price for each thread that it looks at is the kernel's
own figure (kernel.bpf_stats_enabled), as a part of what reading the thread's /proc/PID/stat costs on the same machine.
bench/compare.py compares the whole program of two builds, and fails at 10 % more.
"""
import contextlib
import json
import pathlib
import re
import subprocess
import time

from proc_price import children, stat_read_ns
from rig import Exporter, balanced, load, load_result, need_program, release_binary, run_tests, skip

SECONDS = 3
CROWD = 3000
OF_A_READ = 1 / 6  # cost of a walk for each thread (nearly all sleep), divided by the cost of a read of /proc; 1/35 to 1/25 here
WINDOWS = 8
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
# Our programs, and what they are attached to. "iterate" and "walk" are called.
ATTACHED = {"exiting": "sched_process_exit", "exiting_raw": "sched_process_exit", "ended": "sched_process_free",
            "ended_raw": "sched_process_free", "cgroup_made": "cgroup_mkdir"}
CALLED = {"iterate", "walk"}


def bpftool(*args):
    done = subprocess.run([need_program("bpftool"), "-j", *args], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@contextlib.contextmanager
def counted():
    """The kernel counts runs of BPF programs and their time."""
    try:
        before = STATS.read_text()
        STATS.write_text("1")
    except OSError as error:
        skip(f"the kernel's statistics of BPF programs cannot be switched on: {error}")
    try:
        yield
    finally:
        STATS.write_text(before)


def own_ids(exporter):
    """Of the programs and of the links that the exporter holds."""
    text = ""
    for path in pathlib.Path(f"/proc/{exporter.process.pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            text += path.read_text()
    return [{int(number) for number in re.findall(rf"^{what}_id:\s*(\d+)", text, re.M)} for what in ("prog", "link")]


def own_programs(exporter):
    """name → what bpftool says of it."""
    ids, _ = own_ids(exporter)
    return {program["name"]: program for program in bpftool("prog", "show") if program["id"] in ids}


def tracepoint_of(link):
    """The name of the tracepoint that a link is at."""
    if "tp_name" in link:
        return link["tp_name"]
    command = [need_program("bpftool"), "btf", "dump", "id", str(link["target_obj_id"])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return re.search(rf"^\[{link['target_btf_id']}\] TYPEDEF 'btf_trace_(\w+)'", done.stdout, re.M)[1]


def kernel_count(name):
    return int(re.search(rf"^{name} (\d+)$", pathlib.Path("/proc/stat").read_text(), re.M)[1])


def bpf_exporter(*args):
    exporter = Exporter("--monitor.interval=200ms", "--bpf.io=off", *args, binary=release_binary())
    if exporter.scrape().select("kepler_exporter_activity_reader_info", reader="procfs"):
        exporter.stop()
        skip("BPF is refused here")
    return exporter


def on_no_switch():
    """Programs are attached to what the documentation says and nothing else, and switches run none of them."""
    with counted(), bpf_exporter() as exporter:
        guarded = exporter.intervals(3).value("kepler_exporter_unseen_processes") > 0  # looked for in the second
        programs, (_, ids) = own_programs(exporter), own_ids(exporter)
        links = [link for link in bpftool("link", "show") if link["id"] in ids and link["type"] != "iter"]
        names = {program["id"]: name for name, program in programs.items()}
        found = {names[link["prog_id"]]: tracepoint_of(link) for link in links}
        print(f"  programs {sorted(programs)}, attached {found}")
        assert set(programs) <= set(ATTACHED) | CALLED, set(programs)
        assert len(links) == len(found) == len(set(programs) - CALLED) and found, links
        assert all(ATTACHED[name] == where for name, where in found.items()), found
        assert ("sched_process_exit" in found.values()) == guarded, "exits are told of only where a process is guarded"
        switches = -kernel_count("ctxt")
        load_result(load("switch", SECONDS))
        switches += kernel_count("ctxt")
        after = own_programs(exporter)
        runs = sum(after[name].get("run_cnt", 0) - programs[name].get("run_cnt", 0) for name in programs)
        print(f"  {switches / SECONDS:.0f} switches a second, {runs / SECONDS:.0f} runs of BPF programs")
        assert runs > 0, "runs are not counted: the test tests nothing"
        assert runs <= switches / 20
        assert exporter.stop() == 0


def grown(before, after, name):
    return float(after.value(name) - before.value(name))


def price_of_a_thread():
    """What an interval's passes take in the kernel, for each thread looked at; the least of some, as others preempt it, too."""
    crowd = load("idle", CROWD)
    crowd.stdout.readline()
    pids, prices, reads = children(crowd.pid), [], []
    try:
        with counted(), bpf_exporter() as exporter:
            for _ in range(WINDOWS):
                before, programs = exporter.intervals(1), own_programs(exporter)
                time.sleep(0.3)
                after, later = balanced(exporter.intervals(1)), own_programs(exporter)
                walked, sent = (grown(before, after, f"kepler_exporter_tasks_{what}_total") for what in ("walked", "sent"))
                assert sent <= walked / 10, f"{sent:.0f} of {walked:.0f} threads that sleep are reported to user space"
                took = sum(later[name].get("run_time_ns", 0) - programs[name].get("run_time_ns", 0)
                           for name in CALLED & set(programs))
                if walked >= CROWD:
                    prices.append(took / walked)
                    reads.append(stat_read_ns(pids))
            print("  ns a thread: " + ", ".join(f"{price:.0f}, a read {read:.0f}" for price, read in zip(prices, reads)))
            assert prices, "no pass in any window"
            assert 0 < min(prices) <= min(reads) * OF_A_READ
            assert exporter.stop() == 0
    finally:
        crowd.kill()
        crowd.wait()


run_tests([on_no_switch, price_of_a_thread])
