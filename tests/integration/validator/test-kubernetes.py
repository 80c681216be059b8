#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/kubernetes/validator on a real API server and a real kubelet: the Job of the manual judges an exporter of its node by
simulated meters, its load is judged as its container, its pod and its namespace, and its report stays where the manual keeps it.

Of the manifest, only what the lab lacks is changed: pods use the host's network, so that no Service leads to the exporter; the
meters are simulated ones; and the run is short.
"""
import json
import pathlib
import re
import subprocess
import tempfile

from kube_lab import DEPLOY, Cluster, script
from rig import BUILD, ROOT, Exporter, Sensors, rapl_zone

KUSTOMIZATION = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{manifests}]
patches:
- target: {{kind: Job, name: kepler-validator}}
  patch: |
    - {{op: add, path: /spec/template/spec/nodeName, value: localhost}}
    - {{op: add, path: /spec/template/spec/hostNetwork, value: true}}
    - {{op: replace, path: /spec/template/spec/containers/0/imagePullPolicy, value: Never}}
    - {{op: replace, path: /spec/template/spec/containers/0/args/1, value: "--exporter={url}/metrics"}}
    - {{op: add, path: /spec/template/spec/containers/0/args/-, value: --duration=2m}}
    - {{op: replace, path: /spec/template/spec/volumes/0/hostPath/path, value: {sysfs}/class}}
    - op: replace
      path: /spec/template/spec/volumes/2
      value: {{name: report, hostPath: {{path: {report}, type: DirectoryOrCreate}}}}
"""
LEVELS = ("restricted", "baseline", "privileged")


def kustomization(cluster, **words):
    folder = pathlib.Path(tempfile.mkdtemp(dir=cluster.dir))
    up = "/".join([".."] * len(folder.parts[1:]))  # kustomize wants relative paths
    (folder / "kustomization.yaml").write_text(KUSTOMIZATION.format(manifests=f"{up}{DEPLOY}/validator", **words))
    return folder


def admission(cluster):
    """{level of Pod Security: what the server says of the Job's pods}"""
    said = {}
    for level in LEVELS:
        cluster.kubectl("create", "namespace", level)
        cluster.kubectl("label", "namespace", level, f"pod-security.kubernetes.io/warn={level}")
        built = cluster.kubectl("kustomize", DEPLOY / "validator").replace("namespace: kepler", f"namespace: {level}")
        done = cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", given=built, fail=True)
        assert done.returncode == 0, done
        said[level] = re.sub(r"\s+", " ", done.stderr)
    return said


def job_has_ended(cluster):
    status, job = cluster.api("GET", "/apis/batch/v1/namespaces/kepler/jobs/kepler-validator")
    return status == 200 and any(job["status"].get(word) for word in ("succeeded", "failed"))


def job_state(cluster):
    return cluster.kubectl("-n", "kepler", "describe", "pods", "-l", "app.kubernetes.io/name=kepler-validator") + \
        str(cluster.kubectl("-n", "kepler", "logs", "job/kepler-validator", fail=True))


def run_job(cluster, exporter, sensors, folder):
    """(output, report, whether the Job succeeded)"""
    path = kustomization(cluster, url=exporter.url, sysfs=sensors.mount, report=folder)
    cluster.kubectl("apply", "--validate=strict", "-k", path)
    cluster.wait(lambda: job_has_ended(cluster), lambda: job_state(cluster), 240)
    print(job_state(cluster))
    job = cluster.api("GET", "/apis/batch/v1/namespaces/kepler/jobs/kepler-validator")[1]
    output = cluster.kubectl("-n", "kepler", "logs", "job/kepler-validator")
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    cluster.kubectl("delete", "-k", path)
    return output, report, bool(job["status"].get("succeeded"))


def check(output, report, has_succeeded):
    found = {result["name"]: (result["verdict"], result["reason"]) for result in report["results"]}
    for name in ("correctness/answers", "conservation/rows"):
        assert found[name][0] == "pass", (name, found[name])
    # Where other work keeps all CPUs busy, the power is the same with a load and without.
    verdict, reason = found["node/package"]
    assert verdict == "pass" or verdict == "inconclusive" and "phases differ too little in power" in reason, (verdict, reason)
    for level in ("container", "pod", "namespace"):
        verdict, reason = found[f"{level}/package/half"]
        # The machine may have been busy, but rows of the load are there.
        assert verdict == "pass" or verdict == "inconclusive" and re.search("busy|drifted|Other work", reason), (level, found)
    for name, (verdict, reason) in found.items():
        assert verdict != "fail", (name, reason)
    assert has_succeeded == (report["verdict"] == "pass"), report["verdict"]
    assert f"Verdict: {report['verdict']}." in output


def main():
    binary = subprocess.run([ROOT / "tools/release-binary", BUILD, ROOT, "kepler-validator"], capture_output=True, text=True,
                            check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder, "kepler-validator.tar")
        script("image.py", "kepler-validator", image, binary)
        with Cluster(controllers=True, images=[image]) as cluster, \
                Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors:
            said = admission(cluster)
            print(said)
            assert "hostPath" in said["baseline"] and "runAsUser" not in said["baseline"], said
            assert "runAsUser=0" in said["restricted"] and "Warning" not in said["privileged"], said
            cluster.kubectl("create", "namespace", "kepler")
            config = cluster.kubeconfig(cluster.install_account("kubelet"))
            with Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=0s", "--kube.pods=kubelet",
                          "--kube.node-name=localhost", f"--kube.kubeconfig={config}") as exporter:
                exporter.intervals(2)
                check(*run_job(cluster, exporter, sensors, f"{folder}/report"))
                assert exporter.stop() == 0


main()
