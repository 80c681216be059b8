# SPDX-License-Identifier: Apache-2.0
"""Series of a machine whose power is known: as the body of a request to train, and from a server with the API of a Prometheus."""
import http.server
import json
import math
import threading
import time
import urllib.parse

from rig import free_port

STEP_S = 0.1  # of the server's series
STEPS, EVERY_S = 120, 3  # of the request's


def series():
    """Of a machine that draws 40 W, and 30 W for each second of CPU time in a second."""
    joules = ms = hits = 0.0
    values = {"kepler_node_package_joules_total": [], "kepler_container_bpf_cpu_time_ms_total": [],
              "kepler_container_bpf_page_cache_hit_total": []}
    for i in range(STEPS):
        load = 1 + math.sin(i / 7)
        joules, ms, hits = joules + EVERY_S * (40 + 30 * load), ms + EVERY_S * 1000 * load, hits + EVERY_S * 10 * load
        for name, value in zip(values, (joules, ms, hits)):
            values[name].append([1000 + EVERY_S * i, str(value)])
    labels = {"kepler_node_package_joules_total": {"source": "rapl-sysfs", "mode": "dynamic", "instance": "a"}}
    own = {"container_id": "c1", "pod_name": "p", "container_name": "c", "container_namespace": "n", "instance": "a"}
    return {name: [{"metric": {"__name__": name, **labels.get(name, own)}, "values": v}] for name, v in values.items()}


def request(**changes):
    return {"name": "mine", "energy_source": "rapl-sysfs", "prom_response": series(), "use_vm_metrics": False,
            "trainer": {"abs_trainers": ["LinearRegressionTrainer"], "dyn_trainers": ["LinearRegressionTrainer"],
                        "idle_prom_response": None, "isolator": "MinIdleIsolator", "isolator_args": {}}, **changes}


class Machine:
    """Series by time, up to `until`: 40 W and `slope` W for each second of CPU time in a second, another slope after `changed`.
    Counters fall to 0 every 200 s, some points are no number, and another job has the same series again."""

    def __init__(self):
        self.start = time.time() - 3000
        self.until, self.changed, self.is_away = self.start, math.inf, False
        self.delay_s = 0  # before it answers a request
        self.ahead_s = 0  # the last 4 s of an answer come again, so many seconds later
        self.has_names, self.asked = True, []  # whether metrics are known; until when it was asked for their names
        self.joules, self.ms, total = [0.0], [0.0], 0.0
        self.port = free_port()
        machine = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = urllib.parse.urlparse(self.path)
                ends = time.monotonic() + machine.delay_s
                while time.monotonic() < ends and machine.delay_s:
                    time.sleep(0.05)
                given = {key: values[0] for key, values in urllib.parse.parse_qs(url.query).items()}
                names = ["kepler_node_package_joules_total", "kepler_container_bpf_cpu_time_ms_total",
                         "kepler_container_bpf_page_cache_hit_total"]
                if url.path.endswith("/values"):
                    machine.asked.append(float(given["end"]))
                    names = names if machine.has_names else []
                body = {"status": "success", "data": names if url.path.endswith("/values") else
                        {"resultType": "matrix", "result": machine.points(given)}}
                data = json.dumps(body).encode()
                self.send_response(503 if machine.is_away else 200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def values(self, until_s):
        """Sums of energy and CPU time up to this many seconds from the start, step by step."""
        while len(self.ms) * STEP_S <= until_s + STEP_S:
            i = len(self.ms)
            load = 1 + math.sin(i / 37) + 0.3 * math.sin(i * 1.7)
            slope = 30 if self.start + i * STEP_S < self.changed else 90
            noise = 2 * math.sin(i * i % 1009)
            self.joules.append(self.joules[-1] + STEP_S * (40 + slope * max(load, 0) + noise))
            self.ms.append(self.ms[-1] + STEP_S * 1000 * max(load, 0))

    def points(self, given):
        name = given["query"].partition("{")[0]
        first = max(0, math.ceil((float(given["start"]) - self.start) / STEP_S))
        last = math.floor((min(float(given["end"]), self.until) - self.start) / STEP_S)
        self.values(last * STEP_S)
        sums = self.joules if "joules" in name else self.ms
        points = []
        for i in range(first, last + 1):
            value = sums[i] - sums[i // 2000 * 2000]
            points.append([round(self.start + i * STEP_S, 3), "NaN" if i % 701 == 5 else str(value)])
        if self.ahead_s:
            points += [[at + self.ahead_s, value] for at, value in points[-int(4 / STEP_S):]]
        labels = {"source": "rapl-sysfs", "mode": "dynamic"} if "joules" in name else \
            {"container_id": "c1", "pod_name": "p", "container_name": "c", "container_namespace": "n"}
        return [{"metric": {"__name__": name, "instance": instance, **labels}, "values": points}
                for instance in ("node1:28282", "stranger:28282")] if points else []
