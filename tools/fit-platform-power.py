#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the power model of the platform zone and writes src/model/platform_power_weights.c.

usage: fit-platform-power.py SPECPOWER.csv [--write WEIGHTS.c --date YYYY-MM-DD] [--expect EXPECTED.h] [--table]
                             [--refit]

The input has one row a measured load level of a SPECpower_ssj2008 result: node_type, processor, cores, chips,
memory (GiB), frequency (MHz), bpf_cpu_time_ms, platform_power (W). It is not part of this tree.

The model is a regression with Gaussian priors (kriging): ln W at each tenth of load is a sum of a linear part, of bumps
around centres among the machines' facts, of an offset a CPU generation and one a CPU model. Errors of machines that
were held out follow from one inverse, whatever group is left out (Rasmussen and Williams, "Gaussian Processes for Machine
Learning", MIT Press 2006, chapters 2, 5.4 and 8.3). docs/design/platform-power-model.md has the reasons and the errors.
Deterministic, standard library only.
"""
import argparse
import copy
import csv
import math
import os
import random
import re
import statistics
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Years of CPUs whose names have no model, as the frequencies and cores of their types tell.
YEARS_WITHOUT_MODEL = {"amd_epyc": 2023, "intel_xeon": 2005}
YEAR_KNOTS = (2007, 2010, 2014, 2018)
TYPICAL_FROM = (0, 2009, 2012, 2016, 2019, 2021, 2023)  # first year of each class of typical machines
LIMITS_FROM = (0, 2009)  # first year of each class of limits by design power
LEVELS = 11  # idle, a tenth, ... full load
SEGMENTS = ("SMALL", "EXPANDED", "ENTRY", "QUAD", "EDGE", "BUS")
FOLDS = 20
FOLD_SEEDS = (0, 1, 2, 3)

# Features of the bumps, and how far a bump reaches along each (1 sigma). Found once by a random search for the least
# error of held-out types and CPU models, as were the variances below; neither is sensitive.
KERNEL = {
    "ln_tdp": 2.3, "ln_cores_per_socket": 0.55, "ln_sockets": 1.3, "ln_ghz": 0.37, "year": 0.33,
    "ln_memory_per_core": 1.2, "amd": 3.3, "arm": 0.2, "small": 0.7, "expanded": 0.55, "entry": 0.3, "quad": 8.6,
    "edge": 2.4, "bus": 2.2,
}
CENTERS = 96
JITTER = 1e-6
LINEAR_VARIANCE, CONSTANT_VARIANCE = 1.0, 100.0  # of a feature's weight, in standard deviations of the feature
# Variances of ln W: bumps, generation, CPU model, what two machines with the same facts differ by. Idle power differs more.
IDLE = (0.044, 0.0069, 0.0071, 0.018)
LOAD = (0.029, 0.0075, 0.0037, 0.0053)


# ---- the names of CPUs, as src/model/cpu_name.c reads them --------------------------------------------------------------

class CpuNames:
    """Its tables are read from the C sources, so that there is one of each."""

    def __init__(self):
        def source(name):
            with open(os.path.join(ROOT, "src/model", name)) as f:
                return f.read()

        code = source("cpu_name.c")
        self.tdp = {k: int(w) for k, w in re.findall(r'\{ "(\S+)", (\d+) \}', source("cpu_tdp.c"))}
        self.segments = re.findall(r'\{ "(\S+)", CPU_SEGMENT_(\w+) \}', code)
        self.years = re.findall(r'\{ "(\S+)", (\d{4}) \}', code)
        self.series = self.words(code, "series_names")
        self.common = self.words(code, "common_words")
        self.low_power = self.words(code, "low_power_patterns")

    @staticmethod
    def words(code, name):
        return re.findall(r'"(\S+?)"', re.search(name + r"\[\] = \{(.*?)\};", code, re.S).group(1))

    @staticmethod
    def fits(pattern, key):
        regex = re.escape(pattern).replace("\\#", "#").replace("#", "[0-9]").replace("\\*", ".*")
        return re.fullmatch(regex, key) is not None

    def key(self, name):
        words = re.findall(r"[a-z0-9+]+", re.split("[@.]", name.lower())[0])
        series, model = "", ""
        for i, word in enumerate(words):
            before, after = words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else ""
            if word == "intel" and not series:
                series = "xeon"
            elif word in self.series:
                if word != "core" or before in ("intel", "r"):
                    series = word
            elif word not in self.common and not (word.isdigit() and after == "core"):
                model += word
        return series + model if model else ""

    def segment(self, key):
        return next((s for p, s in self.segments if self.fits(p, key)), "OTHER")

    def year(self, key):
        return next((int(y) for p, y in self.years if self.fits(p, key)), 0)


# ---- machines ------------------------------------------------------------------------------------------------------------

def vendor_of(processor):
    return "amd" if "amd" in processor else "arm" if "ampere" in processor else "intel"


class Machine:
    """A machine's facts."""

    def __init__(self, names, processor, cores, sockets, memory, ghz, year=None, vendor=None):
        self.name, self.vendor = processor, vendor or vendor_of(processor)
        self.cores, self.chips, self.memory, self.ghz = cores, sockets, memory, ghz
        self.cpu = names.key(processor)
        self.year = year or names.year(self.cpu) or YEARS_WITHOUT_MODEL.get(processor)
        if not self.year:
            raise SystemExit(f"{processor}: src/model/cpu_name.c has no year of it")
        self.segment = names.segment(self.cpu)
        self.low_power = any(names.fits(p, self.cpu) for p in names.low_power)
        self.tdp = names.tdp.get(self.cpu, 0)
        self.generation = (self.vendor, self.year, self.segment == "SMALL")
        self.group = self.cpu or f"{processor} {ghz}"  # what is left out with a CPU model

    def without_name(self):
        """The same machine where nothing tells its CPU's name."""
        other = copy.copy(self)
        other.cpu, other.segment, other.low_power, other.tdp = "", "OTHER", False, 0
        other.generation = (self.vendor, self.year, False)
        return other

    def features(self, tdp=None):
        year, ln_ghz = (self.year - 2000) / 10, math.log(self.ghz)
        since = (self.year - 2014) / 10
        ln_tdp = math.log(tdp or self.tdp or 1)
        return {
            "one": 1.0, "ln_cores": math.log(self.cores), "ln_sockets": math.log(self.chips),
            "ln_memory": math.log(self.memory), "ln_ghz": ln_ghz, "year": year,
            **{f"year_{k}": max(0, self.year - k) / 10 for k in YEAR_KNOTS},
            "amd": float(self.vendor == "amd"), "arm": float(self.vendor == "arm"),
            "zen": float(self.vendor == "amd" and self.year >= 2017), "ln_ghz_by_year": ln_ghz * since,
            "ln_tdp": ln_tdp, "ln_tdp_by_year": ln_tdp * since,
            **{s.lower(): float(self.segment == s) for s in SEGMENTS},
            # of the bumps and of the design power only
            "ln_cores_per_socket": math.log(self.cores / self.chips),
            "ln_memory_per_core": math.log(self.memory / self.cores), "low_power": float(self.low_power),
        }


LINEAR = ["one", "ln_cores", "ln_sockets", "ln_memory", "ln_ghz", "year", *(f"year_{k}" for k in YEAR_KNOTS), "amd", "arm",
          "zen", "ln_ghz_by_year", "ln_tdp", "ln_tdp_by_year", *(s.lower() for s in SEGMENTS)]
TDP_FEATURES = ["one", "ln_cores_per_socket", "ln_ghz", "year", *(f"year_{k}" for k in YEAR_KNOTS), "amd", "arm", "zen",
                "low_power", *(s.lower() for s in SEGMENTS)]


class MachineType(Machine):
    """What was measured of machines with the same facts: rows as (utilisation, watts), mean ln W at each level."""

    def __init__(self, names, rows):
        first = rows[0]
        super().__init__(names, first["processor"], float(first["cores"]), float(first["chips"]), float(first["memory"]),
                         float(first["frequency"]) / 1000)
        points = [(float(r["bpf_cpu_time_ms"]), float(r["platform_power"])) for r in rows]
        top = full_load(points)
        self.points = sorted((min(1.0, t / top), w) for t, w in points)
        self.results = max(1.0, len(rows) / LEVELS)
        bins = [[] for _ in range(LEVELS)]
        for u, w in self.points:
            if abs(u * 10 - round(u * 10)) < 0.35:
                bins[round(u * 10)].append(math.log(w))
        self.ln_w = [mean(b) for b in bins]
        if self.ln_w[-1] is None:
            self.ln_w[-1] = math.log(extrapolate(self.points))


def mean(values):
    values = list(values)
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


def load(names, path):
    types = defaultdict(list)
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            types[int(row["node_type"])].append(row)
    machines = [MachineType(names, types[k]) for k in sorted(types)]
    fill_levels(machines)
    return machines, sum(map(len, types.values()))


def fill_levels(machines):
    """A level that a type has no row of is on the mean curve, moved to the type's nearest levels."""
    typical = [mean(m.ln_w[k] - m.ln_w[-1] for m in machines if m.ln_w[k] is not None) for k in range(LEVELS)]
    for m in machines:
        known = [(k, m.ln_w[k] - typical[k]) for k in range(LEVELS) if m.ln_w[k] is not None]
        for k in range(LEVELS):
            if m.ln_w[k] is None:
                m.ln_w[k] = typical[k] + between(known, k)


def between(points, x):
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]


# ---- linear algebra ---------------------------------------------------------------------------------------------------------

def dot(a, b):
    return sum(map(float.__mul__, a, b))


def transposed(a):
    return [list(c) for c in zip(*a)]


def product(a, b):
    columns = transposed(b)
    return [[dot(row, c) for c in columns] for row in a]


def cholesky(a):
    rows = []
    for i, row in enumerate(a):
        r = []
        for j in range(i):
            r.append((row[j] - dot(r, rows[j][:j])) / rows[j][j])
        r.append(math.sqrt(row[i] - dot(r, r)))
        rows.append(r)
    return rows


def solve(a, b):
    """X of A X = B for a symmetric, positive definite A."""
    lower = cholesky(a)
    n, upper = len(a), transposed([r + [0.0] * (len(a) - len(r)) for r in lower])
    columns = []
    for y in transposed(b):
        z = []
        for i in range(n):
            z.append((y[i] - dot(lower[i][:i], z)) / lower[i][i])
        x = [0.0] * n
        for i in reversed(range(n)):
            x[i] = (z[i] - dot(upper[i][i + 1:], x[i + 1:])) / lower[i][i]
        columns.append(x)
    return transposed(columns)


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


# ---- the model ----------------------------------------------------------------------------------------------------------------

def fit_tdp(machines):
    """ln of the design power from the other facts, each CPU model once: for models that the table has not."""
    one = {m.cpu: m for m in machines if m.tdp}.values()
    x = [[m.features()[n] for n in TDP_FEATURES] for m in one]
    a = product(transposed(x), x)
    for i in range(len(a)):
        a[i][i] += 1e-6 if i == 0 else 0.1
    w = solve(a, product(transposed(x), [[math.log(m.tdp)] for m in one]))
    return [v[0] for v in w]


def tdp_of(machine, weights):
    return machine.tdp or math.exp(sum(machine.features()[n] * w for n, w in zip(TDP_FEATURES, weights)))


def bump(a, b):
    return math.exp(-sum((x - y) ** 2 for x, y in zip(a, b)) / 2)


def find_centers(points, count):
    """Means of clusters (k-means, from points far from each other): no centre stands for one machine."""
    middle = [mean(c) for c in zip(*points)]

    def nearest(p, centers):
        return min(range(len(centers)), key=lambda k: sum((x - y) ** 2 for x, y in zip(p, centers[k])))

    def distance(p, c):
        return sum((x - y) ** 2 for x, y in zip(p, c))

    centers = [min(points, key=lambda p: distance(p, middle))]
    far = [distance(p, centers[0]) for p in points]
    while len(centers) < count:
        centers.append(points[far.index(max(far))])
        far = [min(f, distance(p, centers[-1])) for f, p in zip(far, points)]
    before = None
    for _ in range(30):
        owner = [nearest(p, centers) for p in points]
        if owner == before:
            break
        before = owner
        for k in range(count):
            own = [p for p, o in zip(points, owner) if o == k]
            centers[k] = [mean(c) for c in zip(*own)] if own else centers[k]
    return centers


PARTS = ("tdp", "segment", "bumps", "generation", "cpu")


class Design:
    """What both surfaces share: the machines' features, scaled, and their similarity to the centres."""

    def __init__(self, machines, parts=PARTS):
        self.machines, self.parts = machines, parts
        self.tdp_weights = fit_tdp(machines)
        self.raw = [m.features(tdp_of(m, self.tdp_weights)) for m in machines]
        self.linear = [n for n in LINEAR if ("tdp" in parts or "tdp" not in n) and
                       ("segment" in parts or n.upper() not in SEGMENTS)]
        self.middle = {n: 0.0 if n == "one" else mean(f[n] for f in self.raw) for n in self.linear}
        self.sd = {n: 1.0 if n == "one" else statistics.pstdev([f[n] for f in self.raw]) for n in self.linear}
        self.h = [[(f[n] - self.middle[n]) / self.sd[n] for n in self.linear] for f in self.raw]
        self.points = [[f[n] / s for n, s in KERNEL.items()] for f in self.raw]
        self.centers = find_centers(self.points, CENTERS) if "bumps" in parts else []
        if self.centers:
            self.near = [[bump(p, c) for c in self.centers] for p in self.points]
            among = [[bump(a, b) + (JITTER if i == j else 0) for j, b in enumerate(self.centers)]
                     for i, a in enumerate(self.centers)]
            self.to_centers = solve(among, transposed(self.near))  # centres x machines


class Surface:
    """ln W of some levels as a function of a machine's facts."""

    def __init__(self, design, levels, variances):
        self.design, self.levels = design, levels
        d, (self.bumps, self.generation, self.cpu, noise) = design, variances
        self.prior = [CONSTANT_VARIANCE if n == "one" else LINEAR_VARIANCE for n in d.linear]
        ph = [[p * x for p, x in zip(self.prior, row)] for row in d.h]
        k = product(ph, transposed(d.h))
        if d.centers:
            together = product(d.near, d.to_centers)
            k = [[x + self.bumps * y for x, y in zip(r, s)] for r, s in zip(k, together)]
        for i, m in enumerate(d.machines):
            for j, n in enumerate(d.machines):
                if "generation" in d.parts and m.generation == n.generation:
                    k[i][j] += self.generation
                if "cpu" in d.parts and m.cpu and m.cpu == n.cpu:
                    k[i][j] += self.cpu
            # A type of many results is a mean of as many machines.
            k[i][i] += noise * (0.5 + 1 / (1 + m.results))
        self.inverse = solve(k, identity(len(k)))
        self.y = [[m.ln_w[level] for level in levels] for m in d.machines]
        self.dual = product(self.inverse, self.y)

    def held_out(self, groups):
        """ln W of each machine by a model that has not seen its group."""
        members, out = defaultdict(list), [None] * len(self.y)
        for i, g in enumerate(groups):
            members[g].append(i)
        for own in members.values():
            block = [[self.inverse[i][j] for j in own] for i in own]
            error = solve(block, [self.dual[i] for i in own])
            for i, e in zip(own, error):
                out[i] = [y - x for y, x in zip(self.y[i], e)]
        return out

    def covariances(self, machine):
        """Of ln W of any machine with those that were measured."""
        d = self.design
        f = machine.features(tdp_of(machine, d.tdp_weights))
        h = [p * (f[n] - d.middle[n]) / d.sd[n] for p, n in zip(self.prior, d.linear)]
        point = [f[n] / s for n, s in KERNEL.items()]
        near = [bump(point, c) for c in d.centers]
        k = [dot(h, row) for row in d.h]
        k = [a + self.bumps * dot(near, list(column)) for a, column in zip(k, zip(*d.to_centers))]
        return [a + self.generation * (m.generation == machine.generation) + self.cpu * (m.cpu != "" and m.cpu == machine.cpu)
                for a, m in zip(k, d.machines)]

    def held_out_as(self, groups, asked):
        """The same as held_out(), but asked for other machines: those of @asked in the groups' places."""
        members, out = defaultdict(list), [None] * len(self.y)
        for i, g in enumerate(groups):
            members[g].append(i)
        for own in members.values():
            block = [[self.inverse[i][j] for j in own] for i in own]
            excess = solve(block, [self.dual[i] for i in own])
            dual = [[a - b for a, b in zip(row, taken[0])] for row, taken in
                    zip(self.dual, ([x] for x in product([[r[j] for j in own] for r in self.inverse], excess)))]
            for i in own:
                dual[i] = [0.0] * len(self.levels)
            for i in own:
                out[i] = product([self.covariances(asked[i])], dual)[0]
        return out

    def linear_weights(self):
        d = self.design
        w = [[p * x for x in row] for p, row in zip(self.prior, product(transposed(d.h), self.dual))]
        raw = {n: [x / d.sd[n] for x in row] for n, row in zip(d.linear, w)}
        for n in d.linear[1:]:
            raw["one"] = [a - d.middle[n] * b for a, b in zip(raw["one"], raw[n])]
        return raw

    def center_weights(self):
        return [[self.bumps * x for x in row] for row in product(self.design.to_centers, self.dual)]

    def offsets(self, variance, key):
        sums = {}
        for m, row in zip(self.design.machines, self.dual):
            if key(m):
                sums[key(m)] = [a + variance * b for a, b in zip(sums.get(key(m), [0.0] * len(row)), row)]
        return sums


class Model:
    def __init__(self, machines, parts=PARTS):
        self.machines = machines
        self.design = Design(machines, parts)
        self.idle = Surface(self.design, [0], IDLE)
        self.load = Surface(self.design, list(range(1, LEVELS)), LOAD)

    def held_out(self, groups, asked=None):
        """ln W at all levels of each machine, or of @asked in its place, by a model that has not seen its group."""
        parts = [s.held_out_as(groups, asked) if asked else s.held_out(groups) for s in (self.idle, self.load)]
        return [a + b for a, b in zip(*parts)]


def watts_at(ln_w, u):
    levels = []
    for x in ln_w:
        levels.append(max(math.exp(x), levels[-1] if levels else 0))
    k = min(int(u * 10), LEVELS - 2)
    return levels[k] + (levels[k + 1] - levels[k]) * (u * 10 - k)


class Predictor:
    """A fitted model as the program applies it: a CPU model's offset is the same at all levels of load."""

    def __init__(self, model):
        self.design = model.design
        self.surfaces = [(s.linear_weights(), s.center_weights(), s.offsets(s.generation, lambda m: m.generation),
                          s.offsets(s.cpu, lambda m: m.cpu), len(s.levels)) for s in (model.idle, model.load)]

    def ln_w(self, machine):
        f = machine.features(tdp_of(machine, self.design.tdp_weights))
        point = [f[n] / s for n, s in KERNEL.items()]
        near = [bump(point, c) for c in self.design.centers]
        out = []
        for linear, centers, generations, cpus, levels in self.surfaces:
            parts = [[f[n] * w for w in linear[n]] for n in LINEAR]
            parts += [[c * w for w in row] for c, row in zip(near, centers)]
            parts.append(generations.get(machine.generation, [0.0] * levels))
            parts.append([mean(cpus[machine.cpu])] * levels if machine.cpu in cpus else [0.0] * levels)
            out += [sum(column) for column in zip(*parts)]
        return out


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
    design, machines = model.design, model.machines
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

MADE_UP = (  # machines of nobody: name of the CPU, cores, sockets, GiB, GHz, year
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
