#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every expression of deploy/grafana and deploy/prometheus in a real Prometheus that scrapes real exporters, one for each schema,
and one that estimates. No expression has an error; each panel has data, in both schemas, except those that are named here with the
reason. Expressions of the dashboards that other Keplers have find data, too, and so do those of docs/questions.md.

Its argument `3` takes a Prometheus 3 (tests/lab/prometheus).
"""
import contextlib
import json
import math
import re
import subprocess
import sys

from dashboard_rig import ESTIMATE, SCHEMAS, Fleet, Prometheus, filled
from prometheus_rig import prometheus_3
from rig import KEPLER, ROOT, need_root
from rule_files import families, names_in

FOLDER = ROOT / "deploy/grafana"
# Panels for which this machine cannot have data, and why.
NO_SIGNALS = "without hardware counters the rule is CPU time, which has nothing to learn"
NOTHING = {
    ("quality", "Error of the predicted power"): NO_SIGNALS,
    ("quality", "Half width of the largest share"): NO_SIGNALS,
    ("quality", "Factor of a busy sibling"): NO_SIGNALS,
    ("quality", "Meters that disagree"): "no zone has two sources",
    ("vm", "GPU power"): "no virtual machine here uses a GPU",
    ("vm", "In a guest: age of the host's record"): "no exporter here is a guest",
}
KINDS_OF_PANELS = {"timeseries", "stat", "bargauge", "table", "row"}
RECORDED = ("instance:kepler_quality:info", "instance_source:kepler_quality:info", "instance_source:kepler_quality:info1d",
            "instance:kepler_pue:ratio",
            "instance:kepler_watts:rate5m", "instance:kepler_unattributed_watts:avg5m", "namespace:kepler_watts:rate5m",
            "namespace_pod:kepler_watts:rate5m", "instance:kepler_energy_kwh:increase1d", "namespace:kepler_energy_kwh:increase1d",
            "namespace_pod:kepler_energy_kwh:sum1d", "instance:kepler_cost_per_hour:rate5m",
            "namespace:kepler_cost_per_hour:rate5m", "instance:kepler_carbon_grams_per_hour:rate5m",
            "namespace:kepler_carbon_grams_per_hour:rate5m", "instance:kepler_cost:sum1d", "namespace:kepler_cost:sum1d",
            "instance:kepler_carbon_grams:sum1d", "namespace:kepler_carbon_grams:sum1d",
            "namespace_workload_unit:kepler_joules_per_unit:rate5m")
# Expressions in the form in which dashboards of Kepler up to 0.9 and since 0.10 have them, and the jobs that have data for them.
PODS = 'container_namespace=~".*", pod_name=~".*"'
CLASSIC = [
    pattern % zone for zone in ("package", "dram", "other", "gpu")
    for pattern in (f"sum by (pod_name, container_namespace) (irate(kepler_container_%s_joules_total{{{PODS}}}[1m]))",
                    f"sum(irate(kepler_container_%s_joules_total{{{PODS}}}[1m]))",
                    f"sum(increase((kepler_container_%s_joules_total{{{PODS}}}[24h:10s]))) * 2.77e-7",
                    "sum by (mode) (rate(kepler_node_%s_joules_total[1m]))")
]
CLASSIC += [
    f"sum by (container_namespace) (increase((kepler_container_joules_total{{{PODS}}}[24h:10s]))) * 2.77e-7",
    "sum(rate(kepler_node_platform_joules_total[1m])) or sum(rate(kepler_node_psys_joules_total[1m]))",
    "sum by (container_id) (rate(kepler_vm_package_joules_total[1m]))", "kepler_node_info", "kepler_exporter_build_info",
    "sum(rate(kepler_process_package_joules_total[1m]))", "sum(rate(kepler_container_bpf_cpu_time_ms_total[1m]))"
]
ZONE = 'zone=~".*"'
CURRENT = [f"sum by (zone) (kepler_node_cpu_{part}watts{{{ZONE}}})" for part in ("", "active_", "idle_")]
CURRENT += [
    "count by (instance, model_name) (kepler_node_cpu_info)", "group by (node_name, zone) (kepler_node_cpu_watts)",
    f'sum by (zone) (kepler_process_cpu_watts{{{ZONE}}})', "count by (pid, comm) (kepler_process_cpu_watts)",
    f"topk(10, sum by (container_name, zone) (kepler_container_cpu_watts{{{ZONE}}}))",
    f'kepler_container_cpu_watts{{{ZONE}, container_name=~".*"}}',
    f"topk(10, sum by (pod_namespace, zone) (kepler_pod_cpu_watts{{{ZONE}}}))",
    f'kepler_pod_cpu_watts{{pod_namespace=~".*", {ZONE}, pod_name=~".*"}}',
    f"topk(10, sum by (vm_name, zone) (kepler_vm_cpu_watts{{{ZONE}}}))", f'kepler_vm_cpu_watts{{{ZONE}, vm_name=~".*"}}',
    "rate(kepler_node_cpu_joules_total[1m])", "kepler_node_cpu_usage_ratio", "kepler_build_info"
]


def check_form(made, name):
    """What Grafana needs, and what a reader does."""
    assert made["uid"] == f"kepler-{name}" and made["title"].startswith("Kepler / "), made["title"]
    assert [v["name"] for v in made["templating"]["list"]][:4] == ["datasource", "cluster", "job", "instance"]
    identities, places = set(), set()
    for panel in made["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & places and place["x"] + place["w"] <= 24, panel["title"]
        assert panel["id"] not in identities and panel["type"] in KINDS_OF_PANELS, panel["title"]
        places |= cells
        identities.add(panel["id"])
        if panel["type"] != "row":
            fields = panel["fieldConfig"]["defaults"]
            assert panel["description"].endswith(".") and fields["unit"] and fields["noValue"] and panel["targets"], panel["title"]
            assert panel["datasource"]["uid"] == "${datasource}"
            unknown = {
                one
                for target in panel["targets"]
                for one in names_in(target["expr"]) - families() if not one.startswith("kepler_node_(")
            }
            assert not unknown, (panel["title"], unknown)


def panels(made):
    return [panel for panel in made["panels"] if panel["type"] != "row"]


def dashboards():
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def check_panels(prometheus, boards):
    """Prints the panels without data, and returns what is wrong."""
    wrong, asked = [], 0
    for name, made in boards.items():
        for panel in panels(made):
            key, has = (name, panel["title"]), {}
            for job in (*SCHEMAS, ESTIMATE):
                results = [prometheus.query(filled(target["expr"], job)) for target in panel["targets"]]
                asked += len(results)
                has[job] = bool(results[0]) if panel["title"] != "Alerts" else True
            lacking = [job for job in SCHEMAS if not has[job]]
            if key in NOTHING:
                wrong += [f"{key} has data in {has}"] if any(has.values()) else []
            elif not any(has.values()):
                wrong.append(f"{key} has no data")
            elif lacking and any(has[schema] for schema in SCHEMAS):
                wrong.append(f"{key} has no data in {lacking}")
    print(f"{asked} queries of {sum(len(panels(made)) for made in boards.values())} panels")
    return wrong


def check_kinds(prometheus, boards):
    """What is shown of two jobs, of which one estimates, is what is shown of either: no watt of one is added to the other's."""
    asked = 0
    for name, made in boards.items():
        for panel in panels(made):
            for target in panel["targets"]:
                if not re.search("kepler_[a-z_]*(watts|joules)|kepler_(cost|carbon_grams)", target["expr"]):
                    continue
                one, other, both = (rows_of(prometheus.query(filled(target["expr"], job)))
                                    for job in (SCHEMAS[0], ESTIMATE, f"{SCHEMAS[0]}|{ESTIMATE}"))
                asked += 1
                for labels, value in both.items():
                    if not any(math.isclose(value, alone[labels], rel_tol=1e-9, abs_tol=1e-12)
                               for alone in (one, other) if labels in alone):
                        yield f"{name}, {panel['title']}: {value} of both jobs, {one.get(labels)} and {other.get(labels)}: {labels}"
    print(f"{asked} queries of two jobs")


def rows_of(found):
    """{labels: value} of a result, without values that are no number."""
    rows = {tuple(sorted(row["metric"].items())): float(row["value"][1]) for row in found}
    return {labels: value for labels, value in rows.items() if not math.isnan(value)}


def of_job(expr, job):
    """The expression over the series of one job: each selector gets its label."""
    expr = re.sub(r"\b(kepler_[a-z_]+)\{", rf'\1{{job="{job}", ', expr)
    return re.sub(r"\b(kepler_[a-z_]+)\b(?!\{)", rf'\1{{job="{job}"}}', expr)


def check_others(prometheus):
    """Dashboards of other Keplers: as they are with one schema, and with both."""
    for expressions, schema in ((CLASSIC, "classic"), (CURRENT, "current")):
        for job in (schema, "both"):
            for expr in expressions:
                yield from [] if prometheus.query(of_job(expr, job)) else [f"{job}: no data for {expr}"]
    print(f"{len(CLASSIC)} classic and {len(CURRENT)} current expressions of other dashboards")


def check_rules(prometheus):
    """All rules evaluate, each one has series, and no alert is raised but the one that this fleet deserves."""
    groups = prometheus.get("rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    yield from (f"{rule['name']}: {rule.get('lastError')}" for rule in rules if rule["health"] != "ok")
    stated = {rule["name"] for rule in rules if rule["type"] == "recording"}
    yield from (f"recorded, not tested: {name}" for name in stated ^ {*RECORDED})
    for name in RECORDED:
        yield from [] if prometheus.query(f"{{__name__={json.dumps(name)}}}") else [f"nothing is recorded as {name}"]
    raised = {(alert["labels"]["alertname"], alert["labels"]["job"], alert["labels"].get("pod_name"))
              for rule in rules
              for alert in rule.get("alerts", [])}
    deserved = {("KeplerGpuHeldIdle", schema, "hold") for schema in SCHEMAS}
    # An exporter reports by itself whether the model knows a machine like this one.
    if prometheus.query(f'last_over_time(kepler_node_model_outside{{job="{ESTIMATE}"}}[5m]) == 1'):
        deserved.add(("KeplerModelOutsidePopulation", ESTIMATE, None))
    yield from (f"alert: {alert}" for alert in raised ^ deserved)


def check_questions(prometheus, boards):
    """docs/questions.md: each of the ten has an expression with data, a command that exists, and a panel that does."""
    titles = {(made["title"].removeprefix("Kepler / "), panel["title"]) for made in boards.values() for panel in made["panels"]}
    sections = re.split(r"(?m)^## ", (ROOT / "docs/questions.md").read_text())[1:]
    print(f"{len(sections)} questions")
    yield from [] if len(sections) == 10 else [f"{len(sections)} questions"]
    for text in sections:
        question = text.split("\n")[0]
        for job in SCHEMAS if "estimate" not in question else [ESTIMATE]:
            for expr in re.findall(r"(?s)```promql\n(.*?)```", text) or ["absent(a_series) > 1"]:
                yield from [] if prometheus.query(of_job(expr, job)) else [f"{question} no data in {job}"]
        for board, panel in re.findall(r"(?m)^Panel: \*(.+?)\*, (.+?)(?:$|\. |, next)", text) or [("no", "panel")]:
            panel = panel.removesuffix(".")
            yield from [] if (board, panel) in titles else [f"{question} no panel {board}: {panel}"]
        for command in re.findall(r"(?m)^    kepler (.+)$", text) or ["none"]:
            yield from (f"{question} {line}" for line in check_command(command.split()))


def check_command(words):
    """Its help, and that of the options of run, which all commands take, have each option."""
    pages = [subprocess.run([KEPLER, *page], capture_output=True, text=True, check=False)
             for page in ([words[0], "--help"], ["help", "all"])]
    yield from (f"kepler {words[0]}: {page.stderr}" for page in pages if page.returncode)
    known = {name.replace("[no-]", "") for page in pages for name in re.findall(r"--[\w.\[\]-]+", page.stdout)}
    before = words[:words.index("--")] if "--" in words else words
    yield from (f"kepler {words[0]} has no {word}" for word in before if word.startswith("--") and word.split("=")[0] not in known)


def check_sums(prometheus):
    """The recorded power is the machine's: its zones in the total, and neither psys nor an estimate in addition; namespaces and the
    unattributed part are the node."""
    for schema in SCHEMAS:

        def value(expr):
            return float(prometheus.query(expr.replace("JOB", f'job="{schema}"'))[0]["value"][1])

        node = value("sum(instance:kepler_watts:rate5m{JOB})")
        parts = value("sum(namespace:kepler_watts:rate5m{JOB})") + value("sum(instance:kepler_unattributed_watts:avg5m{JOB})")
        shown = value("sum(avg_over_time(kepler_node_watts{JOB}[30s]))")
        money = value("sum(instance:kepler_cost_per_hour:rate5m{JOB})")
        print(f"{schema}: {node:.2f} W recorded, {parts:.2f} W of namespaces, {shown:.2f} W shown, {money:.5f} EUR an hour")
        # A scrape that is late shortens a window of 30 s; psys in addition would be a third more.
        for what, found, want, error in (("namespaces", parts, node, 0.05), ("gauges", shown, node, 0.15),
                                         ("money", money, node * 1.3 * 0.31 / 1000, 0.15)):
            yield from [] if abs(found - want) <= error * want else [f"{schema}: {what}: {found} is not {want}"]


def main():
    need_root()
    binary = prometheus_3() if sys.argv[1:] == ["3"] else None
    assert subprocess.run([FOLDER / "generate", "--check"], check=False).returncode == 0
    boards = dashboards()
    for name, made in boards.items():
        check_form(made, name)
    with contextlib.ExitStack() as stack:
        fleet = Fleet(stack)
        prometheus = stack.enter_context(Prometheus(fleet, binary))
        for job in (*SCHEMAS, ESTIMATE):
            prometheus.wait(f'count_over_time(kepler_exporter_snapshots_total{{job="{job}"}}[5m]) > 9', 300)
        prometheus.wait("instance:kepler_cost:sum1d and on (instance) instance:kepler_carbon_grams:sum1d", 90)
        # Alerts are evaluated in a group of their own, perhaps last before there was a series.
        prometheus.wait(f'count(ALERTS{{alertname="KeplerGpuHeldIdle"}}) == {len(SCHEMAS)}', 120)
        prometheus.stop_the_clock(len(fleet.exporters), 120)
        wrong = [*check_panels(prometheus, boards), *check_kinds(prometheus, boards), *check_others(prometheus),
                 *check_questions(prometheus, boards), *check_rules(prometheus), *check_sums(prometheus)]
        assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main()
