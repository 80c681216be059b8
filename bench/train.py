#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training beside Python's libraries: upstream's ten trainers on nx12, EC2 and SPECpower (../shared/data, or KEPLER_SHARED).

    python3 -m venv V; V/bin/pip install scikit-learn pandas xgboost-cpu
    ninja -C build bench/bench-train; KEPLER_BUILD=build V/bin/python bench/train.py [ROUNDS [THREADS]]

Both fit each trainer once on all rows of each component of each machine, with upstream's parameters, and predict these rows; on
one thread, or on as many as are said, of which Python's libraries take what they can. Of nx12 it is groups of counters, CPU time
and both; of EC2 the five groups of four machines; of SPECpower 248 machines. Medians of the rounds, in seconds of CPU time, of
all in seconds by the clock as well; reading files and loading Python's libraries (once more two seconds) are not counted.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

THREADS = sys.argv[2] if __name__ == "__main__" and len(sys.argv) > 2 else "1"
os.environ.update(OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS)
import numpy  # noqa: E402
import pandas  # noqa: E402
import xgboost  # noqa: E402
from scipy.optimize import curve_fit  # noqa: E402
from sklearn import ensemble, linear_model, neighbors, pipeline, preprocessing, svm  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("KEPLER_SHARED", ROOT.parent / "shared")) / "data"
BINARY = ROOT / os.environ.get("KEPLER_BUILD", "build") / "bench/bench-train"
FILES = [*(DATA / f"nx12/preprocess_abs_default_{source}_{group}.csv" for source in ("rapl", "acpi")
           for group in ("BPFOnly", "BPFIRQ", "CounterOnly", "CounterIRQCombined")),
         *sorted((DATA / "ec2").glob("ec2_*.csv")), DATA / "specpower/specpower.csv"]
KNOWN = ("bpf_", "cpu_cycles", "cpu_instructions", "cache_miss")


class Curve:
    """The curve fits: of the main feature, from start values that depend on the rows."""
    def __init__(self, kind):
        self.kind = kind
        self.function = {"Logarithmic": lambda x, a, b, c: a * numpy.log(b * x + 1) + c,
                         "Logistic": lambda x, a, m, k, c: a / (1 + numpy.exp(-k * (x - m))) + c,
                         "Exponential": lambda x, a, b, c: a * numpy.exp(b * x) + c}[kind]

    def fit(self, rows, y):
        low, high = y.min(), y.max()
        third = numpy.floor((high - low) / numpy.e)
        start = {"Logarithmic": [high - low, 1, low], "Exponential": [third, 1, low - third],
                 "Logistic": [high - low, 0.5, numpy.floor((high - low) / (y.std() or 1)), low]}[self.kind]
        self.found, _ = curve_fit(self.function, rows[:, 0], y, p0=start, maxfev=30000)
        return self

    def predict(self, rows):
        return self.function(rows[:, 0], *self.found)


TRAINERS = {
    "Polynomial": lambda: pipeline.make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.LinearRegression()),
    "GradientBoosting": ensemble.GradientBoostingRegressor,
    "KNeighbors": lambda: neighbors.KNeighborsRegressor(6),
    "Linear": lambda: linear_model.LinearRegression(positive=True),
    "SVR": lambda: svm.SVR(C=1.0, epsilon=0.2),
    "Xgboost": lambda: xgboost.XGBRegressor(n_estimators=100, learning_rate=0.1, n_jobs=int(THREADS)),
    "SGD": lambda: linear_model.SGDRegressor(max_iter=1000),
    **{kind: lambda kind=kind: Curve(kind) for kind in ("Logarithmic", "Logistic", "Exponential")},
}


def tasks():
    """(x, y) of each component of each machine of each file."""
    for path in FILES:
        table = pandas.read_csv(path)
        features = sorted(column for column in table if column.startswith(KNOWN) or column in KNOWN)
        main = next((name for name in ("bpf_cpu_time_ms", "bpf_cpu_time_us", "cpu_instructions") if name in features), features[0])
        order = [main, *(column for column in features if column != main)]
        for column in ("package_power", "dram_power", "platform_power"):
            if column not in table:
                continue
            for _, rows in table.groupby("node_type") if "node_type" in table else [(0, table)]:
                yield preprocessing.MaxAbsScaler().fit_transform(rows[order].values), rows[column].values


def python_seconds(work):
    start = time.monotonic()
    seconds, fits, errors = dict.fromkeys(TRAINERS, 0.0), dict.fromkeys(TRAINERS, 0), dict.fromkeys(TRAINERS, 0.0)
    for x, y in work:
        for name, make in TRAINERS.items():
            began = time.process_time()
            try:
                error = abs(make().fit(x, y).predict(x) - y).mean()
            except RuntimeError:  # a curve that is not found
                continue
            seconds[name] += time.process_time() - began
            errors[name] += error
            fits[name] += 1
    return {name: (fits[name], seconds[name], errors[name] / max(fits[name], 1)) for name in TRAINERS} | {
        "wall": (0, time.monotonic() - start, 0)}


def our_seconds():
    out = subprocess.run([BINARY, THREADS, *FILES], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {name: (int(fits), float(seconds), float(error)) for name, fits, seconds, error in rows if name != "all"}


def main():
    warnings.filterwarnings("ignore")
    work = list(tasks())
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(our_seconds())
        theirs.append(python_seconds(work))
    print("| trainer | fits | Python, s | kepler-model, s | times | mean error on its own rows, W |")
    print("|---|---|---|---|---|---|")
    total = [0.0, 0.0]
    for name in TRAINERS:
        seconds = [statistics.median(found[name][1] for found in side) for side in (theirs, ours)]
        total = [total[side] + seconds[side] for side in (0, 1)]
        print(f"| {name} | {theirs[0][name][0]}, {ours[0][name][0]} | {seconds[0]:.3f} | {seconds[1]:.3f} | "
              f"{seconds[0] / seconds[1]:.1f} | {theirs[0][name][2]:.2f}, {ours[0][name][2]:.2f} |")
    wall = [statistics.median(found["wall"][1] for found in side) for side in (theirs, ours)]
    print(f"| all, by the clock, {THREADS} threads | | {wall[0]:.2f} | {wall[1]:.2f} | {wall[0] / wall[1]:.1f} | |")
    print(f"| all | | {total[0]:.2f} | {total[1]:.2f} | {total[0] / total[1]:.1f} | |")


if __name__ == "__main__":
    main()
