#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler profile --format=speedscope in the real speedscope (npm install -g speedscope): it imports the file in a browser.

Needs speedscope in the PATH, and chromium."""
import base64
import json
import pathlib
import re
import shutil
import sys

from browser import Browser
from profile_rig import burner, plant, profile, program
from rig import run_tests

COMMAND = shutil.which("speedscope")
if not COMMAND:
    print("speedscope is not installed: npm install -g speedscope")
    sys.exit(77)
RELEASE = pathlib.Path(COMMAND).resolve().parents[1] / "dist/release"


def speedscope_imports_it():
    """It shows the name of the profile, and a table of its functions with the sums of the file."""
    with plant() as sensors, program("burner", burner("burn_it"), ["-O1"]) as path:
        out, script = path.with_name("out.json"), path.with_name("out.js")
        profile(f"--host.sysfs={sensors.mount}", f"--output={out}", "--", path)
        data = json.loads(out.read_text())
        names = [frame["name"] for frame in data["shared"]["frames"]]
        shown = data["profiles"][0]
        burnt = sum(weight for stack, weight in zip(shown["samples"], shown["weights"])
                    if "burn_it" in (names[frame] for frame in stack))
        assert burnt > 0 and shown["endValue"] == sum(shown["weights"]), shown
        encoded = base64.b64encode(out.read_bytes()).decode()
        script.write_text(f"speedscope.loadFileFromBase64('out.json', '{encoded}')")
        with Browser() as browser:
            browser.open(f"{(RELEASE / 'index.html').as_uri()}#localProfilePath={script}&view=sandwich")
            text = browser.wait("document.body.innerText.includes('burn_it') && document.body.innerText")
            assert str(path) in browser.run("document.title"), browser.run("document.title")
    row = re.search(r"([\d,]+) \([^)]*\)\s+[\d,]+ \([^)]*\)\s+burn_it\n", text)
    print(f"  {row and row[0]!r}; {burnt} µJ of {shown['endValue']} in the file")
    assert row and int(row[1].replace(",", "")) == burnt, text[:2000]


run_tests([speedscope_imports_it])
