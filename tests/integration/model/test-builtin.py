#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/builtin-models makes the platform model that is in the tree, and finds the errors that its page has.

The table is ../shared/data/specpower (or KEPLER_SHARED's). Other versions of LAPACK add in another order, so numbers may differ in
their last digits. With KEPLER_LONG_TESTS=1 also the models that are refitted, which take ten seconds.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from rig import BUILD, ROOT, run_tests, skip

PROGRAM = pathlib.Path(BUILD) / "tools/builtin-models/builtin-models"
SHARED = pathlib.Path(os.environ.get("KEPLER_SHARED", pathlib.Path(ROOT).parent / "shared"))
LONG = os.environ.get("KEPLER_LONG_TESTS")
TABLE = SHARED / "data/specpower/specpower.csv"
WEIGHTS = pathlib.Path(ROOT) / "src/model/platform_power_weights.c"
EXPECTED = pathlib.Path(ROOT) / "tests/unit/model/platform_power_expected.h"
PAGE = pathlib.Path(ROOT) / "docs/design/platform-power-model.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
ERRORS = re.compile(r"^(.*): ([\d.]+) \(([\d.]+)\) W, ([\d.]+) \(([\d.]+)\) %", re.M)


def train(*words, table=TABLE, status=0):
    if not table.exists():
        skip(f"the table of machines is not here: {table}; KEPLER_SHARED names its folder")
    done = subprocess.run([PROGRAM, "platform", table, *words], capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == status, f"{words}: {done.returncode}, {done.stdout}{done.stderr}"
    return done.stderr if status else done.stdout


def assert_same(text, other, ratio, least):
    """The same text, with numbers that differ by @ratio at most, or by @least."""
    assert NUMBER.sub("#", text) == NUMBER.sub("#", other)
    for a, b in zip(map(float, NUMBER.findall(text)), map(float, NUMBER.findall(other))):
        assert abs(a - b) <= max(least, ratio * max(abs(a), abs(b))), (a, b)


def errors_of(output):
    return {name: tuple(map(float, values)) for name, *values in ERRORS.findall(output)}


def page_row(name):
    """(W, median W, %, median %) of a row of the page's table."""
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.replace("*", "").startswith(f"| {name}"))
    return tuple(map(float, re.findall(r"\d+\.\d", row)))


def the_weights_in_the_tree_are_what_it_writes():
    with tempfile.TemporaryDirectory() as folder:
        weights, expected = pathlib.Path(folder, "w.c"), pathlib.Path(folder, "e.h")
        date = re.search(r"platform on (\S+);", WEIGHTS.read_text(encoding="utf-8"))[1]
        train(f"--write={weights}", f"--expect={expected}", f"--date={date}")
        first = weights.read_bytes()
        assert_same(WEIGHTS.read_text(encoding="utf-8"), first.decode(), 1e-4, 2e-5)
        assert_same(EXPECTED.read_text(encoding="utf-8"), expected.read_text(encoding="utf-8"), 1e-3, 0)
        train(f"--write={weights}", f"--date={date}")
        assert weights.read_bytes() == first, "a second run wrote another file"


def errors_are_those_of_the_page():
    errors = errors_of(train())
    for name, row in (("types, one by one", "types, one by one"), ("types, 20 groups", "types, in 20 groups (mean"),
                      ("CPU models, one by one", "all types of a CPU model, one by one"),
                      ("CPU models, 20 groups", "all types of a CPU model, in 20 groups (mean"),
                      ("generations, one by one", "all types of a generation"),
                      ("CPU models, one by one, names of CPUs unknown", "all types of a CPU model, names")):
        assert all(abs(a - b) < 0.15 for a, b in zip(errors[name], page_row(row), strict=True)), (name, errors[name])


def bounds_cover_nine_of_ten():
    output = train("--table")
    covered = [float(share) for share in re.findall(r"bound covers ([\d.]+) %", output)]
    assert len(covered) == 6 and all(89 < share < 92 for share in covered), covered
    classes = re.findall(r"^\| ([\w ]+) \| (\d+) \| ([\d.]+) \|", output.split("within the bound")[1], re.M)
    assert len(classes) == 12 and all(float(share) > 80 for _, _, share in classes), classes
    assert sum(int(types) for name, types, _ in classes if "socket" in name) == 248


def refitted_models_are_as_good():
    output = train("--refit")
    errors = errors_of(output)
    for name, row in (("types", "types, in 20 groups, refitted"),
                      ("CPU models", "all types of a CPU model, in 20 groups, refitted")):
        found = errors[f"refitted, {name}, 20 groups"]
        assert all(abs(a - b) < 0.15 for a, b in zip(found, page_row(row), strict=True)), (name, found)
    watts, _, percent, median_percent = errors["refitted, types, 20 groups"]
    assert watts <= 33 and percent <= 13 and median_percent <= 9, (watts, percent, median_percent)
    within = [float(share) for share in re.findall(r"([\d.]+) % within the bound", output)]
    assert len(within) == 2 and all(89 < share < 93 for share in within), within


def what_cannot_be_trained_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "t.csv")
        table.write_text("node_type,processor\n", encoding="utf-8")
        assert "t.csv:1: there is no column cores" in train(table=table, status=1)
    done = subprocess.run([PROGRAM, "teapot", "t.csv"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and 'there is no model "teapot"' in done.stderr


def main():
    if not PROGRAM.exists():
        skip("tools/builtin-models is not built")
    run_tests((what_cannot_be_trained_is_refused, the_weights_in_the_tree_are_what_it_writes, errors_are_those_of_the_page,
               bounds_cover_nine_of_ten, *([refitted_models_are_as_good] if LONG else [])))


main()
