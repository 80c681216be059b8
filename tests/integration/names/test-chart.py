#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/helm/kepler by Helm itself: it lints, sets of values give what they say, its objects are equal to deploy/kubernetes with
each component, Kepler takes its configuration file, which of upstream's keys is the one that `kepler config import` makes, and bad
values are refused by name.
"""
import json
import pathlib
import subprocess
import tempfile

from chart_values import EVERYTHING, SETS, UPSTREAM
from helm_rig import CHART, KUSTOMIZATIONS, SERVER, difference, helm, kustomize, need_helm, plain, refused, template, yaml
from rig import KEPLER, ROOT, run_tests

MODES = ("apiserver", "kubelet")
# Component → the values that mean it. A mode that it needs comes with it.
COMPONENTS = {
    "device-users": {"deviceUsers": {"enabled": True}},
    "hmc": {"hmc": {"enabled": True}},
    "kubelet-before-1.33": {"rbac": {"nodesProxy": True}},
    "model-server": {"modelServer": {"enabled": True}},
    "network-policy": {"networkPolicy": {"enabled": True}},
    "nvidia": {"nvidia": {"enabled": True}},
    "openshift": {"openshift": {"scc": True}},
    "pod-resources": {"podResources": {"enabled": True}},
    "podmonitor": {"podMonitor": {"enabled": True}},
    "redfish": {"redfish": {"enabled": True}},
    "server-before-1.30": {},
    "servicemonitor": {"serviceMonitor": {"enabled": True}},
    "web-auth": {"web": {"auth": "kubernetes"}},
    "state-on-host": {"state": {"onHost": True}},
}
VERSIONS = {"server-before-1.30": "1.29.0"}
ONLY_KUBELET = {"kubelet-before-1.33"}
REFUSED = [  # (values, words of the message)
    ({"imagee": {}}, "imagee"),
    ({"image": {"repository": "a:1"}}, "/image/repository"),
    ({"image": {"repository": "quay.io/sustainable_computing_io/kepler"}}, "is upstream's program"),
    ({"service": {"type": "LoadBalancer"}}, "/service/type"),
    ({"service": {"port": 0}}, "/service/port"),
    ({"daemonset": {"hostUsers": False}}, "/daemonset/hostUsers"),
    ({"daemonset": {"securityContext": {"runAsNonRoot": True}}}, "/daemonset/securityContext/runAsNonRoot"),
    ({"daemonset": {"extraCapabilities": ["SYS_ADMIN"]}}, "/daemonset/extraCapabilities/0"),
    ({"daemonset": {"resource": {}}}, "resource"),
    ({"redfish": {"enabled": True, "fileContent": "a,b,c,d"}}, "fileContent"),
    ({"config": {"kube": {"pods": "api"}}}, "/config/kube/pods"),
    ({"config": {"log": {"level": "verbose"}}}, "/config/log/level"),
    ({"config": {"monitor": {"interval": "5 parsecs"}}}, "/config/monitor/interval"),
    ({"config": {"web": {"listen-address": ["unix:/run/kepler"]}}}, "config.web.listen-address"),
    ({"config": {"rapl": {"zones": ["package"]}}}, "config.rapl.zones"),
    ({"config": {"dev": {"fake-cpu-meter": {"enabled": True}}}}, "there is no simulated meter"),
    ({"config": {"experimental": {"platform": {"redfish": {"enabled": True}}}}}, "use redfish.enabled"),
    ({"serviceMonitor": {"interval": "often"}}, "/serviceMonitor/interval"),
    ({"modelServer": {"enabled": True, "replicas": 2}}, "ReadWriteMany"),
    ({"rules": {"kind": "Rule"}}, "/rules/kind"),
]


def named(objects, kind, name="kepler"):
    return next(each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name)


def container(objects, name="kepler"):
    return named(objects, "DaemonSet", name)["spec"]["template"]["spec"]["containers"][0]


def written_config(objects, name="kepler"):
    return named(objects, "ConfigMap", name)["data"]["kepler.yaml"]


def it_lints():
    for name, values in SETS.items():
        done = helm("lint", "--strict", CHART, "--kube-version", SERVER, values=values)
        assert "0 chart(s) failed" in done and "WARNING" not in done, (name, done)


def each_set_gives_a_configuration_that_kepler_takes():
    for name, values in SETS.items():
        objects = template(values)
        assert len(objects) >= 3, name
        full = (values.get("fullnameOverride") or "kepler")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(written_config(objects, full))
            file.flush()
            done = subprocess.run([KEPLER, "config", "check", file.name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (name, done.stdout, done.stderr)


def no_set_has_a_privilege_that_is_not_named():
    for name, values in SETS.items():
        objects = template(values)
        assert "privileged: true" not in yaml.safe_dump(objects), name
        at = container(objects, (values.get("fullnameOverride") or "kepler"))
        security, more = at["securityContext"], values.get("daemonset", {}).get("extraCapabilities", [])
        more = more + (["SYS_PTRACE"] if values.get("deviceUsers") else [])
        assert security["capabilities"] == {"drop": ["ALL"], "add": ["BPF", "PERFMON", "DAC_READ_SEARCH", *more]}, (name, security)
        assert security["allowPrivilegeEscalation"] is False and security["readOnlyRootFilesystem"] is True, name
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/readyz")):
            assert at[probe]["httpGet"]["path"] == path, (name, probe)


def values_are_followed():
    at = container(template(SETS["upstream"]))
    assert at["livenessProbe"]["periodSeconds"] == 60 and at["livenessProbe"]["initialDelaySeconds"] == 10
    objects = template(SETS["no names"])
    assert named(objects, "DaemonSet")["spec"]["template"]["spec"]["serviceAccountName"] == "own"
    assert not [each for each in objects if each["kind"] in ("ClusterRole", "ClusterRoleBinding", "ServiceAccount")]
    assert {"name": "KEPLER_KUBE_PODS", "value": "off"} in container(objects)["env"]
    objects = template(SETS["tls"])
    assert container(objects)["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
    assert named(objects, "PodMonitor")["spec"]["podMetricsEndpoints"][0]["scheme"] == "https"
    assert "--exporter=https://kepler-on-this-node.kepler.svc:28282/metrics" in \
        named(objects, "Job", "kepler-validator")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert container(template(SETS["registry"]), "meter")["image"] == "registry.example:5000/a/kepler@sha256:" + "0" * 64
    objects = template(SETS["numbers"])
    assert container(objects)["ports"] == [{"name": "metrics", "containerPort": 9102}]
    assert named(objects, "Service")["metadata"]["annotations"]["prometheus.io/port"] == "9102"
    pod = named(template(SETS["placed"]), "DaemonSet")["spec"]["template"]["spec"]
    assert "tolerations" not in pod and pod["priorityClassName"] == "system-node-critical"
    assert pod["containers"][0]["args"] == ["run", "--metrics.settle=0s"]
    assert pod["containers"][0]["securityContext"]["seLinuxOptions"] == {"type": "spc_t"}
    assert {"name": "KEPLER_MODEL_URL", "value": "https://models.example/"} in container(template(SETS["model elsewhere"]))["env"]
    objects = template(EVERYTHING, namespace="energy")
    assert {each["metadata"].get("namespace", "energy") for each in objects} == {"energy"}
    assert named(objects, "PodDisruptionBudget", "kepler-model-server")["spec"]["maxUnavailable"] == 1
    assert not [each for each in template({"modelServer": {"enabled": True}}) if each["kind"] == "PodDisruptionBudget"]


def a_change_of_the_configuration_starts_new_pods():
    sums = {json.dumps(named(template(values), "DaemonSet")["spec"]["template"]["metadata"]["annotations"])
            for values in ({}, {"config": {"log": {"level": "debug"}}}, {"labels": {"a": "b"}})}
    assert len(sums) == 2, sums


def it_is_the_kustomizations():
    """One truth: each overlay with each component, and the validator, are what the chart gives."""
    assert set(COMPONENTS) == {path.name for path in (KUSTOMIZATIONS / "components").iterdir()}
    compared = 0
    for mode in MODES:
        for component in [None, *COMPONENTS]:
            if component in ONLY_KUBELET and mode != "kubelet":
                continue
            values = {"namespace": {"create": True}, "config": {"kube": {"pods": mode}}, **COMPONENTS.get(component, {})}
            ours = plain(template(values, version=VERSIONS.get(component, SERVER)))
            theirs = plain(kustomize([f"overlays/{mode}"], [component] if component else []))
            found = difference(ours, theirs)
            assert not found, f"{mode} with {component}: " + "\n".join(found)
            compared += len(ours)
    ours = plain(template({"validator": {"enabled": True}}))
    theirs = plain(kustomize(["validator"]))
    ours = {key: value for key, value in ours.items() if key in theirs}
    found = difference(ours, theirs)
    assert not found, "\n".join(found)
    print(f"{compared + len(theirs)} objects compared")


def it_translates_as_config_import_does():
    """Apart from the places of host files, names and addresses, which are the pod's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "config.yaml")
        for config in (UPSTREAM["config"], {"exporter": {"stdout": {"enabled": True}}, "log": {"level": "warn"}},
                       {"web": {"listenAddresses": [":9000", "127.0.0.1:9001"], "configFile": "/etc/kepler/web.yaml"}},
                       {"monitor": {"interval": "3s", "staleness": "1s"}}):
            path.write_text(json.dumps(config))
            done = subprocess.run([KEPLER, "config", "import", path], capture_output=True, text=True, check=True)
            wanted = {**yaml.safe_load(done.stdout)}
            ours = yaml.safe_load(written_config(template({"config": config})))
            for each in (wanted, ours):
                for key in ("host", "kube"):
                    each.pop(key, None)
            ours["log"] = {key: value for key, value in ours["log"].items() if key in config.get("log", {})}
            ours = {key: value for key, value in ours.items() if value != {}}
            if "listenAddresses" not in config.get("web", {}):
                wanted.pop("web", None)
                assert ours.pop("web") == {"listen-address": [":28282"]}
            assert not difference(ours, wanted), (config, difference(ours, wanted))


def bad_values_are_refused_by_name():
    for values, words in REFUSED:
        said = refused(values)
        assert words in said, (values, said)
    assert "kubeVersion" in refused({}, version="1.24.0")


def examples_for_flux_and_argo_cd_give_a_release():
    flux = list(yaml.safe_load_all((ROOT / "deploy/gitops/flux.yaml").read_text()))
    argo = yaml.safe_load((ROOT / "deploy/gitops/argocd.yaml").read_text())["spec"]
    release = next(each for each in flux if each["kind"] == "HelmRelease")["spec"]
    assert ROOT / release["chart"]["spec"]["chart"] == ROOT / argo["source"]["path"] == CHART
    assert release["values"] == argo["source"]["helm"]["valuesObject"]
    kinds = {each["kind"] for each in template(release["values"])}
    assert {"DaemonSet", "PodMonitor", "NetworkPolicy"} <= kinds, kinds
    label = {"pod-security.kubernetes.io/enforce": "privileged"}
    assert flux[0]["metadata"]["labels"] == argo["syncPolicy"]["managedNamespaceMetadata"]["labels"] == label


def rules_and_dashboards_are_the_tree_s():
    """Each file of deploy/prometheus with groups, and of deploy/grafana, is in the chart, unchanged."""
    values = {"rules": {"enabled": True, "kind": "ConfigMap"}, "dashboards": {"enabled": True}}
    given = {}
    for each in template(values):
        if each["kind"] == "ConfigMap" and "kepler.yaml" not in each["data"]:
            given.update(each["data"])
    wanted = {path.name: path.read_text() for path in (ROOT / "deploy/grafana").glob("*.json")}
    wanted.update({path.name: path.read_text() for path in (ROOT / "deploy/prometheus").glob("*.yaml")
                   if "groups" in (yaml.safe_load(path.read_text()) or {})})
    assert given.keys() == wanted.keys(), (sorted(given), sorted(wanted))
    for name, text in wanted.items():
        assert given[name].rstrip("\n") == text.rstrip("\n"), name
    rules = [each for each in template({"rules": {"enabled": True}}) if each["kind"] == "PrometheusRule"]
    assert len(rules) == len([name for name in wanted if name.endswith(".yaml")])
    print(f"{len(wanted)} files")


need_helm()
run_tests([it_lints, each_set_gives_a_configuration_that_kepler_takes, no_set_has_a_privilege_that_is_not_named,
           values_are_followed, a_change_of_the_configuration_starts_new_pods, it_is_the_kustomizations,
           it_translates_as_config_import_does, bad_values_are_refused_by_name,
           examples_for_flux_and_argo_cd_give_a_release, rules_and_dashboards_are_the_tree_s])
