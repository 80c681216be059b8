#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folder that kepler-validator --output writes: each file is well formed, the JSON is as its schema says, and the series in it
are judged like those that they came from."""
import html.parser
import json
import pathlib
import random
import re
import subprocess
import tempfile
import xml.etree.ElementTree

from rig import BUILD, run_tests

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[3] / "docs/validation-report.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
VOID = {"meta", "br", "hr", "img", "link", "input"}


def judge(*words, status):
    done = subprocess.run([BUILD / "kepler-validator", "judge", *map(str, words)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == status, f"{words}: {done.returncode}, {done.stdout}{done.stderr}"
    return done.stdout


def matches(value, schema, where="report"):
    """Raises where @value is not as @schema says; knows the words that the schema uses."""
    unknown = set(schema) - {"$schema", "title", "description", "type", "properties", "required", "additionalProperties", "enum",
                             "items", "minimum"}
    assert not unknown, unknown
    if "enum" in schema:
        assert value in schema["enum"], (where, value)
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(isinstance(value, TYPES[kind]) and not isinstance(value, bool) for kind in kinds), (where, value)
    assert value is None or "minimum" not in schema or value >= schema["minimum"], (where, value)
    for key in schema.get("required", ()):
        assert key in value, (where, key)
    if isinstance(value, dict):
        for key, member in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            assert inner is not False, (where, key)
            matches(member, inner, f"{where}.{key}")
    for i, member in enumerate(value if isinstance(value, list) else ()):
        matches(member, schema["items"], f"{where}[{i}]")


class Page(html.parser.HTMLParser):
    """Elements that are open, and every address that the page names."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.ids = [], [], set()
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses += [attrs[key] for key in ("href", "src") if key in attrs]
        self.ids.add(attrs.get("id"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def a_report(at, factor, status):
    rng = random.Random(3)
    truth = [rng.choice((40, 90, 160)) for _ in range(60) for _ in range(5)]
    for name, scale in (("actual", 1), ("predicted", factor)):
        lines = [f"{1764346000 + i},{value * scale}" for i, value in enumerate(truth)]
        (at / f"{name}.csv").write_text("\n".join(["time,watts", *lines, ""]))
    out = judge(f"--actual={at / 'actual.csv'}", f"--predicted={at / 'predicted.csv'}", "--max-error=5%",
                "--name=node/<package>|&\"", f"--output={at / 'out'}", status=status)
    return out, at / "out"


def files_are_well_formed():
    with tempfile.TemporaryDirectory() as name:
        _, folder = a_report(pathlib.Path(name), 0.5, 1)
        report = json.loads((folder / "report.json").read_text(), parse_constant=lambda text: 1 / 0)
        matches(report, SCHEMA)
        assert report["verdict"] == "fail" and report["results"][0]["cause"] == "scale", report
        assert "judge" in report["command"] and report["machine"]["kernel"], report
        suite = xml.etree.ElementTree.parse(folder / "junit.xml").getroot().find("testsuite")
        assert suite.get("failures") == "1" and suite.find("testcase/failure").get("type") == "scale"
        text = (folder / "report.html").read_text()
        page = Page(text)
        assert ">bound<" in text, "errors of phases are shown without their bound"
        assert text.count("<svg") == 4 and "<script" not in text
        for address in page.addresses:
            assert address[1:] in page.ids if address.startswith("#") else (folder / address).exists(), address
        assert not re.search(r"https?://", text), "the page needs nothing else"
        assert "| node/\\<package\\>\\|&\" |" in (folder / "report.md").read_text()
        assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 60_000


def series_of_a_report_are_judged_alike():
    with tempfile.TemporaryDirectory() as name:
        first, folder = a_report(pathlib.Path(name), 0.98, 0)
        again = judge(f"--actual={folder / 'series/001-actual.csv.gz'}", f"--predicted={folder / 'series/001-predicted.csv.gz'}",
                      "--max-error=5%", status=0)
        energies = [re.search(r"energy +(.*)", out)[1] for out in (first, again)]
        assert energies[0] == energies[1], energies


def two_reports_are_compared():
    with tempfile.TemporaryDirectory() as name:
        folders = []
        for word, factor, status in (("before", 1, 0), ("after", 0.5, 1)):
            at = pathlib.Path(name) / word
            at.mkdir()
            folders.append(a_report(at, factor, status)[1])

        def compare(*words, status):
            done = subprocess.run([BUILD / "kepler-validator", "compare", *words], capture_output=True, text=True, timeout=60,
                                  check=False)
            assert done.returncode == status, (words, done.stdout, done.stderr)
            return done.stdout + done.stderr
        out = compare(*folders, status=1)
        assert out.startswith("worse ") and "pass" in out and "a factor of 0.5 (" in out and "\nRegression: 1 worse" in out, out
        assert "No regression: 0 worse, 1 better" in compare(folders[1], folders[0] / "report.json", status=0)
        assert "two reports are needed" in compare(folders[0], status=2)
        (folders[0] / "report.json").write_text('{"format": 1,\n "results": [}')
        assert "report.json:2:" in compare(*folders, status=2)


def a_folder_that_cannot_be_written_is_named():
    with tempfile.TemporaryDirectory() as name:
        at = pathlib.Path(name)
        (at / "out").write_text("a file")
        a_report(at, 1, 2)


if __name__ == "__main__":
    run_tests([files_are_well_formed, series_of_a_report_are_judged_alike, two_reports_are_compared,
               a_folder_that_cannot_be_written_is_named])
