#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prediction beside Python's libraries: microseconds a row, of models that were trained on nx12 (../shared/data, or KEPLER_SHARED).

    python3 -m venv V; V/bin/pip install scikit-learn pandas xgboost-cpu
    ninja -C build bench/bench-predict; KEPLER_BUILD=build V/bin/python bench/predict.py [FILE.csv]

Each trainer of kepler-model is trained on all rows of packages, and predicts them one by one in an order by chance: with trees that
are walked, and prepared as an exporter has them (bench/bench-predict.c), beside the limit of one microsecond. Where Python's
libraries have such a trainer as well it is theirs, for one row at a time and for all at once, on one thread. Medians of CPU time.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

from train import DATA, KNOWN, TRAINERS
import pandas
from sklearn import preprocessing

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = ROOT / os.environ.get("KEPLER_BUILD", "build") / "bench/bench-predict"
FILE = DATA / "nx12/preprocess_abs_default_rapl_CounterOnly.csv"
LIMIT_US = 1.0
SINGLE_ROWS = 200
ROUNDS = 5


def median_us(predict, rows, count):
    """CPU time for each of @count rows; predict takes all @rows."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        predict(rows)
        times.append((time.process_time() - began) / count * 1e6)
    return statistics.median(times)


def one_by_one(model):
    def predict(rows):
        for i in range(SINGLE_ROWS):
            model.predict(rows[i:i + 1])
    return predict


def python_us(path):
    """By trainer: one row at a time, all at once."""
    table = pandas.read_csv(path)
    features = sorted(column for column in table if column.startswith(KNOWN) or column in KNOWN)
    rows = preprocessing.MaxAbsScaler().fit_transform(table[features].sample(frac=1, random_state=1).values)
    watts = table["package_power"].sample(frac=1, random_state=1).values
    found = {}
    for name, make in TRAINERS.items():
        try:
            model = make()
            model.fit(rows, watts)
        except RuntimeError:  # a curve that is not found
            continue
        found[name] = (median_us(one_by_one(model), rows, SINGLE_ROWS), median_us(model.predict, rows, len(rows)))
    return found


def main():
    warnings.filterwarnings("ignore")
    path = sys.argv[1] if len(sys.argv) > 1 else FILE
    theirs = python_us(path)
    out = subprocess.run([BINARY, path], capture_output=True, text=True, check=True).stdout
    print("| model | trees | walked, µs | KB | prepared, µs | KB | of 1 µs | Python, one row, µs | all at once, µs a row |")
    print("|---|---|---|---|---|---|---|---|---|")
    for line in out.splitlines():
        words = line.split()
        if words[0] == "file":
            continue
        name, trees, size, us, prepared_size, prepared_us = words[0], *words[2:]
        peer = theirs.get(name.removesuffix("Trainer").removesuffix("Regression").removesuffix("Regressor").removesuffix("Fit"))
        print(f"| {name} | {trees} | {us} | {int(size) / 1000:.0f} | {prepared_us} | {int(prepared_size) / 1000:.0f} | "
              f"{float(prepared_us) / LIMIT_US:.2f} | " + (f"{peer[0]:.0f} | {peer[1]:.2f} |" if peer else "– | – |"))


if __name__ == "__main__":
    main()
