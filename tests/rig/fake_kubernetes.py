# SPDX-License-Identifier: Apache-2.0
"""An API server and a kubelet of pods only, that can be told to misbehave: what a real one does seldom or never on demand.

Speaks list (limit, continue, resourceVersion=0), watch (bookmarks, timeoutSeconds, 410 in both forms), gzip and /pods, over TLS.
A test sets `fault`, a function of (request, kind) with kind "list", "watch", "kubelet" or "review": True means that it has
answered itself. `review`, a function of (kind, spec), decides token and access reviews: the status of the answer.
"""
import errno
import gzip
import hashlib
import http.server
import json
import pathlib
import socket
import socketserver
import struct
import subprocess
import threading
import time
import urllib.parse

from rig import BUILD, free_port

PROBE = BUILD / "tests/lab/kube-probe"
NODE = "node-1"
# Durations of the source, short: a test waits for what happens, and that happens soon.
FAST = {"poll": 1000, "demand": 100, "connect": 2000, "request": 1500, "watch_idle": 1200, "watch_life": 20000,
        "refused_min": 100, "refused_max": 300, "resume": 50, "retry": 300, "retry_spread": 60, "denied_max": 600}


# The same, but none ends within a test; and the most that a stop may take, on any machine: it waits for none of them.
ENDLESS = {name: 120000 for name in FAST}
STOP_MS = 40000


def container_id(*words):
    return hashlib.sha256("/".join(words).encode()).hexdigest()


def status_of(name, identity, last=None):
    status = {"name": name, "image": "sha256:0", "ready": True, "restartCount": int(bool(last)), "state": {"running": {}},
              "containerID": f"containerd://{identity}"}
    if last:
        status["lastState"] = {"terminated": {"exitCode": 1, "containerID": f"containerd://{last}"}}
    return status


def make_pod(name, namespace="prod", uid=None, containers=("main",), filler=0, node=NODE, **metadata):
    uid = uid or f"uid-{namespace}-{name}"
    spec = [{"name": c, "image": f"{c}:1", "resources": {"requests": {"cpu": "100m"}}, "env": [
        {"name": f"SETTING_{i}", "value": "on"} for i in range(filler)]} for c in containers]
    return {"metadata": {"name": name, "namespace": namespace, "uid": uid, "labels": {"app": name},
                         "creationTimestamp": "2026-11-21T08:00:00Z", **metadata},
            "spec": {"nodeName": node, "containers": spec},
            "status": {"phase": "Running", "qosClass": "Burstable",
                       "containerStatuses": [status_of(c, container_id(uid, c)) for c in containers]}}


def pod_id(pod, container="main"):
    return container_id(pod["metadata"]["uid"], container)


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(url.query))
        self.kind = "kubelet" if url.path == "/pods" else "watch" if "watch" in self.query else "list"
        fake = self.server.fake
        fake.log.append((time.monotonic(), self.kind, self.query, self.headers.get("Authorization")))
        if fake.fault and fake.fault(self, self.kind):
            return
        if fake.token and self.headers.get("Authorization") != f"Bearer {fake.token}":
            self.fail(401, "Unauthorized")
        elif url.path not in ("/pods", "/api/v1/pods"):
            self.fail(404, "NotFound")
        elif self.kind == "watch":
            fake.serve_watch(self)
        else:
            fake.serve_list(self)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake = self.server.fake
        fake.log.append((time.monotonic(), "review", body, self.headers.get("Authorization")))
        if fake.fault and fake.fault(self, "review"):
            return
        if fake.token and self.headers.get("Authorization") != f"Bearer {fake.token}":
            self.fail(401, "Unauthorized")
        elif fake.review:
            self.answer_json({**body, "status": fake.review(body["kind"], body["spec"])})
        else:
            self.fail(403, "Forbidden")

    def answer(self, code, body, headers=()):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, value):
        body, headers = json.dumps(value).encode(), [("Content-Type", "application/json")]
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > 1000:
            body = gzip.compress(body, 1)
            headers.append(("Content-Encoding", "gzip"))
        self.answer(200, body, headers)

    def fail(self, code, reason, headers=()):
        self.answer(code, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
                                      "message": f"{reason} for a test"}).encode(), headers)

    def begin_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def cut(self):
        """Closes at once, without an end of what was begun."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise ConnectionAbortedError

    def silent(self):
        """Says nothing more, until the other side gives up."""
        self.connection.settimeout(30)
        self.connection.recv(1)
        self.cut()


def once_free(listen):
    """What `listen` gives: a process that another thread starts holds a closed listener until its program runs."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return listen()
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


class Listener(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, fake, port):
        self.fake = fake
        super().__init__(("127.0.0.1", port), Request)

    def process_request_thread(self, request, client_address):
        try:
            if self.fake.context:
                request.settimeout(30)
                request = self.fake.context.wrap_socket(request, server_side=True)
                request.settimeout(None)
            self.fake.connections.append(request)
            self.finish_request(request, client_address)
        except OSError:
            pass
        finally:
            self.shutdown_request(request)


class FakeKubernetes:
    def __init__(self, context=None, token="good"):
        self.context, self.token = context, token
        self.pods, self.events, self.version, self.oldest = {}, [], 100, 0
        self.changed = threading.Condition()
        self.log, self.connections = [], []
        self.review = None
        self.fault, self.bookmark_s, self.cache_ignores_limit, self.gone_as_status = None, 0, True, False
        self.listener, self.port = None, free_port()  # where it goes down, and comes up again
        self.up()

    # ---- being there ----

    def up(self):
        self.listener = once_free(lambda: Listener(self, self.port))
        threading.Thread(target=self.listener.serve_forever, args=(0.02,), daemon=True).start()

    def cut_connections(self):
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.connections.clear()

    def down(self):
        self.listener.shutdown()
        self.listener.server_close()
        self.cut_connections()

    @property
    def url(self):
        return f"http{'s' if self.context else ''}://127.0.0.1:{self.port}"

    def requests(self, kind=None, since=0.0):
        return [entry for entry in self.log if entry[0] >= since and kind in (None, entry[1])]

    # ---- pods ----

    def change(self, kind, pod):
        with self.changed:
            self.version += 1
            pod = json.loads(json.dumps(pod))
            pod["metadata"]["resourceVersion"] = str(self.version)
            uid = pod["metadata"]["uid"]
            kind = kind or ("MODIFIED" if uid in self.pods else "ADDED")
            if kind == "DELETED":
                self.pods.pop(uid, None)
            else:
                self.pods[uid] = pod
            self.events.append((self.version, kind, pod))
            self.changed.notify_all()
        return pod

    def put(self, pod):
        return self.change(None, pod)

    def delete(self, pod):
        self.change("DELETED", pod)

    def compact(self):
        """What happened until now cannot be watched any more, as after a restart or a compaction."""
        with self.changed:
            self.version += 1
            self.oldest = self.version
            self.events.clear()

    # ---- answers ----

    @staticmethod
    def is_wanted(request, pod):
        """As fieldSelector=spec.nodeName=NODE says; a kubelet has its own only."""
        field, _, node = request.query.get("fieldSelector", "").partition("=")
        return field != "spec.nodeName" or pod["spec"]["nodeName"] == node

    def serve_list(self, request):
        query = request.query
        with self.changed:
            pods, version = [pod for pod in self.pods.values() if self.is_wanted(request, pod)], self.version
        metadata = {"resourceVersion": str(version)}
        begin, limit = 0, int(query.get("limit", 0))
        if "continue" in query:
            version, begin = map(int, query["continue"].split("@"))
            if version < self.oldest:
                request.fail(410, "Expired")
                return
            metadata["resourceVersion"] = str(version)
        if request.kind == "list" and limit and not (self.cache_ignores_limit and query.get("resourceVersion") == "0"):
            if begin + limit < len(pods):
                metadata["continue"] = f"{version}@{begin + limit}"
            pods = pods[begin:begin + limit]
        request.answer_json({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": pods})

    def serve_watch(self, request):
        at, end = int(request.query["resourceVersion"]), time.monotonic() + int(request.query["timeoutSeconds"])
        if at < self.oldest and self.gone_as_status:
            request.fail(410, "Expired")
            return
        request.begin_chunks()
        if at < self.oldest:
            request.chunk(event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}))
        while at >= self.oldest and time.monotonic() < end:
            with self.changed:
                if not [e for e in self.events if e[0] > at]:
                    self.changed.wait(min(self.bookmark_s or 1, max(end - time.monotonic(), 0)))
                news = [e for e in self.events if e[0] > at]
                version = self.version
            for at, kind, pod in news:
                if self.is_wanted(request, pod):
                    request.chunk(event(kind, pod))
            if self.bookmark_s and not news:
                at = version
                request.chunk(event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version)}}))
        request.chunk(b"")


def event(kind, value):
    return json.dumps({"type": kind, "object": value}).encode() + b"\n"


class Account:
    """A service account's files, and what a pod's environment says of the API server."""

    def __init__(self, directory, fake, authority, token="good"):
        self.directory, self.fake = pathlib.Path(directory), fake
        self.set_token(token)
        self.set_authority(authority)

    def set_token(self, token):
        (self.directory / "token").write_text(token + "\n")

    def set_authority(self, authority):
        (self.directory / "ca.crt").write_bytes(authority.file.read_bytes())

    def environment(self):
        return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.fake.port)}


class Probe:
    def __init__(self, account=None, timing=None, environment=None, **options):
        options.setdefault("node", NODE)
        if account:
            options.setdefault("in-cluster-dir", account.directory)
        if timing is None:
            timing = FAST
        if timing:
            options["timing"] = ",".join(f"{name}={value}" for name, value in timing.items())
        arguments = [str(word) for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
        environment = {"PATH": "/usr/bin:/bin", **(account.environment() if account else {}), **(environment or {})}
        self.begin = time.monotonic()
        self.process = subprocess.Popen([PROBE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.base = self.read()

    def read(self):
        line = self.process.stdout.readline()
        assert line, f"the probe died: {self.process.wait()}"
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read()

    def find(self, identity):
        return self.ask(f"find {identity}")

    def stats(self):
        return self.ask("stats")

    def refused(self):
        """Why it did not start."""
        self.process.stdin.close()
        why = self.read().get("refused")
        assert why and self.process.wait() == 1, "it started"
        return why

    def until(self, condition, seconds=30.0, what=""):
        """Asks until condition(probe) is true; how long that took."""
        begin = time.monotonic()
        while not (value := condition(self)):
            assert time.monotonic() - begin < seconds, f"{what or 'nothing'} after {seconds} s; {self.stats()}"
            time.sleep(0.02)
        self.value = value
        return time.monotonic() - begin

    def knows(self, pod, container="main", seconds=30.0):
        return self.until(lambda p: p.find(pod_id(pod, container)), seconds, f"{pod['metadata']['name']} is not known")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
        elif self.process.poll() is None:
            took = self.ask("stop")["stop_ms"]
            assert took < STOP_MS, f"took {took} ms to stop"
        self.process.stdin.close()
        self.process.stdout.close()
        status = self.process.wait(timeout=60)
        assert kind or status == 0, status
