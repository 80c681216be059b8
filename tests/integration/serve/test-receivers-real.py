#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Remote write to other real receivers: a Prometheus 3 takes 2.0, VictoriaMetrics what it understands."""
import json
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from prometheus_rig import prometheus_3
from remote_write_rig import ReceivingPrometheus
from rig import Exporter, Sensors, free_port, need_program, rapl_zone, run_tests

NAME = "kepler_node_package_joules_total"


def wait_for(condition, exporter):
    deadline = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < deadline, exporter.output()
        time.sleep(0.2)
    return found


def pushing(sensors, url, folder):
    return Exporter(f"--host.sysfs={sensors.mount}", "--metrics.settle=0s", "--remote-write.interval=1s",
                    f"--remote-write.url={url}", f"--local.socket={folder}/socket")


def protocol(folder):
    answer = subprocess.run(["curl", "-sf", "--unix-socket", f"{folder}/socket", "http://localhost/api/v1/receivers"],
                            capture_output=True, check=True).stdout
    receiver, = json.loads(answer)["receivers"]
    assert not any(receiver["dropped"].values()), receiver
    return receiver["protocol"]


def prometheus_3_takes_version_2():
    with Sensors(rapl_zone(0, "package-0", 20)) as sensors, tempfile.TemporaryDirectory() as folder, \
            ReceivingPrometheus(prometheus_3()) as prometheus, pushing(sensors, prometheus.url, folder) as exporter:
        wait_for(lambda: exporter.scrape().sum("kepler_exporter_send_samples_total"), exporter)
        stored = wait_for(lambda: prometheus.query(f"increase({NAME}[20s]) > 0"), exporter)
        assert stored[0][0]["job"] == "kepler", stored
        assert protocol(folder) == "remote write 2.0", protocol(folder)


def victoria_metrics_takes_what_it_understands():
    port = free_port()
    with Sensors(rapl_zone(0, "package-0", 20)) as sensors, tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([need_program("victoria-metrics"), f"-storageDataPath={folder}/data",
                                   f"-httpListenAddr=127.0.0.1:{port}"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with pushing(sensors, f"http://127.0.0.1:{port}/api/v1/write", folder) as exporter:
                wait_for(lambda: exporter.scrape().sum("kepler_exporter_send_samples_total"), exporter)
                query = urllib.parse.urlencode({"query": f"{NAME} > 0", "latency_offset": "1ms"})

                def stored():
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=10) as answer:
                        return json.load(answer)["data"]["result"]
                found = wait_for(stored, exporter)
                assert found[0]["metric"]["job"] == "kepler" and float(found[0]["value"][1]) > 0, found
                print(f"VictoriaMetrics takes {protocol(folder)}")
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    run_tests([prometheus_3_takes_version_2, victoria_metrics_takes_what_it_understands])
