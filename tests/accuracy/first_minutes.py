# SPDX-License-Identifier: Apache-2.0
"""
How wrong are containers while idle power is not learned? The meter says no idle part, and Kepler has just begun. Judged is the
dynamic energy of each container in the first ten minutes, and in the ten that follow.
"""
import functools
import os
import random

import machine
import replayed
import scenarios
from machine import Phase, Program

MINUTES = 600
BEFORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "first_minutes_before.txt")


def services(count, duty, cpus=None):
    kinds = ("web", "branchy", "scalar", "integer")
    return [Program(f"service-{number}", [Phase(kinds[number % 4], duty, (10.0, 30.0))], cpus=cpus) for number in range(count)]


def quiet(_):
    return [scenarios.daemon()] + services(3, (0.01, 0.05))


def second_socket(_):
    """All work is pinned to the first socket, but for what the system does anywhere."""
    return [scenarios.daemon(), Program("agent", [Phase("branchy", (0.005, 0.02))], cpus=(8, 10))] + services(
        3, (0.1, 1.0), scenarios.first_cpus(0, 1, 2, 3))


def flat_dram(_):
    """Nothing misses the caches, so that memory draws the same whatever runs."""
    return [Program(f"{name}", [Phase("integer", duty, (5.0, 15.0))], cpus=scenarios.first_cpus(core))
            for core, (name, duty) in enumerate((("light", (0.0, 0.2)), ("heavy", (0.3, 1.0)), ("bursts", (0.0, 1.0))))]


def never_idle(rng):
    kinds = ["web", "branchy", "scalar", "integer"]
    rng.shuffle(kinds)
    return [scenarios.daemon()] + [Program(kind, [Phase(kind, (0.6, 1.0), (10.0, 30.0))], threads=2,
                                           cpus=scenarios.cpus_of(core)) for core, kind in enumerate(kinds)]


def always_full(rng):
    kinds = ["web", "branchy", "scalar", "integer"]
    rng.shuffle(kinds)
    return [Program(kind, [Phase(kind)], threads=2, cpus=scenarios.cpus_of(core)) for core, kind in enumerate(kinds)]


class Start:
    def __init__(self, name, title, make, zone="pkg", judged=None, **params):
        self.name, self.title, self.make, self.zone, self.judged, self.params = name, title, make, zone, judged, params


STARTS = [
    Start("quiet", "quiet server", quiet),
    Start("second-socket", "second socket that nearly nothing uses", second_socket, judged=("daemon", "agent"), sockets=2),
    Start("flat-dram", "DRAM that no load moves", flat_dram, zone="dram"),
    Start("never-idle", "never less than 60 % busy", never_idle),
    Start("always-full", "constant full load", always_full),
]


@functools.lru_cache(maxsize=None)
def trace_of(name, seed):
    start = next(start for start in STARTS if start.name == name)
    return machine.simulate(start.make(random.Random(f"{name} {seed}")), 2 * MINUTES, seed, **start.params)


def energies(parts, begin, end, judged=None):
    out = {}
    for interval in parts[begin:end]:
        for container, joules in interval.items():
            if judged and container not in judged:
                continue
            out[container] = out.get(container, 0.0) + joules
    return out


def errors(start, program, seeds):
    """W by which a container is off on average: in the first ten minutes, and in those that follow."""
    result = []
    for begin in (0, MINUTES):
        off, containers = 0.0, 0
        for seed in seeds:
            trace = trace_of(start.name, seed)
            truth = energies(trace.truth(start.zone), begin, begin + MINUTES, start.judged)
            said = energies(estimates(program, start.name, start.zone, seed), begin, begin + MINUTES, start.judged)
            off += sum(abs(said.get(name, 0.0) - truth.get(name, 0.0)) for name in set(said) | set(truth))
            containers += len(truth)
        result.append(off / MINUTES / containers)
    return result


@functools.lru_cache(maxsize=None)
def estimates(program, name, zone, seed):
    return replayed.estimate(program, trace_of(name, seed), zone, idle_known=False, counts=(MINUTES, 2 * MINUTES))


def true_power(start, seeds):
    """W of a container's dynamic power on average."""
    each = [energies(trace_of(start.name, seed).truth(start.zone), 0, 2 * MINUTES, start.judged) for seed in seeds]
    return sum(sum(energy.values()) for energy in each) / sum(len(energy) for energy in each) / (2 * MINUTES)


def read_before():
    """Of the release before bounds were used: name -> errors()."""
    with open(BEFORE, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {name: (float(first), float(later)) for name, first, later in lines}
