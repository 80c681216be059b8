#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intel's Gaudi, by a library that stands in for the driver's: its energy to the millijoule, which no process is known for, and a
board that fails alone."""
from gpu_rig import GPU, machine, settled, wait_until
from rig import balanced, run_tests


def uuid(index):
    return f"01P4-HL3090A0-18-U4V193-22-07-{index:02d}"


def node_uj(metrics, index):
    return int(metrics.sum(GPU.format("node"), package=uuid(index)) * 10**6)


def is_up(metrics, index):
    return metrics.value("kepler_exporter_source_up", zone="gpu", package=uuid(index)) == 1


def unattributed_j(metrics, reason):
    return float(metrics.sum("kepler_node_unattributed_joules_total", zone="gpu", package=uuid(0), reason=reason))


def boards_have_their_energy():
    idle = ["gaudi 0 0 0", "gaudi 1 0 0"]
    with machine(*idle, library="hlml") as (gpus, exporter):
        wait_until(exporter, lambda metrics: is_up(metrics, 0) and is_up(metrics, 1))
        began, first_mj = settled(gpus, exporter)
        gpus.say("gaudi 0 600000 80", "gaudi 1 400000 0")
        wait_until(exporter, lambda metrics: unattributed_j(metrics, "unseen") > 600)
        gpus.say("gaudi 0 600000 80", "gaudi 1 400000 0", "error 1 15")
        down = wait_until(exporter, lambda metrics: not is_up(metrics, 1))
        assert is_up(down, 0)
        gpus.say(*idle)
        wait_until(exporter, lambda metrics: is_up(metrics, 1))
        metrics, last_mj = settled(gpus, exporter)
        got, want = node_uj(metrics, 0) - node_uj(began, 0), (last_mj[0] - first_mj[0]) * 1000
        assert got == want and want > 500_000_000, (got, want)
        assert node_uj(metrics, 1) > 0 and metrics.sum(GPU.format("process")) == 0
        info = {(labels["source"], labels["in_total"]) for labels, _ in metrics.select("kepler_zone_info", zone="gpu")}
        assert info == {("hlml", "true")}, info
        balanced(metrics)


run_tests([boards_have_their_energy])
