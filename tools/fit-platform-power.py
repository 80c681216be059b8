#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the power model of the platform zone and writes src/model/platform_power_weights.c.

usage: fit-platform-power.py SPECPOWER.csv [--write WEIGHTS.c --date YYYY-MM-DD] [--table]

The input has one row a measured load level of a SPECpower_ssj2008 result: node_type, processor, cores, chips,
memory (GiB), frequency (MHz), bpf_cpu_time_ms, platform_power (W). It is not part of this tree.
Every form is judged by leaving one machine type out: it is fitted to all others and predicts that one. Each type
counts the same, however many rows it has. Deterministic, standard library only.
"""
import argparse
import csv
import math
import re
import statistics
from collections import defaultdict

# Year in which the CPU's family came to servers; the same classes as src/host/microarchitecture.c.
YEARS = [
    (r"epyc(_9754|_8\d\d4|$)", 2023), (r"epyc_9\d\d4", 2022), (r"epyc_7\d\d3", 2021), (r"epyc_7\d\d2", 2019),
    (r"epyc_7\d\d1", 2017), (r"altra", 2020), (r"opteron_(63|43)", 2012), (r"opteron_62", 2011),
    (r"opteron_(61|41)", 2010), (r"opteron_(24|84)(19|35|25)", 2009), (r"opteron_(23|83)", 2008), (r"opteron_22", 2005),
    (r"_(8592|8480|84\d\d|64\d\d)", 2023), (r"d_27", 2021), (r"_83\d\dh", 2020), (r"_(83|53|63)\d\d", 2021),
    (r"_e_23", 2021), (r"_e_21", 2018), (r"_(82|62|52|42)\d\d", 2019), (r"_(81|61|51|41)\d\d", 2017),
    (r"e3_.*v6", 2017), (r"e3_.*v5", 2015), (r"e[357]_.*v4", 2016), (r"e[357]_.*v3", 2014), (r"e[357]_.*v2", 2013),
    (r"e7_8", 2010), (r"e[35]_", 2012), (r"(i3_5|i7_6|[ex]56)", 2010), (r"(x34|[lex]55|x75)", 2009),
    (r"([lex]54|x52|x33|l33|e31)", 2007), (r"([lex]53|x32|_30|[el]73)", 2006), (r"xeon(_7|$)", 2005),
]
YEAR_KNOTS = (2007, 2010, 2014, 2018)
TYPICAL_FROM = (0, 2009, 2012, 2016, 2019, 2021, 2023)  # first year of each class of typical machines
LEVELS = 10


def year_of(processor):
    for pattern, year in YEARS:
        if re.search(pattern, processor):
            return year
    raise SystemExit(f"no year class for {processor}")


def vendor_of(processor):
    return "amd" if "amd" in processor else "arm" if "ampere" in processor else "intel"


class Machine:
    """One machine type: its facts, its rows as (utilisation, watts), and its mean normalised curve."""

    def __init__(self, rows):
        first = rows[0]
        self.name = first["processor"]
        self.vendor, self.year = vendor_of(self.name), year_of(self.name)
        self.cores, self.chips = float(first["cores"]), float(first["chips"])
        self.memory, self.ghz = float(first["memory"]), float(first["frequency"]) / 1000
        points = [(float(r["bpf_cpu_time_ms"]), float(r["platform_power"])) for r in rows]
        top = full_load(points)
        self.points = sorted((min(1.0, t / top), w) for t, w in points)
        self.idle = mean([w for u, w in self.points if u == 0])
        self.full = mean([w for u, w in self.points if u > 0.96]) or extrapolate(self.points)
        self.curve = self.normalised()

    def normalised(self):
        """Mean share of the dynamic range at each tenth of load, None where the type has no row."""
        bins = [[] for _ in range(LEVELS + 1)]
        if self.idle is None:
            return [None] * (LEVELS + 1)
        for u, w in self.points:
            if abs(u * LEVELS - round(u * LEVELS)) < 0.35:
                bins[round(u * LEVELS)].append((w - self.idle) / (self.full - self.idle))
        return [mean(b) for b in bins]


def mean(values):
    return sum(values) / len(values) if values else None


def extrapolate(points):
    (u0, w0), (u1, w1) = points[-2:]
    return w1 + (w1 - w0) / (u1 - u0) * (1 - u1)


def full_load(points):
    """CPU time of the 100 % level. The time is linear in the load level, so the levels are evenly spaced: where a type has
    one result only and its top rows are missing, the spacing shows it."""
    times = sorted(t for t, _ in points)
    if len(times) > 11:
        return times[-1]

    def misfit(level):
        scaled = [t / times[-1] * level * LEVELS for t in times]
        return sum(abs(s - round(s)) for s in scaled) + (1 - level) * 0.5

    return times[-1] / min((1.0, 0.9, 0.8), key=misfit)


def load(path):
    types = defaultdict(list)
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            types[int(row["node_type"])].append(row)
    return [Machine(types[k]) for k in sorted(types)], sum(map(len, types.values()))


# ---- features: each is a function of a machine ----------------------------------------------------------------------

FEATURES = {
    "one": lambda m: 1.0,
    "ln_cores": lambda m: math.log(m.cores),
    "ln_chips": lambda m: math.log(m.chips),
    "ln_memory": lambda m: math.log(m.memory),
    "ln_ghz": lambda m: math.log(m.ghz),
    "year": lambda m: (m.year - 2000) / 10,
    **{f"year_{k}": (lambda m, k=k: max(0, m.year - k) / 10) for k in YEAR_KNOTS},
    "amd": lambda m: float(m.vendor == "amd"),
    "arm": lambda m: float(m.vendor == "arm"),
    "zen": lambda m: float(m.vendor == "amd" and m.year >= 2017),
    "ln_ghz_by_year": lambda m: math.log(m.ghz) * (m.year - 2014) / 10,
}
SIZE = ["one", "ln_cores"]
SHAPE = SIZE + ["ln_chips", "ln_memory"]
CLOCK = SHAPE + ["ln_ghz"]
BENT_YEAR = ["year"] + [f"year_{k}" for k in YEAR_KNOTS]
FORMS = {
    "watts per core": ["one"],
    "cores": SIZE,
    "cores, chips, memory": SHAPE,
    "+ frequency": CLOCK,
    "+ year (straight)": CLOCK + ["year"],
    "+ year (bent)": CLOCK + BENT_YEAR,
    "+ year (bent), vendor": CLOCK + BENT_YEAR + ["amd", "arm"],
    "+ Zen apart from older AMD": CLOCK + BENT_YEAR + ["amd", "arm", "zen"],
    "+ frequency by year": CLOCK + BENT_YEAR + ["amd", "arm", "zen", "ln_ghz_by_year"],
}
RIDGE = 0.05  # weak: it only steadies coefficients that few machines speak of


def solve(a, b):
    """Gaussian elimination with partial pivoting."""
    n = len(b)
    m = [row[:] + [y] for row, y in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for c in range(i, n + 1):
                m[r][c] -= f * m[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


class Regression:
    """Least squares with sums that can be taken back, so that leaving a machine out costs one update."""

    def __init__(self, size, ridge=0.0):
        self.a = [[ridge if i == j and i > 0 else 0.0 for j in range(size)] for i in range(size)]
        self.b = [0.0] * size

    def add(self, x, y, weight=1.0):
        for i, xi in enumerate(x):
            if xi:
                for j, xj in enumerate(x):
                    self.a[i][j] += weight * xi * xj
                self.b[i] += weight * xi * y

    def fit(self):
        return solve(self.a, self.b)


class LogPower:
    """ln watts as a linear function of features; `watts per core` fixes the exponent of cores at 1."""

    def __init__(self, form, machines, target):
        self.names, self.target = FORMS[form], target
        self.per_core = form == "watts per core"
        self.regression = Regression(len(self.names), RIDGE)
        for m in machines:
            self.learn(m, 1.0)

    def learn(self, m, weight):
        watts = getattr(m, self.target)
        if watts:
            offset = math.log(m.cores) if self.per_core else 0.0
            self.regression.add(self.x(m), math.log(watts) - offset, weight)

    def x(self, m):
        return [FEATURES[n](m) for n in self.names]

    def predictor(self):
        w = self.regression.fit()

        def predict(m):
            ln = sum(a * b for a, b in zip(w, self.x(m)))
            return math.exp(ln) * (m.cores if self.per_core else 1.0)

        predict.weights = w
        return predict


# ---- curves: share of the dynamic range at a utilisation --------------------------------------------------------------

def year_x(m, trend):
    return [1.0, (min(max(m.year, 2005), 2023) - 2014) / 10] if trend else [1.0]


class Curve:
    """Linear, quadratic, power law, or one value at each tenth of load; the last three with or without a trend over years."""

    def __init__(self, shape, trend, machines):
        self.shape, self.trend = shape, trend
        size = 2 if trend else 1
        self.regressions = [Regression(size, 1e-9) for _ in range(LEVELS + 1)]
        for m in machines:
            self.learn(m, 1.0)

    def learn(self, m, weight):
        x = year_x(m, self.trend)
        for level in range(1, LEVELS):
            g, u = m.curve[level], level / LEVELS
            if g is None:
                continue
            if self.shape == "quadratic":  # g = u + a u (1 - u)
                s = u * (1 - u)
                self.regressions[0].add([s * v for v in x], g - u, weight)
            elif self.shape == "power":  # ln g = a ln u
                self.regressions[0].add([math.log(u) * v for v in x], math.log(max(g, 0.01)), weight)
            elif self.shape == "levels":
                self.regressions[level].add(x, g, weight)

    def predictor(self):
        if self.shape == "linear":
            return lambda m: lambda u: u
        if self.shape in ("quadratic", "power"):
            w = self.regressions[0].fit()

            def one(m):
                a = sum(p * q for p, q in zip(w, year_x(m, self.trend)))
                if self.shape == "power":
                    return lambda u: u ** max(a, 0.1)
                a = min(max(a, -1.0), 1.0)
                return lambda u: u + a * u * (1 - u)

            return one
        ws = [self.regressions[k].fit() for k in range(1, LEVELS)]

        def levels(m):
            knots = [0.0]
            for w in ws:
                g = sum(p * q for p, q in zip(w, year_x(m, self.trend)))
                knots.append(min(max(g, knots[-1]), 1.0))
            knots.append(1.0)

            def at(u):
                k = min(int(u * LEVELS), LEVELS - 1)
                return knots[k] + (knots[k + 1] - knots[k]) * (u * LEVELS - k)

            return at

        levels.weights = ws
        return levels


CURVES = [("linear", False), ("quadratic", False), ("quadratic", True), ("power", False), ("power", True),
          ("levels", False), ("levels", True)]


# ---- judging -----------------------------------------------------------------------------------------------------------

def errors_of(machine, idle, full, curve):
    rows = [(idle + max(0.0, full - idle) * curve(u) - w, w) for u, w in machine.points]
    mae, mape = mean([abs(e) for e, _ in rows]), mean([abs(e) / w for e, w in rows]) * 100
    idle_error = abs(idle - machine.idle) / machine.idle * 100 if machine.idle else None
    return mae, mape, idle_error, abs(full - machine.full) / machine.full * 100


def judge(machines, form, shape, trend, group=lambda m: id(m)):
    """Leave-one-group-out: mean of each type's own mean absolute error, in W and percent, and of idle and full load."""
    models = LogPower(form, machines, "idle"), LogPower(form, machines, "full"), Curve(shape, trend, machines)
    groups, all_errors = defaultdict(list), []
    for m in machines:
        groups[group(m)].append(m)
    for members in groups.values():
        for model in models:
            for m in members:
                model.learn(m, -1.0)
        idle, full, curve = (model.predictor() for model in models)
        all_errors += [errors_of(m, idle(m), full(m), curve(m)) for m in members]
        for model in models:
            for m in members:
                model.learn(m, 1.0)
    columns = [[e[i] for e in all_errors if e[i] is not None] for i in range(4)]
    return [mean(c) for c in columns] + [statistics.median(columns[0]), statistics.median(columns[1])]


def print_table(machines):
    print("| power at idle and full load from | curve between | MAE W | MAPE % | idle % | full % | median MAE W | median MAPE % |")
    print("|---|---|---|---|---|---|---|---|")
    for form in FORMS:
        for shape, trend in CURVES if form == list(FORMS)[-1] else [("levels", True)]:
            e = judge(machines, form, shape, trend)
            print(f"| {form} | {shape}{', by year' if trend else ''} | " + " | ".join(f"{v:.1f}" for v in e) + " |")


# ---- writing -----------------------------------------------------------------------------------------------------------

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
    return "{ " + ", ".join(f"{v:.5f}" for v in values) + " }"


def write_weights(path, date, machines, row_count, form, shape, trend):
    mae, mape, idle_error, full_error, _, _ = judge(machines, form, shape, trend)
    cpu = judge(machines, form, shape, trend, group=lambda m: m.name)
    idle, full = (LogPower(form, machines, t).predictor() for t in ("idle", "full"))
    curve = Curve(shape, trend, machines).predictor()
    low, high = (lambda f: min(map(f, machines))), (lambda f: max(map(f, machines)))
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "/*",
        f" * Written by tools/fit-platform-power.py on {date}; do not edit. Fitted weights, our own.",
        " *",
        " * Fitted to results of the SPECpower_ssj2008 benchmark (Standard Performance Evaluation Corporation, www.spec.org;",
        f" * SPEC and SPECpower_ssj are its trademarks), read from a processed table of {len(machines)} machine types and"
        f" {row_count} load levels.",
        f" * Leave-one-machine-type-out: {mae:.1f} W, {mape:.1f} % over all levels; idle {idle_error:.1f} %, full load"
        f" {full_error:.1f} %.",
        f" * Leave-one-CPU-model-out: {cpu[0]:.1f} W, {cpu[1]:.1f} %; idle {cpu[2]:.1f} %, full load {cpu[3]:.1f} %.",
        " */",
        '#include "model/platform_power_weights.h"',
        "",
        "/* clang-format off */",
        "static const struct power_model_weights weights = {",
        "\t.idle = { /* ln W */",
        *[f"\t\t[POWER_FEATURE_{n.upper()}] = {w:.5f}," for n, w in zip(FORMS[form], idle.weights)],
        "\t},",
        "\t.full = { /* ln W */",
        *[f"\t\t[POWER_FEATURE_{n.upper()}] = {w:.5f}," for n, w in zip(FORMS[form], full.weights)],
        "\t},",
        f"\t.year_knots = {{ {', '.join(map(str, YEAR_KNOTS))} }},",
        "\t.curve = { /* share of the dynamic range at each tenth of load: in 2014, change in ten years */",
        *[f"\t\t{c_row(w)}," for w in curve.weights],
        "\t},",
        "\t.typical = { /* from year, cores a socket, sockets, GiB a core, GHz */",
        *[f"\t\t{{ {int(r[0])}, {int(r[1])}, {int(r[2])}, {r[3]:.2f}, {r[4]:.2f} }}," for r in typical(machines)],
        "\t},",
        f"\t.year_typical = {int(statistics.median_low(m.year for m in machines))},",
        f"\t.year_min = {low(lambda m: m.year)},",
        f"\t.year_max = {high(lambda m: m.year)},",
        f"\t.cores_max = {int(high(lambda m: m.cores))},",
        f"\t.sockets_max = {int(high(lambda m: m.chips))},",
        f"\t.memory_gib_min = {low(lambda m: m.memory):.1f},",
        f"\t.memory_gib_max = {high(lambda m: m.memory):.1f},",
        f"\t.frequency_ghz_min = {low(lambda m: m.ghz):.1f},",
        f"\t.frequency_ghz_max = {high(lambda m: m.ghz):.1f},",
        "};",
        "",
        "const struct power_model platform_power_model = {",
        '\t.name = "specpower-platform-1",',
        f'\t.trained_on = "SPECpower_ssj2008, {len(machines)} machine types",',
        f"\t.loo_mape_percent = {mape:.1f},",
        f"\t.loo_mae_w = {mae:.1f},",
        "\t.weights = &weights,",
        "};",
        "/* clang-format on */",
    ]
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv")
    parser.add_argument("--write", metavar="WEIGHTS.c")
    parser.add_argument("--date", default="an unknown day", help="for the comment: the output has no clock in it")
    parser.add_argument("--table", action="store_true", help="errors of all forms, as Markdown")
    args = parser.parse_args()
    machines, row_count = load(args.csv)
    if args.table:
        print_table(machines)
    if args.write:
        write_weights(args.write, args.date, machines, row_count, list(FORMS)[-1], "levels", True)


if __name__ == "__main__":
    main()
