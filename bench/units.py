#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What units of work cost: the CPU time (user and system) of an exporter that reads the counters of 50 pods every second, less that
of one that reads none and runs at the same time, divided by the number of rounds. A page has 500 lines, 8 of the counter.

    units.py [PODS] [RUNS]
"""
import contextlib
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
from fake_kubernetes import NODE, FakeKubernetes, make_pod  # noqa: E402
from page_server import PageServer  # noqa: E402
from rig import Exporter, Sensors, rapl_zone, release_binary  # noqa: E402

RUN_S = 20


def page(_):
    now = int(time.monotonic() * 10)
    return "".join(f'http_requests_total{{code="{200 + i}",handler="/api/v1/items"}} {now}\n' for i in range(8)) + "".join(
        f'go_gc_duration_seconds_bucket{{le="{i}",instance="web",handler="/api/v1/items"}} {now}\n' for i in range(492))


def cpu_ms(exporter):
    fields = pathlib.Path(f"/proc/{exporter.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def rounds(exporter, pods):
    return float(exporter.scrape().sum("kepler_exporter_unit_reads_total")) / pods


def main():
    pods, runs = (int(word) for word in (sys.argv[1:] + ["50", "5"][len(sys.argv) - 1:]))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sensors = stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 45)))
        server = stack.enter_context(PageServer(page))
        api = FakeKubernetes(token=None)
        stack.callback(api.down)
        for i in range(pods):
            pod = make_pod(f"web-{i}", "shop")
            pod["metadata"]["labels"] = {"app": "web"}
            pod["status"]["podIP"] = "127.0.0.1"
            api.put(pod)
        config = folder / "kubeconfig"
        config.write_text(f"clusters: [{{name: a, cluster: {{server: '{api.url}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
                          "contexts: [{name: a, context: {cluster: a, user: u}}]\ncurrent-context: a\n")
        config.chmod(0o600)
        common = [f"--host.sysfs={sensors.mount}", "--kube.pods=apiserver", f"--kube.kubeconfig={config}",
                  f"--kube.node-name={NODE}"]
        rule = f"--units.rule=requests metric=http_requests_total label=app=web port={server.server_address[1]}"
        binary = release_binary()
        without = stack.enter_context(Exporter(*common, binary=binary))
        reads = stack.enter_context(Exporter(*common, rule, "--units.refresh=1s", binary=binary))
        while rounds(reads, pods) < 3:
            time.sleep(1)
        costs = []
        for _ in range(runs):
            before = cpu_ms(reads) - cpu_ms(without)
            number = rounds(reads, pods)
            time.sleep(RUN_S)
            costs.append((cpu_ms(reads) - cpu_ms(without) - before) / (rounds(reads, pods) - number))
        print(f"{pods} pods: median {statistics.median(costs):.2f} ms a round, {min(costs):.2f} to {max(costs):.2f}")


main()
