#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA GPUs, by a library that stands in for the driver's: energy to the millijoule, each process by its own use of each board,
and boards that fail, are lost or hang while everything else goes on."""
import os
import random
import subprocess
import time

from gpu_rig import GPU, Gpus, is_up, machine, node_uj, process_j, read_at, settled, sleepers, uuid, wait_until
from rig import KEPLER, OTHERS_ENVIRONMENT, balanced, close, load, load_result, run_tests


def each_process_has_what_it_used():
    idle = ["gpu 0 0", "gpu 1 0"]
    with sleepers(3) as (first, second, third), machine(*idle) as (gpus, exporter):
        wait_until(exporter, lambda metrics: is_up(metrics, 0) and is_up(metrics, 1))
        began, first_mj = settled(gpus, exporter)
        burner = load("span", 5)
        gpus.say("gpu 0 300000", "gpu 1 100000", f"proc 0 {first} 60 1000", f"proc 0 {second} 30 9000", f"proc 1 {third} 50 100",
                 f"proc 1 {second} 0 5000")
        for _ in range(10):
            balanced(exporter.intervals(1))
        load_result(burner)
        gpus.say(*idle)
        metrics, last_mj = settled(gpus, exporter)
        for index in (0, 1):
            got, want = node_uj(metrics, index) - node_uj(began, index), (last_mj[index] - first_mj[index]) * 1000
            assert got == want and want > 100_000_000, (index, got, want)
        drawn = [(last - before) / 1e3 for before, last in zip(first_mj, last_mj)]
        lost = sum(float(metrics.sum("kepler_node_unattributed_joules_total", zone="gpu", package=uuid(index))) for index in (0, 1))
        print(f"  {drawn[0]:.0f} and {drawn[1]:.0f} J, {lost:.0f} J before the first and after the last use")
        close("of two on a board", process_j(metrics, first) / process_j(metrics, second), 2, 2)
        close("alone on a board", (process_j(metrics, third) + lost * drawn[1] / sum(drawn)) / drawn[1], 1, 8)
        assert process_j(metrics, burner.pid) == 0 and process_j(metrics, os.getpid()) == 0
        total = {labels["zone"] for labels, _ in metrics.select("kepler_zone_info", in_total="true")}
        assert total == {"package", "gpu"}, total
        sources = {labels["source"] for labels, _ in metrics.select("kepler_node_joules_total")}
        assert sources == {"rapl-sysfs", "nvml"}, sources


def idle_j(metrics, pid):
    return float(metrics.sum(GPU.format("process"), pid=str(pid), mode="idle"))


def holders_of_a_board_are_charged_its_idle_energy():
    """One works, one does nothing and holds it, one holds nothing: to the microjoule. The package's is the node's all the same."""
    idle = ("--idle.mode=fixed", "--idle.watts=gpu=60", "--idle.watts=package=20")
    for policy in ("holder", "users", "node"):
        with sleepers(3) as (busy, quiet, other), \
                machine("gpu 0 200000", "gpu 1 0", f"proc 0 {busy} 50 1000", f"proc 0 {quiet} 0 1000",
                        options=(*idle, f"--gpu.idle={policy}")) as (gpus, exporter):
            metrics = wait_until(exporter, lambda metrics: process_j(metrics, busy) > 500)
            idle_all = float(metrics.sum("kepler_node_gpu_joules_total", mode="idle", package=uuid(0)))
            unattributed = float(metrics.sum("kepler_node_unattributed_joules_total", zone="gpu", mode="idle", package=uuid(0)))
            shares = [idle_j(metrics, pid) for pid in (busy, quiet, other)]
            print(f"  {policy}: {idle_all:.1f} J of idle energy, {shares}, {unattributed:.1f} J unattributed")
            assert idle_all > 100 and abs(sum(shares) + unattributed - idle_all) < 1e-5, metrics.text
            assert shares[2] == 0 and metrics.sum("kepler_process_package_joules_total", mode="idle") == 0
            if policy == "holder":
                close("of what works over what only holds it", shares[0] / shares[1], 1, 2)
                assert unattributed < 0.2 * idle_all
            elif policy == "users":
                assert shares[1] == 0 and shares[0] > 0.8 * idle_all
            else:
                assert shares[0] == shares[1] == 0


def without_samples_memory_decides():
    with sleepers(2) as (first, second), \
            machine("gpu 0 200000", "nosamples 0", f"proc 0 {first} 0 3000", f"proc 0 {second} 0 1000") as (_, exporter):
        metrics = wait_until(exporter, lambda metrics: process_j(metrics, second) > 100)
        close("by memory", process_j(metrics, first) / process_j(metrics, second), 3, 0.1)


def without_a_counter_power_is_summed():
    with sleepers(1) as (only,), machine("gpu 0 200000", "nocounter 0", f"proc 0 {only} 100 3000") as (_, exporter):
        began = wait_until(exporter, lambda metrics: process_j(metrics, only) > 0)
        began_s, began_uj = read_at(began), node_uj(began, 0)
        metrics = wait_until(exporter, lambda metrics: node_uj(metrics, 0) > began_uj + 1_000_000_000)
        close("power", (node_uj(metrics, 0) - began_uj) / 1e6 / (read_at(metrics) - began_s), 200, 15)
        assert metrics.value("kepler_exporter_source_up", zone="gpu") == 1


def a_board_that_fails_is_down_alone():
    with sleepers(2) as (first, second):
        boards = ["gpu 0 300000", "gpu 1 100000", f"proc 0 {first} 50 1000", f"proc 1 {second} 50 1000"]
        with machine(*boards) as (gpus, exporter):
            wait_until(exporter, lambda metrics: process_j(metrics, first) > 0 and process_j(metrics, second) > 0)
            for code in (999, 15):
                gpus.say(*boards, f"error 0 {code}")
                down = wait_until(exporter, lambda metrics: not is_up(metrics, 0))
                later = wait_until(exporter, lambda metrics: node_uj(metrics, 1) > node_uj(down, 1) + 100_000_000)
                assert is_up(later, 1) and node_uj(later, 0) == node_uj(down, 0)
                gpus.say(*boards)
                back = wait_until(exporter, lambda metrics: is_up(metrics, 0))
                assert back.value("kepler_exporter_source_up", zone="package") == 1
            # Energy that an error hid is charged to the processes that used the board meanwhile.
            wait_until(exporter, lambda metrics: process_j(metrics, first) > 2 * process_j(metrics, second))


def a_driver_that_hangs_costs_its_boards_alone():
    with machine("gpu 0 300000") as (gpus, exporter):
        wait_until(exporter, lambda metrics: is_up(metrics, 0))
        gpus.say("gpu 0 300000", "delay 0 8000")
        began = wait_until(exporter, lambda metrics: not is_up(metrics, 0))
        began_s = time.monotonic()
        later = balanced(exporter.intervals(6))
        assert time.monotonic() - began_s < 6, "intervals wait for the driver"
        name = "kepler_node_package_joules_total"
        assert later.sum(name) > began.sum(name) and later.value("kepler_exporter_source_up", zone="package") == 1
        gpus.say("gpu 0 300000")
        wait_until(exporter, lambda metrics: is_up(metrics, 0), 30)


def many_boards_are_one_column():
    lines = [f"gpu {index} {10000 + index}" for index in range(64)]
    with sleepers(2) as (first, second):
        lines += [f"proc {index} {first if index % 2 else second} 80 10" for index in range(64)]
        with machine(*lines) as (_, exporter):
            metrics = wait_until(exporter, lambda metrics: all(is_up(metrics, index) for index in range(64)))
            metrics = wait_until(exporter, lambda metrics: process_j(metrics, first) > 0 and process_j(metrics, second) > 0)
            own = [labels for labels, _ in metrics.select(GPU.format("process"), pid=str(first), mode="dynamic")]
            assert len(own) == 1 and "package" not in own[0], own


def current_names_are_of_gpus_too():
    with sleepers(1) as (only,):
        lines = ["gpu 0 100000", "gpu 1 200000", f"proc 1 {only} 80 10"]
        with machine(*lines, options=("--metrics.schema=current",)) as (_, exporter):
            # A power is not known in an interval in which a board was read too late.
            metrics = wait_until(exporter, lambda metrics: metrics.select("kepler_node_gpu_watts") and
                                 metrics.sum("kepler_process_gpu_joules_total", pid=str(only)) > 220)
            node = metrics.sum("kepler_node_gpu_joules_total")
            assert node == metrics.sum("kepler_node_gpu_active_joules_total") > 300
            for level in ("process", "container", "namespace"):
                parts = metrics.sum("kepler_node_unattributed_joules_total", zone="gpu")
                parts += metrics.sum("kepler_pending_joules", level=level, zone="gpu")
                parts += metrics.sum(f"kepler_{level}_gpu_joules_total") + metrics.sum(f"kepler_{level}_gpu_retired_joules_total")
                assert parts == node, (level, parts, node)
            boards = {(labels["gpu"], labels["gpu_uuid"]) for labels, _ in metrics.select("kepler_node_gpu_watts")}
            assert boards == {("0", uuid(0)), ("1", uuid(1))}, boards
            assert not metrics.select("kepler_node_cpu_joules_total", zone="gpu"), "a GPU is no CPU"
        with machine(*lines, options=("--metrics.schema=both",)) as (_, exporter):
            metrics = wait_until(exporter, lambda metrics: process_j(metrics, only) > 200)
            assert metrics.sum("kepler_node_gpu_active_joules_total") == metrics.sum(GPU.format("node"))


def doctor(gpus, option):
    return subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", option], text=True, capture_output=True,
                          check=False, env={**OTHERS_ENVIRONMENT, "NVML_LAB_STATE": str(gpus.state)}).stdout


def unreadable_boards_are_reported():
    gpus = Gpus()
    with gpus.folder:
        gpus.say("gpu 0 1000")
        assert uuid(0) in doctor(gpus, gpus.option)
        gpus.say("init 18")
        assert "differs from the loaded driver" in doctor(gpus, gpus.option)
        assert "cannot be loaded" in doctor(gpus, "--meter.nvml-library=/nowhere/nvml.so")
        assert "NVML" not in doctor(gpus, "--meter.nvml-library=")
    with machine("init 18") as (_, exporter):
        assert "level=warn" in exporter.output() and "differs from the loaded driver" in exporter.output(), exporter.output()


def ten_minutes_of_varying_load():
    """At night: boards that draw another power every few seconds, fail, and once hang for half a minute; each to the microjoule."""
    draw, end = random.Random(1), time.monotonic() + 600
    with sleepers(2) as (first, second):
        processes = [f"proc {index} {pid} {sm} 1000" for index in (0, 1) for pid, sm in ((first, 60), (second, 30))]
        with machine("gpu 0 0", "gpu 1 0", *processes) as (gpus, exporter):
            began, first_mj = settled(gpus, exporter)
            while time.monotonic() < end:
                powers = [f"gpu {index} {draw.randrange(700_000)}" for index in (0, 1)]
                gpus.say(*powers, *processes, *draw.choice(([], ["error 1 10"], ["error 0 10"])))
                quiet = time.monotonic() + draw.uniform(3, 9)
                while time.monotonic() < quiet:
                    balanced(exporter.intervals(1))
            gpus.say("gpu 0 300000", "gpu 1 300000", "delay 1 30000", *processes)
            down = wait_until(exporter, lambda metrics: not is_up(metrics, 1))
            stalled, slowest = time.monotonic(), 0
            while time.monotonic() < stalled + 30:
                asked = time.monotonic()
                exporter.scrape()
                slowest = max(slowest, time.monotonic() - asked)
                time.sleep(0.1)
            name = "kepler_node_package_joules_total"
            assert slowest < 1 and exporter.scrape().sum(name) > down.sum(name) + 20 * 50, slowest
            gpus.say("gpu 0 0", "gpu 1 0", *processes)
            wait_until(exporter, lambda metrics: is_up(metrics, 0) and is_up(metrics, 1), 90)
            metrics, last_mj = settled(gpus, exporter)
            for index in (0, 1):
                got, want = node_uj(metrics, index) - node_uj(began, index), (last_mj[index] - first_mj[index]) * 1000
                print(f"  board {index}: {got / 1e6:.3f} J of {want / 1e6:.3f} J; the slowest page took {slowest:.3f} s")
                assert got == want > 10**10, (got, want)
            close("one process over the other", process_j(metrics, first) / process_j(metrics, second), 2, 2)


AT_NIGHT = [ten_minutes_of_varying_load] if os.environ.get("KEPLER_LONG_TESTS") else []

run_tests([*AT_NIGHT, each_process_has_what_it_used, holders_of_a_board_are_charged_its_idle_energy, without_samples_memory_decides,
           without_a_counter_power_is_summed, current_names_are_of_gpus_too, a_board_that_fails_is_down_alone,
           a_driver_that_hangs_costs_its_boards_alone, many_boards_are_one_column, unreadable_boards_are_reported], at_once=4)
