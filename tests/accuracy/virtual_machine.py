# SPDX-License-Identifier: Apache-2.0
"""
A virtual machine on a host of known power: what Kepler inside estimates, from what a guest sees, against what Kepler on the host
would charge it. It shares no arithmetic with Kepler; the estimate itself is the program's own (vm_guest.c).

The host has T logical CPUs, two a core, of which a part U is busy. Its power above idle is

    f(U) = full x (uncore (1 - exp(-15 U)) + (a + pair p) turbo(a)) / (uncore + 1 + pair)

a: cores that are awake, p: cores with both threads busy, between those of a scheduler that fills empty cores first and of one that
does not look; turbo(a) = (1 + boost (1 - a))^2.2. All constants are drawn for each host. Real hosts have the power that was
measured: of EC2's bare-metal machines and nx12 by CPU time, of SPECpower's machine types by load.

The truth of the guest is its part of the host's power in proportion to CPU time and to what a second of its work costs:
f(U) x frequency x (s u / U) x work. What no guest sees: the neighbours' load, the frequency, what its work costs more or less than
the work in the mean, and what the hypervisor does for it. Its vCPUs wait where its host is asked for more than it has, and where a
limit holds it back, which it may reach in bursts.

How well can it be done? The best estimate from CPU time alone knows the host's curve, and takes the median of what all loads of
neighbours would make of it, each weighted by one over the guest's range at that load. If all loads are equally likely and nothing
else varies, no rule that sees no more is less wrong in per cent of range.
"""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

INTERVAL_S = 5
INTERVALS = 120  # of a trace
LOADS = (0.1, 0.3, 0.5, 0.7, 0.9, None)  # of the neighbours; None: any, changing; above 1: they ask for more than there is
SHARED = pathlib.Path(os.environ.get("KEPLER_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"), "data")
CAUSES = {"work": 0.12, "frequency": 0.06, "hypervisor": 0.03}  # standard deviations, and the highest overhead
ROWS = {"ec2_m5.metal": 96, "ec2_c5.metal": 96, "ec2_r5.metal": 96, "ec2_m7i.metal-24xl": 96, "nx12": 32}


def between(points, x):
    """@points: (x, y) in order."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * max(0.0, x - x0) / (x1 - x0)
    return points[-1][1]


class Host:
    """@dynamic(U): W above idle; @name of its processor, where that is known."""

    def __init__(self, cpus, dynamic, name=""):
        self.cpus, self.dynamic, self.name = cpus, dynamic, name


def drawn_host(rng):
    cpus = rng.choice((16, 32, 64, 96, 128))
    full = cpus * rng.uniform(1.2, 3.0)
    uncore, pair, boost, spread = rng.uniform(0.05, 0.2), rng.uniform(0.15, 0.5), rng.uniform(0.0, 0.35), rng.random()

    def dynamic(load):
        awake = spread * min(1.0, 2 * load) + (1 - spread) * (1 - (1 - load) ** 2)
        paired = spread * max(0.0, 2 * load - 1) + (1 - spread) * load ** 2
        turbo = (1 + boost * (1 - awake)) ** 2.2
        return full * (uncore * (1 - math.exp(-15 * load)) + (awake + pair * paired) * turbo) / (uncore + 1 + pair)
    return Host(cpus, dynamic)


def measured_host(name):
    """By CPU time: the means of a machine's rows in tenths of load, which never fall."""
    path, factor = SHARED / f"ec2/{name}_BPFOnly_package.csv", 1.0
    if name == "nx12":
        path, factor = SHARED / "nx12/preprocess_abs_default_rapl_BPFOnly.csv", 1e-3
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    column = "bpf_cpu_time_us" if name == "nx12" else "bpf_cpu_time_ms"
    found = sorted((float(row[column]) * factor, float(row["package_power"])) for row in rows)
    most, bins = found[-1][0], {}
    for busy, watts in found:
        bins.setdefault(round(10 * busy / most), []).append((busy / most, watts))
    points = [tuple(sum(column) / len(group) for column in zip(*group)) for _, group in sorted(bins.items())]
    idle, curve, highest = points[0][1], [(0.0, 0.0)], 0.0
    for load, watts in points[1:]:
        highest = max(highest, watts - idle)
        curve.append((load, highest))
    return Host(ROWS[name], lambda load: between(curve, load))


def benchmark_hosts(chips, rng):
    """Machine types of SPECpower whose load is known by tenths, of the last years; each as its like may be."""
    with open(SHARED / "specpower/specpower.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    types = {}
    for row in rows:
        types.setdefault(row["node_type"], []).append((float(row["bpf_cpu_time_ms"]), float(row["platform_power"]), row))
    hosts = []
    for points in types.values():
        points.sort(key=lambda point: point[0])
        name, cores = points[0][2]["processor"], float(points[0][2]["cores"])
        recent = any(word in name for word in ("platinum", "gold", "epyc_7"))
        if len(points) < 8 or float(points[0][2]["chips"]) != chips or not recent:
            continue
        most, idle, highest, curve = points[-1][0], points[0][1], 0.0, [(0.0, 0.0)]
        for busy, watts, _ in points[1:]:
            highest = max(highest, watts - idle)
            if busy / most > curve[-1][0]:
                curve.append((busy / most, highest))
        factor = math.exp(rng.gauss(0.0, 0.2))
        name = name.replace("_", " ")
        if "epyc" in name:  # AMD's processors name their cores
            name += f" {round(cores / chips)}-Core Processor"
        hosts.append(Host(round(2 * cores), lambda load, curve=curve, factor=factor: factor * between(curve, load), name))
    return hosts


class Trace:
    """@seen: what the guest sees of each interval; @watts: the truth; @marginal: what the host draws less without it."""

    def __init__(self):
        self.seen, self.watts, self.marginal = [], [], []


class Holdup:
    """What holds a guest back beside its host: a @limit of its vCPUs' time, None: 20 to 70 %; @bursts: its load is not even."""

    def __init__(self, limit=1.0, bursts=False):
        self.limit, self.bursts = limit, bursts


def simulate(host, vcpus, load, rng, causes, includes_steal, holdup=Holdup()):
    """@includes_steal: the guest's kernel has stolen time in the run time of tasks."""
    trace, share = Trace(), vcpus / host.cpus
    frequency, work, drift = 1.0, 1.0, rng.random()
    overhead = 1.0 + rng.uniform(0.0, causes["hypervisor"])
    own, active = rng.random(), 1.0
    limit = rng.uniform(0.2, 0.7) if holdup.limit is None else holdup.limit
    for number in range(INTERVALS):
        if number % 4 == 0:
            own = rng.random()
            drift = rng.random()
            active = rng.uniform(own, 1.0) if holdup.bursts else 1.0  # the part of time in which it can run
        if number % 10 == 0:
            work = math.exp(rng.gauss(0.0, causes["work"]))
        frequency = 1.0 + 0.8 * (frequency - 1.0) + rng.gauss(0.0, 0.6 * causes["frequency"])
        neighbours = drift if load is None else max(0.0, load + rng.gauss(0.0, 0.05))
        if load is not None and load <= 1.0:
            neighbours = min(1.0, neighbours)
        wanted = min(own / active, limit)
        demand = share * wanted + (1 - share) * neighbours
        ran = wanted * min(1.0, 1.0 / demand) if demand > 0 else 0.0
        total = min(1.0, demand)
        watts = active * host.dynamic(total) * frequency * share * ran / total * work * overhead if ran > 0 else 0.0
        trace.watts.append(watts)
        trace.marginal.append(
            active * (host.dynamic(total) - host.dynamic(total - share * ran)) * frequency * work * overhead)
        capacity = INTERVAL_S * 1e9 * vcpus
        ran *= active
        stolen = (own - ran) * capacity
        ticks = int(ran * capacity / 1e7) * 1e7
        trace.seen.append([round(value) for value in (
            INTERVAL_S * 1e9, ran * capacity + (stolen if includes_steal else 0.0), ticks, int((1 - own) * capacity / 1e7) * 1e7,
            int(stolen / 1e7) * 1e7)])
    return trace


def best_estimate(host, vcpus, seen, low, high):
    """(W, bound in W) of each interval: the best from CPU time alone, and what nine tenths of 101 neighbours' loads are within."""
    share, answers = vcpus / host.cpus, []
    loads = [low + (high - low) * number / 100 for number in range(101)]

    def part(ran, load):
        total = share * ran + (1 - share) * load
        return host.dynamic(total) * share * ran / total if ran > 0 else 0.0
    weights = [1 / part(1.0, load) for load in loads]
    for _, _, ticks, _, _ in seen:
        ran = ticks / (INTERVAL_S * 1e9 * vcpus)
        outcomes = sorted((part(ran, load), weight) for load, weight in zip(loads, weights))
        left = sum(weights) / 2
        for middle, weight in outcomes:
            left -= weight
            if left <= 0:
                break
        answers.append((middle, sorted(abs(outcome - middle) for outcome, _ in outcomes)[90]))
    return answers


def train(kepler_model, host, seed, folder, causes):
    """A DynPower model of rows from a host of this type, by the real program."""
    rng = random.Random(f"training {seed}")
    rows, model = os.path.join(folder, "rows.csv"), os.path.join(folder, "model.json")
    with open(rows, "w", encoding="utf-8") as file:
        file.write("bpf_cpu_time_ms,package_power\n")
        frequency = work = 1.0
        for number in range(600):
            if number % 5 == 0:
                work, load = math.exp(rng.gauss(0.0, causes["work"])), rng.random() if number % 100 else 0.0
            frequency = 1.0 + 0.8 * (frequency - 1.0) + rng.gauss(0.0, 0.6 * causes["frequency"])
            busy = min(1.0, max(0.0, load + rng.gauss(0.0, 0.02)))
            watts = host.dynamic(busy) * work * frequency * (1.0 + rng.gauss(0.0, 0.005))
            file.write(f"{busy * host.cpus * 1000:.3f},{max(0.0, watts):.4f}\n")
    done = subprocess.run([kepler_model, "train-from-data", rows, "--features=bpf_cpu_time_ms", "--output-type=DynPower",
                           "--trainers=MonotoneBoosting,LogarithmicRegressionTrainer", f"--output={model}"],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise AssertionError(f"kepler-model train-from-data: {done.stderr.strip()[:400]}")
    with open(model, encoding="utf-8") as file:
        trained = json.load(file)
    trained["machine"] = {"cores": host.cpus}
    with open(model, "w", encoding="utf-8") as file:
        json.dump(trained, file)
    return model


def estimate(program, model, vcpus, seen, host_cpus=0, low=0.0, high=0.0, processor=None):
    """(W, bound in W) of each interval; @processor: of the host, if the model is of another."""
    lines = "".join(" ".join(map(str, row)) + "\n" for row in seen)
    words = [program, model, str(vcpus), str(host_cpus), str(low), str(high), *([processor] if processor else [])]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise AssertionError(f"vm_guest {model}: {done.stderr.strip()[:300]}")
    answers = [line.split() for line in done.stdout.splitlines()]
    return [(float(energy) / 1e6 / INTERVAL_S, float(bound)) for energy, bound in answers]


class Figures:
    """Of all intervals: errors in per cent of the highest power of their trace; coverage of the bound; MAPE above 5 % of it."""

    def __init__(self):
        self.errors, self.inside, self.ratios, self.widths = [], [], [], []

    def add(self, trace, answers):
        most = max(trace.watts)
        for true, (watts, bound) in zip(trace.watts, answers):
            self.errors.append(100 * (watts - true) / most)
            self.inside.append(abs(watts - true) <= bound + 1e-6)
            self.widths.append(100 * bound / most)
            if true > 0.05 * most:
                self.ratios.append(100 * abs(watts - true) / true)

    def of_range(self):
        return sum(map(abs, self.errors)) / len(self.errors)

    def bias(self):
        return sum(self.errors) / len(self.errors)

    def coverage(self):
        return 100 * sum(self.inside) / len(self.inside)

    def mape(self):
        return sum(self.ratios) / len(self.ratios)

    def width(self):
        return sum(self.widths) / len(self.widths)


def hints_of(load, within, rng):
    """What the operator says of neighbours of that mean load: a range of twice @within that has it; 0: nothing."""
    if not within:
        return 0.0, 0.0
    if load is None:
        return 0.0, 1.0
    middle = min(load, 1.0) + rng.uniform(-within, within)
    return max(0.0, middle - within), min(1.0, middle + within)


class Rig:
    """The hosts with their models, each made once."""

    def __init__(self, build, seeds):
        self.build, self.seeds = pathlib.Path(build), seeds
        self.guest = str(self.build / "tests/accuracy/vm_guest")
        self.folder = tempfile.TemporaryDirectory(prefix="kepler-vm-")
        self.models = {}

    def model(self, host, key, causes):
        at = (key, tuple(causes.values()))
        if at not in self.models:
            folder = os.path.join(self.folder.name, str(len(self.models)))
            os.mkdir(folder)
            self.models[at] = train(str(self.build / "kepler-model"), host, key, folder, causes)
        return self.models[at]

    def figures(self, hosts, loads=LOADS, causes=None, known=0.0, host_cpus=lambda host: 0, sees_steal=True, builtin=None,
                marginal=False, holdup=Holdup(), best=False):
        """@hosts: (key, host); @builtin(host): the name of its processor as the guest sees it, None: a trained model; @best: the
        best estimate instead of the program's."""
        figures = Figures()
        causes = {**CAUSES, **(causes or {})}
        for key, host in hosts:
            model = None if best else builtin(host) if builtin else self.model(host, key, causes)
            for load in loads:
                rng = random.Random(f"guest {key} {load}")
                vcpus = rng.choice([n for n in (2, 4, 8, 16, 32) if n <= host.cpus / 2])
                trace = simulate(host, vcpus, load, rng, causes, includes_steal=rng.random() < 0.5, holdup=holdup)
                seen = trace.seen if sees_steal else [row[:4] + [0] for row in trace.seen]
                trace.watts = trace.marginal if marginal else trace.watts
                low, high = hints_of(load, known, random.Random(f"hint {key} {load}"))
                answers = best_estimate(host, vcpus, seen, low, high or 1.0) if best else estimate(
                    self.guest, model, vcpus, seen, host_cpus(host), low, high)
                figures.add(trace, answers)
        return figures

    def drawn(self):
        return [(f"host {seed}", drawn_host(random.Random(f"host {seed}"))) for seed in self.seeds]

    def measured(self):
        return [(name, measured_host(name)) for name in ROWS]

    def types(self, chips):
        hosts = benchmark_hosts(chips, random.Random(f"types {chips}"))
        return [(f"type {chips} {number}", host) for number, host in enumerate(hosts)]


NO_CAUSE = {cause: 0.0 for cause in CAUSES}


def rows(build, seeds):
    """The lines of the table in docs/accuracy.md: a title, and figures."""
    rig = Rig(build, seeds)
    drawn, measured = rig.drawn(), rig.measured()
    full = {"loads": (1.4,), "known": 0.1}
    limited, bursts = {"holdup": Holdup(limit=None)}, {"holdup": Holdup(limit=None, bursts=True)}
    named = {"builtin": lambda host: host.name}
    yield "a model of the host's type, drawn hosts", rig.figures(drawn)
    yield "likewise, `--vm.neighbour-load` is given, within 0.2", rig.figures(drawn, known=0.1)
    yield "likewise, within 0.6", rig.figures(drawn, known=0.3)
    yield "likewise not, neighbours are idle", rig.figures(drawn, loads=(0.0,))
    yield "likewise not, neighbours fill the host", rig.figures(drawn, loads=(1.0,))
    yield "likewise not, neighbours ask for 140 % of it", rig.figures(drawn, loads=(1.4,))
    yield "140 %, and work comes in bursts", rig.figures(drawn, loads=(1.4,), holdup=Holdup(bursts=True))
    yield "a limit of 20 to 70 % of its vCPUs holds the guest back", rig.figures(drawn, **limited)
    yield "likewise, and work comes in bursts", rig.figures(drawn, **bursts)
    yield "a model of the host's type, measured hosts", rig.figures(measured)
    yield "likewise, `--vm.neighbour-load` is given, within 0.2", rig.figures(measured, known=0.1)
    yield "likewise, within 0.6", rig.figures(measured, known=0.3)
    for title, hosts in (("drawn", drawn), ("measured", measured)):
        yield f"*the best from CPU time alone, {title} hosts:* nothing else varies", rig.figures(hosts, causes=NO_CAUSE, best=True)
        yield "likewise, the load is given", rig.figures(hosts, causes=NO_CAUSE, best=True, known=0.1)
        yield "neither is given, all varies", rig.figures(hosts, best=True)
    for chips, sockets in ((2, "two sockets"), (1, "one socket")):
        types = rig.types(chips)
        every = {"host_cpus": lambda host: host.cpus, "known": 0.1, **named}
        yield f"the built-in model, SPECpower's hosts of {sockets}", rig.figures(types, **named)
        yield "likewise, both hints are given", rig.figures(types, **every)
    yield "likewise without, the processor's name is hidden", rig.figures(rig.types(2), builtin=lambda _: "QEMU Virtual CPU")
    yield "*drawn hosts, the load is given:* no difference between kinds of work", rig.figures(
        drawn, known=0.1, causes={"work": 0.0})
    yield "the host's frequency is constant", rig.figures(drawn, known=0.1, causes={"frequency": 0.0})
    yield "the hypervisor does nothing for the guest", rig.figures(drawn, known=0.1, causes={"hypervisor": 0.0})
    yield "none of the three", rig.figures(drawn, known=0.1, causes=NO_CAUSE)
    yield "140 %: stolen time is seen", rig.figures(drawn, **full)
    yield "140 %: it is not seen", rig.figures(drawn, sees_steal=False, **full)
    yield "*drawn hosts, no hints:* host CPUs are taken for half of them", rig.figures(drawn, host_cpus=lambda host: host.cpus // 2)
    yield "for twice as many", rig.figures(drawn, host_cpus=lambda host: host.cpus * 2)
    yield "truth by marginal power", rig.figures(drawn, marginal=True)


def table(build, seeds):
    head = ["estimate", "error, % of range", "bias", "MAPE above 5 %", "bound, % of range", "in the bound"]
    lines = [head, ["---"] * len(head)]
    for title, found in rows(build, seeds):
        lines.append([title, f"{found.of_range():.1f}", f"{found.bias():+.1f}", f"{found.mape():.0f} %", f"{found.width():.0f}",
                      f"{found.coverage():.0f} %"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
