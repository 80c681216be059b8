#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model trains on the files of many nodes, in memory or not, and refuses what it cannot read."""
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

from rig import BUILD, need_program, run_tests, skip

MODEL = pathlib.Path(BUILD) / "kepler-model"
NODES = 12
ROWS = 8000
HEAD = "timestamp,bpf_cpu_time_ms,cpu_cycles,package_power\n"


def train(*words, status=0):
    """(JSON of the errors, the model, standard error)."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.json"
        command = [MODEL, "train-from-data", *map(str, words), f"--output={model}", f"--spool-dir={folder}", "--format=json",
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
    plain = path.with_suffix("") if path.suffix == ".zst" else path
    with opened(plain, "wt", encoding="ascii") as file:
        file.write(HEAD)
        for second in range(rows):
            load, ghz = chance.random(), chance.choice((1.2, 2.0, 2.8))
            watts = factor * (50 + 60 * load * ghz) + chance.gauss(0, 1)
            file.write(f"{second},{16000 * load:.4f},{16e9 * load * ghz:.0f},{watts:.3f}\n")
    if plain != path:
        subprocess.run(["zstd", "-q", "--rm", plain, "-o", path], check=True)


def fleet(folder, rows=ROWS):
    for node in range(NODES):
        write_node(folder / f"node-{node:02}.csv{('.gz', '', '.zst')[node % 3]}", node, rows)
    return folder


def streamed_lines_are_those_of_rows_in_memory():
    with tempfile.TemporaryDirectory() as folder:
        fleet(pathlib.Path(folder))
        words = ("--trainers=LinearRegressionTrainer,Polynomial", "--folds=4")
        in_memory, first, nothing = train(folder, *words)
        files = pathlib.Path(folder) / "list.txt"
        files.write_text("".join(f"{path}\n" for path in sorted(pathlib.Path(folder).glob("node*"))), encoding="ascii")
        streamed, second, said = train(f"@{files}", "--memory=32MiB", *words)
    assert not nothing and f"{NODES * ROWS} rows of {NODES} files do not fit in 32 MiB" in said, said
    assert second["origin"]["data"] == f"{NODES} files ({NODES * ROWS} rows)", second["origin"]
    for a, b in zip(first["components"][0]["predictor"]["weights"], second["components"][0]["predictor"]["weights"]):
        assert abs(a - b) <= 1e-9 * max(1, abs(a)), (a, b)
    for a, b in zip(in_memory["results"], streamed["results"]):
        assert a["rows"] == b["rows"] == NODES * ROWS
        assert abs(a["mae_w"] - b["mae_w"]) < 1e-6, (a, b)
        # Nodes differ by a twentieth: what rows say of the error's certainty is too little by far.
        assert b["mae_high_w"] - b["mae_low_w"] > 20 * (a["mae_high_w"] - a["mae_low_w"]), (a, b)


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
        write_node(folder / "b.csv.zst", 1, 2000)
        for name in ("a.csv.gz", "b.csv.zst"):
            whole = (folder / name).read_bytes()
            (folder / name).write_bytes(whole[:len(whole) // 2])
            assert f"{name}: cannot be read: " in train(folder / name, status=1)[2]
            (folder / name).unlink()
        assert "there is no file *.csv, *.csv.gz or *.csv.zst" in train(folder, status=1)[2]
        assert "No such file or directory" in train(folder / "b.csv", status=1)[2]


def a_sample_is_named():
    """What is not trained on a row at a time is a sample, and the report and the model say so."""
    with tempfile.TemporaryDirectory() as folder:
        fleet(pathlib.Path(folder))
        report, model, _ = train(folder, "--memory=32MiB", "--trainers=LeastSquares,ExtraTrees", "--folds=2")
    sampled = {result["model"]: result.get("trained_rows") for result in report["results"]}
    assert sampled["LeastSquares"] is None and 20_000 < sampled["ExtraTrees"] < NODES * ROWS, sampled
    if model["origin"]["trainer"] == "ExtraTrees":
        assert f"a sample of {sampled['ExtraTrees']}" in model["origin"]["data"]


def main():
    if not MODEL.exists():
        skip("kepler-model is not built")
    need_program("zstd")
    run_tests((streamed_lines_are_those_of_rows_in_memory, bad_rows_have_a_place_and_can_be_skipped, broken_files_are_refused,
               a_sample_is_named))


main()
