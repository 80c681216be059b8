#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The expressions of docs/questions.md and docs/rates.md by promtool, for two clusters in one Prometheus with the same names of
nodes, namespaces and pods, and for one name of a pod in two namespaces: nothing is joined or added up across them."""
import json
import pathlib
import re
import subprocess
import tempfile

from rig import ROOT, need_program

MINUTES = 30
CLUSTERS = {"east": 1, "west": 2}  # which times the watts of the other
PRICE, GRAMS, PUE = {"east": 0.5, "west": 0.25}, {"east": 400, "west": 100}, {"east": 1.5, "west": 2}
PODS = {("shop", "web"): 40, ("lab", "web"): 8}  # watts in the east
REQUESTS = {("shop", "web"): 20, ("lab", "web"): 2}  # a second, in both clusters
SOURCE = "passthrough"  # a guest's host measures, or estimates


def series(name, **labels):
    return name + "{" + ",".join(f"{k}={json.dumps(v)}" for k, v in sorted(labels.items())) + "}"


def gauge(name, value, **labels):
    return {"series": series(name, **labels), "values": f"{value}x{MINUTES}"}


def counter(name, rate, **labels):
    return {"series": series(name, **labels), "values": f"0+{60 * rate}x{MINUTES}"}


def energy(level, watts, **labels):
    return [gauge(f"kepler_{level}_watts", watts, **labels), counter(f"kepler_{level}_joules_total", watts, **labels)]


def page(cluster):
    """A node with one name in both clusters: the machine, and a GPU that another source measures in the east alone."""
    target = {"cluster": cluster, "job": "kepler", "instance": "node-1:28282"}
    times = CLUSTERS[cluster]
    of_machine = target | {"source": SOURCE, "mode": "dynamic"}
    quality = {"east": "measured", "west": "estimated"}[cluster]
    yield gauge("kepler_zone_info", 1, zone="package", in_total="true", quality=quality, source=SOURCE, **target)
    yield gauge("kepler_zone_info", 1, zone="gpu", in_total="true", quality="measured", source="nvml", **target)
    if cluster == "west":
        yield gauge("kepler_zone_info", 1, zone="platform", in_total="false", quality="measured", source="nvml", **target)
    yield gauge("kepler_energy_price_per_kilowatt_hour", PRICE[cluster], currency="EUR", **target)
    yield gauge("kepler_grid_carbon_intensity_grams_per_kilowatt_hour", GRAMS[cluster], source="file", kind="average", **target)
    yield gauge("kepler_power_usage_effectiveness", PUE[cluster], **target)
    yield from energy("node", 100 * times, **of_machine)
    for (namespace, pod), watts in PODS.items():
        named = {"container_namespace": namespace, "pod_name": pod}
        yield from energy("namespace", watts * times, container_namespace=namespace, **of_machine)
        yield from energy("pod", watts * times, **named, **of_machine)
        yield gauge("kepler_pod_watts", 2 * watts * times, **named, **target, source="nvml", mode="dynamic")
    yield from energy("process", 3 * times, pid="7", command="httpd", **of_machine)
    yield from energy("vm", 5 * times, vm_name="vm-1", hypervisor="kvm", **of_machine)
    for (namespace, pod), rate in REQUESTS.items():
        counted = target | {"container_namespace": namespace, "pod_name": pod, "workload": pod, "unit": "request"}
        yield counter("kepler_units_total", rate, **counted)
        yield counter("kepler_unit_joules_total", PODS[namespace, pod] * times, mode="dynamic", source=SOURCE, **counted)


def rows(value_of, by=PODS, clusters=CLUSTERS):
    """[(labels, value)] for each pod in each cluster."""
    return [({"cluster": cluster, "container_namespace": key[0], "pod_name": key[1]}, value_of(cluster, key))
            for cluster in clusters for key in by]


def without_pod(found, **more):
    return [({name: value for name, value in labels.items() if name != "pod_name"} | more, value) for labels, value in found]


def each(value_of, clusters=CLUSTERS, **labels):
    return [({"cluster": cluster, **labels}, value_of(cluster)) for cluster in clusters]


def watts(cluster, pod):
    return PODS[pod] * CLUSTERS[cluster]


EXPECTED = {
    "questions.md": {
        1: without_pod(rows(watts)),
        2: rows(lambda cluster, pod: watts(cluster, pod) * 60 * MINUTES / 3.6e6),
        3: each(lambda cluster: 3 * CLUSTERS[cluster], instance="node-1:28282", pid="7", command="httpd"),
        4: [({"mode": "dynamic"}, 300)],
        5: each(lambda cluster: 100 * CLUSTERS[cluster], ["west"], instance="node-1:28282", source=SOURCE),
        6: without_pod(rows(lambda cluster, pod: watts(cluster, pod) * PRICE[cluster] / 1000), currency="EUR"),
        7: without_pod(rows(lambda cluster, pod: watts(cluster, pod) * GRAMS[cluster] / 1000), kind="average"),
        8: [(labels | {"mode": "dynamic"}, value) for labels, value in rows(lambda _, pod: 2 * PODS[pod], clusters=["east"])],
        9: each(lambda cluster: 5 * CLUSTERS[cluster], vm_name="vm-1", hypervisor="kvm"),
        10: without_pod(rows(lambda cluster, pod: watts(cluster, pod) / REQUESTS[pod]), workload="web", unit="request"),
    },
    "rates.md": {
        1: without_pod(rows(lambda cluster, pod: watts(cluster, pod) * PRICE[cluster] / 1000), currency="EUR"),
        2: each(lambda cluster: 100 * CLUSTERS[cluster] * PUE[cluster] * GRAMS[cluster] / 1000, kind="average"),
    },
}


def cases():
    for name, expected in EXPECTED.items():
        expressions = re.findall(r"(?s)```promql\n(.*?)```", (ROOT / "docs" / name).read_text())
        assert len(expressions) == len(expected), (name, len(expressions))
        for number, expr in enumerate(expressions, 1):
            expr = expr.replace("[1d]", f"[{MINUTES}m]")  # as long as the series are
            yield {"expr": f"round(({expr}), 1e-7)", "eval_time": f"{MINUTES}m", "exp_samples": [
                {"labels": series("", **labels), "value": round(value, 7)} for labels, value in expected[number]]}


def main():
    promtool = need_program("promtool")
    asked = list(cases())
    test = {"evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": [one for cluster in CLUSTERS for one in page(cluster)], "promql_expr_test": asked}]}
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "test.yaml")
        path.write_text(json.dumps(test))  # JSON is YAML
        result = subprocess.run([promtool, "test", "rules", path], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
    print(f"{len(asked)} expressions keep {len(CLUSTERS)} clusters with the same names apart")


main()
