#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One total on every surface: live table, page, doctor, JSON and /metrics show the power of the zones that have in_total; rows,
idle and unattributed power add up to it, and so does the line that splits it."""
import json
import re
import subprocess
from decimal import Decimal

from rig import KEPLER, Exporter, Sensors, balanced, run_tests

POWERCAP = "class/powercap/"
PACKAGE_W, DRAM_W, PSYS_W = 92, 9, 198


def zone(path, name, watts):
    folder = f"{POWERCAP}intel-rapl/{path}"
    lines = [f"{folder}/name text {name}", f"{folder}/max_energy_range_uj text 262143328850",
             f"{folder}/energy_uj counter {watts * 1000000} 262143328850"]
    return lines + [f"{POWERCAP}{path.split('/')[-1]} link intel-rapl/{path}"]


TREE = [f"{POWERCAP}intel-rapl/enabled text 1", *zone("intel-rapl:0", "package-0", PACKAGE_W),
        *zone("intel-rapl:0/intel-rapl:0:0", "dram", DRAM_W), *zone("intel-rapl:1", "psys", PSYS_W)]
# psys draws the same all the time; 60 W of it are idle according to the user.
OPTIONS = ("--idle.mode=fixed", "--idle.watts=psys=60", "--metrics.settle=0s")


def near(got, want, by):
    assert abs(float(got) - float(want)) <= by, (got, want)


def check_heading(text, rows_w, lines):
    """The headline, its parts and its uses, as they are printed."""
    total, parts = re.search(r"Node: ([\d.]+) W +=((?: · | |[a-z]+|[\d.]+)+)", text).groups()
    near(total, PSYS_W, 4)  # a reading is late by what a busy machine keeps it waiting
    assert sum(Decimal(number) for number in re.findall(r"[\d.]+", parts)) == Decimal(total), (total, parts)
    assert re.search(r"package [\d.]+ · dram [\d.]+ · other [\d.]+", parts), parts
    uses = dict(re.findall(r"(processes|unattributed|idle) ([\d.]+)", text))
    assert sum(map(Decimal, uses.values())) == Decimal(total), (total, uses)
    near(uses["idle"], 60, 2)
    near(rows_w, uses["processes"], 0.06 * lines)  # each is rounded


def rows_of(table):
    return [float(watts) for watts in re.findall(r"[ <~]([\d.]+) W(?: |$)", table[table.index("POWER"):], re.MULTILINE)]


def the_live_table():
    with Sensors(TREE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--table=always", *OPTIONS) as exporter:
        exporter.intervals(4)
        exporter.stop()
        frame = "Node: " + exporter.output().split("Node: ")[-1]
        rows = rows_of(frame)
        check_heading(frame, sum(rows), len(rows))


def the_doctor():
    with Sensors(TREE) as sensors:
        said = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", "--host.state-dir=",
                               f"--host.sysfs={sensors.mount}", *OPTIONS[:2]], capture_output=True, text=True, check=False).stdout
    table = said[said.index("Node: "):]
    rows = rows_of(table)
    check_heading(table, sum(rows), len(rows))


def the_page_and_the_json():
    with Sensors(TREE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        exporter.intervals(4)
        status, head, body = exporter.get("/api/v1/now")
        now = json.loads(body, parse_float=Decimal, parse_int=Decimal)
        assert status == 200 and head["Content-Type"] == "application/json", (status, head)
        near(now["total_watts"], PSYS_W, 4)
        near(now["idle_watts"], 60, 2)
        assert sum(part["watts"] for part in now["parts"]) == now["total_watts"], now
        assert sum(row["watts"] for row in now["rows"]) + now["idle_watts"] + now["unattributed_watts"] == now["total_watts"], now
        in_total = {z["zone"]: z["in_total"] for z in now["zones"]}
        assert in_total == {"package": True, "dram": True, "psys": False, "other": True}, in_total
        assert now["rows"][-1]["command"] == "other" and now["rows"][-1]["pid"] is None and len(now["rows"]) <= 65
        page = exporter.get("/")[2].decode()
        text = "Node: " + re.search(r'class="w">(.*?)</p>', page, re.DOTALL)[1].replace("</strong><br>", "   = ")
        for caption in ("Largest owners", "Largest processes"):
            table = page[page.index(caption):].split("</table>")[0]
            rows = [float(watts) for watts in re.findall(r'class="n">(?:&lt;)?([\d.]+) W', table)]
            check_heading(text, sum(rows), len(rows))


def the_metrics():
    for schema in ("classic", "current"):
        with Sensors(TREE) as sensors, Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS,
                                                f"--metrics.schema={schema}") as exporter:
            first = balanced(exporter.intervals(4))
            second = balanced(exporter.intervals(1))
            node = second.sum("kepler_node_watts")
            near(node, PSYS_W, 4)
            near(second.sum("kepler_node_watts", mode="idle"), 60, 2)
            for level in ("process", "container", "namespace"):
                rows = second.select(f"kepler_{level}_watts")
                total = sum(watts for _, watts in rows) + second.sum("kepler_node_unattributed_watts")
                near(total, node, 1e-6 * (len(rows) + 2))
            seconds = [metrics.value("kepler_exporter_snapshot_timestamp_seconds") for metrics in (first, second)]
            energy = second.sum("kepler_node_joules_total") - first.sum("kepler_node_joules_total")
            near(energy / (seconds[1] - seconds[0]), node, 8)  # as rate() has it


if __name__ == "__main__":
    run_tests([the_live_table, the_doctor, the_page_and_the_json, the_metrics], at_once=4)
