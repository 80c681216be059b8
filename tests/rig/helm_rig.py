# SPDX-License-Identifier: Apache-2.0
"""The chart of deploy/helm as Helm renders it, and deploy/kubernetes as kubectl builds it, in a form that can be compared."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from rig import ROOT, need_program, skip

CHART = ROOT / "deploy/helm/kepler"
KUSTOMIZATIONS = ROOT / "deploy/kubernetes"
CACHE = pathlib.Path(os.environ.get("KEPLER_LAB_CACHE", "/var/cache/kepler-lab"))
SERVER = "1.36.0"
# Labels that a release adds to its objects and selectors, and a kustomization does not.
OF_A_RELEASE = ("app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/part-of",
                "app.kubernetes.io/version", "helm.sh/chart")

try:
    import yaml
except ImportError:
    skip("python3-yaml is not installed")


def need_helm():
    found = shutil.which("helm") or shutil.which("helm", path=CACHE / "go-bin")
    if not found:
        skip("no helm here: go install helm.sh/helm/v3/cmd/helm@v3.22.0")
    return found


def helm(*args, values=None, fail=False):
    """Standard output; with `fail` the completed process. `values`: given as a file."""
    with tempfile.TemporaryDirectory() as folder:
        # Its own folders: nothing of the user's is read or written.
        environment = dict(os.environ, HELM_CACHE_HOME=folder, HELM_CONFIG_HOME=folder, HELM_DATA_HOME=folder)
        more = []
        if values is not None:
            path = pathlib.Path(folder, "values.yaml")
            path.write_text(json.dumps(values))
            more = ["-f", str(path)]
        done = subprocess.run([need_helm(), *map(str, args), *more], env=environment, capture_output=True, text=True, check=False)
    assert fail or done.returncode == 0, f"helm {args}: {done.stdout}{done.stderr}"
    return done if fail else done.stdout


def template(values, version=SERVER, release="kepler", namespace="kepler", chart=CHART):
    text = helm("template", release, chart, "-n", namespace, "--kube-version", version, values=values)
    return [each for each in yaml.safe_load_all(text) if each]


def refused(values, **more):
    """What Helm reports of values that it does not take."""
    version = more.get("version", SERVER)
    done = helm("template", "kepler", CHART, "-n", "kepler", "--kube-version", version, values=values, fail=True)
    assert done.returncode != 0, f"taken: {values}"
    return done.stderr


def kustomize(resources, components=()):
    """What kubectl builds of these folders of deploy/kubernetes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder).resolve()
        up = "/".join([".."] * len(path.parts[1:])) + str(KUSTOMIZATIONS)
        (path / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
            "resources": [f"{up}/{name}" for name in resources], "components": [f"{up}/components/{name}" for name in components]}))
        done = subprocess.run([need_program("kubectl"), "kustomize", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def _plain(node):
    if isinstance(node, dict):
        out = {key: _plain(value) for key, value in node.items() if key not in OF_A_RELEASE}
        if isinstance(out.get("annotations"), dict):
            out["annotations"].pop("checksum/config", None)
        return {key: value for key, value in out.items() if value not in ({}, None) or key == "podSelector"}
    if isinstance(node, list):
        return sorted((_plain(item) for item in node), key=lambda item: json.dumps(item, sort_keys=True))
    return node


def plain(objects):
    """(kind, name) → the object, without the order of lists, what only a release has, and what starts new pods."""
    found = {}
    for each in objects:
        each = _plain(each)
        if each["kind"] == "ConfigMap" and "kepler.yaml" in each["data"]:
            each["metadata"]["name"] = "kepler"
            each["data"]["kepler.yaml"] = yaml.safe_load(each["data"]["kepler.yaml"])
        if each["kind"] == "PersistentVolumeClaim":  # that it outlives a release is of no concern without one
            for name in ("helm.sh/resource-policy", "argocd.argoproj.io/sync-options"):
                each["metadata"].get("annotations", {}).pop(name, None)
            if not each["metadata"].get("annotations"):
                each["metadata"].pop("annotations", None)
        if each["kind"] == "DaemonSet":
            for volume in each["spec"]["template"]["spec"]["volumes"]:
                if "configMap" in volume:  # kustomize names it after its content
                    volume["configMap"]["name"] = re.sub("-[a-z0-9]{10}$", "", volume["configMap"]["name"])
        key = (each["kind"], each["metadata"]["name"])
        assert key not in found, key
        found[key] = each
    return found


def difference(ours, theirs, at=""):
    """Each place where two objects differ, as text."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [line for key in sorted({*ours, *theirs}, key=str)
                for line in difference(ours.get(key), theirs.get(key), f"{at}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list):
        only = [item for item in ours if item not in theirs], [item for item in theirs if item not in ours]
        return [f"{at}: {only[0]}, not {only[1]}"] if any(only) else []
    return [] if ours == theirs else [f"{at}: {ours!r}, not {theirs!r}"]
