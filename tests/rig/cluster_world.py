# SPDX-License-Identifier: Apache-2.0
"""A cluster with Kepler as objects of Kubernetes, healthy until a test breaks something in it, and an API server of those objects.

The server has what `kepler doctor --cluster` asks for: lists with pages, access reviews, the proxy of pods. It counts requests, and
refuses any that would change something.
"""
import datetime
import http.server
import json
import re
import threading
import time
import urllib.parse

NAMESPACE = "energy"
LABELS = {"app.kubernetes.io/name": "kepler"}
MONITORING = "/apis/monitoring.coreos.com/v1/"
LISTS = {"nodes": "/api/v1/nodes", "namespaces": "/api/v1/namespaces", "daemonsets": "/apis/apps/v1/daemonsets",
         "leases": "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
         "podmonitors": MONITORING + "podmonitors", "servicemonitors": MONITORING + "servicemonitors",
         "prometheuses": MONITORING + "prometheuses",
         "prometheusagents": "/apis/monitoring.coreos.com/v1alpha1/prometheusagents",
         "pods": f"/api/v1/namespaces/{NAMESPACE}/pods", "events": f"/api/v1/namespaces/{NAMESPACE}/events",
         "services": f"/api/v1/namespaces/{NAMESPACE}/services"}
REVIEWS = ("/apis/authorization.k8s.io/v1/subjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           "/apis/authentication.k8s.io/v1/selfsubjectreviews")


def rfc3339(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def node(name, kubelet="v1.36.3"):
    return {"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux"}}, "spec": {},
            "status": {"nodeInfo": {"kubeletVersion": kubelet}, "conditions": [{"type": "Ready", "status": "True"}]}}


def lease(name):
    return {"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": {"renewTime": rfc3339(time.time() - 3)}}


def daemonset(count, port):
    return {"metadata": {"name": "kepler", "namespace": NAMESPACE, "labels": LABELS, "generation": 1},
            "spec": {"selector": {"matchLabels": LABELS}, "template": {
                "metadata": {"labels": LABELS}, "spec": {
                    "serviceAccountName": "kepler", "containers": [{
                        "name": "kepler", "image": "kepler:0.1.0", "env": [{"name": "KEPLER_KUBE_PODS", "value": "apiserver"}],
                        "ports": [{"name": "metrics", "containerPort": port}]}]}}},
            "status": {"observedGeneration": 1, "desiredNumberScheduled": count, "updatedNumberScheduled": count,
                       "currentNumberScheduled": count, "numberReady": count, "numberMisscheduled": 0}}


def pod(index, node_name):
    return {"metadata": {"name": f"kepler-{index}", "namespace": NAMESPACE, "labels": LABELS},
            "spec": {"nodeName": node_name, "containers": [{"name": "kepler", "image": "kepler:0.1.0"}]},
            "status": {"phase": "Running", "containerStatuses": [{
                "name": "kepler", "ready": True, "restartCount": 0, "image": "kepler:0.1.0", "imageID": "",
                "state": {"running": {"startedAt": rfc3339(time.time() - 600)}}}]}}


def pod_monitor():
    return {"metadata": {"name": "kepler", "namespace": NAMESPACE, "labels": {"release": "prom"}},
            "spec": {"selector": {"matchLabels": LABELS}, "podMetricsEndpoints": [{"port": "metrics", "interval": "15s"}]}}


def prometheus():
    return {"metadata": {"name": "main", "namespace": "monitoring"}, "spec": {
        "podMonitorSelector": {"matchLabels": {"release": "prom"}}, "podMonitorNamespaceSelector": {}}}


class World:
    """Objects by kind, as LISTS has them."""

    def __init__(self, nodes=3, port=28282):
        names = [f"node-{i}" for i in range(nodes)]
        self.objects = {kind: [] for kind in LISTS}
        self.objects.update(
            nodes=[node(name) for name in names], leases=[lease(name) for name in names], daemonsets=[daemonset(nodes, port)],
            pods=[pod(i, name) for i, name in enumerate(names)], podmonitors=[pod_monitor()], prometheuses=[prometheus()],
            namespaces=[{"metadata": {"name": name}} for name in (NAMESPACE, "monitoring")])
        self.pages = {}  # name of a pod → function of a request that answers, or a text
        self.config_maps = {}  # name → its data

    def __getitem__(self, kind):
        return self.objects[kind]


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, value, date=None):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response_only(code)
        self.send_header("Date", date or self.date_time_string())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, message):
        self.answer(code, {"kind": "Status", "status": "Failure", "code": code, "message": message})

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        fake, kind = self.server.fake, next((k for k, path in LISTS.items() if path == url.path), None)
        fake.log.append(("GET", url.path))
        proxied = re.fullmatch(rf"/api/v1/namespaces/{NAMESPACE}/pods/(?:https:)?([^:/]+):(\d+)/proxy/metrics", url.path)
        config_map = re.fullmatch(f"/api/v1/namespaces/{NAMESPACE}/configmaps/([^/]+)", url.path)
        if self.headers.get("Authorization") != fake.authorization:
            self.refuse(401, "Unauthorized")
        elif ("proxy" if proxied else kind) in fake.refused:
            self.refuse(403, f"{kind or 'pods/proxy'} is forbidden")
        elif url.path == "/version":
            self.answer(200, {"gitVersion": "v1.36.3"})
        elif proxied:
            page = fake.world.pages[proxied[1]]
            if callable(page):
                page(self)
            else:
                self.answer(200, page.replace("@NOW@", str(time.time())).encode())
        elif config_map and config_map[1] in fake.world.config_maps:
            if "configmaps" in fake.refused:
                self.refuse(403, "configmaps is forbidden")
            else:
                self.answer(200, {"metadata": {"name": config_map[1]}, "data": fake.world.config_maps[config_map[1]]})
        elif kind and kind not in fake.unknown:
            self.list(fake.world[kind], query, fake.page_size)
        else:
            self.refuse(404, "the server could not find the requested resource")

    def list(self, items, query, page_size):
        begin, count = int(query.get("continue", 0)), min(int(query["limit"]), page_size)
        rest = {"continue": str(begin + count)} if begin + count < len(items) else {}
        self.answer(200, {"kind": "List", "metadata": {"resourceVersion": "1", **rest}, "items": items[begin:begin + count]})

    def do_POST(self):
        fake = self.server.fake
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake.log.append(("POST", self.path))
        if self.path not in REVIEWS:
            self.refuse(405, "this would change something")
        elif self.path == REVIEWS[2]:
            self.answer(201, {"status": {"userInfo": {"username": fake.user}}})
        elif self.path == REVIEWS[0] and "subjectaccessreviews" in fake.refused:
            self.refuse(403, "subjectaccessreviews is forbidden")
        else:
            wanted = asked["spec"]["resourceAttributes"]
            self.answer(201, {"status": {"allowed": (wanted["verb"], wanted["resource"], wanted["subresource"]) in fake.allowed}})

    def do_PUT(self):
        self.server.fake.log.append((self.command, self.path))
        self.refuse(405, "this would change something")

    do_PATCH = do_DELETE = do_PUT


class FakeApi:
    """Serves a world over TLS, or without `context` as kubectl proxy does: without credentials."""

    def __init__(self, world, context=None, token="good"):
        self.world, self.log = world, []
        self.authorization = f"Bearer {token}" if context else None
        self.refused, self.unknown, self.page_size = set(), set(), 2
        self.user = "admin"
        self.allowed = {("list", "pods", ""), ("watch", "pods", "")}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Request)
        self.server.daemon_threads = True
        self.server.fake = self
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
