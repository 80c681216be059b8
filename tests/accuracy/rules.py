# SPDX-License-Identifier: Apache-2.0
"""
Rules that split a zone's energy, in a few lines each: those of the peers, and candidates for Kepler. They see what readers of
activity and meters see, and nothing of the truth. Each takes a trace and gives, for each interval, container -> joules of a
zone's dynamic energy.

The dynamic energy is the meter's less the idle power, which is given here, to all rules alike: these figures are those of the
split.
"""
MIX_INSTRUCTION = 0.75  # of a cycle of a thread that has its core for itself
SMT_FACTOR = 0.575  # of a cycle with a busy sibling: the second thread adds 15 % (METRION), 1.15 / 2


class Row:
    """What one process did in one socket, in seconds, 1e9 cycles and instructions, 1e6 misses and lines."""
    __slots__ = ("name", "pid", "time", "paired", "cycles", "instr", "miss", "lines", "ghz_ratio", "jiffies")

    def __init__(self, share, part):
        self.name, self.pid = share.name, share.pid
        self.time, self.paired = share.cpu * part, share.paired * part
        self.cycles, self.instr = share.cycles * part / 1e9, share.instr * part / 1e9
        self.miss, self.lines = share.miss * part / 1e6, share.lines * part / 1e6
        self.ghz_ratio = share.cycles / share.ref if share.ref else 1.0
        self.jiffies = share.jiffies

    def unpaired_ratio(self):
        return 1.0 - self.paired / self.time if self.time else 1.0


def rows_of(interval, socket):
    rows = []
    for share in interval.shares:
        if share.socket[socket] > 0.0:
            rows.append(Row(share, share.socket[socket] / share.cpu))
    return rows


def dynamic(trace, interval, zone, socket):
    idle = trace.idle_pkg if zone == "pkg" else trace.idle_dram
    return max(0.0, getattr(interval, zone)[socket] - idle * (interval.end - interval.begin))


def split(energy, names, weights, out):
    total = sum(weights)
    if total > 0.0:
        for name, weight in zip(names, weights):
            out[name] = out.get(name, 0.0) + energy * weight / total


def by_weight(trace, zone, weight):
    """Each socket's energy, by the weight of each process's work on it."""
    result = []
    for interval in trace.intervals:
        out = {}
        for socket in range(trace.params.sockets):
            rows = rows_of(interval, socket)
            split(dynamic(trace, interval, zone, socket), [row.name for row in rows], [weight(row) for row in rows], out)
        result.append(out)
    return result


def whole_node(trace, zone, weight, alive_only):
    """As peers do: the energy of all sockets together, by one weight of each process."""
    result = []
    for interval in trace.intervals:
        out = {}
        energy = sum(dynamic(trace, interval, zone, socket) for socket in range(trace.params.sockets))
        shares = [share for share in interval.shares if not (alive_only and share.ended)]
        split(energy, [share.name for share in shares], [weight(share) for share in shares], out)
        result.append(out)
    return result


def proc_ratio(trace, zone):
    """CPU time of the processes that a poll of /proc finds, in jiffies (Scaphandre, Kepler from 0.10 on)."""
    return whole_node(trace, zone, lambda share: share.jiffies, True)


def classic(trace, zone):
    """Kepler up to 0.9, with counters: instructions for the package, cache misses for DRAM."""
    return whole_node(trace, zone, lambda share: share.instr if zone == "pkg" else share.miss, False)


def effective(row, factor=SMT_FACTOR):
    alone = row.unpaired_ratio()
    return alone + (1.0 - alone) * factor


def volts(row):
    """(V/V0)^2 for a frequency, with the nominal one as 1: a line that is flatter than any real table's ends."""
    return (0.5 + 0.5 * row.ghz_ratio) ** 2


RATIOS = {
    "cpu-time": lambda row: row.time,
    "smt-time": lambda row: row.time * effective(row),
    "cycles": lambda row: row.cycles,
    "cycles-smt": lambda row: row.cycles * effective(row),
    "cycles-smt-v2": lambda row: row.cycles * effective(row) * volts(row),
    "instructions": lambda row: row.instr,
    "instructions-v2": lambda row: row.instr * volts(row),
    "misses": lambda row: row.miss,
    "traffic": lambda row: row.lines,
    # The cost of keeping a core clocked, and the cost of a thread's work in it.
    "mix": lambda row: row.cycles * effective(row, 0.5) + MIX_INSTRUCTION * row.instr,
}

def alone_cycles(row):
    return row.cycles * row.unpaired_ratio()


def paired_cycles(row):
    return row.cycles * (1.0 - row.unpaired_ratio())


PLAIN = [alone_cycles, paired_cycles, lambda row: row.instr, lambda row: row.miss]
FAST = PLAIN + [lambda row: alone_cycles(row) * row.ghz_ratio ** 2, lambda row: paired_cycles(row) * row.ghz_ratio ** 2]
TIMED = [lambda row: row.cycles * effective(row, 0.5) * volts(row), lambda row: row.instr * volts(row), lambda row: row.miss,
         lambda row: row.time * effective(row, 0.5)]
TRAFFIC = [lambda row: row.lines]
MISSES = [lambda row: row.miss]


class Regression:
    """y = sum of c x, c >= 0, exponentially forgotten; drawn to @prior as by @strength intervals of mean size."""

    def __init__(self, count, memory=600.0, prior=None, strength=1e-4):
        self.count, self.keep = count, 1.0 - 1.0 / memory
        self.xx = [[0.0] * count for _ in range(count)]
        self.xy = [0.0] * count
        self.weight = 0.0
        self.prior = prior or [0.0] * count
        self.strength = strength
        self.c = list(self.prior)

    def add(self, x, y, weight=1.0):
        for i in range(self.count):
            row = self.xx[i]
            for j in range(self.count):
                row[j] = row[j] * self.keep + weight * x[i] * x[j]
            self.xy[i] = self.xy[i] * self.keep + weight * x[i] * y
        self.weight = self.weight * self.keep + weight

    def solve(self, sweeps=40):
        for _ in range(sweeps):
            for i in range(self.count):
                scale = self.xx[i][i]
                if scale <= 0.0:
                    self.c[i] = self.prior[i]
                    continue
                ridge = self.strength * scale / max(1.0, self.weight)
                rest = self.xy[i] - sum(self.xx[i][j] * self.c[j] for j in range(self.count) if j != i)
                self.c[i] = max(0.0, (rest + ridge * self.prior[i]) / (scale + ridge))
        return self.c


class OwnFactors:
    """
    A factor for each container on top of the common regression, for what no counter shows of its work: the zone's energy is
    regressed on the watts that the common coefficients give each. Drawn to 1 as a Bayesian would, with a standard deviation of
    SIGMA; the variance of residuals is measured, and inflated because residuals of neighbouring intervals resemble each other.
    """
    SIGMA, INFLATION, EVERY, LEAST = 0.35, 4.0, 5, 20

    def __init__(self, memory):
        self.memory, self.factor, self.history, self.variance = memory, {}, [], 1.0

    def of(self, name):
        return self.factor.get(name, 1.0)

    def add(self, c, rows, amounts, energy, predicted):
        if predicted is not None:
            self.variance += (min((energy - predicted) ** 2, 25.0 * self.variance + 1e-6) - self.variance) / 60.0
        seen = {}
        for row, amount in zip(rows, amounts):
            sums = seen.setdefault(row.name, [0.0] * len(c))
            for at, x in enumerate(amount):
                sums[at] += x
        self.history.append((seen, energy))
        if len(self.history) > self.memory:
            self.history.pop(0)
        if len(self.history) >= self.LEAST and len(self.history) % self.EVERY == 0 or len(self.history) == self.memory:
            self.solve(c)

    def solve(self, c):
        names = sorted({name for seen, _ in self.history for name in seen})
        count = range(len(names))
        xx, xy = [[0.0] * len(names) for _ in names], [0.0] * len(names)
        for seen, energy in self.history:
            x = [sum(a * b for a, b in zip(c, seen[name])) if name in seen else 0.0 for name in names]
            for i in count:
                if x[i]:
                    xy[i] += x[i] * energy
                    for j in count:
                        xx[i][j] += x[i] * x[j]
        penalty = self.variance * self.INFLATION / self.SIGMA ** 2
        factors = [self.of(name) for name in names]
        for _ in range(60):
            for i in count:
                rest = xy[i] - sum(xx[i][j] * factors[j] for j in count if j != i)
                factors[i] = max(0.0, (rest + penalty) / (xx[i][i] + penalty))
        self.factor.update(zip(names, factors))


def fitted(trace, zone, features, own=False, memory=600):
    """A regression of each socket's dynamic power on @features of all that ran there; with @own, factors of containers, too."""
    result = []
    common = [Regression(len(features), memory) for _ in range(trace.params.sockets)]
    factors = [OwnFactors(memory) for _ in range(trace.params.sockets)]
    for interval in trace.intervals:
        out = {}
        for socket in range(trace.params.sockets):
            fit, factor = common[socket], factors[socket]
            rows = rows_of(interval, socket)
            energy = dynamic(trace, interval, zone, socket)
            amounts = [[feature(row) for feature in features] for row in rows]
            weights = [sum(c * x for c, x in zip(fit.c, amount)) for amount in amounts]
            predicted = None
            if fit.weight < 20 or sum(weights) <= 0.0:
                weights = [RATIOS["mix"](row) for row in rows]
            elif own:
                weights = [weight * factor.of(row.name) for row, weight in zip(rows, weights)]
                predicted = sum(weights)
            split(energy, [row.name for row in rows], weights, out)
            fit.add([sum(column) for column in zip(*amounts)] if rows else [0.0] * len(features), energy)
            fit.solve()
            if own:
                factor.add(fit.c, rows, amounts, energy, predicted)
        result.append(out)
    return result
