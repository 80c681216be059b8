# SPDX-License-Identifier: Apache-2.0
"""The power model of the platform zone: CPU names, machines, and a regression from a machine's facts to its power.

A regression with Gaussian priors (kriging): ln W at each tenth of load is a sum of a linear part, of bumps around centres
among the machines' facts, of an offset a CPU generation and one a CPU model. Errors of machines that were held out follow
from one inverse, whatever group is left out (Rasmussen and Williams, "Gaussian Processes for Machine Learning", MIT
Press 2006, chapters 2, 5.4 and 8.3). docs/design/platform-power-model.md has the reasons and the errors. Used by
fit-platform-power.py. Deterministic, standard library only.
"""
import copy
import csv
import math
import os
import re
import statistics
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Years of CPUs whose names have no model, as the frequencies and cores of their types tell.
YEARS_WITHOUT_MODEL = {"amd_epyc": 2023, "intel_xeon": 2005}
YEAR_KNOTS = (2007, 2010, 2014, 2018)
LEVELS = 11  # idle, a tenth, ... full load
SEGMENTS = ("SMALL", "EXPANDED", "ENTRY", "QUAD", "EDGE", "BUS")

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
