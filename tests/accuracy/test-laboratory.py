#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The physics are consistent, Kepler books a recorded machine as independent arithmetic does, and its errors are no larger than
they were last measured: measured.txt. What it should reach, and does not, is in docs/accuracy.md.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../rig")]
import first_minutes  # noqa: E402
import laboratory  # noqa: E402
import machine  # noqa: E402
import scenarios  # noqa: E402
import virtual_machine  # noqa: E402

SKIP = 77
ROUNDING = 0.01  # of measured.txt
# Two implementations of the same rule: apart by whole microjoules and nanoseconds only.
SAME_J = 0.002
# Limit on the energy that factors may add to a container whose neighbour works against it, as a ratio.
HARM = 1.3
# MAPE in % of honest containers on a machine without counters; the ratio of run time has 30, 37 and 76.
WITHOUT_COUNTERS = {"intensity": 4.0, "dvfs": 13.0, "dram": 25.0}
# Errors of virtual machines, in % of the range.
BLIND, HINTED, FULL, BURSTS = 10.5, 7.0, 6.5, 12.0


def check_conservation():
    """The truths and the idle energy add up to what the meters count, of all sockets together."""
    quiet = {"meter_noise": 0.0, "counter_noise": 0.0}
    for name in ("crowd", "short", "sockets-mixed", "dvfs-kinds"):
        scenario = laboratory.SCENARIOS[name]
        for pair in ("equal", "instructions", "energy"):
            trace = machine.simulate(scenarios.programs_of(scenario, 3), 30, 3, pair=pair, **quiet, **scenario.params)
            for zone, idle in (("pkg", trace.idle_pkg), ("dram", trace.idle_dram)):
                counted = sum(sum(getattr(interval, zone)) for interval in trace.intervals)
                known = sum(sum(parts.values()) for parts in trace.truth(zone)) + idle * 30 * trace.params.sockets
                # Each reading is rounded down to RAPL's unit.
                assert abs(counted - known) < 0.01, (name, pair, zone, counted, known)


def check_pair():
    """Two threads that do the same on one core have the same energy each: less than on two cores, more than half of it."""
    def watts(*programs):
        trace = machine.simulate(list(programs), 20, 5, uncore_awake_w=0.0, leak_per_k=0.0, turbo_ghz=(2.6,))
        return [sum(parts[name] for parts in trace.truth("pkg")) / 20 for name in ("a", "b") if name in trace.truth("pkg")[0]]

    def program(name, cpu):
        return machine.Program(name, [machine.Phase("scalar")], cpus=(cpu,))
    paired = watts(program("a", 0), program("b", 1))
    apart = watts(program("a", 0), program("b", 2))
    alone = watts(program("a", 0))
    assert abs(paired[0] - paired[1]) < 1e-6, paired
    assert abs(apart[0] - alone[0]) < 0.001, (apart, alone)  # they share the path to memory
    assert 0.5 * alone[0] < paired[0] < 0.75 * alone[0], (paired, alone)


def check_same(program):
    """Rules that are in both: each block of each container, in joules."""
    import replayed
    rules = {"cpu-time": "CPU time", "cycles": "cycles × SMT", "cycles-instructions": "cycles + instructions",
             "instructions": "instructions"}
    for name in ("smt", "sockets-mixed", "short"):
        trace = laboratory.trace_of(name, 0)
        for option, rule in rules.items():
            ours = replayed.method(program, f"--attribution.package={option}")(trace, "pkg")
            theirs = laboratory.CANDIDATES[rule](trace, "pkg")
            for container in {container for parts in theirs for container in parts}:
                pairs = zip(*(laboratory.blocks_of([parts.get(container, 0.0) for parts in sums]) for sums in (ours, theirs)))
                for a, b in pairs:
                    words = f"{name}, {option}, {container}: {a:.6f} J in a block, {b:.6f} J by the laboratory"
                    assert abs(a - b) < SAME_J, words
        print(f"{name}: Kepler and the laboratory agree on {', '.join(rules)}")


def check_measured(program):
    import replayed
    kepler = replayed.method(program)
    worse = []
    measured = laboratory.read_measured(os.path.join(HERE, "measured.txt"))
    assert set(measured) == set(laboratory.SCENARIOS), "measured.txt is not of these scenarios"
    for name, before in measured.items():
        figures = laboratory.figures(name, kepler, laboratory.TEST_SEEDS)
        peers = laboratory.figures(name, laboratory.PEERS["/proc ratio"], laboratory.TEST_SEEDS)
        reach = laboratory.SCENARIOS[name].reach
        print(f"{name}: {figures.mape:.2f} %, measured before {before:.2f} %, "
              f"ratio of /proc {peers.mape:.2f} %, to reach {reach or '-'}")
        if figures.mape > before + ROUNDING:
            worse.append(f"{name}: {figures.mape:.2f} % is worse than the {before:.2f} % of measured.txt")
    assert not worse, "\n".join(worse)


def check_first_minutes(program):
    """Before idle power is learned: a third of the error that it was without a bound, and no more than that later."""
    before = first_minutes.read_before()
    assert set(before) == {start.name for start in first_minutes.STARTS}, "first_minutes_before.txt is not of these machines"
    for start in first_minutes.STARTS:
        first, later = first_minutes.errors(start, program, (0,))
        first_before, later_before = before[start.name]
        print(f"{start.name}: a container is off by {first:.3f} W in ten minutes, {later:.3f} W in the next ten; "
              f"without a bound by {first_before:.3f} and {later_before:.3f} W")
        assert first < first_before / 3 and later < later_before, start.name


def check_conspiracy(program):
    """A container that varies its work with another's makes it pay, by what only power shows, no more than HARM."""
    import replayed
    for title, lacking in (("all signals", ()), ("no counters", laboratory.NO_COUNTERS)):
        off, bounded, trusted = [
            laboratory.charged_of_victim(replayed.method(program, f"--attribution.owner-factors={how}", without=lacking),
                                         laboratory.TEST_SEEDS) for how in ("off", "bounded", "trusted")]
        print(f"conspiracy, {title}: the victim is charged {bounded:.3f} of its energy, without factors {off:.3f}, with unbounded "
              f"ones {trusted:.3f}")
        assert bounded <= HARM * off, (bounded, off)


def check_without_counters(program):
    """Where factors have to stand in for counters, bounds cost honest containers little."""
    import replayed
    kepler = replayed.method(program, without=laboratory.NO_COUNTERS)
    for name, most in WITHOUT_COUNTERS.items():
        mape = laboratory.figures(name, kepler, laboratory.TEST_SEEDS).mape
        print(f"no counters, {name}: {mape:.2f} %")
        assert mape < most, name


def check_virtual_machine(build):
    """A quick part of the table of virtual machines, with limits that are a little above what was measured."""
    if not os.path.exists(os.path.join(build, "kepler-model")):
        print("virtual machine: kepler-model is not built, so nothing trains a model")
        return
    rig = virtual_machine.Rig(build, range(3))
    hosts = rig.drawn()
    blind, hinted = rig.figures(hosts), rig.figures(hosts, known=0.1)
    full = [rig.figures(hosts, (1.4,), known=0.1, sees_steal=sees) for sees in (True, False)]
    waits = rig.figures(hosts, (1.4,))
    bursts = rig.figures(hosts, holdup=virtual_machine.Holdup(limit=None, bursts=True))
    calm = rig.figures(hosts, known=0.1, causes=virtual_machine.NO_CAUSE)
    best = rig.figures(hosts, best=True)
    assert blind.of_range() < best.of_range() + 1.0, f"the best that can be done is {best.of_range():.1f} % of range"
    for title, found, most in (("no hints", blind, BLIND), ("the load is given", hinted, HINTED), ("stolen time", full[0], FULL),
                               ("no hints, but vCPUs wait", waits, FULL), ("a limit in bursts", bursts, BURSTS),
                               ("the load is given, and nothing else varies", calm, HINTED)):
        print(f"virtual machine, {title}: {found.of_range():.1f} % of range, {found.coverage():.0f} % in the bound")
        assert found.of_range() < most, title
    assert 82 < blind.coverage() < 97 and 82 < hinted.coverage() < 97  # of three hosts: ± 3 of ten are in docs/accuracy.md
    assert min(found.coverage() for found in (full[0], waits, bursts, calm)) > 87, "a bound is too narrow"
    assert hinted.width() < 0.7 * blind.width()
    assert full[0].of_range() < 0.8 * full[1].of_range(), "stolen time counts as work"


def main():
    check_conservation()
    check_pair()
    program = os.path.join(os.environ["KEPLER_BUILD"], "kepler")
    try:
        import record_file  # noqa: F401
    except ImportError:
        print("kepler has no recordings (tests/rig/record_file.py)")
        return SKIP
    check_virtual_machine(os.environ["KEPLER_BUILD"])
    check_same(program)
    check_conspiracy(program)
    check_without_counters(program)
    check_measured(program)
    check_first_minutes(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
