#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""validate, compare, isolate and plot of kepler-model say the same whether rows fit in memory or not, and memory does not grow."""
import gzip
import os
import pathlib
import random
import subprocess
import tempfile

from rig import BUILD, run_tests

MODEL = pathlib.Path(BUILD) / "kepler-model"
LITTLE = "--memory=1KiB"
HEAD = "timestamp,node,bpf_cpu_time_ms,cpu_cycles,none,package_power,dram_power\n"


def program(*words, status=0):
    done = subprocess.run([MODEL, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, (words, done.returncode, done.stderr[-2000:])
    return done


def write_rows(path, rows, seed=1):
    """With rows in which nothing ran, a column of text, one without a number, and cells that are missing."""
    chance = random.Random(seed)
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD)
        for row in range(rows):
            load = chance.random() if row > 50 else 0
            ghz = chance.choice((1.2, 2.0))
            watts = "" if row % 97 == 60 else f"{40 + 60 * load * ghz + chance.gauss(0, 2):.3f}"
            file.write(f"{row},n{row % 7},{16000 * load:.4f},{16e9 * load * ghz:.0f},,{watts},"
                       f"{5 + 3 * load + chance.gauss(0, 0.1):.3f}\n")
    return path


def train(folder, rows, trainer):
    model = folder / f"{trainer}.model"
    program("train-from-data", rows, f"--trainers={trainer}", f"--output={model}", "--features=bpf_cpu_time_ms,cpu_cycles",
            "--components=package,dram", "--folds=3")
    return model


def the_same_in_little_memory():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = write_rows(folder / "rows.csv", 9000)
        models = [train(folder, rows, trainer) for trainer in ("LinearRegressionTrainer", "XgboostFitTrainer")]
        other = write_rows(folder / "other.csv", 5000, seed=2)
        commands = [("compare", *models, other, f"--format={form}") for form in ("json", "table")]
        commands += [("validate", models[0], other, "--limit=1")]
        commands += [("isolate", other, f"--isolator={isolator}") for isolator in ("none", "min", "idle")]
        commands += [("plot", models[1], other)]
        for words in commands:
            status = 1 if "--limit=1" in words else 0
            kept, streamed = program(*words, status=status), program(*words, LITTLE, status=status)
            assert kept.stdout and kept.stdout == streamed.stdout and kept.stderr == streamed.stderr, (words, streamed.stderr)
        packed = folder / "other.csv.gz"
        packed.write_bytes(gzip.compress(other.read_bytes()))
        assert program("isolate", packed, LITTLE).stdout == program("isolate", other).stdout


def output_is_whole_or_not_there():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows, output = write_rows(folder / "rows.csv", 30000), folder / "dynamic.csv"
        program("isolate", rows, f"--output={output}", LITTLE)
        whole = output.read_text(encoding="ascii")
        assert whole == program("isolate", rows).stdout and len(whole) > 1 << 20
        with open(rows, "a", encoding="ascii") as file:
            file.write("1,2\n")
        refused = program("isolate", rows, f"--output={output}", LITTLE, status=1)
        assert "rows.csv:30002:4: this line has 2 cells" in refused.stderr, refused.stderr
        assert output.read_text(encoding="ascii") == whole
        assert sorted(path.name for path in folder.iterdir()) == ["dynamic.csv", "rows.csv"]


def peak_kib(*words):
    with subprocess.Popen([MODEL, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return usage.ru_maxrss


def memory_does_not_grow():
    """Ten times as many rows: 16 MiB more as text, and as much as numbers. The sanitizer keeps what was freed for a while."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        few, many = write_rows(folder / "few.csv", 30000), write_rows(folder / "many.csv", 300000)
        model = train(folder, few, "LinearRegressionTrainer")
        for command in (("validate", model), ("isolate",), ("plot", model)):
            small, large = (peak_kib(*command, rows, "--memory=1MiB") for rows in (few, many))
            print(f"{command[0]}: {small} KiB, {large} KiB")
            assert large < small + 16384, (command, small, large)


run_tests((the_same_in_little_memory, output_is_whole_or_not_there, memory_does_not_grow))
