#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-model train` as a whole beside Python: from CSV files to models on disk, with upstream's ten trainers.

    python3 -m venv V; V/bin/pip install scikit-learn pandas xgboost-cpu
    ninja -C build kepler-model; KEPLER_BUILD=build V/bin/python bench/pipeline.py [ROUNDS [PART-OF-FILE-NAME]]

Each side reads files of nx12 and EC2 (../shared/data, or KEPLER_SHARED), trains every trainer on each of two folds and finds its
errors on the other one. kepler-model then trains on all rows with the best trainer, and further ones where that model would be
refused; Python with every trainer, as upstream keeps one model of each. Models are written. kepler-model is a new process for each
file, Python one for all of them, so that its imports count once. Medians of the rounds: seconds of wall time and of CPU time.
"""
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("KEPLER_SHARED", ROOT.parent / "shared")) / "data"
BINARY = ROOT / os.environ.get("KEPLER_BUILD", "build") / "kepler-model"
FILES = [*(DATA / f"nx12/preprocess_abs_default_{source}_{group}.csv" for source in ("rapl", "acpi")
           for group in ("BPFOnly", "BPFIRQ", "CounterOnly", "CounterIRQCombined")), *sorted((DATA / "ec2").glob("ec2_*.csv"))]
TRAINERS = ("Polynomial", "GradientBoosting", "KNeighbors", "Linear", "SVR", "Xgboost", "SGD", "Logarithmic", "Logistic",
            "Exponential")


def files(part):
    return [path for path in FILES if part in path.name]


def python_side(folder, part):
    """Runs in a process of its own: everything that Python does, its imports included."""
    import pickle
    import warnings
    import pandas
    import train
    from sklearn import model_selection, preprocessing
    warnings.filterwarnings("ignore")
    for path in files(part):
        table = pandas.read_csv(path)
        features = sorted(column for column in table if column.startswith(train.KNOWN) or column in train.KNOWN)
        for column in (name for name in ("package_power", "dram_power", "platform_power") if name in table):
            x, y = preprocessing.MaxAbsScaler().fit_transform(table[features].values), table[column].values
            for name, make in train.TRAINERS.items():
                try:
                    for inside, outside in model_selection.KFold(2).split(x):
                        abs(make().fit(x[inside], y[inside]).predict(x[outside]) - y[outside]).mean()
                    model = make().fit(x, y)
                except RuntimeError:  # a curve that is not found
                    continue
                try:
                    (pathlib.Path(folder) / f"{path.stem}_{column}_{name}.pkl").write_bytes(pickle.dumps(model))
                except (pickle.PicklingError, AttributeError):  # a curve keeps a lambda
                    pass


def measure(commands):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for command in commands:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    words = [f"--trainers={','.join(TRAINERS)}", "--validation=blocked", "--folds=2"]
    found = {"kepler-model": [], "Python": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            found["kepler-model"].append(measure([[BINARY, "train-from-data", path, *words, f"--output={folder}/{path.stem}.json"]
                                                  for path in files(part)]))
            found["Python"].append(measure([[sys.executable, __file__, "--python", folder, part]]))
    print("| what | wall time, s | CPU time, s |")
    print("|---|---|---|")
    for name, times in found.items():
        print(f"| {name} | {statistics.median(wall for wall, _ in times):.2f} | {statistics.median(cpu for _, cpu in times):.2f} |")


if sys.argv[1:2] == ["--python"]:
    python_side(*sys.argv[2:])
else:
    main()
