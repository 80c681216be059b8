#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recording rules of docs/metrics.md, as they stand there, by promtool over the labels of a real page: a node counts only when
the idle power of its zone was known for a whole window; a node of the same name in another cluster decides nothing."""
import json
import pathlib
import re
import subprocess
import tempfile

from rig import ROOT, Exporter, Sensors, need_program, rapl_zone

DOCS = ROOT / "docs/metrics.md"
RULE = "container:kepler_package_dynamic_watts:rate5m"
CHANGE = 20  # minute at which one node has learned
MINUTES = 40


def series(name, labels, **more):
    return name + "{" + ",".join(f"{k}={json.dumps(v)}" for k, v in sorted({**labels, **more}.items())) + "}"


def node(instance, zone, container, states, cluster="east"):
    """Its container draws 2 W all the time; @states: [(idle_state, when it is there, as promtool's values)]."""
    joules = series("kepler_container_package_joules_total", container, instance=instance, cluster=cluster)
    known = [{"series": series("kepler_zone_info", zone, instance=instance, cluster=cluster, idle_state=state), "values": values}
             for state, values in states]
    return [{"series": joules, "values": f"0+120x{MINUTES}"}, *known]


def expect(minute, container, *instances):
    return {"expr": RULE, "eval_time": f"{minute}m", "exp_samples": [
        {"labels": series(RULE, container, instance=instance, cluster="east"), "value": 2} for instance in instances]}


def real_labels():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 20)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=100ms", "--metrics.settle=0s",
                     "--idle.mode=learned") as exporter:
        metrics = exporter.intervals(1)
        zone = metrics.select("kepler_zone_info", zone="package")
        containers = metrics.select("kepler_container_package_joules_total", mode="dynamic")
        assert exporter.stop() == 0
    assert len(zone) == 1 and zone[0][1] == 1 and zone[0][0]["idle_state"] == "provisional" and containers
    return zone[0][0], containers[0][0]


def main():
    promtool = need_program("promtool")
    rules = re.findall(r"^```yaml\n(groups:.*?)^```$", DOCS.read_text(), re.DOTALL | re.MULTILINE)
    assert len(rules) == 1, "one block of rules is expected"
    zone, container = real_labels()
    for_ever, before, after = f"1x{MINUTES}", f"1x{CHANGE - 1} stale", f"_x{CHANGE} 1x{MINUTES - CHANGE}"
    known = [node(f"{state}:80", zone, container, [(state, for_ever)]) for state in ("learned", "fixed", "model")]
    names = ["learned:80", "fixed:80", "model:80"]
    unknown = [node(f"{state}:80", zone, container, [(state, for_ever)]) for state in ("provisional", "off")]
    unknown += [node("learned:80", zone, container, [("off", for_ever)], cluster="west")]
    nodes = [*known, *unknown,
             node("changes:80", zone, container, [("provisional", before), ("learned", after)])]
    test = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": sum(nodes, []),
        "promql_expr_test": [expect(CHANGE - 1, container, *names), expect(CHANGE + 5, container, *names),
                             expect(CHANGE + 8, container, *names, "changes:80")]}]}
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "rules.yaml").write_text(rules[0])
        pathlib.Path(directory, "test.yaml").write_text(json.dumps(test))  # JSON is YAML
        for command in (["check", "rules", "rules.yaml"], ["test", "rules", "test.yaml"]):
            result = subprocess.run([promtool, *command], cwd=directory, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stdout + result.stderr
    print("the rules of docs/metrics.md keep the nodes whose idle power is known throughout the window")


main()
