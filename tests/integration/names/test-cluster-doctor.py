#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler doctor --cluster` against an API server of our own, with pages of a running Kepler: faults that a real server has seldom.

Each fault of a set-up is found, and nothing else; nothing is changed; everything has an end.

test-cluster-doctor.py [CASE...]
"""
import email.utils
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import jsonschema

from certificates import Authority
from cluster_world import NAMESPACE, REVIEWS, FakeApi, World, node, rfc3339
from rig import KEPLER, OTHERS_ENVIRONMENT, ROOT, Exporter, run_tests

SCHEMA = json.loads((ROOT / "docs/doctor-cluster.schema.json").read_text())


class Lab:
    """A world with pages of a real exporter, its API server, and a kubeconfig for it."""

    def __init__(self, pages=True, **world):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.world = World(**world)
        self.authority = Authority(self.dir)
        self.api = FakeApi(self.world, self.authority.server_context())
        if pages:
            with Exporter("--monitor.interval=200ms") as exporter:
                page = re.sub(r"(?m)^(kepler_exporter_snapshot_timestamp_seconds) .*", r"\1 @NOW@", exporter.page())
            for pod in self.world["pods"]:
                self.world.pages[pod["metadata"]["name"]] = page
        self.config = self.write_kubeconfig("config", {"token": "good"})

    def write_kubeconfig(self, name, user):
        path = self.dir / name
        path.touch(0o600)
        path.write_text(json.dumps({
            "current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}},
                                                   {"name": "broken", "context": {"cluster": "none", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.api.url, "certificate-authority": str(self.authority.file)}}],
            "users": [{"name": "u", "user": user}]}))
        return path

    def doctor(self, *args, config=True, env=None):
        """(exit status, standard output, standard error)"""
        flags = [f"--kubeconfig={self.config}"] if config else []
        done = subprocess.run([KEPLER, "doctor", "--cluster", *flags, *args], capture_output=True, text=True, check=False,
                              timeout=120, env={**OTHERS_ENVIRONMENT, "HOME": str(self.dir), **(env or {})})
        return done.returncode, done.stdout, done.stderr

    def report(self, *args, **more):
        status, out, error = self.doctor("--json", *args, **more)
        assert out and not error, (status, error)
        report = json.loads(out)
        jsonschema.validate(report, SCHEMA)
        assert status == (0 if report["healthy"] else 1), (status, out)
        return report

    def expect(self, *ids, args=()):
        """The findings besides that the exporter here only estimates, by their ids."""
        report = self.report(*args)
        found = sorted(one["id"] for one in report["findings"] if one["id"] != "node-estimates")
        assert found == sorted(ids), (found, ids, json.dumps(report["findings"], indent=1))
        return {one["id"]: one for one in report["findings"]}

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.api.__exit__()
        self.folder.cleanup()


def healthy_cluster_has_no_findings():
    with Lab() as lab:
        found = lab.expect()
        assert set(found) <= {"node-estimates"}
        report = lab.report()
        assert report["healthy"] and report["node_count"] == 3 and report["kubernetes"] == "v1.36.3"
        assert {one["exporter"]["version"] for one in report["nodes"]} == {report["nodes"][0]["exporter"]["version"]}
        assert all(one["exporter"]["samples"] > 50 and one["exporter"]["interval_seconds"] == 0.2 for one in report["nodes"])
        status, out, error = lab.doctor()
        assert status == 0 and not error and "3 nodes, 3 with a page of Kepler" in out, (out, error)
        assert all(method == "GET" or path in REVIEWS for method, path in lab.api.log), lab.api.log


def each_fault_is_found():
    with Lab(nodes=6) as lab:
        world = lab.world
        world["nodes"][0]["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
        crashed = world["pods"][1]["status"]["containerStatuses"][0]
        crashed.update(ready=False, restartCount=9, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
        world["pods"][2]["status"]["containerStatuses"][0].update(
            ready=False, state={"waiting": {"reason": "ImagePullBackOff", "message": "not found"}})
        world["leases"][3]["spec"]["renewTime"] = rfc3339(time.time() + 60)
        world.pages["kepler-4"] += 'kepler_exporter_series_merged_total{level="process"} 7\n'
        world.pages["kepler-5"] += 'kepler_build_info{version="0.0.1"} 1\n'
        world["podmonitors"][0]["metadata"]["labels"] = {"release": "other"}
        del world["pods"][0]
        lab.api.allowed.discard(("watch", "pods", ""))
        found = lab.expect("node-without-pod", "pod-not-running", "pod-not-running", "clock-skew", "series-limit-reached",
                           "versions-differ", "monitor-not-selected", "right-missing")
        assert found["node-without-pod"]["nodes"] == ["node-0"]
        assert found["clock-skew"]["nodes"] == ["node-3"]
        assert found["versions-differ"]["nodes"] == ["node-5"]
        assert found["right-missing"]["object"] == f"ServiceAccount {NAMESPACE}/kepler"
        assert all(one["command"].startswith("kubectl ") and "\n" not in one["command"] for one in found.values())
        status, out, _ = lab.doctor()
        assert status == 1 and "→ kubectl -n energy patch daemonset kepler" in out, out


def clock_of_a_node_is_off():
    """By the Date of its page's answer."""
    with Lab() as lab:
        text = lab.world.pages["kepler-1"]
        for ahead in (100, -100):
            lab.world.pages["kepler-1"] = lambda request, ahead=ahead: request.answer(
                200, text.replace("@NOW@", str(time.time())).encode(), email.utils.formatdate(time.time() + ahead, usegmt=True))
            # A page whose snapshot is 100 s old by its own clock has stood still.
            found = lab.expect("clock-skew", *(["exporter-stalled"] if ahead > 0 else []))
            assert found["clock-skew"]["nodes"] == ["node-1"]
            assert ("ahead" if ahead > 0 else "behind") in found["clock-skew"]["what"]


def doctor_without_rights():
    with Lab() as lab:
        lab.api.refused = {"proxy", "leases", "subjectaccessreviews"}
        found = lab.report()["findings"]
        assert [one["id"] for one in found] == ["doctor-right-missing"] * 3, found
        assert {one["command"] for one in found} == {
            "kubectl auth can-i get pods --subresource=proxy -n energy",
            "kubectl auth can-i list leases.coordination.k8s.io -n kube-node-lease",
            "kubectl auth can-i create subjectaccessreviews.authorization.k8s.io --all-namespaces"}
        assert sum("/proxy/" in path for _, path in lab.api.log) <= 8
        # In Kepler's own pod its account answers for itself.
        lab.api.refused, lab.api.user = {"subjectaccessreviews"}, f"system:serviceaccount:{NAMESPACE}:kepler"
        lab.expect()
        lab.api.allowed.discard(("list", "pods", ""))
        lab.expect("right-missing")
        lab.api.refused = {"nodes"}
        assert "fail" in {one["level"] for one in lab.report()["findings"]}


def settings_in_a_config_map():
    """Kepler pushes: nothing has to scrape it."""
    with Lab() as lab:
        lab.world["podmonitors"].clear()
        lab.expect("monitor-missing")
        spec = lab.world["daemonsets"][0]["spec"]["template"]["spec"]
        spec["volumes"] = [{"name": "own", "configMap": {"name": "kepler"}}]
        spec["containers"][0]["volumeMounts"] = [{"name": "own", "mountPath": "/etc/kepler"}]
        lab.world.config_maps["kepler"] = {"kepler.yaml": "log: {level: warn}\n"}
        lab.expect("monitor-missing")
        lab.world.config_maps["kepler"] = {"kepler.yaml": "otlp: {endpoint: 'http://collector:4318'}\n"}
        lab.expect()
        lab.api.refused = {"configmaps"}
        found = lab.expect("doctor-right-missing")
        assert found["doctor-right-missing"]["command"] == f"kubectl auth can-i get configmaps -n {NAMESPACE}"


def cluster_without_operator():
    with Lab() as lab:
        lab.api.unknown = {"podmonitors", "servicemonitors", "prometheuses", "prometheusagents"}
        lab.expect()


def pages_that_hang_have_an_end():
    with Lab(nodes=4) as lab:
        lab.world.pages["kepler-0"] = lambda request: time.sleep(30)
        lab.world.pages["kepler-1"] = lambda request: request.refuse(503, "error trying to reach service: no route to host")
        lab.world.pages["kepler-2"] = lambda request: request.answer(200, b"{" * 100)
        began = time.monotonic()
        lab.expect(*["page-unreadable"] * 3, args=("--cluster-time=3s",))
        assert time.monotonic() - began < 20


def many_nodes_are_few_lines():
    with Lab(nodes=400) as lab:
        lab.api.page_size = 250
        lab.expect()
        _, out, _ = lab.doctor()
        assert len(out.splitlines()) < 12 and "400 nodes" in out, out
        for one in lab.world["nodes"]:
            one["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
        lab.world.objects["pods"] = []
        assert lab.expect("node-without-pod")["node-without-pod"]["node_count"] == 400


def strange_objects_do_no_harm():
    with Lab() as lab:
        lab.world["nodes"].extend([{}, {"metadata": {"name": 7}}, {"metadata": {"name": "x" * 400}}, []])
        lab.world["pods"].extend([{"metadata": {"name": "lost"}, "spec": {"nodeName": "elsewhere"}}, {}])
        lab.world["podmonitors"].extend([{}, {"spec": []}])
        lab.world["daemonsets"].append({"metadata": {"name": "\x1b[2J", "namespace": "y"}, "spec": {}})
        lab.expect()
        lab.world["nodes"].append(node("node-9"))
        lab.world["events"].append({"message": "pods \"kepler\" is forbidden:\n\x1b[2J violates PodSecurity"})
        _, out, _ = lab.doctor()
        assert "\x1b" not in out and "violates PodSecurity" in out, out


def ways_to_a_cluster():
    with Lab() as lab:
        for env in ({"KUBECONFIG": str(lab.config)},):
            assert lab.report(config=False, env=env)["healthy"]
        (lab.dir / ".kube").mkdir()
        os.link(lab.config, lab.dir / ".kube/config")
        assert lab.report(config=False)["healthy"]
        for args, env, words in (
                ((), {"KUBECONFIG": f"{lab.config}:{lab.config}"}, "not merged"),
                (("--context=broken",), {"KUBECONFIG": str(lab.config)}, "no cluster named none"),
                (("--api-server=http://192.0.2.1:80",), {}, "on this machine"),
                ((), {"KUBECONFIG": str(lab.write_kubeconfig("exec", {"exec": {"command": "aws"}}))}, "start kubectl proxy"),
                ((), {"KUBECONFIG": str(lab.write_kubeconfig("wrong", {"token": "bad"}))}, "does not know the user"),
                ((), {"HOME": "/nowhere"}, "no cluster to ask")):
            status, out, error = lab.doctor(*args, config=False, env=env)
            assert status == 2 and not out and words in error, (status, out, error)
        with FakeApi(lab.world) as proxy:
            assert lab.report(f"--api-server={proxy.url}/", config=False)["healthy"]
        status, _, error = lab.doctor(f"--api-server={proxy.url}", config=False)
        assert status == 2 and "does not answer" in error, error
        done = subprocess.run([KEPLER, "doctor", "--context=lab"], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "--cluster only" in done.stderr, done.stderr


run_tests([healthy_cluster_has_no_findings, each_fault_is_found, clock_of_a_node_is_off, doctor_without_rights,
           settings_in_a_config_map, cluster_without_operator, pages_that_hang_have_an_end, many_nodes_are_few_lines,
           strange_objects_do_no_harm, ways_to_a_cluster], at_once=3)
