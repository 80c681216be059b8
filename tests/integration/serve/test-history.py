#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/api/v1/history: the energy of zones and owners over time adds up in each step and at each width; /api/v1/explain is JSON."""
import json
import time

import jsonschema

from rig import BUILD, ROOT, Exporter, Sensors, Service, need_root, rapl_zone, run_tests

LOAD = str(BUILD / "tests/lab/load")
SCHEMA = json.loads((ROOT / "docs/history.schema.json").read_text())
EXPLAIN_SCHEMA = json.loads((ROOT / "docs/explain.schema.json").read_text())
OPTIONS = ("--idle.mode=fixed", "--idle.watts=package=12")


def history(exporter, arguments=""):
    status, _, body = exporter.get(f"/api/v1/history{arguments}")
    assert status == 200, (status, body)
    page = json.loads(body)
    jsonschema.validate(page, SCHEMA)
    return page


def uj(series):
    return [None if value is None else round(value * 1e6) for value in series["joules"]]


def check_sums(page):
    """Returns the total of each step, in µJ."""
    parts = [uj(series) for series in (*page["owners"], page["other"], page["idle"], page["unattributed"])]
    total = uj(page["total"])
    assert len(total) == page["points"] and abs(page["end"] - page["start"] - page["points"] * page["step"]) < 1e-3, page
    for i, whole in enumerate(total):
        assert sum(part[i] for part in parts) == whole, (i, whole, [part[i] for part in parts])
    return total


def each_step_adds_up_at_each_width():
    zones = [*rapl_zone("intel-rapl:0", "package-0", 45), *rapl_zone("intel-rapl:1", "package-1", 20)]
    with Sensors(zones) as sensors, Service("kepler-test-history.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        exporter.intervals(1)
        burner = service.run(LOAD, "burn", "60")
        exporter.intervals(9)
        narrow = history(exporter, "?seconds=600&step=1&owners=40")
        wide = history(exporter, "?seconds=600&step=3&owners=0")
        sums = dict(enumerate(check_sums(narrow), narrow["first"]))
        assert 7 <= narrow["points"] <= 15, narrow
        for i, watts in enumerate(narrow["total"]["watts"]):
            assert 60 < watts < 70, (i, narrow)
        service_row, = [row for row in narrow["owners"] if "kepler-test-history" in row["owner"]]
        assert service_row["watts"][-1] > 1 and sum(uj(narrow["idle"])) > 0, narrow
        assert not any(uj(narrow["estimated"])), narrow
        in_total = [zone for zone in narrow["zones"] if zone["in_total"]]
        assert {zone["package"] for zone in in_total} == {"0", "1"}, narrow
        # Each zone has its own times of reading, so the first and the last step differ a little; 65 W in all.
        assert abs(sum(sum(uj(zone)) for zone in in_total) - sum(sums.values())) < 65e6 / 50, narrow
        assert not wide["owners"] and wide["points"] >= 2
        for i, total in enumerate(check_sums(wide), wide["first"]):
            assert total == sum(sums[3 * i + k] for k in range(3)), (i, total, sums)
        burner.kill()
        burner.wait()
        exporter.intervals(2)
        later = history(exporter, "?seconds=600&step=1&owners=40")
        for i, total in enumerate(check_sums(later), later["first"]):
            assert sums.get(i, total) == total, "a step has changed after it was complete"
        assert later["first"] + later["points"] > narrow["first"] + narrow["points"]
        assert exporter.stop() == 0


def what_cannot_be_answered_is_refused():
    with Exporter() as exporter:
        exporter.intervals(1)
        for wrong, word in (("seconds=0", "seconds"), ("seconds=86401", "seconds"), ("step=0", "step"), ("owners=41", "owners"),
                            ("seconds=7200&step=90", "multiple of 60"), ("seconds=many", "seconds")):
            status, _, body = exporter.get(f"/api/v1/history?{wrong}")
            assert status == 400 and word in body.decode(), (status, body)
        for fine in ("seconds=86400", "seconds=3600&step=1", "step=3600", "seconds=1"):
            history(exporter, f"?{fine}")
        assert exporter.stop() == 0


def explained(exporter, target, status):
    """The answer to a question, which is asked again until the interval has ended."""
    for _ in range(200):
        answer, head, body = exporter.get(f"/api/v1/explain/{target}")
        if answer != 202:
            assert answer == status and head["Content-Type"] == "application/json", (answer, body)
            page = json.loads(body)
            jsonschema.validate(page, EXPLAIN_SCHEMA)
            return page
        time.sleep(0.1)
    raise AssertionError("no answer")


def an_explanation_is_json():
    with Exporter() as exporter:
        exporter.intervals(1)
        page = explained(exporter, str(exporter.process.pid), 200)
        assert page["result"] == "found" and page["command"] == "kepler" and page["zones"], page
        assert explained(exporter, "nosuch", 404)["result"] == "not_found"
        assert exporter.get("/api/v1/explain/")[0] == 400
        assert exporter.stop() == 0


if __name__ == "__main__":
    need_root()
    run_tests([each_step_adds_up_at_each_width, what_cannot_be_answered_is_refused, an_explanation_is_json])
