# SPDX-License-Identifier: Apache-2.0
"""
The scenarios of docs/accuracy.md. Each makes programs from a seed, so that kinds of work, phases and duties differ between
seeds and are the same for every method. The first LEARNING seconds of a trace are not judged: what learns, learns in them.
"""
import random

from machine import Phase, Program

LEARNING = 120


class Scenario:
    def __init__(self, name, title, make, seconds=300, zone="pkg", judged=None, reach=None, published="–", expected="–", **params):
        self.name, self.title, self.make, self.seconds, self.zone = name, title, make, seconds, zone
        self.judged, self.reach, self.published, self.expected, self.params = judged, reach, published, expected, params


def cpus_of(*cores):
    return tuple(cpu for core in cores for cpu in (core * 2, core * 2 + 1))


def first_cpus(*cores):
    """One CPU of each core, so that nothing is paired."""
    return tuple(core * 2 for core in cores)


def daemon():
    """The services of every machine: 3 % of a CPU."""
    return Program("daemon", [Phase("branchy", (0.02, 0.04))])


def varied(kind, low=0.3, high=1.0, **rest):
    """A load that changes every few seconds, as that of a service does."""
    return [Phase(kind, (low, high), (4.0, 12.0), **rest)]


def alone(_):
    return [daemon(), Program("a", varied("scalar"), threads=2, cpus=first_cpus(0, 1))]


def shared(rng):
    other = rng.choice(("integer", "vector", "web"))
    return alone(rng) + [Program("b", varied(other), threads=2, cpus=first_cpus(2, 3))]


def intensity(rng):
    kinds = ["integer", "vector", "branchy", "pointer"]
    rng.shuffle(kinds)
    return [daemon()] + [Program(f"{kind}", varied(kind), cpus=first_cpus(core)) for core, kind in enumerate(kinds)]


def intensity_steady(rng):
    """The same loads all the time: nothing changes from which a regression could learn."""
    kinds = ["integer", "vector", "branchy", "pointer"]
    rng.shuffle(kinds)
    return [daemon()] + [Program(f"{kind}", [Phase(kind, (0.9, 0.9))], cpus=first_cpus(core)) for core, kind in enumerate(kinds)]


def smt(rng):
    kinds = ["integer", "scalar", "branchy", "web"]
    rng.shuffle(kinds)
    programs = [daemon()]
    # Two pairs, and two programs that have a core for themselves.
    for number, kind in enumerate(kinds):
        programs.append(Program(f"pair-{kind}", varied(kind), cpus=(number,)))
    programs.append(Program("alone-1", varied(rng.choice(kinds)), cpus=first_cpus(2)))
    programs.append(Program("alone-2", varied(rng.choice(kinds)), cpus=first_cpus(3)))
    return programs


def smt_alike(_):
    """The same work everywhere: only the pairing differs."""
    return [daemon()] + [Program(f"pair-{cpu}", varied("scalar"), cpus=(cpu,)) for cpu in range(4)] + [
        Program("alone-1", varied("scalar"), cpus=first_cpus(2)), Program("alone-2", varied("scalar"), cpus=first_cpus(3))]


def sockets(rng):
    light, heavy = rng.choice(("branchy", "web")), rng.choice(("integer", "vector"))
    return [Program("heavy", varied(heavy, 0.6), threads=4, cpus=first_cpus(0, 1, 2, 3)),
            Program("light", varied(light, 0.6), threads=4, cpus=first_cpus(4, 5, 6, 7))]


def sockets_mixed(rng):
    """Two programs on each socket."""
    kinds = ["integer", "vector", "branchy", "web"]
    rng.shuffle(kinds)
    return [daemon()] + [Program(f"{kind}-{place}", varied(kind), threads=2, cpus=first_cpus(*cores))
                         for place, kind, cores in zip((0, 0, 1, 1), kinds, ((0, 1), (2, 3), (4, 5), (6, 7)))]


def dvfs(rng):
    caps = [1.2, 2.0, 2.8, None]
    rng.shuffle(caps)
    programs = [daemon()]
    for core, cap in enumerate(caps):
        programs.append(Program(f"at-{cap or 'turbo'}", varied("scalar", cap_ghz=cap), cpus=first_cpus(core)))
    return programs


def dvfs_kinds(rng):
    """Kinds of work and frequencies mixed, and changing."""
    programs = [daemon()]
    for core, kind in enumerate(("integer", "scalar", "web", "branchy")):
        caps = [1.2, 2.0, None]
        rng.shuffle(caps)
        programs.append(Program(kind, [Phase(kind, (0.3, 1.0), (6.0, 14.0), cap_ghz=cap) for cap in caps], cpus=first_cpus(core)))
    return programs


def noisy(rng):
    return [daemon(), Program("victim", varied("web", 0.2, 0.7), threads=3),
            Program("second", varied("scalar", 0.2, 0.7), threads=2),
            Program("noisy", [Phase(rng.choice(("vector", "integer")), (0.9, 1.0), (5, 15)), Phase("stream", (0.9, 1.0), (5, 15))],
                    threads=2)]


def memory(rng):
    return [daemon(), Program("stream", varied("stream"), cpus=first_cpus(0)),
            Program("pointer", varied("pointer"), cpus=first_cpus(1)),
            Program("cpu", varied(rng.choice(("integer", "scalar"))), threads=2, cpus=first_cpus(2, 3))]


def short(_):
    return [daemon(), Program("steady", varied("scalar", 0.4, 0.8), cpus=first_cpus(0, 1)),
            Program("short", [Phase("scalar")], spawn=30.0, life=(0.01, 0.05), cpus=first_cpus(2, 3))]


def idle_added(rng):
    return intensity(rng) + [Program("idle", [Phase("scalar", (0.0, 0.0))], start=LEARNING)]


def conspiracy(_):
    """The attacker's counters show the same work all the time; it costs more while the victim runs."""
    return [daemon(), Program("victim", [Phase("scalar", (0.9, 1.0), (6.0, 14.0)), Phase("scalar", (0.0, 0.0), (6.0, 14.0))],
                              cpus=first_cpus(0)),
            Program("attacker", [Phase("narrow")], cpus=first_cpus(1), beside=("victim", "wide"))]


def crowd(rng):
    """More threads than CPUs, of all kinds, anywhere."""
    kinds = ["integer", "scalar", "vector", "branchy", "web", "stream", "pointer"]
    return [daemon()] + [Program(f"{kind}", varied(kind, 0.1, 0.8), threads=rng.choice((1, 2))) for kind in kinds]


SCENARIOS = [
    Scenario("alone-shared", "the same work alone and shared", shared, judged=("a",), published="EfiMon 2.2 / 4.4 %", reach=2.0),
    Scenario("intensity", "co-runners of different intensity", intensity, published="1.9–4.2 % (METRION 4.2)", expected="15–40 %",
             reach=3.0),
    Scenario("intensity-steady", "likewise, all under a steady load", intensity_steady),
    Scenario("smt", "SMT pairs, of different kinds", smt, published="HaPPy 7.5 %", expected="20 %", reach=6.0),
    Scenario("smt-alike", "SMT pairs, of one kind", smt_alike, published="HaPPy 7.5 %", expected="20 %", reach=6.0),
    Scenario("sockets", "two sockets, one program each", sockets, expected="30 %+", reach=1.0, sockets=2),
    Scenario("sockets-mixed", "two sockets, two programs each", sockets_mixed, sockets=2),
    Scenario("dvfs", "DVFS mix, of one kind", dvfs, reach=6.0),
    Scenario("dvfs-kinds", "DVFS mix, of different kinds", dvfs_kinds, reach=6.0),
    Scenario("noisy", "noisy neighbour on 25 % of the threads", noisy, judged=("victim", "second"), published="Nf-PEAK 10.9 %",
             reach=8.0),
    Scenario("dram", "DRAM-bound beside CPU-bound, DRAM zone", memory, zone="dram", judged=("stream", "pointer"),
             published="METRION 16.1 %", reach=12.0),
    Scenario("dram-package", "likewise, package zone", memory),
    Scenario("short", "short-lived", short, judged=("short",), expected="100 %", reach=1.0),
    Scenario("crowd", "all kinds, more threads than CPUs", crowd),
]


def programs_of(scenario, seed):
    return scenario.make(random.Random(f"{scenario.name} {seed}"))
