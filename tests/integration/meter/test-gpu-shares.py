#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One board of NVIDIA's and several at once that use it: instances (MIG), clients of MPS, and processes that take turns. Each gets
its own part, and the parts sum to the board's energy, to the microjoule."""
import contextlib
import shutil
import subprocess
import tempfile
import uuid as uuids

from gpu_rig import machine, node_uj, process_j, settled, sleepers, uuid, wait_until
from rig import close, run_tests

BOARD = "gpu 0 300000"


def shares_of(pids, *lines, options=()):
    """What each process has of a board, when the last one has something."""
    with machine(BOARD, *lines, options=options) as (_, exporter):
        metrics = wait_until(exporter, lambda metrics: all(process_j(metrics, pid) > 20 for pid in pids))
        assert metrics.value("kepler_exporter_source_up", zone="gpu", package=uuid(0)) == 1
        return [process_j(metrics, pid) for pid in pids]


def instances_have_their_own_activity():
    """Two of one size, 3:1 by what GPM has of them, and 1:9 by memory."""
    idle = ["gpu 0 0", "mig 0 1 60 3 0", "mig 0 2 60 3 0"]
    with sleepers(2) as (first, second), machine(*idle) as (gpus, exporter):
        processes = [f"proc 0 {first} 0 1000 1", f"proc 0 {second} 0 9000 2"]
        began, first_mj = settled(gpus, exporter)
        gpus.say(BOARD, "mig 0 1 60 3 90", "mig 0 2 60 3 30", *processes)
        wait_until(exporter, lambda metrics: node_uj(metrics, 0) - node_uj(began, 0) > 1e9)
        gpus.say(*idle, *processes)
        metrics, last_mj = settled(gpus, exporter)
        assert node_uj(metrics, 0) - node_uj(began, 0) == (last_mj[0] - first_mj[0]) * 1000
        close("of two instances", process_j(metrics, first) / process_j(metrics, second), 3, 2)
        both_j = process_j(metrics, first) + process_j(metrics, second)
        close("both of the board", both_j / (last_mj[0] - first_mj[0]) * 1000, 1, 1)


def clients_of_mps_share_by_use():
    """They are in two lists, the server is in one; by their samples, or where there are none by memory, each once."""
    with sleepers(3) as (first, second, server):
        processes = [f"mps 0 {first} 60 1000", f"mps 0 {second} 20 3000", f"proc 0 {server} 0 500"]
        one, other = shares_of((first, second), *processes)
        close("of two clients", one / other, 3, 2)
        one, other, own = shares_of((first, second, server), *processes, "nosamples 0")
        close("by memory", other / one, 3, 2)
        close("of the server, by its own memory", one / own, 2, 2)


def processes_that_take_turns_share_by_use():
    """Replicas of one board, as device plugins share it in time."""
    with sleepers(3) as pids:
        lines = [f"proc 0 {pid} {sm} 100" for pid, sm in zip(pids, (50, 30, 20))]
        first, second, third = shares_of(pids, *lines)
        close("the first of the second", first / second, 5 / 3, 2)
        close("the second of the third", second / third, 1.5, 2)


def instances_hold_their_slices():
    """Nothing is busy; the board's idle energy goes to holders by slices, 4 and 3 of 7, of which the latter has two."""
    options = ("--idle.mode=fixed", "--idle.watts=gpu=300", "--gpu.idle=holder")
    with sleepers(3) as pids:
        lines = [f"proc 0 {pid} 0 1 {instance}" for pid, instance in zip(pids, (1, 2, 2))]
        first, second, third = shares_of(pids, "mig 0 1 64 4 0", "mig 0 2 60 3 0", *lines, options=options)
        close("4 slices of half of 3", first / second, 8 / 3, 1)
        close("two that hold the same", second / third, 1, 1)


@contextlib.contextmanager
def hypervisors(count):
    """Processes that run, and are virtual machines by their name and command line: their UUIDs, and pids."""
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copy("/bin/sh", f"{folder}/qemu-system-x86_64")
        names = [str(uuids.uuid4()) for _ in range(count)]
        loop = "while :; do sleep 0.1; done"
        processes = [subprocess.Popen([program, "-c", loop, "-name", f"guest={name[:8]}", "-uuid", name]) for name in names]
        try:
            yield names, [process.pid for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()


def virtual_machines_have_their_vgpus():
    """One of them has two; one has a machine that runs elsewhere, whose part is no other's."""
    with hypervisors(2) as (names, pids):
        lines = [f"vgpu 0 30 {names[0].upper()}", f"vgpu 0 15 {names[1]}", f"vgpu 0 30 {names[0]}", f"vgpu 0 15 {uuids.uuid4()}"]
        with machine(BOARD, *lines) as (_, exporter):
            metrics = wait_until(exporter, lambda metrics: all(process_j(metrics, pid) > 100 for pid in pids))
            unseen = float(metrics.sum("kepler_node_unattributed_joules_total", zone="gpu", reason="unseen"))
            first, second = (process_j(metrics, pid) for pid in pids)
            close("two vGPUs of one", first / second, 4, 5)
            assert unseen > second * 0.95, (unseen, second)
            rows = {labels["vm_id"] for labels, value in metrics.select("kepler_vm_gpu_joules_total") if float(value) > 0}
            assert rows == set(names), rows


run_tests([instances_have_their_own_activity, clients_of_mps_share_by_use, processes_that_take_turns_share_by_use,
           instances_hold_their_slices, virtual_machines_have_their_vgpus])
