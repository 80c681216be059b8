# SPDX-License-Identifier: Apache-2.0
"""
How far is an estimate from the truth? Compared are the joules of each container in each block of BLOCK seconds: about the time
between two scrapes. Intervals are those of a bootstrap of blocks, all containers of a block together, over all seeds.
"""
import random

BLOCK = 10
FEW = 0.05  # of the mean container's energy: of less, no percentage is made; it is in the MAE


class Figures:
    """@mape, @mae_w, @of_range with their 90 % intervals; @total: of the energy of each container in the whole run, as MAPE."""

    def __init__(self, blocks, range_w, total):
        self.blocks, self.range_w, self.total = blocks, range_w, total
        self.mape, self.mae_w = means(blocks)
        rng = random.Random(1)
        drawn = []
        for _ in range(400):
            drawn.append(means([blocks[rng.randrange(len(blocks))] for _ in blocks]))
        self.mape_interval = quantiles([mape for mape, _ in drawn])
        self.mae_interval = quantiles([mae for _, mae in drawn])
        self.of_range = 100.0 * self.mae_w / range_w if range_w else 0.0


def quantiles(values):
    values = sorted(values)
    return values[int(0.05 * len(values))], values[int(0.95 * len(values))]


def means(blocks):
    ratios = [abs(est - true) / true for block in blocks for est, true, enough in block if enough]
    errors = [abs(est - true) / BLOCK for block in blocks for est, true, _ in block]
    return (100.0 * sum(ratios) / len(ratios) if ratios else 0.0), (sum(errors) / len(errors) if errors else 0.0)


def energy_of(parts, name, begin, end):
    return sum(parts[at].get(name, 0.0) for at in range(begin, end))


def compare(truth, estimate, judged, learning):
    """
    @truth and @estimate: for each interval, container -> joules. Gives the blocks, each a list of (estimate, truth) and whether
    there is enough of it for a percentage; the range of the true power; and the mean error of the containers' totals in per cent.
    """
    last = len(truth) - (len(truth) - learning) % BLOCK
    names = judged or sorted({name for parts in truth for name in parts})
    mean = sum(energy_of(truth, name, learning, last) for name in names) / (len(names) * (last - learning))
    blocks, powers, errors = [], [], []
    for begin in range(learning, last, BLOCK):
        pairs = [(energy_of(estimate, name, begin, begin + BLOCK), energy_of(truth, name, begin, begin + BLOCK)) for name in names]
        blocks.append([(est, true, true > FEW * mean * BLOCK) for est, true in pairs])
        powers.append(sum(sum(parts.values()) for parts in truth[begin:begin + BLOCK]) / BLOCK)
    for name in names:
        est, true = energy_of(estimate, name, learning, last), energy_of(truth, name, learning, last)
        if true > FEW * mean * (last - learning):
            errors.append(100.0 * abs(est - true) / true)
    return blocks, max(powers), sum(errors) / len(errors)


def judge(truths, estimates, judged, learning):
    """Figures over the runs of all seeds."""
    blocks, ranges, totals = [], [], []
    for truth, estimate in zip(truths, estimates):
        found, range_w, total = compare(truth, estimate, judged, learning)
        blocks += found
        ranges.append(range_w)
        totals.append(total)
    return Figures(blocks, max(ranges), sum(totals) / len(totals))
