#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run --prometheus`: the scrapes that a real Prometheus has stored are judged as the exporter's own pages are,
and a password that it is asked with is in no report."""
import base64
import http.server
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.request

from peer_pages import Kepler, PeerServer
from prometheus_rig import Prometheus
from rig import BUILD, Exporter, Sensors, rapl_zone

ZONES = {"package": "class/powercap/intel-rapl:0/energy_uj"}
SECRET = "not-in-a-report"


class Guard(http.server.ThreadingHTTPServer):
    """In front of a Prometheus: it wants a password or a token."""
    daemon_threads = True

    def __init__(self, port):
        wanted = {"Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode(), f"Bearer {SECRET}"}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.headers.get("Authorization") not in wanted:
                    self.send_error(401)
                    return
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{self.path}", timeout=20) as answer:
                    body = answer.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()


def run(sensors, *options):
    done = subprocess.run([BUILD / "kepler-validator", "run", f"--host.sysfs={sensors.mount}", "--scenario=node", *options],
                          text=True, capture_output=True, check=False, timeout=200)
    print(done.stdout, done.stderr)
    return done


def wait_for(prometheus, count):
    deadline = time.monotonic() + 120
    while len(prometheus.query("count by (job) ({__name__=~'kepler_node_.*'})")) < count:
        assert time.monotonic() < deadline, "Prometheus stores nothing"
        time.sleep(0.2)


def verdicts(output, of=""):
    found = re.findall(rf"^(pass|fail|inconclusive) +(\S+)(?: \(\w+\))?{of}: ", output, re.MULTILINE)
    return {name: verdict for verdict, name in found}


def two_targets(sensors, prometheus, url):
    """A selector must choose one; then each is judged on its own, the wrong one as on its own page."""
    done = run(sensors, f"--prometheus={url}")
    assert done.returncode == 2 and "matches 2 targets; choose one" in done.stderr and 'job="peer"' in done.stderr, done
    done = run(sensors, f"--prometheus={url}", '--prometheus.selector=job="no"')
    assert done.returncode == 2 and "matches no series" in done.stderr, done
    done = run(sensors, f"--prometheus={url}", '--prometheus.selector=job="kepler"', '--prometheus.selector=job="peer"',
               "--duration=40s")
    own = verdicts(done.stdout, r' of \S+\{job="kepler"\}')
    for name in ("correctness/answers", "correctness/types", "correctness/monotone", "conservation/rows", "node/package"):
        assert own[name] == "pass", (name, own)
    peer = verdicts(done.stdout, r' of \S+\{job="peer"\}')
    assert peer["node/package"] == "pass" and peer["correctness/finite"] == "fail", peer
    pages = int(re.search(r"Kepler in C answered all (\d+) requests", done.stdout)[1])
    assert 15 <= pages <= 21, pages  # a scrape each 2 s
    assert done.returncode == 1, done


def secrets(sensors, prometheus):
    with Guard(prometheus.port) as guard, tempfile.TemporaryDirectory() as folder:
        secret, report = pathlib.Path(folder, "secret"), pathlib.Path(folder, "report")
        secret.touch(0o600)
        secret.write_text(SECRET + "\n")
        selector = '--prometheus.selector=job="kepler"'
        done = run(sensors, f"--prometheus={guard.url}", selector)
        assert done.returncode == 2 and "status 401" in done.stderr, done
        done = run(sensors, f"--prometheus={guard.url}", selector, "--prometheus.user=me")
        assert done.returncode == 2 and "together with" in done.stderr, done
        done = run(sensors, f"--prometheus=http://me:{SECRET}@127.0.0.1/", selector)
        assert done.returncode == 2 and SECRET not in done.stderr, done
        for options in ([f"--prometheus.token-file={secret}"], ["--prometheus.user=me", f"--prometheus.password-file={secret}"]):
            done = run(sensors, f"--prometheus={guard.url}", selector, *options, "--duration=10s", f"--output={report}")
            assert verdicts(done.stdout)["correctness/answers"] == "pass", done
            for path in report.rglob("*"):
                assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
            assert SECRET not in done.stdout + done.stderr, done


with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as lab, \
        Exporter(f"--host.sysfs={lab.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
        PeerServer({"metrics": Kepler(lab, ZONES, {"reused": True})}) as server:
    own_target = exporter.url.removeprefix("http://")
    peer_target = server.url("").removeprefix("http://").rstrip("/")
    with Prometheus(own_target, 2, more=f"{{job_name: peer, static_configs: [{{targets: ['{peer_target}']}}]}}") as real:
        wait_for(real, 2)
        two_targets(lab, real, f"http://127.0.0.1:{real.port}")
        secrets(lab, real)
    assert exporter.stop() == 0
