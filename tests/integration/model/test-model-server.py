#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model serve: an old Kepler's requests, the second API, access, hostile clients, a change of the repository."""
import base64
import concurrent.futures
import hashlib
import http.client
import io
import json
import os
import pathlib
import pwd
import signal
import socket
import ssl
import tempfile
import zipfile

from certificates import Authority, openssl
from model_rig import BPF, Program, Repository, confined_to, serving, weights
from rig import Metrics, need_root, run_tests

QUIET = "--web.listen-address=127.0.0.1:0"
# Kepler sends node type 0, whatever the machine is.
KEPLER = {"metrics": [*BPF, "cpu_architecture"], "output_type": "AbsPower", "source": "intel_rapl", "node_type": 0, "weight": True,
          "trainer_name": "SGDRegressorTrainer", "filter": "",
          "machine_spec": {"vendor": "genuineintel", "processor": "intel_xeon_e5_2686v4", "cores": 72, "chips": 2, "memory": 503,
                           "frequency": 2300, "threads_per_core": 2}}
# The requests of the estimator.
ESTIMATOR = {"metrics": BPF, "output_type": "AbsPower", "source": "rapl-sysfs", "node_type": -1, "weight": False,
             "trainer_name": "", "filter": "", "machine_spec": None}


def ask(server, method, path, body=None, headers={}, context=None):
    host, port = server.address.rsplit(":", 1)
    peer = http.client.HTTPSConnection(host, port, timeout=20, context=context) if context else \
        http.client.HTTPConnection(host, port, timeout=20)
    peer.request(method, path, json.dumps(body) if isinstance(body, dict) else body, headers)
    answer = peer.getresponse()
    data = answer.read()
    peer.close()
    return answer.status, data, answer.headers


def an_old_keplers_request():
    with serving("serve", QUIET) as (_, server):
        status, body, headers = ask(server, "POST", "/model", KEPLER)
        model = json.loads(body)
        assert status == 200 and headers["Content-Type"] == "application/json"
        assert model["model_name"] == "SGDRegressorTrainer_1" and model["machine_spec"]["cores"] == 72 and model["mae"] == 7.0
        assert model["package"]["All_Weights"]["Bias_Weight"] == 101
        assert ask(server, "POST", "/model", KEPLER)[1] == body  # from memory
        status, body, _ = ask(server, "POST", "/model", {**KEPLER, "metrics": ["cpu_cycles"]})
        assert status == 400 and body.startswith(b"cannot find model for AbsPower"), body
        status, body, _ = ask(server, "POST", "/model", {**KEPLER, "filter": "mae:6"})
        assert json.loads(body)["model_name"] == "SGDRegressorTrainer_0", body  # filters work
        explicit = {**KEPLER, "machine_spec": None, "node_type": 1}
        assert json.loads(ask(server, "POST", "/model", explicit)[1])["model_name"] == "SGDRegressorTrainer_1"  # not _10


def an_old_estimators_request():
    with serving("serve", QUIET) as (_, server):
        status, body, headers = ask(server, "POST", "/model", ESTIMATOR)
        assert status == 200 and headers["Content-Type"] == "application/zip"
        assert headers["Content-Disposition"] == 'attachment; filename="SGDRegressorTrainer_10.zip"'  # the most cores
        with zipfile.ZipFile(io.BytesIO(body)) as packed:
            assert json.loads(packed.read("metadata.json"))["model_name"] == "SGDRegressorTrainer_10"
        status, body, _ = ask(server, "GET", "/best-models")
        assert status == 200 and json.loads(body) == {"AbsPower": {"BPFOnly": "SGDRegressorTrainer_10"}, "DynPower": {}}, body
        status, body, _ = ask(server, "GET", "/best-models?output-type=AbsPower&feature-group=BPFOnly&node-type=1")
        assert json.loads(body) == {"AbsPower": {"BPFOnly": "KNeighborsRegressorTrainer_1"}}
        assert ask(server, "GET", "/best-models?output-type=Power")[0] == 400
        assert ask(server, "GET", "/best-models?filter=colour:blue")[0] == 400
    with serving("serve", QUIET, "--no-models.pickles") as (_, server):
        status, body, _ = ask(server, "POST", "/model", {**ESTIMATOR, "trainer_name": "KNeighborsRegressorTrainer"})
        assert status == 400
        assert ask(server, "GET", "/api/v2/files/ec2/rapl-sysfs/AbsPower/BPFOnly/KNeighborsRegressorTrainer_1.zip")[0] == 404


def a_limit_of_errors():
    """Of the expected error, which is that of another machine as well: 16 to 30 % where only processor and cores are known."""
    query = "/api/v2/model?features=bpf_cpu_time_ms,bpf_page_cache_hit&processor=intel_xeon_e5_2686v4&cores=72"
    exact = query + "&chips=2&memory=503&frequency=3000"
    for limit, found in (("10", False), ("50", True)):
        with serving("serve", QUIET, f"--models.max-error={limit}") as (_, server):
            assert ask(server, "GET", query)[0] == (200 if found else 404)
            assert ask(server, "GET", query + "&max-error=90")[0] == (200 if found else 404)  # a client cannot raise it
            assert ask(server, "GET", query + "&max-error=1")[0] == 404
            assert ask(server, "GET", exact)[0] == 200
    with serving("serve", QUIET, "--models.max-error=2") as (_, server):
        assert ask(server, "POST", "/model", KEPLER)[0] == 400
        assert json.loads(ask(server, "GET", "/best-models?output-type=AbsPower&node-type=1")[1]) == {"AbsPower": {}}


def the_second_api():
    with tempfile.TemporaryDirectory() as directory:
        key = pathlib.Path(directory, "key.pem")
        openssl("genpkey", "-algorithm", "ed25519", "-out", key)
        openssl("pkey", "-in", key, "-pubout", "-out", directory + "/public.pem")
        key.chmod(0o600)
        with serving("serve", QUIET, f"--models.signing-key={key}") as (_, server):
            query = "features=bpf_cpu_time_ms,bpf_page_cache_hit&processor=Intel(R)%20Xeon(R)%20E5-2686%20v4&cores=72"
            exact = query + "&chips=2&memory=503&frequency=3000&exact=true"
            status, body, headers = ask(server, "GET", "/api/v2/model?" + query)
            said = json.loads(body)
            assert status == 200 and said["model"]["name"] == "SGDRegressorTrainer_1", body
            assert said["match"]["kind"] == "processor" and 16 < said["match"]["expected_error_percent"] < 30
            match = json.loads(ask(server, "GET", "/api/v2/model?" + exact)[1])["match"]
            assert match == {"kind": "machine", "looseness": 0.0, "uncertainty": 0.0, "expected_error_percent": 4.0,
                             "core_ratio": 1.0}, match
            assert said["model"]["error"]["components"]["package"] == {"mae_watts": 7.0, "mape_percent": 4.0}
            assert ask(server, "GET", "/api/v2/model?" + query, headers={"If-None-Match": headers["ETag"]})[:2] == (304, b"")
            status, file, headers = ask(server, "GET", said["file"]["url"])
            assert hashlib.sha256(file).hexdigest() == said["file"]["sha256"] and len(file) == said["file"]["size"]
            assert headers["ETag"] == f'"{said["file"]["sha256"]}"'
            pathlib.Path(directory, "file").write_bytes(file)
            pathlib.Path(directory, "signature").write_bytes(base64.b64decode(said["file"]["signature"]))
            openssl("pkeyutl", "-verify", "-pubin", "-inkey", directory + "/public.pem", "-rawin", "-in", directory + "/file",
                    "-sigfile", directory + "/signature")
            status, body, _ = ask(server, "GET", "/api/v2/model?features=" + ",".join(BPF) + "&processor=other_x&exact=true")
            assert status == 404 and b"machine" in body
            assert ask(server, "GET", "/api/v2/model?features=cpu_cycles&filter=colour:blue")[0] == 400
            listed = json.loads(ask(server, "GET", "/api/v2/models?limit=2&trainer=SGDRegressorTrainer")[1])
            names = [model["name"] for model in listed["models"]]
            assert listed["total"] == 3 and names == ["SGDRegressorTrainer_0", "SGDRegressorTrainer_1"]
            for path in ("../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "ec2/node_type_index.json", "", "%00"):
                assert ask(server, "GET", "/api/v2/files/" + path)[0] == 404, path


def access_by_tls_and_token():
    with tempfile.TemporaryDirectory() as directory:
        authority = Authority(directory)
        certificate, key = authority.sign("server")
        key.chmod(0o600)
        tokens = pathlib.Path(directory, "tokens")
        tokens.touch(0o600)
        tokens.write_text("0123456789abcdef\n")
        context = ssl.create_default_context(cafile=str(authority.file))
        with serving("serve", QUIET, f"--web.tls-certificate={certificate}", f"--web.tls-key={key}",
                     f"--web.token-file={tokens}") as (_, server):
            right = {"Authorization": "Bearer 0123456789abcdef"}
            status, _, headers = ask(server, "POST", "/model", KEPLER, context=context)
            assert status == 401 and headers["WWW-Authenticate"] == "Bearer"
            assert ask(server, "POST", "/model", KEPLER, right, context)[0] == 200
            assert ask(server, "GET", "/metrics", context=context)[0] == 401
            assert ask(server, "GET", "/healthz", context=context)[:2] == (200, b"ok\n")
            assert ask(server, "GET", "/readyz", context=context)[0] == 200
            metrics = Metrics(ask(server, "GET", "/metrics", headers=right, context=context)[1].decode())
            assert metrics.value("kepler_model_server_unauthorized_total") == 2
            assert metrics.value("kepler_model_server_requests_total", page="/model", result="answered") == 1
        tokens.chmod(0o644)
        with Repository() as repository, Program("serve", repository.path, QUIET, f"--web.token-file={tokens}", expect=1) as server:
            assert server.process.wait(20) == 1 and str(tokens) in server.output()


def privileges_are_given_up():
    """Of root, started by hand: as root without capabilities, or as another user, which also reads its tokens again."""
    need_root()
    nobody = pwd.getpwnam("nobody")
    with serving("serve", QUIET) as (_, server):
        assert confined_to(server.process.pid, 0) and ask(server, "POST", "/model", KEPLER)[0] == 200
    with tempfile.TemporaryDirectory() as directory, Repository() as repository:
        tokens = pathlib.Path(directory, "tokens")
        tokens.touch(0o600)
        tokens.write_text("0123456789abcdef\n")
        for path in (pathlib.Path(directory), tokens):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        with Program("serve", repository.path, QUIET, "--security.user=nobody", expect=1) as server:
            assert server.process.wait(20) == 1 and "Permission denied" in server.output()  # the folder is root's alone
        repository.path.chmod(0o755)
        with Program("serve", repository.path, QUIET, "--security.user=nobody", f"--web.token-file={tokens}") as server:
            assert confined_to(server.process.pid, nobody.pw_uid), server.output()
            assert ask(server, "POST", "/model", KEPLER, {"Authorization": "Bearer 0123456789abcdef"})[0] == 200
            tokens.write_text("another-token-of-16\n")
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("(?s)pipelines.*pipelines")
            assert ask(server, "POST", "/model", KEPLER, {"Authorization": "Bearer another-token-of-16"})[0] == 200
        with Program("serve", repository.path, QUIET, "--security.user=no-such-user", expect=1) as server:
            assert server.process.wait(20) == 1 and 'security.user: there is no user "no-such-user"' in server.output()


def a_change_of_the_repository():
    with serving("serve", QUIET, "--models.rescan=1s") as (repository, server):
        repository.add("SGDRegressorTrainer_2", 0.5, weights(1, 2))
        repository.put("ec2/node_type_index.json", json.dumps({"2": {"attrs": KEPLER["machine_spec"], "members": []}}))
        server.wait_for("5 models")
        assert json.loads(ask(server, "POST", "/model", KEPLER)[1])["model_name"] == "SGDRegressorTrainer_2"
        os.rename(repository.path / "ec2", repository.path / ".away")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("keeping the previous models")
        assert ask(server, "POST", "/model", KEPLER)[0] == 200
        metrics = Metrics(ask(server, "GET", "/metrics")[1].decode())
        assert metrics.value("kepler_model_server_reloads_total", result="failure") >= 1
        assert metrics.value("kepler_model_server_models") == 5
        os.rename(repository.path / ".away", repository.path / "ec2")


def hostile_clients():
    with serving("serve", QUIET) as (_, server):
        for body, status in ((b"", 400), (b"\x80\x04pickle", 400), (b"{" * 10000, 400), (b"[" * 100, 400),
                             (b'{"metrics":["a"]' * 2, 400), (b" " * 70000, 413), (b'{"metrics": ["\\u0000"]}', 400),
                             (json.dumps({"metrics": ["x"] * 300}), 400)):
            assert ask(server, "POST", "/model", body)[0] == status, body[:40]
        assert ask(server, "GET", "/model")[0] == 405 and ask(server, "GET", "/model")[2]["Allow"] == "POST"
        assert ask(server, "POST", "/best-models", b"x")[0] == 405
        assert ask(server, "PUT", "/model", b"x")[0] == 405
        assert ask(server, "GET", "/healthz", headers={"Host": "evil.example.com"})[0] == 421
        host, port = server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as slow:  # chunked, and longer than is allowed
            slow.sendall(b"POST /model HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(40):
                slow.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
            slow.sendall(b"0\r\n\r\n")
            assert slow.recv(4096).startswith(b"HTTP/1.1 413 ")
        before = server.rss_bytes()
        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            bodies = [{**KEPLER, "filter": f"mae:{n + 8}"} for n in range(1000)]
            assert {status for status, *_ in pool.map(lambda b: ask(server, "POST", "/model", b), bodies)} == {200}
        assert server.rss_bytes() - before < 100 << 20
        assert ask(server, "POST", "/model", KEPLER)[0] == 200


def the_repository_command():
    with Repository() as repository:
        repository.put("ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_3.json", json.dumps(weights(-5, 1)))
        run = Program("repo", "list", str(repository.path), "--json", expect=1)
        assert run.process.wait(20) == 0
        models = {m["name"]: m for m in json.loads(run.output())["models"]}
        assert len(models) == 5 and models["SGDRegressorTrainer_1"]["machine_spec"]["cores"] == 72
        run = Program("repo", "verify", str(repository.path), expect=1)
        assert run.process.wait(20) == 1
        assert "SGDRegressorTrainer_3.json" in run.output() and "1 models are pickles" in run.output(), run.output()
        spec = repository.path / "spec.json"
        spec.write_text(json.dumps(KEPLER["machine_spec"]))
        run = Program("repo", "best", str(repository.path), f"--machine-spec={spec}", expect=1)
        assert run.process.wait(20) == 0 and "SGDRegressorTrainer_1 " in run.output() and "match processor" in run.output()
        run = Program("repo", "burn", str(repository.path), expect=1)
        assert run.process.wait(20) == 1 and "must be list, verify, best or publish" in run.output()


def published_copies():
    with Repository() as repository, tempfile.TemporaryDirectory() as directory:
        repository.add("SGDRegressorTrainer_2", 300.0, weights(1, 2))
        repository.put("ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_3.json", json.dumps(weights(1, 1)))  # of unknown error
        trees = []
        for _ in range(2):
            run = Program("repo", "publish", str(repository.path), directory, expect=1)
            assert run.process.wait(20) == 0 and "4 models in" in run.output() and "2 left out" in run.output(), run.output()
            files = [path for path in pathlib.Path(directory).rglob("*.*") if path.is_file()]
            trees.append({path.relative_to(directory): path.read_bytes() for path in files})
        assert trees[0] == trees[1] and len(trees[0]) == 4 + 3 + 2, trees[0].keys()  # archives, weights, table and index
        assert b"SGDRegressorTrainer_2" not in trees[0][pathlib.Path("ec2/rapl-sysfs_AbsPower_model_metadata.csv")]
        run = Program("repo", "verify", directory, expect=1)
        assert run.process.wait(20) == 0 and "4 models in 1 pipelines, 7 files: 0 bad" in run.output(), run.output()


def own_model(form, mae, **predictor):
    return {"format": "kepler-model", "version": 1, "name": "m", "output": "AbsPower", "source": "rapl-sysfs",
            "feature_group": "BPFOnly", "machine": {"processor": "intel_xeon_e5_2686v4", "cores": 72, "chips": 2, "memory_gb": 503,
                                                   "frequency_mhz": 3000},
            "origin": {"trainer": form.capitalize() + "RegressionTrainer"}, "components": [{
                "name": "package", "error": {"mae_w": mae, "mape_percent": mae / 2, "rows": 50},
                "features": [{"name": BPF[0], "scale": 1000.0, "minimum": 0, "maximum": 1000}, {"name": BPF[1], "scale": 1.0}],
                "predictor": {"form": form, **predictor}}]}


def exported_models_are_served():
    with tempfile.TemporaryDirectory() as directory, Repository() as repository:
        models = {"line": own_model("linear", 1.0, weights=[90.0, 40.0, 0.0]),
                  "bad": own_model("linear", 50.0, weights=[1.0, 1.0, 0.0]),
                  "polynomial": own_model("polynomial", 0.5, weights=[80.0, 30.0, 0.0, 1.0, 0.0, 0.0])}
        files = {name: pathlib.Path(directory, name + ".json") for name in models}
        for name, file in files.items():
            file.write_text(json.dumps(models[name]))
        export = ("--output=" + str(repository.path), "--pipeline-name=ec2")
        run = Program("export", files["bad"], *export, expect=1)
        assert run.process.wait(20) == 1 and "50.00 W" in run.output(), run.output()
        trees = []
        for _ in range(2):  # again: nothing changes
            run = Program("export", files["line"], str(files["polynomial"]), *export, expect=1)
            assert run.process.wait(20) == 0, run.output()
            assert run.output() == "".join(f"ec2/rapl-sysfs/AbsPower/BPFOnly/{name}RegressionTrainer_1.json\n"  # the machine's type
                                           for name in ("Linear", "Polynomial"))
            trees.append({path: path.read_bytes() for path in repository.path.rglob("*.*") if path.is_file()})
        assert trees[0] == trees[1]
        table = (repository.path / "ec2/rapl-sysfs_AbsPower_model_metadata.csv").read_text()
        assert table.count("SGDRegressorTrainer_1,") == 1 and "LinearRegressionTrainer_1,scikit," in table, table
        with Program("serve", repository.path, QUIET) as server:
            asked = {**KEPLER, "trainer_name": "LinearRegressionTrainer"}
            served = json.loads(ask(server, "POST", "/model", asked)[1])
            assert set(served) == {"package", "model_name", "machine_spec", "mae"}, served.keys()
            assert served["package"]["All_Weights"]["Bias_Weight"] == 90 and served["model_name"] == "LinearRegressionTrainer_1"
            # Upstream's programs cannot read the other form; the second API offers it.
            status, why, _ = ask(server, "POST", "/model", {**asked, "trainer_name": "PolynomialRegressionTrainer"})
            assert status == 400 and b"there are only kepler's own format (GET /api/v2/model)" in why, why
            # Neither has an archive, which an estimator asks for next.
            status, why, _ = ask(server, "POST", "/model", {**asked, "weight": False})
            assert status == 400 and b'there are only weights ("weight": true)' in why, why
            offered = json.loads(ask(server, "GET", "/best-models?node-type=1")[1])
            assert offered["AbsPower"] == {"BPFOnly": "KNeighborsRegressorTrainer_1"}, offered
            best = json.loads(ask(server, "GET", "/api/v2/model?features=bpf_cpu_time_ms,bpf_page_cache_hit&node-type=1")[1])
            assert best["model"]["name"] == "PolynomialRegressionTrainer_1" and best["model"]["class"] == "kepler", best
            assert json.loads(ask(server, "GET", best["file"]["url"])[1])["format"] == "kepler-model"


run_tests([an_old_keplers_request, an_old_estimators_request, a_limit_of_errors, the_second_api, access_by_tls_and_token,
           privileges_are_given_up, a_change_of_the_repository, hostile_clients, the_repository_command,
           exported_models_are_served, published_copies])
