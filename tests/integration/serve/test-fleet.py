#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet.md and deploy/fleet: the series of a row in measured.json are those of a real page, the tables are what fleet-cost
prints, and the rules of a cluster add up to its nodes, by promtool over the labels of that page."""
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from rig import ROOT, Exporter, Sensors, need_program, rapl_zone, run_tests

sys.path.insert(0, str(ROOT / "bench"))
import containers  # noqa: E402
from pods import PREFIX, Pods  # noqa: E402

FLEET, DOC = ROOT / "deploy/fleet", ROOT / "docs/fleet.md"
LEVELS = ("process", "container", "pod", "namespace")
PODS, CONTAINERS = 4, 2
MINUTES = 20
CLUSTER = {"cluster": "eu-1", "job": "kepler"}


def pages_of_pods():
    """schema → a page with rows of named pods."""
    zones = rapl_zone("intel-rapl:0", "package-0", 40) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")
    with Sensors(zones) as sensors, \
            Pods(PODS * CONTAINERS, 3, CONTAINERS, 1, sandboxes=True):
        for schema in ("classic", "current"):
            with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=500ms", "--metrics.settle=0s",
                          "--metrics.process.min-joules=0.000001", "--metrics.counters=off",
                          f"--metrics.schema={schema}") as exporter:
                for _ in range(40):
                    metrics = exporter.intervals(2)
                    rows = named_rows(metrics)
                    if len(rows["pod"]) == PODS and len(rows["process"]) == PODS * (CONTAINERS * 3 + 1):
                        break
                yield schema, metrics, rows
                assert exporter.stop() == 0


def named_rows(metrics):
    """level → {its identity: series by name} of the rows of our pods."""
    rows = {level: collections.defaultdict(collections.Counter) for level in LEVELS}
    keys = {"process": ("container_id", "pid", "command"), "container": ("container_id",), "pod": ("pod_id",),
            "namespace": ("container_namespace",)}
    for name, labels, _ in metrics.samples:
        level = name.split("_")[1]
        if level in rows and "retired" not in name and labels.get("container_namespace", "").startswith(PREFIX):
            rows[level][tuple(labels.get(key) for key in keys[level])][name] += 1
    return rows


def series_of_a_row_are_those_measured():
    measured = json.loads((FLEET / "measured.json").read_text())
    for schema, _, rows in pages_of_pods():
        for level in LEVELS:
            want = sum(measured["pages"][schema]["levels"][level]["parts"].values())
            got = sum(sum(series.values()) for series in rows[level].values()) / len(rows[level])
            print(f"  {schema} {level}: {len(rows[level])} rows, {got:.2f} series each")
            assert abs(got - want) < 0.01, (schema, level, got, want, rows[level])


def hidden_processes_leave_all_energy_in_containers():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=500ms", "--metrics.process.min-joules=0",
                     "--metrics.processes=hidden") as exporter:
        metrics = exporter.intervals(6)
        assert exporter.stop() == 0
    assert not [name for name in metrics.named if name.startswith("kepler_process_")]
    wrong = {key: error for key, error in metrics.imbalance_uj().items() if "process" not in key}
    assert not wrong and metrics.sum("kepler_container_joules_total") > 1, wrong


def tables_are_what_the_command_prints():
    blocks = re.findall(r"^    deploy/fleet/fleet-cost(.*)\n\n(.*?\n(?:\n\|.*\n(?:\|.*\n)+))", DOC.read_text(), re.MULTILINE)
    assert len(blocks) == 4, blocks
    for words, table in blocks:
        done = subprocess.run([FLEET / "fleet-cost", *shlex.split(words)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == table.strip(), f"docs/fleet.md: fleet-cost{words} prints now:\n{done.stdout}"
    for wrong in ("--pods=-1", "--interval=0", "--drop=nothing"):
        done = subprocess.run([FLEET / "fleet-cost", wrong], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and wrong.split("=")[0] in done.stderr, done.stderr


def series(name, **labels):
    return name + "{" + ",".join(f"{k}={json.dumps(v)}" for k, v in sorted(labels.items())) + "}"


def promtool(directory, *words):
    done = subprocess.run([need_program("promtool"), *words], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def sums(rule, values, **more):
    """What that rule has at the end: {(mode, quality): W}. Rates of whole watts are whole up to rounding."""
    return {"expr": f"round({rule}, 0.001)", "eval_time": f"{MINUTES}m", "exp_samples": [
        {"labels": series("", **CLUSTER, mode=mode, quality=quality, **more), "value": watts}
        for (mode, quality), watts in values.items()]}


def rules_add_up_to_the_nodes():
    """Two nodes with a meter, of which one shares its idle power, and one that estimates."""
    _, metrics, _ = next(pages_of_pods())
    node, zone = (metrics.select(name)[0][0] for name in ("kepler_node_joules_total", "kepler_zone_info"))
    space = metrics.select("kepler_namespace_joules_total", container_namespace=f"{PREFIX}-0")[0][0]
    pod = metrics.select("kepler_pod_joules_total", container_namespace=f"{PREFIX}-0")[0][0]
    given = []
    nodes = (("a", "rapl-sysfs", "measured"), ("b", "rapl-sysfs", "measured"), ("c", "model", "estimated"))
    for instance, source, quality in nodes:
        at = {"instance": instance, "source": source, **CLUSTER}
        given.append((series("kepler_zone_info", **{**zone, **at, "quality": quality, "in_total": "true"}), "1"))
        for mode, watts, of_space in (("dynamic", 100, 60), ("idle", 40, 10)):
            at["mode"] = mode
            given.append((series("kepler_node_joules_total", **{**node, **at}), f"0+{60 * watts}"))
            if mode == "dynamic" or instance == "b":
                given.append((series("kepler_namespace_joules_total", **{**space, **at}), f"0+{60 * of_space}"))
                web = {**pod, **at, "workload": "web", "workload_type": "deployment"}
                given.append((series("kepler_pod_joules_total", **web), f"0+{60 * of_space}"))
    dynamic, idle = [(("dynamic", "measured"), ("dynamic", "estimated")), (("idle", "measured"), ("idle", "estimated"))]
    spaces = {dynamic[0]: 120, dynamic[1]: 60, idle[0]: 10}
    tests = [sums("cluster:kepler_watts:rate5m", {dynamic[0]: 200, dynamic[1]: 100, idle[0]: 80, idle[1]: 40}),
             sums("namespace:kepler_watts:rate5m", spaces, container_namespace=f"{PREFIX}-0"),
             sums("cluster:kepler_rest_watts:rate5m", {dynamic[0]: 80, dynamic[1]: 40, idle[0]: 70, idle[1]: 40}),
             sums("cluster_workload:kepler_watts:rate5m", spaces, container_namespace=f"{PREFIX}-0", workload="web",
                  workload_type="deployment"),
             {"expr": "cluster:kepler_nodes:count", "eval_time": f"{MINUTES}m", "exp_samples": [
                 {"labels": series("cluster:kepler_nodes:count", quality=quality, **CLUSTER), "value": count}
                 for quality, count in (("measured", 2), ("estimated", 1))]}]
    rules = [str(ROOT / "deploy/prometheus/recording.yaml"), str(FLEET / "cluster-rules.yaml")]
    test = {"rule_files": rules, "evaluation_interval": "1m", "tests": [{
        "interval": "1m", "promql_expr_test": tests,
        "input_series": [{"series": name, "values": f"{values}x{MINUTES}"} for name, values in given]}]}
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "test.yaml").write_text(json.dumps(test))  # JSON is YAML
        promtool(directory, "check", "rules", str(FLEET / "cluster-rules.yaml"))
        promtool(directory, "test", "rules", "test.yaml")
        # Debian's Prometheus is built without the discovery of Kubernetes, so one target takes its place.
        text, changes = re.subn(r"kubernetes_sd_configs:\n.*\n.*\n", "static_configs: [{targets: ['127.0.0.1:28282']}]\n",
                                (FLEET / "agent.yaml").read_text())
        assert changes == 1
        pathlib.Path(directory, "agent.yaml").write_text(text)
        promtool(directory, "check", "config", "--agent", "agent.yaml")


def main():
    containers.enter_own_mounts()
    run_tests((tables_are_what_the_command_prints, rules_add_up_to_the_nodes, series_of_a_row_are_those_measured,
               hidden_processes_leave_all_energy_in_containers))


main()
