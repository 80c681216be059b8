#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/prometheus by promtool: the rules are valid and pass their unit tests, each rule has one, each alert has what a receiver
needs and its section in docs/alerts.md, and no rule reads a family that Kepler does not have."""
import re
import subprocess

from rig import ROOT, need_program
from rule_files import RULES, families, names_in

TESTS = ROOT / "tests/prometheus"
PAGE = (ROOT / "docs/alerts.md").read_text()
HELPERS = {"instance:kepler_quality:info", "instance_source:kepler_quality:info", "instance_source:kepler_quality:info1d",
           "instance:kepler_pue:ratio"}


def rules_of(text):
    """(name, kind, text) of each rule."""
    parts = re.split(r"(?m)^  - (?=record|alert)", text)[1:]
    return [(re.match(r"\w+: (\S+)", part)[1], part.split(":")[0], part) for part in parts]


def check_alert(name, part):
    for word in ("severity: ", "summary: ", "description: ", f"runbook_url: docs/alerts.md#{name.lower()}\n"):
        assert word in part, (name, word)
    assert re.search(r"severity: (info|warning|critical)\}", part), name
    section = re.search(rf"(?ms)^## {name}\n(.*?)(?=^## |\Z)", PAGE)
    assert section, f"docs/alerts.md has no section {name}"
    for word in ("**Meaning.**", "**Look.**", "**Do.**"):
        assert word in section[1], (name, word)


def main():
    promtool = need_program("promtool")
    known, alerts, recorded = families(), set(), set()
    tests = "".join(path.read_text() for path in TESTS.glob("*.yaml"))
    for path in sorted(RULES.glob("*.yaml")):
        for name, kind, part in rules_of(path.read_text()):
            assert re.search(rf"alertname: {name}\n" if kind == "alert" else rf"- expr: .*\b{re.escape(name)}\b", tests), \
                f"{name} has no test in {TESTS.relative_to(ROOT)}"
            if kind == "alert":
                check_alert(name, part)
                alerts.add(name)
            else:
                recorded.add(name)
            unknown = names_in(part) - known
            assert not unknown, (name, unknown)
    stated = set(re.findall(r"(?m)^## (Kepler\w+)$", PAGE))
    assert stated == alerts, f"docs/alerts.md and the rules differ: {stated ^ alerts}"
    readme = (RULES / "README.md").read_text()
    for name in recorded - HELPERS:
        assert name.split(":", 1)[1] in readme, f"{name} is not in the README"
    for command in (["check", "rules", *RULES.glob("*.yaml")], ["test", "rules", *sorted(TESTS.glob("*.yaml"))]):
        done = subprocess.run([promtool, *map(str, command)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    print(f"{len(alerts)} alerts and {len(recorded)} recording rules, all tested")


main()
