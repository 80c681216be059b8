# SPDX-License-Identifier: Apache-2.0
"""Methods by name, the scenarios' traces, and what the laboratory finds: tables for docs/accuracy.md and figures for the test."""
import functools

import judge
import machine
import rules
import scenarios

SCENARIOS = {scenario.name: scenario for scenario in scenarios.SCENARIOS}
PEERS = {"/proc ratio": rules.proc_ratio, "classic": rules.classic}
CANDIDATES = {
    "CPU time": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["cpu-time"]),
    "CPU time × SMT": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["smt-time"]),
    "cycles × SMT": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["cycles-smt"]),
    "instructions": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["instructions"]),
    "cycles + instructions": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["mix"]),
    "misses": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["misses"]),
    "memory traffic": lambda trace, zone: rules.by_weight(trace, zone, rules.RATIOS["traffic"]),
    "regression": lambda trace, zone: rules.fitted(trace, zone, rules.PLAIN if zone == "pkg" else rules.MISSES),
    "regression, f²": lambda trace, zone: rules.fitted(trace, zone, rules.FAST if zone == "pkg" else rules.MISSES),
    "regression, f², factors": lambda trace, zone: rules.fitted(trace, zone, rules.FAST if zone == "pkg" else rules.MISSES, True),
}


@functools.lru_cache(maxsize=None)
def trace_of(name, seed, changes=(), quiet=0):
    """For @quiet seconds nothing runs but the services of every machine."""
    scenario = SCENARIOS[name]
    programs = scenarios.programs_of(scenario, seed)
    for program in programs:
        if program.name != "daemon":
            program.start = max(program.start, quiet)
    return machine.simulate(programs, scenario.seconds, seed, **{**scenario.params, **dict(changes)})


def figures(name, method, seeds, changes=(), quiet=0):
    """@method(trace, zone) in the scenario @name, with the constants of the physics that are in @changes."""
    scenario = SCENARIOS[name]
    traces = [trace_of(name, seed, changes, quiet) for seed in seeds]
    estimates = [method(trace, scenario.zone) for trace in traces]
    return judge.judge([trace.truth(scenario.zone) for trace in traces], estimates, scenario.judged, scenarios.LEARNING)


def blocks_of(joules):
    return [sum(joules[at:at + judge.BLOCK]) for at in range(scenarios.LEARNING, len(joules) - judge.BLOCK + 1, judge.BLOCK)]


def substitution(method, seeds, **changes):
    """
    Programs A and B alone and together, with the same random numbers. The truth of A in A+B is the meter's reading of A+B less
    that of B, as on a real machine, where no process has a meter. Gives, in per cent of the true energy of A: by how much the
    method is off from that truth, and by how much that truth is off from the physical one; each with its interval.
    """
    off, truth_off = [], []
    for seed in seeds:
        both, first, second = parts_of_pair(seed)
        traces = [machine.simulate(programs, 240, seed, **changes) for programs in (both, second)]
        meters = [[interval.pkg[0] for interval in trace.intervals] for trace in traces]
        substituted = blocks_of([a - b for a, b in zip(*meters)])
        estimate = method(traces[0], "pkg")
        physical = blocks_of([parts["a"] for parts in traces[0].truth("pkg")])
        ours = blocks_of([parts.get("a", 0.0) for parts in estimate])
        off += list(zip(ours, substituted, physical))
    return summary([(est - sub, true) for est, sub, true in off]), summary([(sub - true, true) for _, sub, true in off])


def parts_of_pair(seed):
    """A is a service on two cores, B a batch job on the two others."""
    both = scenarios.shared(scenarios.random.Random(f"substitution {seed}"))
    return both, [program for program in both if program.name != "b"], [program for program in both if program.name != "a"]


def summary(pairs):
    """Sum of differences in per cent of the sum of truths, with a 90 % interval by a bootstrap of blocks."""
    def ratio(some):
        return 100.0 * sum(difference for difference, _ in some) / sum(true for _, true in some)
    rng = scenarios.random.Random(1)
    drawn = judge.quantiles([ratio([pairs[rng.randrange(len(pairs))] for _ in pairs]) for _ in range(400)])
    return ratio(pairs), drawn


def alone_and_shared(method, seeds):
    """EfiMon's measure: by how many per cent the energy of the same work differs alone and shared; as said, and really."""
    said, really = [], []
    for seed in seeds:
        both, first, _ = parts_of_pair(seed)
        traces = [machine.simulate(programs, 240, seed) for programs in (first, both)]
        per_work = [[], []]
        for trace in traces:
            judged = trace.intervals[scenarios.LEARNING:]
            work = sum(share.instr for interval in judged for share in interval.shares if share.name == "a")
            estimate = method(trace, "pkg")[scenarios.LEARNING:]
            per_work[0].append(sum(parts.get("a", 0.0) for parts in estimate) / work)
            per_work[1].append(sum(parts["a"] for parts in trace.truth("pkg")[scenarios.LEARNING:]) / work)
        said.append(100.0 * (per_work[0][1] / per_work[0][0] - 1.0))
        really.append(100.0 * (per_work[1][1] / per_work[1][0] - 1.0))
    return said, really


def idle_added(method, seeds):
    """By how many joules the others' energy changes, at most, when a container that never runs is added."""
    worst = 0.0
    for seed in seeds:
        sums = []
        for add in (False, True):
            make = scenarios.idle_added if add else scenarios.intensity
            trace = machine.simulate(make(scenarios.random.Random(f"idle {seed}")), 200, seed)
            out = {}
            for parts in method(trace, "pkg"):
                for name, joules in parts.items():
                    out[name] = out.get(name, 0.0) + joules
            sums.append(out)
        worst = max([worst] + [abs(sums[1].get(name, 0.0) - joules) for name, joules in sums[0].items()])
    return worst


def charged_of_victim(method, seeds):
    """
    Energy that a victim is charged over its true energy. Another program's work, the same for all counters, costs six times as
    much while the victim runs, so that by the power of the package it is the victim's that costs.
    """
    charged = true = 0.0
    for seed in seeds:
        trace = machine.simulate(scenarios.conspiracy(scenarios.random.Random(f"conspiracy {seed}")), 300, seed)
        charged += sum(blocks_of([parts.get("victim", 0.0) for parts in method(trace, "pkg")]))
        true += sum(blocks_of([parts["victim"] for parts in trace.truth("pkg")]))
    return charged / true


TEST_SEEDS = (0, 1)
COUNTERS = ("cpu_cycles", "cpu_ref_cycles", "cpu_instructions", "cache_miss")
NO_COUNTERS = COUNTERS + ("memory_traffic",)


def write_measured(path, method):
    with open(path, "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: Apache-2.0\n"
                   "# MAPE of Kepler by scenario, seeds 0 and 1: tests/accuracy/run --kepler PROGRAM --measure THIS\n")
        for name in SCENARIOS:
            file.write(f"{name} {figures(name, method, TEST_SEEDS).mape:.2f}\n")


def read_measured(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {name: float(mape) for name, mape in lines}


# Each constant of the physics, less and more: what do the figures depend on?
SENSITIVITY = [
    ("as assumed", ({},)),
    ("energy of a cycle ∓ 30 %", ({"e_cycle_nj": 0.385}, {"e_cycle_nj": 0.715})),
    ("differences between instructions ∓ 30 %", ({"epi_scale": 0.7}, {"epi_scale": 1.3})),
    ("slowing by a busy sibling ∓ 30 %", ({"smt_pressure": 0.63}, {"smt_pressure": 1.17})),
    ("leakage of a core ∓ 30 %", ({"leak_core_w": 0.49}, {"leak_core_w": 0.91})),
    ("leakage by temperature: none, × 2", ({"leak_per_k": 0.0}, {"leak_per_k": 0.024})),
    ("uncore that is awake: none, × 2", ({"uncore_awake_w": 0.0}, {"uncore_awake_w": 6.0})),
    ("energy of a miss in the package ∓ 30 %", ({"e_llc_nj": 5.6}, {"e_llc_nj": 10.4})),
    ("thermal resistance ∓ 30 %", ({"thermal_r": 0.315}, {"thermal_r": 0.585})),
    ("no turbo; limit of 40 W", ({"turbo_ghz": (2.6,)}, {"tdp_w": 40.0})),
    ("noise of the meter: none, 2 %", ({"meter_noise": 0.0}, {"meter_noise": 0.02})),
    ("meter reads ∓ 2 %", ({"meter_gain": 0.98}, {"meter_gain": 1.02})),
    ("noise of counters: none, 2 %", ({"counter_noise": 0.0}, {"counter_noise": 0.02})),
    ("a pair's awake energy by instructions; by energy", ({"pair": "instructions"}, {"pair": "energy"})),
]
SENSITIVE = ("intensity", "smt", "noisy", "crowd")


def sensitivity(method, seeds):
    """For each assumption: its name, and for each scenario the MAPE with each of its values."""
    for title, variants in SENSITIVITY:
        sets = [tuple(sorted(changes.items())) for changes in variants]
        yield title, [[figures(name, method, seeds, changes).mape for changes in sets] for name in SENSITIVE]
