#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboards' energy of a range by promtool, of nodes whose quality changes in it: what was estimated is neither lost nor shown
as measured once a meter has taken over, and nothing is counted twice. Power and energy of GPUs, of which one machine's are
measured and another's estimated, are kept apart as well."""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

from dashboard_rig import filled
from rig import ROOT, need_program

MINUTES = 60
HALF = MINUTES // 2
JOB = "kepler"
LEVELS = {"node": {}, "namespace": {"container_namespace": "shop"},
          "pod": {"container_namespace": "shop", "pod_name": "web"}, "process": {"command": "httpd", "pid": "7"},
          "vm": {"vm_name": "vm-1"}}
# Energy of a range: the dashboard, and the title of its panel.
PANELS = [("overview", "Energy, last 24 h"), ("overview", "Energy by namespace, last 24 h"), ("node", "Energy in this range"),
          ("namespace", "Energy in this range"), ("namespace", "Energy, last 24 h"), ("namespace", "Energy by pod, last 24 h"),
          ("pod", "Energy, last 24 h"), ("process", "Energy by command in this range"), ("vm", "Energy by machine, last 24 h")]
# instance → [(source, quality, first or second half, watts then)]; the meter of "lost" fails, "gains" gets one,
# and what the host of "guest" reports is measured first and estimated then, by one source.
NODES = {"lost": [("rapl", "measured", 0, 60), ("model", "estimated", 1, 50)],
         "gains": [("model", "estimated", 0, 7), ("rapl", "measured", 1, 9)],
         "guest": [("passthrough", "measured", 0, 4), ("passthrough", "estimated", 1, 4)],
         "steady": [("rapl", "measured", 0, 20), ("rapl", "measured", 1, 20)]}
# W for half an hour each: the guest's source has been an estimate, so all of its energy is.
WATT_HALVES = {"measured": 60 + 9 + 20 + 20, "estimated": 50 + 7 + 4 + 4}

# Machines whose GPUs have a source of their own, as a guest's have that its host reports: job "gpu", instance → (source, quality,
# mode → watts). Of the unattributed power, and of what a pod holds without use.
GPU_JOB, SPARE, HELD = "gpu", 3, 11
GPUS = {"card": ("nvml", "measured", {"dynamic": 200, "idle": 40}),
        "guest-card": ("passthrough", "estimated", {"dynamic": 50, "idle": 20})}
# The dashboard and the title of a panel → its watts, and its kind where two have that title.
GPU_PANELS = {("gpu", "Power now"): lambda watts: watts["dynamic"] + watts["idle"],
              ("gpu", "Energy, last 24 h"): lambda watts: (watts["dynamic"] + watts["idle"]) * MINUTES * 60 / 3.6e6,
              ("gpu", "Used"): lambda watts: watts["dynamic"] / (watts["dynamic"] + watts["idle"]),
              ("gpu", "Power by GPU"): lambda watts: watts["dynamic"] + watts["idle"],
              ("gpu", "Dynamic power by GPU"): lambda watts: watts["dynamic"],
              ("gpu", "Idle power by GPU"): lambda watts: watts["idle"],
              ("gpu", "Power by pod"): lambda watts: watts["dynamic"],
              ("gpu", "Held, not used", "table"): lambda watts: HELD,
              ("gpu", "Processes"): lambda watts: watts["dynamic"],
              ("gpu", "Unattributed GPU power"): lambda watts: SPARE,
              ("namespace", "GPU power"): lambda watts: watts["dynamic"] + watts["idle"],
              ("pod", "GPU power"): lambda watts: watts["dynamic"] + watts["idle"] + HELD,
              ("vm", "GPU power"): lambda watts: watts["dynamic"] + watts["idle"]}


def series(name, labels, values):
    return {"series": name + "{" + ",".join(f"{k}={json.dumps(v)}" for k, v in labels.items()) + "}", "values": values}


def page(instance, parts):
    target = {"job": JOB, "instance": instance}
    for source, quality, half, _ in parts:
        labels = target | {"zone": "package", "source": source, "quality": quality, "in_total": "true"}
        yield series("kepler_zone_info", labels, f"_x{HALF} 1x{HALF}" if half else f"1x{HALF - 1} stale")
    for source in {part[0] for part in parts}:
        rates = [sum(60 * watts for name, _, when, watts in parts if name == source and when == half) for half in (0, 1)]
        for level, names in LEVELS.items():
            yield series(f"kepler_{level}_joules_total", target | names | {"source": source, "mode": "dynamic"},
                         f"0+{rates[0]}x{HALF} {HALF * rates[0] + rates[1]}+{rates[1]}x{HALF - 1}")


def gpu_page(instance, source, quality, watts_of):
    target = {"job": GPU_JOB, "instance": instance, "source": source}
    yield series("kepler_zone_info", target | {"zone": "gpu", "quality": quality, "in_total": "true"}, f"1x{MINUTES}")
    for mode, watts in watts_of.items():
        rows = [("node_gpu", {"package": "0"}), *LEVELS.items()]
        for level, names in rows:
            yield series(f"kepler_{level}_watts", target | names | {"mode": mode}, f"{watts}x{MINUTES}")
        yield series("kepler_node_joules_total", target | {"mode": mode}, f"0+{60 * watts}x{MINUTES}")
    for level, names in (("namespace", LEVELS["namespace"] | {"container_namespace": "without"}),
                         ("pod", LEVELS["pod"] | {"pod_name": "without"}), ("vm", {"vm_name": "without"})):
        yield series(f"kepler_{level}_watts", target | names | {"mode": "dynamic"}, f"0x{MINUTES}")
    yield series("kepler_node_unattributed_watts", target | {"mode": "dynamic"}, f"{SPARE}x{MINUTES}")
    yield series("kepler_pod_watts", target | LEVELS["pod"] | {"pod_name": "holds", "mode": "idle"}, f"{HELD}x{MINUTES}")


def load(path):
    """A program in Python as a module."""
    sys.path.insert(0, str(path.parent))
    loader = importlib.machinery.SourceFileLoader("dashboards_source", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dashboards_source", loader))
    loader.exec_module(module)
    return module


DASHBOARDS = load(ROOT / "deploy/grafana/generate")


def expression(board, title, kind=None, job=JOB):
    panels = getattr(DASHBOARDS, board)()["panels"]
    found = [target["expr"] for panel in panels if panel["title"] == title and kind in (None, panel["type"])
             for target in panel["targets"]]
    assert len(found) == 1, (board, title)
    return filled(found[0], job, span="24h")


def kinds(expr):
    return f'sum by (estimate) (label_replace({expr}, "estimate", "~", "quality", "estimated"))'


def samples(value_of):
    return [{"labels": '{estimate="~"}' if quality == "estimated" else "{}", "value": value} for quality, value in value_of.items()]


def cases():
    for board, title in PANELS:
        unit_j = 3600 if board == "process" else 3.6e6
        yield {"expr": f"round({kinds(expression(board, title))} * {unit_j}, 1e-3)", "eval_time": f"{MINUTES}m",
               "exp_samples": samples({quality: halves * HALF * 60 for quality, halves in WATT_HALVES.items()})}
    for panel, value in GPU_PANELS.items():
        wanted = {quality: round(value(watts), 6) for _, quality, watts in GPUS.values()}
        yield {"expr": f"round({kinds(expression(*panel, job=GPU_JOB))}, 1e-6)", "eval_time": f"{MINUTES}m",
               "exp_samples": samples(wanted)}
    for board in "namespace", "pod", "vm":  # rows that use no GPU are in no legend
        yield {"expr": f'count(({expression(board, "GPU power", job=GPU_JOB)}) <= 0)', "eval_time": f"{MINUTES}m",
               "exp_samples": []}
    held = expression("gpu", "Held, not used", "stat", GPU_JOB)
    yield {"expr": held, "eval_time": f"{MINUTES}m", "exp_samples": samples({"measured": len(GPUS)})}


def no_panel_of_gpus_is_forgotten():
    """Each that joins a source of GPUs has its watts above."""
    for board in ("namespace", "pod", "process", "vm", "gpu", "overview", "node"):
        for panel in getattr(DASHBOARDS, board)()["panels"]:
            if any(DASHBOARDS.GPU in target["expr"] for target in panel.get("targets", ())):
                key = (board, panel["title"])
                assert any(key == known[:2] for known in GPU_PANELS), key


def main():
    promtool = need_program("promtool")
    no_panel_of_gpus_is_forgotten()
    asked = list(cases())
    test = {"evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": [*(one for name, parts in NODES.items() for one in page(name, parts)),
                                          *(one for name, parts in GPUS.items() for one in gpu_page(name, *parts))],
        "promql_expr_test": asked}]}
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "test.yaml")
        path.write_text(json.dumps(test))  # JSON is YAML
        result = subprocess.run([promtool, "test", "rules", path], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
    print(f"{len(asked)} panels keep estimated and measured energy of {len(NODES) + len(GPUS)} nodes apart")


main()
