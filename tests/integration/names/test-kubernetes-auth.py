#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--web.auth=kubernetes with a real API server, tokens of real service accounts, and the roles of deploy/kubernetes."""
import contextlib
import re
import time

from kube_lab import DEPLOY, Cluster
from kube_pods import NAMESPACES, PodObject, make_namespaces, remove_cgroups
from rig import Exporter, Metrics, Sensors, rapl_zone, release_binary

NODE = "lab-0"
ACCOUNTS = {"prometheus": "monitoring", "developer": "prod", "reader": "dev", "nobody": "dev"}


def wait_for(what, exporter, seconds=30):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.05)


def make_accounts(cluster):
    """Who may what, as an administrator says it; the tokens."""
    make_namespaces(cluster, "monitoring", "kepler")
    for name, namespace in (*ACCOUNTS.items(), ("kepler", "kepler")):
        cluster.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
    cluster.kubectl("apply", "-f", DEPLOY / "components/web-auth/roles.yaml")
    cluster.kubectl("create", "clusterrole", "kepler-pods", "--verb=list,watch", "--resource=pods")
    cluster.kubectl("create", "clusterrolebinding", "kepler-pods", "--clusterrole=kepler-pods", "--serviceaccount=kepler:kepler")
    cluster.kubectl("create", "clusterrolebinding", "scrapes", "--clusterrole=kepler-metrics-reader",
                    "--serviceaccount=monitoring:prometheus")
    cluster.kubectl("create", "clusterrole", "sees-pods", "--verb=get,list", "--resource=pods")
    cluster.kubectl("create", "clusterrole", "lists-pods", "--verb=list", "--resource=pods")
    cluster.kubectl("-n", "prod", "create", "rolebinding", "developer", "--clusterrole=sees-pods",
                    "--serviceaccount=prod:developer")
    cluster.kubectl("-n", "dev", "create", "rolebinding", "nobody", "--clusterrole=lists-pods", "--serviceaccount=dev:nobody")
    return {name: cluster.account_token(namespace, name) for name, namespace in ACCOUNTS.items()}


def audience_token(cluster, audience):
    status, answer = cluster.api("POST", "/api/v1/namespaces/monitoring/serviceaccounts/prometheus/token",
                                 {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
                                  "spec": {"audiences": [audience], "expirationSeconds": 7200}})
    assert status == 201, answer
    return answer["status"]["token"]


def start(cluster, *args):
    config = cluster.kubeconfig(cluster.account_token("kepler", "kepler"))
    return Exporter("--web.auth=kubernetes", f"--kube.kubeconfig={config}", "--kube.pods=apiserver", f"--kube.node-name={NODE}",
                    "--metrics.settle=0s", *args, binary=release_binary())


def get(exporter, token, path="/metrics"):
    return exporter.get(path, {"Authorization": "Bearer " + token} if token else {})


def samples(page):
    return [line for line in page.splitlines() if line and not line.startswith("#")]


def check_decisions(exporter, tokens):
    began = time.monotonic()
    assert get(exporter, tokens["prometheus"])[0] == 200, exporter.output()
    first_s = time.monotonic() - began
    # The role system:discovery lets every account get /api/*, of the API server.
    for path in ("/", "/api", "/api/v1/now", "/api/v1/explain/1", "/explain/1", "/healthz/", "/version", "/nowhere", "/metrics"):
        assert get(exporter, tokens["nobody"], path)[0] == 403, path
    assert get(exporter, tokens["prometheus"], "/metrics?namespace=prod")[0] == 403
    assert get(exporter, tokens["prometheus"], "/api/v1/now")[0] == 200
    for who, namespace, want in (("developer", "prod", 200), ("developer", "dev", 403), ("nobody", "dev", 403),
                                 ("reader", "dev", 403), ("developer", "no-such-namespace", 403),
                                 ("developer", "kube-system", 403)):
        status, _, body = get(exporter, tokens[who], f"/metrics?namespace={namespace}")
        assert status == want, (who, namespace, status, body)
    for token, want in ((None, 401), ("of-nobody", 401), (tokens["prometheus"][:-4] + "AAAA", 401), (tokens["developer"], 403)):
        assert get(exporter, token)[0] == want, (token, want)
    assert get(exporter, None, "/healthz")[0] == 200
    return first_s


def check_namespace(exporter, tokens):
    """The developer's rows are those of the whole page, and nothing else is there."""
    for _ in range(40):
        before = get(exporter, tokens["prometheus"])[2].decode()
        page = get(exporter, tokens["developer"], "/metrics?namespace=prod")[2].decode()
        if before == get(exporter, tokens["prometheus"])[2].decode():
            break
    else:
        raise AssertionError("no two pages of one snapshot")
    wanted = [line for line in samples(before) if re.match("kepler_(container|pod|namespace)_", line) and
              re.search('[{,](?:container_)?namespace="prod"', line)]
    assert samples(page) == wanted and wanted, set(samples(page)) ^ set(wanted)
    assert 'pod_name="shop-1"' in page and "vault" not in page and "kepler_process" not in page


def check_away(cluster, exporter, tokens):
    cluster.stop_api()
    try:
        assert get(exporter, tokens["prometheus"])[0] == 200
        assert get(exporter, tokens["developer"], "/metrics?namespace=prod")[0] == 200
        assert get(exporter, "a-token-of-nobody")[0] == 503
        assert get(exporter, tokens["reader"])[0] == 503
    finally:
        cluster.start_api()
    wait_for(lambda: get(exporter, tokens["reader"])[0] == 403, exporter)


def check_withdrawn(cluster, exporter, tokens):
    """A denied account that gets the role is admitted within the 30 s for which a refusal counts."""
    assert get(exporter, tokens["reader"])[0] == 403
    cluster.kubectl("create", "clusterrolebinding", "reads", "--clusterrole=kepler-metrics-reader", "--serviceaccount=dev:reader")
    began = time.monotonic()
    wait_for(lambda: get(exporter, tokens["reader"])[0] == 200, exporter, 40)
    print(f"  a new permission counts after {time.monotonic() - began:.0f} s")


def check_secrets(exporter, tokens):
    page = get(exporter, tokens["prometheus"])[2].decode()
    for name, token in tokens.items():
        for part in token.split("."):
            assert part not in exporter.output() and part not in page, f"the token of {name}"
    counts = Metrics(page)
    print("  reviews:", {result: int(counts.value("kepler_exporter_web_auth_reviews_total", result=result))
                         for result in ("authenticated", "unauthenticated", "allowed", "denied", "failed")})
    assert "denied" not in exporter.output().lower(), exporter.output()


def main():
    zones = [*rapl_zone(0, "package-0", 20, busy_watts=10), *rapl_zone(1, "dram", 3)]
    with contextlib.ExitStack() as ended:
        ended.callback(remove_cgroups)
        cluster = ended.enter_context(Cluster())
        tokens = make_accounts(cluster)
        cluster.create("/api/v1/nodes", {"kind": "Node", "apiVersion": "v1", "metadata": {"name": NODE}})
        pods = [PodObject(cluster, name, NODE, space).run() for name, space in zip(("shop-1", "vault-1"), NAMESPACES)]
        for pod in pods:
            ended.callback(pod.delete)
            pod.burn("main", 200)
            pod.tick("main")
        sensors = ended.enter_context(Sensors(zones))
        with start(cluster, f"--host.sysfs={sensors.mount}") as exporter:
            first_s = check_decisions(exporter, tokens)
            print(f"  the first answer took {first_s * 1000:.0f} ms")
            wait_for(lambda: all(re.search(f'^kepler_pod_joules_total.*pod_name="{pod.name}"', get(
                exporter, tokens["prometheus"])[2].decode(), re.M) for pod in pods), exporter)
            check_namespace(exporter, tokens)
            check_away(cluster, exporter, tokens)
            check_withdrawn(cluster, exporter, tokens)
            check_secrets(exporter, tokens)
            assert exporter.stop() == 0
        with start(cluster, "--web.auth-audience=kepler") as exporter:
            assert get(exporter, tokens["prometheus"])[0] == 401
            assert get(exporter, audience_token(cluster, "kepler"))[0] == 200
            assert get(exporter, audience_token(cluster, "other"))[0] == 401
        cluster.kubectl("delete", "clusterrolebinding", "kepler-auth-delegator")
        with start(cluster) as exporter:
            assert get(exporter, tokens["prometheus"])[0] == 503
            wait_for(lambda: "bind the ClusterRole system:auth-delegator" in exporter.output(), exporter)


main()
print("ok")
