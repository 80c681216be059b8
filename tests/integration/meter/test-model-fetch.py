#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetched models (--model.url): a file's URL, a model server and upstream's; what is bad is refused with the reason and the last
good one stays; a start without a server uses the cache; a model that comes late takes over from the one that is built in."""
import base64
import contextlib
import hashlib
import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import time

from certificates import Authority
from rig import KEPLER, Exporter, Sensors, balanced, need_program, run_tests

OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--model.machine=vm=false,processor=lab_x")
CPUS = len([line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("processor")])
FILE = "/api/v2/files/lab/rapl-sysfs/AbsPower/BPFOnly/Lab_0.json"


def model(name="lab-1", idle_w=20.0, busy_w=80.0, component="platform"):
    most = 1000 * CPUS
    return json.dumps({"format": "kepler-model", "version": 1, "name": name, "output": "AbsPower",
                       "machine": {"processor": "lab_x", "cores": CPUS}, "components": [{
        "name": component, "features": [{"name": "bpf_cpu_time_ms", "scale": most, "minimum": 0, "maximum": most}],
        "error": {"mape_percent": 5}, "predictor": {"form": "linear", "weights": [idle_w, busy_w]}}]}).encode()


class Server:
    """Answers with what `pages` has for a path: (status, body), or a function of the request's handler; other paths are 404."""

    def __init__(self, pages, delay_s=0, context=None):
        self.pages, self.asked, self.conditions, self.tokens = dict(pages), [], [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def reply(self):
                path = self.path.split("?")[0]
                outer.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.asked.append(f"{self.command} {self.path}")
                outer.tokens.append(self.headers.get("Authorization"))
                outer.conditions.append(self.headers.get("If-None-Match"))
                time.sleep(delay_s)
                page = outer.pages.get(f"{self.command} {path}", (404, b"404: there is no such page\n"))
                status, body = page(self) if callable(page) else page
                etag = f'"{hashlib.sha256(body).hexdigest()}"'
                if status == 200 and self.headers.get("If-None-Match") == etag:
                    status, body = 304, b""
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("ETag", etag)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            do_GET = do_POST = reply

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def offer(body, sha256=None, signature=None, size=None):
    file = {"url": FILE, "format": "weights", "size": len(body) if size is None else size,
            "sha256": sha256 or hashlib.sha256(body).hexdigest()}
    if signature:
        file["signature"] = signature
    return json.dumps({"model": {"name": "Lab_0", "error": {"components": {"platform": {"mae_watts": 4.5}}},
                                 "machine_spec": {"processor": "lab_x", "cores": CPUS}}, "file": file}).encode()


@contextlib.contextmanager
def exporter(url, state, *options):
    with Sensors([]) as sensors, Exporter(*OPTIONS, f"--host.sysfs={sensors.mount}", f"--host.state-dir={state}",
                                          f"--model.url={url}", *options) as running:
        yield running
        assert running.stop() == 0


def used(metrics):
    """The name of the model in use; "" the built-in one."""
    names = [row[0]["model"] for row in metrics.select("kepler_node_model_info")]
    return next((name for name in names if not name.startswith("specpower-platform")), "")


def asked_once(running):
    """The response after the first attempt has ended."""
    deadline = time.monotonic() + 30
    while True:
        metrics = balanced(running.intervals(2))
        done = metrics.value("kepler_exporter_model_fetch_up") or metrics.value("kepler_exporter_model_fetch_failures_total")
        if done:
            return metrics
        assert time.monotonic() < deadline, running.output()


def expect(url, state, name, *said, options=(), up=None):
    """One run of the exporter: which model it uses then, and what its log says."""
    with exporter(url, state, *options) as running:
        metrics = asked_once(running)
        assert used(metrics) == name, (used(metrics), running.output())
        for words in said:
            assert words in running.output().replace("\\\"", "\""), (words, running.output())
        if up is not None:
            assert metrics.value("kepler_exporter_model_fetch_up") == up
        return metrics


def file_and_cache():
    """A file; what is bad later is refused, without a server the cache is used, and a broken cache is none."""
    with tempfile.TemporaryDirectory() as state, Server({"GET /lab.json": (200, model())}) as server:
        url = f"{server.url}/lab.json"
        expect(url, state, "lab-1", 'the model "lab-1" was fetched', up=1)
        expect(url, state, "lab-1", up=1)
        assert server.conditions[-1] and len(server.asked) == 2, "the ETag of the cache was not sent"
        expect(url, state, "", "has no signature", options=[f"--model.public-key={state}/none.pem"], up=0)
        for answer, why in (((200, b'{"format": "kepler-model", '), "lab.json"),
                            ((500, b"out of order\n"), "HTTP 500: out of order"),
                            ((200, model(idle_w=-5)), "gives an idle power of -5 W"), ((200, b""), "is empty"),
                            ((200, b" " * (17 << 20)), "127.0.0.1")):
            server.pages["GET /lab.json"] = answer
            metrics = expect(url, state, "lab-1", "no newer model: ", why, "The last good one stays", up=0)
            assert metrics.value("kepler_exporter_model_fetch_failures_total") == 1
        server.pages["GET /lab.json"] = (200, model("lab-2"))
        metrics = expect(url, state, "lab-2", 'the model "lab-1" was fetched', 'the model "lab-2" was fetched', up=1)
        assert metrics.value("kepler_node_model_changes_total") == 1 and metrics.value("kepler_exporter_model_fetch_newer") == 0
        expect(url, state, "lab-2", up=1)
        expect(f"{server.url}/other.json", state, "", "HTTP 404", "There is none yet", up=0)
    expect(url, state := make_cache(model("lab-3"), url), "lab-3", "The last good one stays", up=0)
    cache = pathlib.Path(state) / "fetched-model.cache"
    cache.write_bytes(cache.read_bytes().replace(b"lab-3", b"lab-4"))
    expect(url, state, "", "There is none yet", up=0)
    cache.write_bytes(cache.read_bytes()[:-9])
    expect(url, state, "", "There is none yet", up=0)


def make_cache(body, url):
    """A state directory with a cache of `url`, as a run of the exporter leaves it."""
    state = tempfile.mkdtemp(prefix="kepler-state-")
    with Server({"GET /lab.json": (200, body)}) as server:
        expect(f"{server.url}/lab.json", state, json.loads(body)["name"], up=1)
        cache = pathlib.Path(state) / "fetched-model.cache"
        cache.write_bytes(cache.read_bytes().replace(server.url.encode() + b"/lab.json", url.encode(), 1))
    return state


def sign(folder, body):
    key, public = pathlib.Path(folder) / "key.pem", pathlib.Path(folder) / "public.pem"
    if not key.exists():
        need_program("openssl")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True, capture_output=True)
    text = pathlib.Path(folder) / "text"
    text.write_bytes(body)
    made = subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", text], check=True,
                          capture_output=True).stdout
    return f"--model.public-key={public}", base64.b64encode(made).decode()


def server_of_models():
    """The second API: asked by this machine and its features; checksum and signature are checked."""
    with tempfile.TemporaryDirectory() as state, tempfile.TemporaryDirectory() as folder:
        good = model()
        key, signature = sign(folder, good)
        answers = {"GET /api/v2/model": (200, offer(good)), f"GET {FILE}": (200, good)}
        with Server(answers) as server:
            url = f"{server.url}/?group=BPFOnly"
            expect(url, state, "lab-1", up=1)
            asked = server.asked[0]
            for words in ("group=BPFOnly", "output=AbsPower", "features=bpf_cpu_time_ms%2C", f"cores={CPUS}", "processor="):
                assert words in asked, (words, asked)
            metrics = expect(url, state, "lab-1", up=1)
            assert len(server.asked) == 3, "what has not changed was sent again"
            assert metrics.select("kepler_node_model_info")[0][0]["machine"] == "lab_x"
            expect(url, state, "", "it is not signed", "There is none yet", options=[key], up=0)
            for page, why in ((offer(good, sha256="0" * 64), "its SHA-256 is "), (offer(good, size=7), "the server announced 7"),
                              (offer(good).replace(b"/api/v2/files/", b"http://elsewhere/"), "file.url: must be a path"),
                              (b"[]", 'the answer has no "file"'), (b"{", "the answer is no JSON")):
                server.pages["GET /api/v2/model"] = (200, page)
                metrics = expect(url, state, "lab-1", why, up=0)
                assert metrics.value("kepler_exporter_model_fetch_refused_total") == 1
            server.pages["GET /api/v2/model"] = (200, offer(good, signature=signature))
            expect(url, state, "lab-1", options=[key], up=1)
            server.pages["GET /api/v2/model"] = (200, offer(good, signature=sign(folder, good + b" ")[1]))
            expect(url, state, "lab-1", "its signature does not match the key", options=[key], up=0)


def in_a_virtual_machine():
    """Power above idle is asked for first; a model of the whole power of such a host serves as well."""
    good = model(component="package")

    def answer(handler):
        return (404, b"no DynPower model\n") if "output=DynPower" in handler.path else (200, offer(good))

    with tempfile.TemporaryDirectory() as state, Server({"GET /api/v2/model": answer, f"GET {FILE}": (200, good)}) as server:
        options = ["--model.machine=vm=true,processor=lab_x", f"--vm.host-cpus={CPUS}"]
        metrics = expect(server.url, state, "lab-1", options=options, up=1)
        outputs = [words for asked in server.asked for words in asked.split("&") if words.startswith("output=")]
        assert outputs == ["output=DynPower", "output=AbsPower"], server.asked
        assert metrics.value("kepler_zone_info", zone="package", scope="vm_dynamic") == 1


def upstream_server():
    """A server without the second API is asked as an old Kepler does."""
    weights = json.dumps({"model_name": "SGDRegressorTrainer_0", "mae": 4.5,
                          "machine_spec": {"processor": "lab_x", "cores": CPUS}, "package": {"All_Weights": {
        "Bias_Weight": 30.0, "Categorical_Variables": {}, "Numerical_Variables": {
            "bpf_cpu_time_ms": {"scale": 1000.0 * CPUS, "weight": 50.0}}}}}).encode()
    with tempfile.TemporaryDirectory() as state, Server({"POST /model": (200, weights)}) as server:
        expect(server.url, state, "SGDRegressorTrainer_0", up=1)
        said = json.loads(server.body)
        assert said["weight"] is True and "bpf_cpu_time_ms" in said["metrics"] and said["machine_spec"]["cores"] == CPUS, said


def upstream_server_in_a_virtual_machine():
    """Weights of power above idle may have less than 0 W at no load: their output is what was asked for, also from the cache."""
    weights = json.dumps({"model_name": "SGDRegressorTrainer_0", "mae": 4.5,
                          "machine_spec": {"processor": "lab_x", "cores": CPUS}, "package": {"All_Weights": {
        "Bias_Weight": -0.5, "Categorical_Variables": {}, "Numerical_Variables": {
            "bpf_cpu_time_ms": {"scale": 1000.0 * CPUS, "weight": 50.0}}}}}).encode()
    options = ["--model.machine=vm=true,processor=lab_x", f"--vm.host-cpus={CPUS}"]
    with tempfile.TemporaryDirectory() as state:
        with Server({"POST /model": (200, weights)}) as server:
            expect(server.url, state, "SGDRegressorTrainer_0", options=options, up=1)
            url = server.url
        expect(url, state, "SGDRegressorTrainer_0", options=options, up=0)


def late():
    """The server takes longer than the start waits: the built-in model counts until then, and no energy is counted twice."""
    with tempfile.TemporaryDirectory() as state, Server({"GET /lab.json": (200, model())}, delay_s=5) as server:
        with exporter(f"{server.url}/lab.json", state) as running:
            assert used(running.scrape()) == ""
            metrics = asked_once(running)
            metrics = balanced(running.intervals(3))
            assert used(metrics) == "lab-1", running.output()
            rows = metrics.select("kepler_exporter_source_up", zone="platform")
            assert len(rows) == 1, rows
            assert metrics.select("kepler_zone_info", zone="platform", path="model.url")


def while_it_runs():
    """A server that turns bad and recovers: one line in the log each, and the model stays."""
    with tempfile.TemporaryDirectory() as state, Server({"GET /lab.json": (200, model())}) as server:
        with exporter(f"{server.url}/lab.json", state, "--model.refresh=10s") as running:
            def wait_for(words):
                deadline = time.monotonic() + 60
                while words not in running.output():
                    assert time.monotonic() < deadline, running.output()
                    time.sleep(0.1)

            wait_for("was fetched")
            server.pages["GET /lab.json"] = (200, b"[[[")
            wait_for("The last good one stays")
            metrics = balanced(running.intervals(2))
            assert used(metrics) == "lab-1" and metrics.value("kepler_exporter_model_fetch_up") == 0
            assert metrics.value("kepler_exporter_model_fetch_age_seconds") > 9
            server.pages["GET /lab.json"] = (200, model())
            wait_for("model.url answers again")
            assert running.output().count("no newer model") == 1
            metrics = balanced(running.intervals(2))
            assert used(metrics) == "lab-1" and metrics.value("kepler_exporter_model_fetch_newer") == 0


def over_https():
    """The certificate is verified, and a token is sent, but never over plain http."""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        token = pathlib.Path(folder) / "token"
        token.write_text("lab-token-0123456789\n")
        token.chmod(0o600)
        with Server({"GET /lab.json": (200, model())}, context=authority.server_context()) as server:
            options = [f"--model.ca-file={authority.file}", f"--model.token-file={token}"]
            expect(f"{server.url}/lab.json", "", "lab-1", options=options, up=1)
            assert server.tokens == ["Bearer lab-token-0123456789"], server.tokens
            expect(f"{server.url}/lab.json", "", "", "There is none yet", up=0)
            assert len(server.asked) == 1, "a server with an unknown certificate was asked"
            token.chmod(0o644)
            expect(f"{server.url}/lab.json", "", "", str(token), options=options, up=0)
            token.chmod(0o600)
        with Server({"GET /lab.json": (200, model())}) as server:
            expect(f"{server.url}/lab.json", "", "", "only sent over https", options=options, up=0)
            assert not server.asked


def doctor():
    """It says which model is fetched, and why none is."""
    with tempfile.TemporaryDirectory() as state, Sensors([]) as sensors, Server({"GET /lab.json": (200, model())}) as server:
        options = [f"--host.sysfs={sensors.mount}", f"--host.state-dir={state}", "--model.machine=vm=false,processor=lab_x"]

        def say(page):
            return subprocess.run([KEPLER, "doctor", "--verbose", *options, f"--model.url={server.url}/{page}"],
                                  capture_output=True, text=True, check=False).stdout

        assert 'the model "lab-1" was fetched from' in say("lab.json")
        assert "HTTP 404" in say("none.json")


run_tests([while_it_runs, file_and_cache, server_of_models, in_a_virtual_machine,
           upstream_server, upstream_server_in_a_virtual_machine, late, over_https, doctor], at_once=3)
