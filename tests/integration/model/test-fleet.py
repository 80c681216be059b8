#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model trains on the files of many nodes, and refuses files that it cannot read."""
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

from rig import BUILD, run_tests, skip

MODEL = pathlib.Path(BUILD) / "kepler-model"
NODES = 12
ROWS = 8000
HEAD = "timestamp,bpf_cpu_time_ms,cpu_cycles,package_power\n"


def train(*words, status=0):
    """(JSON of the errors, the model, standard error)."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.json"
        command = [MODEL, "train-from-data", *map(str, words), f"--output={model}", "--format=json",
                   "--features=bpf_cpu_time_ms,cpu_cycles"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
        assert [path.name for path in pathlib.Path(folder).iterdir()] == (["model.json"] if status == 0 else [])
        if status:
            return None, None, done.stderr
        return json.loads(done.stdout), json.loads(model.read_text()), done.stderr


def write_node(path, node, rows):
    chance = random.Random(node)
    factor = 1 + chance.gauss(0, 0.05)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="ascii") as file:
        file.write(HEAD)
        for second in range(rows):
            load, ghz = chance.random(), chance.choice((1.2, 2.0, 2.8))
            watts = factor * (50 + 60 * load * ghz) + chance.gauss(0, 1)
            file.write(f"{second},{16000 * load:.4f},{16e9 * load * ghz:.0f},{watts:.3f}\n")


def fleet(folder, rows=ROWS):
    for node in range(NODES):
        write_node(folder / f"node-{node:02}.csv{('.gz', '')[node % 2]}", node, rows)
    return folder


def files_are_held_out_as_a_whole():
    """Also if a list names them. Nodes differ by a twentieth: rows by chance hide a part of the error of an unseen node."""
    with tempfile.TemporaryDirectory() as folder:
        fleet(pathlib.Path(folder))
        words = ("--trainers=LinearRegressionTrainer,Polynomial", "--folds=4")
        by_folder, first, _ = train(folder, *words)
        files = pathlib.Path(folder) / "list.txt"
        files.write_text("".join(f"{path}\n" for path in sorted(pathlib.Path(folder).glob("node*"))), encoding="ascii")
        by_list, second, _ = train(f"@{files}", *words)
        by_rows, _, _ = train(folder, *words, "--validation=random", "--folds=40")
    assert second["origin"]["data"] == f"{NODES} files", second["origin"]
    assert first["components"] == second["components"] and by_folder["results"] == by_list["results"]
    for files, rows in zip(by_folder["results"], by_rows["results"]):
        assert files["rows"] == rows["rows"] == NODES * ROWS
        assert files["mae_w"] > rows["mae_w"] * 1.02, (files, rows)


def bad_rows_have_a_place_and_can_be_skipped():
    with tempfile.TemporaryDirectory() as folder:
        good, bad = pathlib.Path(folder) / "a.csv", pathlib.Path(folder) / "b.csv"
        write_node(good, 1, 300)
        bad.write_text(HEAD + "1,2,3\n" + "2,3,4,5\n" + '"x"y,1,2,3\n', encoding="ascii")
        words = ("--trainers=LeastSquares", "--folds=3")
        assert f"{bad}:2:6: this line has 3 cells, the first one has 4" in train(good, bad, *words, status=1)[2]
        report, _, said = train(good, bad, "--skip-bad-rows", *words)
        assert report["results"][0]["rows"] == 301 and "2 bad rows were skipped" in said, said


def broken_files_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_node(folder / "a.csv.gz", 1, 2000)
        whole = (folder / "a.csv.gz").read_bytes()
        (folder / "a.csv.gz").write_bytes(whole[:len(whole) // 2])
        assert "a.csv.gz: cannot be read: " in train(folder / "a.csv.gz", status=1)[2]
        (folder / "a.csv.gz").unlink()
        assert "there is no file *.csv or *.csv.gz" in train(folder, status=1)[2]
        (folder / "b.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
        assert "b.csv.zst: it is compressed by zstd; unpack it: zstd -d FILE" in train(folder, status=1)[2]
        assert "No such file or directory" in train(folder / "b.csv", status=1)[2]


def more_rows_than_the_limit_are_refused():
    """With a way to take a sample, and before they take the machine's memory."""
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        rows.write_text(HEAD + "1,2,3,4\n" * 1_000_001, encoding="ascii")
        said = train(rows, status=1)[2]
    assert f"{rows}:1000002: there are more than 1000000 rows; take a sample of them" in said, said


def main():
    if not MODEL.exists():
        skip("kepler-model is not built")
    run_tests((files_are_held_out_as_a_whole, bad_rows_have_a_place_and_can_be_skipped, broken_files_are_refused,
               more_rows_than_the_limit_are_refused))


main()
