# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes for tests: tests/lab/kubernetes as a context manager, with a small client of its API."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from rig import ROOT, need_program, need_root, skip

LAB = ROOT / "tests/lab/kubernetes"
IMAGE = "docker.io/lab/busybox:1"
DEPLOY = ROOT / "deploy/kubernetes"
# Kinds of an operator and of OpenShift: group, version, whether they are in a namespace.
OPERATOR = ("monitoring.coreos.com", "v1", True)
DEFINED = {"PodMonitor": OPERATOR, "ServiceMonitor": OPERATOR, "PrometheusRule": OPERATOR,
           "SecurityContextConstraints": ("security.openshift.io", "v1", False)}


def need_kubernetes():
    """The folder of the binaries; builds them if they are missing (minutes), or skips with the builder's reason."""
    need_program("openssl")
    need_program("curl")
    done = subprocess.run([LAB / "build"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip("no Kubernetes here: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1])
    return pathlib.Path(done.stdout.strip())


def need_no_kubelet():
    """Each of two would kill the processes in the other's pods, and both want the port that Kepler asks."""
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if path.read_text() == "kubelet\n":
                skip(f"a kubelet runs on this machine: pid {path.parent.name}")


def script(name, *args):
    done = subprocess.run([LAB / name, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name} {args}: {done.stdout}{done.stderr}"


def definition(kind):
    """The definition of one, as far as a server must know it."""
    group, version, is_namespaced = DEFINED[kind]
    plural = kind.lower() + ("" if kind.endswith("s") else "s")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced" if is_namespaced else "Cluster",
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


class Cluster:
    """etcd and kube-apiserver; with `controllers` also what makes pods of Deployments; with `images` this machine as a node."""

    def __init__(self, controllers=False, images=None):
        need_root()
        if images is not None:
            need_no_kubelet()
        self.binaries = need_kubernetes()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="kepler-kubernetes-"))
        self.plane, self.node = self.dir / "plane", self.dir / "node"
        self.local = threading.local()
        self.images = images
        try:
            script("control-plane", self.plane, "up", *(["--controllers"] if controllers else []))
            self.port, self.etcd_port, _ = map(int, (self.plane / "ports").read_text().split())
            self.token = (self.plane / "tokens.csv").read_text().split(",")[0]
            self.tls = ssl.create_default_context(cafile=str(self.plane / "ca.crt"))
            if images is not None:
                self.start_node()
        except BaseException:
            self.__exit__()
            raise

    def start_node(self):
        busybox = self.dir / "busybox.tar"
        script("image.py", "busybox", busybox)
        script("node", self.node, "up", self.plane, busybox, *self.images)
        self.wait(lambda: self.node_ready(), "the node is not ready", 60)

    def node_ready(self):
        status, node = self.api("GET", "/api/v1/nodes/localhost")
        return status == 200 and any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))

    @staticmethod
    def wait(what, otherwise, seconds=60, pause=0.2):
        deadline = time.monotonic() + seconds
        while True:
            found = what()
            if found:
                return found
            assert time.monotonic() < deadline, otherwise() if callable(otherwise) else otherwise
            time.sleep(pause)

    def api(self, method, path, body=None, kind="application/json", token=None):
        """(status, decoded answer) as the administrator, or with another token."""
        headers = {"Authorization": "Bearer " + (token or self.token), "Content-Type": kind}
        data = json.dumps(body) if body is not None else None
        for last in (False, False, True):
            connection = getattr(self.local, "connection", None)
            try:
                connection = connection or http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=60)
                connection.request(method, path, data, headers)
                answer = connection.getresponse()
                text = answer.read()
                self.local.connection = connection
            except (http.client.HTTPException, OSError):
                self.local.connection = None
                if last:
                    raise
                continue
            if answer.status == 429:
                time.sleep(1)
                continue
            try:
                return answer.status, json.loads(text)
            except ValueError:
                return answer.status, text
        return 429, None

    def create(self, path, body):
        status, answer = self.api("POST", path, body)
        assert status in (201, 409), (path, answer)
        return answer

    def kubectl(self, *args, given=None, fail=False, config=None):
        done = subprocess.run([self.binaries / "kubectl", "--kubeconfig", config or self.plane / "kubeconfig", *map(str, args)],
                              input=given, capture_output=True, text=True, check=False)
        assert fail or done.returncode == 0, f"kubectl {args}: {done.stdout}{done.stderr}"
        return done if fail else done.stdout

    def define_kinds(self):
        """The server takes objects of other projects' kinds, whatever is in them."""
        for kind in DEFINED:
            self.kubectl("apply", "-f", "-", given=json.dumps(definition(kind)))
            self.wait(lambda kind=kind: self.kubectl("get", kind.lower(), "-A", fail=True).returncode == 0, kind, 30)

    def account_token(self, namespace, name):
        status, answer = self.api("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                                  {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
                                   "spec": {"expirationSeconds": 7200}})
        assert status == 201, answer
        return answer["status"]["token"]

    def install_account(self, mode):
        """The ServiceAccount and the role of deploy/kubernetes/overlays/MODE, without the DaemonSet; its token."""
        built = self.kubectl("kustomize", DEPLOY / "overlays" / mode)
        wanted = [part for part in built.split("\n---\n") if any(
            f"\nkind: {kind}\n" in "\n" + part for kind in ("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"))]
        self.kubectl("apply", "-f", "-", given="\n---\n".join(wanted))
        return self.account_token("kepler", "kepler")

    def kubeconfig(self, token, server=None, ca=None, name="kepler"):
        """A kubeconfig that reads its token from a file, so that a test can rotate it."""
        secret = self.dir / (name + ".token")
        secret.touch(0o600)
        secret.write_text(token)
        path = self.dir / (name + ".kubeconfig")
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {"server": server or f"https://127.0.0.1:{self.port}",
                                                     "certificate-authority": str(ca or self.plane / "ca.crt")}}],
            "users": [{"name": "kepler", "user": {"tokenFile": str(secret)}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "kepler"}}]}))
        return path

    def kubelet(self, path, token, method="GET"):
        """(status, body) of the node's kubelet."""
        request = urllib.request.Request("https://127.0.0.1:10250" + path, method=method,
                                         headers={"Authorization": "Bearer " + token} if token else {})
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def compact(self):
        """etcd forgets all but the present: the server answers older continue tokens and watches with 410."""
        etcd = f"http://127.0.0.1:{self.etcd_port}/v3/kv/"
        with urllib.request.urlopen(etcd + "range", data=b'{"key": "AA=="}', timeout=10) as answer:
            revision = json.load(answer)["header"]["revision"]
        with urllib.request.urlopen(etcd + "compaction", data=json.dumps({"revision": revision}).encode(), timeout=10):
            pass

    def stop_api(self):
        script("control-plane", self.plane, "stop-api")

    def start_api(self):
        script("control-plane", self.plane, "start-api")

    def certificate(self, name, days=30):
        """(certificate, key) of 127.0.0.1 by the cluster's CA; of yesterday with days < 0."""
        paths = {end: str(self.dir / f"{name}.{end}") for end in ("key", "csr", "crt")}
        plane = str(self.plane)
        run = lambda *args, **more: subprocess.run(["openssl", *args], check=True, capture_output=True, **more)
        run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", paths["key"], "-out", paths["csr"], "-subj", "/CN=" + name)
        run("x509", "-req", "-in", paths["csr"], "-CA", plane + "/ca.crt", "-CAkey", plane + "/ca.key", "-CAcreateserial",
            "-days", str(days), "-out", paths["crt"], "-extfile", "/dev/stdin", input=b"subjectAltName=IP:127.0.0.1\n")
        return paths["crt"], paths["key"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if exc and exc[0] and os.environ.get("KEPLER_KEEP_LAB"):
            print("logs are in", self.dir)
        for name, folder in (("node", self.node), ("control-plane", self.plane)):
            if folder.exists():
                subprocess.run([LAB / name, folder, "down"], capture_output=True, check=False)
        if not (exc and exc[0] and os.environ.get("KEPLER_KEEP_LAB")):
            shutil.rmtree(self.dir, ignore_errors=True)
