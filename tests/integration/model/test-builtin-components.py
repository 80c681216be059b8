#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/builtin-models components: from the published rows (../shared/data, or KEPLER_SHARED) it makes the weights of the
tree, twice the same file, and the errors on held-out machines that docs/design/component-power-model.md quotes."""
import os
import pathlib
import re
import subprocess
import tempfile

from rig import BUILD, ROOT, run_tests, skip

DATA = pathlib.Path(os.environ.get("KEPLER_SHARED", pathlib.Path(ROOT).parent / "shared"), "data")
PAGE = pathlib.Path(ROOT, "docs/design/component-power-model.md")


def train(path):
    program = f"{BUILD}/tools/builtin-models/builtin-models"
    return subprocess.run([program, "components", DATA, f"--write={path}"], capture_output=True, text=True, check=True).stdout


def the_weights_of_the_tree():
    if not (DATA / "nx12").is_dir():
        skip(f"{DATA / 'nx12'} is not there: published rows")
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("a.c", "b.c")]
        said = [train(path) for path in paths]
        texts = [path.read_text() for path in paths]
    assert said[0] == said[1] and texts[0] == texts[1], "two runs differ"
    assert texts[0] == pathlib.Path(ROOT, "src/model/component_power_weights.c").read_text(), "fit it again: docs say how"
    found = re.findall(r"mean \(absolute\)\s+([\d.]+) W\s+([\d.]+) %", said[0])
    row = next(line for line in PAGE.read_text().splitlines() if line.startswith("| **mean** |"))
    quoted = re.findall(r"\*\*([\d.]+)\*\*", row)
    assert [value for pair in found for value in pair] == quoted, (found, quoted)


run_tests([the_weights_of_the_tree])
