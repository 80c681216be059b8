#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the power model of the platform zone and writes src/model/platform_power_weights.c.

usage: fit-platform-power.py SPECPOWER.csv [--write WEIGHTS.c --date YYYY-MM-DD] [--expect EXPECTED.h] [--table]
                             [--refit]

The input has one row a measured load level of a SPECpower_ssj2008 result: node_type, processor, cores, chips,
memory (GiB), frequency (MHz), bpf_cpu_time_ms, platform_power (W). It is not part of this tree.

platform_power_model.py has the model. Deterministic, standard library only.
"""
import argparse
import math
import random
import statistics
from collections import defaultdict

from platform_power_model import (KERNEL, LEVELS, LINEAR, TDP_FEATURES, CpuNames, Machine, Model, PARTS, Predictor, load, mean,
                                  tdp_of, watts_at)

FOLDS = 20
FOLD_SEEDS = (0, 1, 2, 3)
LIMITS_FROM = (0, 2009)  # first year of each class of limits by design power
TYPICAL_FROM = (0, 2009, 2012, 2016, 2019, 2021, 2023)  # first year of each class of typical machines


# ---- judging ----------------------------------------------------------------------------------------------------------------

def folds(keys, seed):
    """Each key's group, of FOLDS groups of about the same number of keys."""
    order = sorted(set(keys))
    random.Random(seed).shuffle(order)
    fold = {k: i % FOLDS for i, k in enumerate(order)}
    return [fold[k] for k in keys]


def protocols(machines):
    types, cpus = list(range(len(machines))), [m.group for m in machines]
    return {
        "types, one by one": [types],
        "types, 20 groups": [folds(types, s) for s in FOLD_SEEDS],
        "CPU models, one by one": [cpus],
        "CPU models, 20 groups": [folds(cpus, s) for s in FOLD_SEEDS],
        "generations, one by one": [[m.generation for m in machines]],
    }


def errors_of(machine, ln_w):
    rows = [(watts_at(ln_w, u) - w, w) for u, w in machine.points]
    return mean(abs(e) for e, _ in rows), mean(abs(e) / w for e, w in rows) * 100


def judge(model, groupings, asked=None):
    """Mean and median over types of each type's own error, in W and percent; means over groupings."""
    results = []
    for groups in groupings:
        e = [errors_of(m, x) for m, x in zip(model.machines, model.held_out(groups, asked))]
        mae, mape = [x for x, _ in e], [x for _, x in e]
        results.append((mean(mae), statistics.median(mae), mean(mape), statistics.median(mape)))
    return [mean(c) for c in zip(*results)]


def relative_errors(model, groups, asked=None):
    """(level, |error| / prediction, weight, type) of each row; each type weighs the same."""
    for i, (m, ln_w) in enumerate(zip(model.machines, model.held_out(groups, asked))):
        for u, w in m.points:
            p = watts_at(ln_w, u)
            yield round(u * 10), abs(w - p) / p, 1 / len(m.points), i


def quantile(pairs, share):
    """Of (value, weight); conformal: of n types, the value of the (n + 1) * share-th."""
    pairs = sorted(pairs)
    total, sum_ = sum(w for _, w in pairs), 0.0
    for value, weight in pairs:
        sum_ += weight
        if sum_ >= total * share:
            return value
    return pairs[-1][0]


def bounds(rows, share=0.9):
    """At each level: nine of ten rows lie within this share of the prediction."""
    by_level = defaultdict(list)
    for level, error, weight, _ in rows:
        by_level[level].append((error, weight))
    n = 1 + 1 / len({r[3] for r in rows})
    return [quantile(by_level[k], min(1, share * n)) for k in range(LEVELS)]


def coverage(model, groups, bound_keys, asked=None):
    """Share of rows within bounds found on the other half of @bound_keys' groups, so that neither has seen the other."""
    rows = list(relative_errors(model, groups, asked))
    inside = total = 0.0
    for seed in range(10):
        fold = folds(bound_keys, seed)
        for half in (0, 1):
            b = bounds([r for r in rows if fold[r[3]] % 2 != half])
            for level, error, weight, i in rows:
                if fold[i] % 2 == half:
                    total += weight
                    inside += weight * (error <= b[level])
    return inside / total * 100


def print_refits(machines):
    """The errors of models that were fitted anew for each group: without its machines' centres and design powers, too."""
    ways = protocols(machines)
    for name in ("types, 20 groups", "CPU models, 20 groups"):
        groups, out = ways[name][0], [None] * len(machines)
        for group in range(FOLDS):
            predict = Predictor(Model([m for m, g in zip(machines, groups) if g != group]))
            for i, m in enumerate(machines):
                if groups[i] == group:
                    out[i] = errors_of(m, predict.ln_w(m))
        mae, mape = zip(*out)
        print(f"{name}, fitted anew: {mean(mae):.1f} ({statistics.median(mae):.1f}) W, "
              f"{mean(mape):.1f} ({statistics.median(mape):.1f}) %", flush=True)


STEPS = ((), ("tdp",), ("tdp", "segment"), ("tdp", "segment", "bumps"), ("tdp", "segment", "bumps", "generation"), PARTS)


def print_table(machines):
    print("| held out | parts of the model | mean W | median W | mean % | median % |")
    print("|---|---|---|---|---|---|")
    for parts in STEPS:
        model = Model(machines, parts)
        for name, groupings in protocols(machines).items():
            e = judge(model, groupings)
            print(f"| {name} | linear{''.join(', ' + p for p in parts)} | " + " | ".join(f"{v:.1f}" for v in e) + " |")
    for name, groupings in protocols(machines).items():
        keys = [str(k) for k in groupings[0]]
        print(f"{name}: bound covers {coverage(model, groupings[0], keys):.1f} %; at each level "
              + " ".join(f"{b:.2f}" for b in bounds(list(relative_errors(model, groupings[0])))))
    asked, (cpus,) = [m.without_name() for m in machines], protocols(machines)["CPU models, one by one"]
    e = judge(model, [cpus], asked)
    print("CPU models, one by one, without names: {:.1f} ({:.1f}) W, {:.1f} ({:.1f}) %; bound covers ".format(*e)
          + f"{coverage(model, cpus, cpus, asked):.1f} %; at each level "
          + " ".join(f"{b:.2f}" for b in bounds(list(relative_errors(model, cpus, asked)))))


# ---- writing ------------------------------------------------------------------------------------------------------------------

def typical(machines):
    """Medians of a year class: what stands in for an unknown fact, and the host of a VM."""
    bounds = list(TYPICAL_FROM) + [9999]
    rows = []
    for low, high in zip(bounds, bounds[1:]):
        members = [m for m in machines if low <= m.year < high]
        sockets = statistics.median_low(m.chips for m in members)
        rows.append((low, statistics.median_low(m.cores / m.chips for m in members), sockets,
                     statistics.median_low(m.memory / m.cores for m in members),
                     statistics.median_low(m.ghz for m in members)))
    return rows


def c_row(values):
    return "{ " + ", ".join(f"{v:.6g}" for v in values) + " }"


def limits(machines, tdp_weights, level):
    """Least and most watts at a level, as a multiple of the design power of all sockets, with a margin of a quarter."""
    ratios = [math.exp(m.ln_w[level]) / (tdp_of(m, tdp_weights) * m.chips) for m in machines]
    return min(ratios) / 1.25, max(ratios) * 1.25


def weights_of(model):
    """The lines of struct power_model_weights."""
    design = model.design
    idle, load = model.idle.linear_weights(), model.load.linear_weights()
    lines = ["\t.linear = { /* ln W at each tenth of load */"]
    lines += [f"\t\t[POWER_FEATURE_{n.upper()}] = {c_row(idle[n] + load[n])}," for n in LINEAR]
    lines += ["\t},", "\t.reach = {"]
    lines += [f"\t\t[POWER_BUMP_{n.upper()}] = {s:g}," for n, s in KERNEL.items()]
    lines += ["\t},", "\t.centers = { /* facts over reach; ln W at each tenth of load */"]
    for point, a, b in zip(design.centers, model.idle.center_weights(), model.load.center_weights()):
        lines += [f"\t\t{{ {c_row(point)},", f"\t\t  {c_row(a + b)} }},"]
    lines += ["\t},", "\t.tdp = { /* ln W of a package */"]
    lines += [f"\t\t{w:.6g}, /* {n} */" for n, w in zip(TDP_FEATURES, design.tdp_weights)]
    lines += ["\t},"]
    return lines


def offsets_of(model):
    generations = [s.offsets(s.generation, lambda m: m.generation) for s in (model.idle, model.load)]
    cpus = [s.offsets(s.cpu, lambda m: m.cpu) for s in (model.idle, model.load)]
    lines = ["static const struct power_generation generations[] = {"]
    for g in sorted(generations[0]):
        vendor, year, small = g
        lines += [f'\t{{ "{vendor}", {year}, {str(small).lower()},', f"\t  {c_row(generations[0][g] + generations[1][g])} }},"]
    lines += ["};", "", "static const struct power_cpu cpus[] = { /* idle, load */"]
    lines += [f'\t{{ "{c}", {cpus[0][c][0]:.4f}, {mean(cpus[1][c]):.4f} }},' for c in sorted(cpus[0])]
    return lines + ["};"]


def population_of(machines, tdp_weights):
    def span(f):
        return min(map(f, machines)), max(map(f, machines))

    lines = ["\t.typical = { /* from year, cores a socket, sockets, GiB a core, GHz */"]
    lines += [f"\t\t{{ {int(r[0])}, {int(r[1])}, {int(r[2])}, {r[3]:.2f}, {r[4]:.2f} }}," for r in typical(machines)]
    lines += ["\t},", f"\t.year_typical = {int(statistics.median_low(m.year for m in machines))},"]
    for name, f, form in (("year", lambda m: m.year, "d"), ("cores", lambda m: int(m.cores), "d"),
                          ("sockets", lambda m: int(m.chips), "d"), ("cores_per_socket", lambda m: m.cores / m.chips, ".1f"),
                          ("memory_gib", lambda m: m.memory, ".1f"),
                          ("memory_gib_per_core", lambda m: m.memory / m.cores, ".3f"),
                          ("frequency_ghz", lambda m: m.ghz, ".1f"),
                          ("tdp_w", lambda m: tdp_of(m, tdp_weights), ".0f")):
        low, high = span(f)
        lines.append(f"\t.{name} = {{ {low:{form}}, {high:{form}} }},")
    lines.append("\t.limits = {")
    for first, last in zip(LIMITS_FROM, LIMITS_FROM[1:] + (9999,)):
        members = [m for m in machines if first <= m.year < last]
        ranges = [limits(members, tdp_weights, level) for level in (0, LEVELS - 1)]
        lines.append(f"\t\t{{ {first}, " + ", ".join(f"{{ {a:.3f}, {b:.3f} }}" for a, b in ranges) + " },")
    return lines + ["\t},"]


def write_weights(path, date, machines, row_count):
    model, ways = Model(machines), protocols(machines)
    error = {name: judge(model, groupings) for name, groupings in ways.items()}
    bound = {name: bounds(list(relative_errors(model, ways[name][0]))) for name in ways}
    cpus, asked = ways["CPU models, one by one"], [m.without_name() for m in machines]
    unnamed = judge(model, cpus, asked)
    bound["unnamed"] = bounds(list(relative_errors(model, cpus[0], asked)))
    one_by_one = ("types, one by one", "CPU models, one by one", "generations, one by one", "unnamed")
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "/*",
        f" * Written by tools/fit-platform-power.py on {date}; do not edit. Fitted weights, our own.",
        " *",
        " * Fitted to results of the SPECpower_ssj2008 benchmark (Standard Performance Evaluation Corporation, www.spec.org;",
        f" * SPEC and SPECpower_ssj are its trademarks), read from a processed table of {len(machines)} machine types and"
        f" {row_count} load levels.",
        " * Errors of machines that were held out, means (medians) over types:",
        *[f" *   {name}: {e[0]:.1f} ({e[1]:.1f}) W, {e[2]:.1f} ({e[3]:.1f}) %" for name, e in error.items()],
        " *   CPU models, one by one, names of CPUs unknown: {:.1f} ({:.1f}) W, {:.1f} ({:.1f}) %".format(*unnamed),
        " */",
        '#include "model/platform_power_weights.h"',
        "",
        '#include "base/macro.h"',
        "",
        "/* clang-format off */",
        *offsets_of(model),
        "",
        "static const struct power_model_weights weights = {",
        *weights_of(model),
        "\t.generations = generations,",
        "\t.generation_count = ARRAY_SIZE(generations),",
        "\t.cpus = cpus,",
        "\t.cpu_count = ARRAY_SIZE(cpus),",
        "\t.bound = { /* CPU model known; generation known; neither; no name */",
        *[f"\t\t{c_row(round(b, 3) for b in bound[name])}," for name in one_by_one],
        "\t},",
        *population_of(machines, model.design.tdp_weights),
        "};",
        "",
        "const struct power_model platform_power_model = {",
        '\t.name = "specpower-platform-2",',
        f'\t.trained_on = "SPECpower_ssj2008, {len(machines)} machine types",',
        f"\t.loo_mape_percent = {error['types, one by one'][2]:.1f},",
        f"\t.loo_mae_w = {error['types, one by one'][0]:.1f},",
        "\t.weights = &weights,",
        "};",
        "/* clang-format on */",
    ]
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


# ---- what the program must give -------------------------------------------------------------------------------------------

MADE_UP = (  # machines that do not exist: name of the CPU, cores, sockets, GiB, GHz, year
    ("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", 32, 2, 200, 2.1, 2017),
    ("AMD EPYC 7443 24-Core Processor", 24, 1, 100, 2.85, 2021),
    ("Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", 16, 2, 100, 2.6, 2014),
    ("Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", 30, 2, 90, 2.3, 2014),
    ("Intel(R) Xeon(R) E-2134 CPU @ 3.50GHz", 4, 1, 20, 3.5, 2018),
    ("AMD EPYC 9654 96-Core Processor", 192, 2, 700, 2.4, 2022),
    ("Intel(R) Xeon(R) CPU E7-4830 v2 @ 2.20GHz", 40, 4, 300, 2.2, 2013),
    ("AMD EPYC 7B99 48-Core Processor", 96, 2, 300, 2.5, 2021),
)


def write_expected(path, names, machines):
    """What the fitted model says of made-up machines, for the test of the program that applies the weights."""
    predictor = Predictor(Model(machines))
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */",
             "/* Written by tools/fit-platform-power.py: what the model says of made-up machines. */", "#pragma once", "",
             "/* clang-format off */", "static const struct {", "\tconst char *cpu, *vendor;",
             "\tunsigned cores, sockets, year;", "\tdouble memory_gib, frequency_ghz;",
             "\tdouble idle_w, third_w, full_w;", "} expected_power[] = {"]
    for name, cores, sockets, memory, ghz, year in MADE_UP:
        vendor = "amd" if "AMD" in name else "intel"
        ln_w = predictor.ln_w(Machine(names, name, float(cores), float(sockets), float(memory), ghz, year, vendor))
        watts = ", ".join(f"{watts_at(ln_w, u):.4f}" for u in (0.0, 1 / 3, 1.0))
        lines += [f'\t{{ "{name}", "{vendor}",', f"\t  {cores}, {sockets}, {year}, {memory}, {ghz}, {watts} }},"]
    with open(path, "w") as f:
        f.write("\n".join(lines + ["};", "/* clang-format on */"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv")
    parser.add_argument("--write", metavar="WEIGHTS.c")
    parser.add_argument("--date", default="an unknown day", help="for the comment: the output has no clock in it")
    parser.add_argument("--expect", metavar="EXPECTED.h", help="what the model says of made-up machines, for its test")
    parser.add_argument("--table", action="store_true", help="errors with and without each part, as Markdown")
    parser.add_argument("--refit", action="store_true", help="errors of models that are fitted anew for each group; minutes")
    args = parser.parse_args()
    names = CpuNames()
    machines, row_count = load(names, args.csv)
    if args.table:
        print_table(machines)
    if args.refit:
        print_refits(machines)
    if args.write:
        write_weights(args.write, args.date, machines, row_count)
    if args.expect:
        write_expected(args.expect, names, machines)


if __name__ == "__main__":
    main()
