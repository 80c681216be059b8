#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Of a made-up build: names are found as they are meant, one that is not is refused, and only what is needed is built."""
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = "/b"
TESTS = [("unit", "energy/split", ["split"], ["/b/split"]), ("unit", "kube/split", ["other"], ["/b/other"]),
         ("rig", "meter/gpu", ["kepler", "load"], ["python3", "x"]), ("lint", "check-text", [], ["tools/check-text"]),
         ("lint", "check-units", [], ["tools/check-units", "/b"]), ("nightly", "coverage", [], ["tools/coverage"])]
TARGETS = {"split": "/b/tests/split", "other": "/b/tests/other", "kepler": "/b/kepler", "load": "/b/tests/load"}


def choose(*words):
    known = {"tests": [{"suite": [f"p:{suite}"], "name": name, "depends": depends, "cmd": cmd}
                       for suite, name, depends, cmd in TESTS],
             "targets": [{"id": name, "filename": [file]} for name, file in TARGETS.items()]}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "known")
        file.write_text(json.dumps(known))
        done = subprocess.run([sys.argv[1], BUILD, f"--introspection={file}", *words], text=True, capture_output=True, check=False)
    return done.returncode, done.stdout.split("\n")[:2] if done.stdout else done.stderr.strip()


BY_DAY = ("--no-suite", "nightly")
ALL = "energy/split kube/split meter/gpu check-text check-units"
CASES = [
    ((*BY_DAY,), (0, [ALL, "all"])),
    ((*BY_DAY, "split"), (0, ["energy/split kube/split", "tests/other tests/split"])),
    ((*BY_DAY, "energy/split", "gpu"), (0, ["energy/split meter/gpu", "kepler tests/load tests/split"])),
    (("--suite", "unit"), (0, ["energy/split kube/split", "tests/other tests/split"])),
    ((*BY_DAY, "check-text"), (0, ["check-text", ""])),
    ((*BY_DAY, "check-text", "check-units"), (0, ["check-text check-units", "all"])),
    ((*BY_DAY, "split", "splitt"), (1, "choose-tests: there is no test splitt; did you mean energy/split or kube/split?")),
    ((*BY_DAY, "xyzzy"), (1, "choose-tests: there is no test xyzzy; tools/one-test x --list has all")),
    (("--suite", "unit", "gpu"), (1, "choose-tests: gpu is in suite rig, which is left out; --suite rig has it")),
    ((*BY_DAY, "coverage"), (1, "choose-tests: coverage is in suite nightly, which is left out; --nightly has it")),
    (("--suite", "unti"), (1, "choose-tests: there is no suite unti; lint, nightly, rig, unit")),
]
for arguments, want in CASES:
    got = choose(*arguments)
    if want[0] == 1 and "unti" in arguments:
        got = (got[0], got[1].splitlines()[0])
    assert got == want, f"{arguments}: {got}, not {want}"
print(f"{len(CASES)} cases")
