#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of a virtual machine that knows recent history, trained by kepler-model from paired rows: the guest's CPU time, and what
the host charged it. The estimates are Kepler's own (vm_guest.c); the truth shares no code with it.

The first host is a law: demand grows with load, and a budget for turbo ends after tens of seconds of it. The other is a real
machine: six runs of a host and its guest at the same time (../shared/data/vm, or KEPLER_SHARED), predicted from each other.
"""
import csv
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

import virtual_machine
from rig import BUILD, run_tests, skip

MODEL = pathlib.Path(BUILD, "kepler-model")
GUEST = pathlib.Path(BUILD, "tests/accuracy/vm_guest")
PAIRS = virtual_machine.SHARED / "vm"
NOW = "bpf_cpu_time_ms"
RECENT = f"{NOW},{NOW}_mean_10s,{NOW}_mean_30s,{NOW}_mean_90s"
CPUS, LIMIT_W, TURBO_S = 16, 80.0, 28.0


class Run:
    """@rows: (s, ms of CPU time per s, true W) at the end of each step."""

    def __init__(self, name, rows, step_s):
        self.name, self.rows, self.step_s = name, rows, step_s


def lawful_run(seed):
    """Above the limit, power holds until its own mean over half a minute has reached it, then it is the limit. What a second of
    work costs varies by 3 %."""
    rng, rows, load, mean_w = random.Random(f"turbo {seed}"), [], 0.0, 0.0
    for step in range(240):
        if step % rng.choice((4, 8, 16)) == 0:
            load = rng.choice((0.0, 0.1, 0.25, 0.5, 0.75, 1.0))
        busy = min(1.0, max(0.0, load + rng.gauss(0.0, 0.01)))
        watts = (60.0 * busy + 60.0 * busy ** 2) * math.exp(rng.gauss(0.0, 0.03))
        for _ in range(50):  # a tenth of a second each
            if mean_w >= LIMIT_W:
                watts = min(watts, LIMIT_W)
            mean_w += (watts - mean_w) * 0.1 / TURBO_S
        rows.append((5.0 * (step + 1), busy * CPUS * 1000, watts))
    return Run(f"law {seed}", rows, 5)


def paired_runs():
    paths = sorted(PAIRS.glob("*.csv.gz"))
    if not paths:
        skip(f"the paired runs of a host and its guest are not here: {PAIRS}; KEPLER_SHARED names the folder above data")
    runs = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [(float(row["unix"]), float(row["vm-kepler_process_bpf_cpu_time_ms_total--absolute"]),
                     float(row["metal-kepler_vm_package_joules_total--dynamic"])) for row in csv.DictReader(file)]
        runs.append(Run(path.name, rows, 3))
    return runs


THIS_TYPE = ("--machine.processor=intel_xeon_e_2278g", f"--machine.cores={CPUS}")


def train(runs, features, folder, *words):
    """A model of the host's type, its error found on whole runs."""
    paths = []
    for number, run in enumerate(runs):
        paths.append(pathlib.Path(folder, f"{number}.csv"))
        lines = [f"{time:.3f},{busy:.3f},{watts:.4f}" for time, busy, watts in run.rows]
        paths[-1].write_text("\n".join([f"timestamp,{NOW},package_power", *lines]) + "\n", encoding="utf-8")
    model = pathlib.Path(folder, "model.json")
    done = subprocess.run([MODEL, "train-from-data", *paths, *(words or (*THIS_TYPE, f"--folds={len(paths)}")),
                           "--output-type=DynPower", f"--features={features}", f"--output={model}"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return model


def estimate(model, run, vcpus, host_cpus=CPUS, processor=None):
    """(W, bound in W) of each step but the first, which has no time."""
    seen = []
    for _, busy, _ in run.rows[1:]:
        busy_ns = min(busy / 1000 / vcpus, 1.0) * vcpus * run.step_s * 1e9
        seen.append([round(run.step_s * 1e9), round(busy_ns), round(busy_ns), round(vcpus * run.step_s * 1e9 - busy_ns), 0])
    answers = virtual_machine.estimate(str(GUEST), str(model), vcpus, seen, host_cpus, 0.0, 1e-6, processor)
    return [(watts * virtual_machine.INTERVAL_S / run.step_s, bound) for watts, bound in answers]


class Found:
    """MAPE above 5 % of range, mean error in % of range, error of the energy in %, by run; coverage of the bound."""

    def __init__(self):
        self.mape, self.of_range, self.energy, self.inside = [], [], [], []

    def add(self, run, answers):
        true = [watts for _, _, watts in run.rows[1:]]
        span = max(true) - min(true)
        high = [abs(watts - real) / real for real, (watts, _) in zip(true, answers) if real > 0.05 * span]
        off = [abs(watts - real) for real, (watts, _) in zip(true, answers)]
        self.mape.append(100 * sum(high) / len(high))
        self.of_range.append(100 * sum(off) / len(off) / span)
        self.energy.append(100 * (sum(watts for watts, _ in answers) / sum(true) - 1))
        self.inside += [abs(watts - real) <= bound for real, (watts, bound) in zip(true, answers)]

    def __str__(self):
        return (f"MAPE {mean(self.mape):.1f} %, {mean(self.of_range):.1f} % of range, energy {mean(self.energy):+.1f} %, at worst "
                f"{max(self.energy, key=abs):+.1f} %, {100 * mean(self.inside):.0f} % in the bound")


def mean(values):
    return sum(values) / len(values)


def judge(splits, features, vcpus):
    """@splits: (the runs that are trained on, the runs that are predicted)."""
    found = Found()
    for known, unknown in splits:
        with tempfile.TemporaryDirectory(prefix="kepler-vm-") as folder:
            model = train(known, features, folder)
            for run in unknown:
                found.add(run, estimate(model, run, vcpus))
    return found


def same_point_of_the_plan(splits):
    """All runs had the same loads at the same times. The mean of the known runs, each moved by up to 24 s so that it fits best, is
    what can be known of another run's power from its work alone."""
    found = Found()
    for known, unknown in splits:
        for run in unknown:
            true, moved = [watts for _, _, watts in run.rows], []
            for other in known:
                watts = [other.rows[0][2]] * 8 + [watts for _, _, watts in other.rows] + [other.rows[-1][2]] * 8
                moved.append(min((watts[by:by + len(true)] for by in range(17)),
                                 key=lambda part: sum((a - b) ** 2 for a, b in zip(part, true))))
            found.add(run, [(mean(column), math.inf) for column in zip(*moved)][1:])
    return found


def each_from_the_others(runs):
    return [([other for other in runs if other is not run], [run]) for run in runs]


def turbo_that_ends_is_learned():
    runs = [lawful_run(seed) for seed in range(6)]
    alone, recent = (judge(each_from_the_others(runs)[:3], features, CPUS) for features in (NOW, RECENT))
    print(f"the law, CPU time alone: {alone}\nthe law, with its recent means: {recent}")
    assert mean(recent.of_range) < 0.6 * mean(alone.of_range), "the recent means do not help"
    assert mean(recent.mape) < 6 and abs(mean(recent.energy)) < 2 and max(map(abs, recent.energy)) < 6
    assert 0.85 < mean(recent.inside) < 0.97


def training_and_estimates_have_the_same_mean():
    """The model is a line through both features, so the estimate shows the mean that Kepler has computed."""
    run = lawful_run(7)
    with tempfile.TemporaryDirectory(prefix="kepler-vm-") as folder:
        model = pathlib.Path(folder, "model.json")
        features = [{"name": name, "unit": "ms/s", "scale": 1000, "minimum": 0, "maximum": CPUS * 1000}
                    for name in RECENT.split(",")]
        model.write_text(json.dumps({
            "format": "kepler-model", "version": 1, "name": "line", "output": "DynPower", "machine": {"cores": CPUS},
            "components": [{"name": "package", "features": features, "error": {"bound_w": 1},
                            "predictor": {"form": "linear", "weights": [0, 2, 5, 3, 4]}}]}), encoding="utf-8")
        answers = estimate(model, run, CPUS)
        recent = [run.rows[1][1]] * 3
        for (_, busy, _), (watts, _) in zip(run.rows[1:], answers):
            recent = [busy + (past - busy) * math.exp(-run.step_s / tau_s) for past, tau_s in zip(recent, (10, 30, 90))]
            expected_w = sum(weight * value for weight, value in zip((2, 5, 3, 4), (busy, *recent))) / 1000
            assert not busy or abs(watts - expected_w) < 1e-3, (watts, busy, recent)  # nothing ran: 0 W
        rows = pathlib.Path(folder, "rows.csv")
        lines = [f"{time},{busy},{watts if busy else ''}" for (time, busy, _), (watts, _) in zip(run.rows[1:], answers)]
        rows.write_text("\n".join([f"timestamp,{NOW},package_power", *lines]) + "\n", encoding="utf-8")
        done = subprocess.run([MODEL, "validate", model, rows, "--format=json"], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["results"][0]["mae_w"] < 1e-3, done.stdout


def paired_runs_of_a_real_machine():
    """Whether it is predicted from all other runs or from earlier ones alone, it is close to what can be known."""
    runs = paired_runs()
    by_time = sorted(runs, key=lambda run: run.rows[0][0])
    for title, splits in (("each run from the other five", each_from_the_others(runs)),
                          ("later runs from the first three", [(by_time[:3], by_time[3:])])):
        alone, recent = (judge(splits, features, 14) for features in (NOW, RECENT))
        known = same_point_of_the_plan(splits)
        print(f"{title}, CPU time alone: {alone}\n{title}, with its recent means: {recent}\n{title}, the limit: {known}")
        assert mean(recent.mape) < mean(known.mape) + 2.5 and mean(recent.of_range) < mean(known.of_range) + 1.0
        assert mean(recent.of_range) < 0.85 * mean(alone.of_range), "the recent means do not help"
        assert abs(mean(recent.energy)) < abs(mean(known.energy)) + 1 and max(map(abs, recent.energy)) < 6.5
        assert 0.85 < mean(recent.inside) < 0.95


def ec2_run(name):
    """The rows of a machine in the order of load, above the power of its fiftieth part with the least CPU time."""
    path = virtual_machine.SHARED / f"ec2/{name}_BPFOnly_package.csv"
    if not path.exists():
        skip(f"the rows of other machines are not here: {path}; KEPLER_SHARED names the folder above data")
    with open(path, encoding="utf-8") as file:
        found = sorted((float(row[NOW]), float(row["package_power"])) for row in csv.DictReader(file))
    idle_w = mean([watts for _, watts in found[:max(1, len(found) // 50)]])
    return Run(name, [(5.0 * number, busy, max(0.0, watts - idle_w)) for number, (busy, watts) in enumerate(found)], 5)


def with_right_energy(run, answers):
    """As if the guest knew how much its host draws in all."""
    factor = sum(watts for _, _, watts in run.rows[1:]) / sum(watts for watts, _ in answers)
    return [(watts * factor, bound * factor) for watts, bound in answers]


def from_rows_beside(run):
    """The mean of the two rows on each side, which have nearly the same CPU time: no function of it is closer."""
    watts = [watts for _, _, watts in run.rows]
    return [(mean(watts[max(0, at - 2):at] + watts[at + 1:at + 3]), 0) for at in range(1, len(watts))]


def the_bound_covers_another_type_of_machine():
    """Models of whole hosts by CPU time, for a guest that has all of another host: the error is large, and the bound says so. Half
    of it is in the machine's own rows: some of them with the same CPU time differ that much."""
    types = {"ec2_c5.metal": "intel_xeon_platinum_8275cl", "ec2_m5.metal": "intel_xeon_platinum_8259cl",
             "ec2_r5.metal": "intel_xeon_platinum_8259cl", "ec2_m7i.metal-24xl": "intel_xeon_platinum_8488c"}
    runs = {name: ec2_run(name) for name in types}
    found, scaled, limit = Found(), Found(), Found()
    for name, known in runs.items():
        with tempfile.TemporaryDirectory(prefix="kepler-vm-") as folder:
            model = train([known], NOW, folder, f"--machine.processor={types[name]}", "--machine.cores=96", "--machine.chips=2",
                          "--machine.memory=1", "--machine.frequency=3500", "--validation=random")
            for other, run in runs.items():
                if other != name:
                    answers = estimate(model, run, 96, 96, types[other])
                    found.add(run, answers)
                    scaled.add(run, with_right_energy(run, answers))
        limit.add(known, from_rows_beside(known))
    print(f"another type of machine: {found}\nwith the right energy in sum: {scaled}\nthe limit of its own CPU time: {limit}")
    assert 0.85 < mean(found.inside) < 0.95 and mean(found.mape) < 50
    assert mean(limit.mape) < mean(scaled.mape) < mean(found.mape), "no limit"


if __name__ == "__main__":
    run_tests([turbo_that_ends_is_learned, training_and_estimates_have_the_same_mean, paired_runs_of_a_real_machine,
               the_bound_covers_another_type_of_machine])
