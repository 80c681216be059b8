#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` over the real exporter and meters with a known law: what is right passes, and an exporter whose pages are
changed on their way fails with its cause.

One run judges the exporter itself and all changed ones side by side. Other work on this machine may make the energy of the load
inconclusive; nothing else depends on it.
"""
import http.server
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

from rig import BUILD, Exporter, Sensors, Service, only_load_of_a_validator, rapl_zone

VALIDATOR = BUILD / "kepler-validator"
RANGE_UJ = 262143328850
PACKAGE = "class/powercap/intel-rapl:0/energy_uj"
DRAM_LINK = "class/powercap/intel-rapl:0:0 link intel-rapl:0/intel-rapl:0:0"
SAMPLE = re.compile(r"^(\w+)(\{.*\})? (\S+)$", re.MULTILINE)


def scaled(page, name, factor):
    """All values of the metrics with a name that matches are multiplied."""
    pattern = re.compile(name)

    def change(match):
        if not pattern.fullmatch(match[1]):
            return match[0]
        return f"{match[1]}{match[2] or ''} {float(match[3]) * factor:.9f}"
    return SAMPLE.sub(change, page)


def without_container(page):
    """The container with the most energy is gone."""
    rows = re.findall(r'^(kepler_container_package_joules_total\{container_id="([^"]*)".*) (\S+)$', page, re.MULTILINE)
    most = max(rows, key=lambda row: float(row[2]))[1]
    return "\n".join(line for line in page.split("\n")
                     if not (line.startswith("kepler_container_") and f'container_id="{most}"' in line))


CHANGES = {
    "two-thirds": lambda page: scaled(page, r"kepler_.*_joules_total|kepler_pending_joules", 2 / 3),
    "doubled": lambda page: scaled(page, "kepler_node_package_joules_total", 2),
    "lost": without_container,
    "milliseconds": lambda page: scaled(page, r"kepler_\w+_bpf_cpu_time_ms_total", 1e-3),
    "gauge": lambda page: page.replace("kepler_node_dram_joules_total counter", "kepler_node_dram_joules_total gauge"),
    "no-dram": lambda page: re.sub(r"kepler_(\w+)_dram_joules_total", r"kepler_\1_memory_joules_total", page),
    "malformed": lambda page: page + 'kepler_node_package_joules_total{mode="dynamic} 1\n',
}


# These are for an exporter with the current names alone.
CURRENT_CHANGES = {"fewer": lambda page: scaled(page, "kepler_process_cpu_joules_total", 2 / 3)}


class Proxy(http.server.ThreadingHTTPServer):
    """Hands out the exporter's page, changed as the path says; the path "hang" gets no answer."""
    daemon_threads = True

    def __init__(self, url):
        self.ends = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                change = self.path.strip("/")
                if change == "hang":
                    self.server.ends.wait()
                    return
                with urllib.request.urlopen(url + "/metrics", timeout=10) as answer:
                    page = {**CHANGES, **CURRENT_CHANGES}[change](answer.read().decode()).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *args):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, change):
        return f"http://127.0.0.1:{self.server_address[1]}/{change}"

    def __exit__(self, *exc):
        self.ends.set()
        self.shutdown()
        self.server_close()


def run_exporter(sensors, *options):
    return Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s", *options)


def validator(*args):
    return [str(VALIDATOR), "run", *args]


def results(output):
    """(exporter, name) → (verdict, cause, reason)."""
    found = re.findall(r"^(pass|fail|inconclusive|not applicable) +(\S+/[^:(]*?)(?: \((\w+)\))?(?: of (\S+))?: (.*)$", output,
                       re.MULTILINE)
    return {(url, name): (verdict, cause, reason) for verdict, name, cause, url, reason in found}


# The reason where other work keeps all CPUs busy, so that the power is the same with a load and without.
FULL = "phases differ too little in power"


def check_own(own):
    for name in ("node/package", "correctness/answers", "correctness/types", "correctness/monotone", "conservation/rows",
                 "correctness/cpu-time"):
        assert own[name][0] == "pass" or FULL in own[name][2], (name, own[name])
    for name, (verdict, _, reason) in own.items():
        assert verdict != "fail", (name, reason)
        assert verdict != "inconclusive" or re.search("busy|drifted|Other work|" + FULL, reason), (name, reason)


def check_changed(found):
    assert found["two-thirds"]["node/package"][:2] == ("fail", "scale"), found["two-thirds"]
    assert found["two-thirds"]["node/dram"][0] == "fail", found["two-thirds"]  # steady: scale and offset look alike
    assert found["doubled"]["node/package"][:2] == ("fail", "scale"), found["doubled"]
    assert "counted twice" in found["doubled"]["node/package"][2], found["doubled"]
    assert found["doubled"]["regression/package"][0] == "fail", found["doubled"]
    assert found["gauge"]["regression/package"][0] == "pass", found["gauge"]
    assert found["doubled"]["conservation/rows"][0] == "fail", found["doubled"]
    assert found["lost"]["conservation/rows"][0] == "fail", found["lost"]
    assert "level container" in found["lost"]["conservation/rows"][2], found["lost"]
    assert found["milliseconds"]["correctness/cpu-time"][:2] == ("fail", "scale"), found["milliseconds"]
    assert "0.00" in found["milliseconds"]["correctness/cpu-time"][2], found["milliseconds"]
    assert found["gauge"]["correctness/types"][0] == "fail", found["gauge"]
    assert found["no-dram"]["node/dram"][0] == "fail" and "no series" in found["no-dram"]["node/dram"][2], found["no-dram"]
    assert found["malformed"]["correctness/answers"][0] == "fail", found["malformed"]
    assert "line " in found["malformed"]["correctness/answers"][2], found["malformed"]


def judge(sensors, *args):
    done = subprocess.run(validator(*args, f"--host.sysfs={sensors.mount}", "--step=250ms"), text=True, capture_output=True,
                          check=False, timeout=200)
    print(done.stdout, done.stderr)
    return done.returncode, done.stdout


class Steps(threading.Thread):
    """The package's power changes every three seconds, as nothing else does on this machine."""

    def __init__(self, sensors):
        super().__init__(daemon=True)
        self.sensors, self.ends = sensors, threading.Event()

    def run(self):
        for watts in itertools.cycle((20, 70, 45, 10, 60, 30, 50)):
            self.sensors.control(f"{PACKAGE} power {watts * 1000000}")
            if self.ends.wait(3):
                break

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.ends.set()
        self.join()


def changed_pages():
    zones = rapl_zone("intel-rapl:0", "package-0", 20, max_uj=RANGE_UJ, start_uj=RANGE_UJ - 300_000_000)
    zones += rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0") + [DRAM_LINK]
    with Sensors(zones) as sensors, Steps(sensors), run_exporter(sensors) as exporter, Proxy(exporter.url) as proxy:
        exporter.intervals(2)
        urls = [exporter.url + "/metrics", *map(proxy.url, CHANGES)]
        status, output = judge(sensors, "--scenario=node", "--duration=24s", *(f"--exporter={url}" for url in urls))
        found = {}
        for (url, name), result in results(output).items():
            found.setdefault(url.rpartition("/")[2], {})[name] = result
        check_own(found["metrics"])
        check_changed(found)
        assert status == 1, status
        assert exporter.stop() == 0


def current_names():
    """Energy that the rows show later, which the page states, is not missing; a third of the processes' is."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
            run_exporter(sensors, "--metrics.schema=current", "--metrics.settle=15s") as exporter, Proxy(exporter.url) as proxy:
        exporter.intervals(2)
        # One burst of 4 s cannot show that the node's energy is right to 5 %.
        status, output = judge(sensors, f"--exporter={exporter.url}/metrics", f"--exporter={proxy.url('fewer')}",
                               "--scenario=short-lived", "--duration=12s", "--max-error=10%")
        found = {}
        for (url, name), result in results(output).items():
            found.setdefault(url.rpartition("/")[2], {})[name] = result
        for name in ("node/package", "correctness/types", "correctness/monotone", "conservation/rows"):
            assert found["metrics"][name][0] == "pass", (name, found["metrics"][name])
        # The load's own series is new, and shows 0 for longer than the phases take; the run waits for it, if not for the node's
        # energy, which a busy machine leaves undecided for as long.
        assert not [name for name, (verdict, _, _) in found["metrics"].items() if verdict == "fail"], found["metrics"]
        waited_for = output.partition("The phase was")[2].partition("\n")[0]
        assert "a new series as 0 for 15 s" in waited_for or "node/package" in waited_for, output
        reason = found["metrics"]["container/package/short-lived"][2]
        assert reason.startswith(("The load was charged", "The machine", "Other")), output
        verdict, _, reason = found["fewer"]["conservation/rows"]
        assert verdict == "fail" and "of active energy" in reason, (verdict, reason)
        assert status == 1, status
        assert exporter.stop() == 0


def loads():
    """With loads, and a package whose power follows what runs."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, run_exporter(sensors) as exporter, \
            Proxy(exporter.url) as proxy:
        exporter.intervals(2)
        with tempfile.TemporaryDirectory() as folder:
            status, output = judge(sensors, f"--exporter={exporter.url}/metrics", "--scenario=quick", "--duration=30s",
                                   f"--output={folder}")
            report = json.loads(pathlib.Path(folder, "report.json").read_text())
            assert any(result["name"] == "node/package" and
                       (result["verdict"] == "pass" or FULL in result["reason"]) for result in report["results"]), report
            assert pathlib.Path(folder, "report.html").exists()
        own = {name: result for (_, name), result in results(output).items()}
        check_own(own)
        for phase in ("half", "short-lived"):
            assert re.search(rf"^Load in {phase}: [1-9]\d* chunks of work, \d+\.\d+ s of CPU time", output, re.MULTILINE), output
        assert {"process/package/half", "container/package/half", "container/package/short-lived"} <= own.keys(), own
        assert status == (3 if any(verdict == "inconclusive" for verdict, _, _ in own.values()) else 0), status
        no_truth_and_an_end(exporter, proxy)
        assert exporter.stop() == 0


def no_truth_and_an_end(exporter, proxy):
    """Without a meter it says so; a hanging exporter is one that does not answer; SIGINT ends the run with what there is, and the
    load's cgroups are gone."""
    process = subprocess.Popen(validator(f"--exporter={exporter.url}/metrics", f"--exporter={proxy.url('hang')}", "--truth=none",
                                         "--timeout=100ms", "--step=250ms", "--scenario=short-lived", "--duration=12s"),
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("Plan, 12 s")
    deadline = time.monotonic() + 60
    while not list(pathlib.Path("/sys/fs/cgroup").glob("**/kepler-validator-load.service")) and time.monotonic() < deadline:
        time.sleep(0.05)
    exporter.intervals(3)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    print(output)
    assert re.search(r"^inconclusive +run/complete: The run was interrupted in phase \d of 3\.", output, re.MULTILINE), output
    assert "so only what must always hold is judged" in output, output
    assert re.search(r"^fail +correctness/answers of \S+/hang", output, re.MULTILINE), output
    assert process.returncode == 1, process.returncode
    assert not list(pathlib.Path("/sys/fs/cgroup").glob("**/kepler-validator-load.service"))


def no_load():
    """A load that cannot be started is not a verdict on the exporter: status 2, with the reason."""
    with Service("kepler-test-no-load.service") as service:
        service.limit_pids(1)
        # The search for leaks at the end needs a thread, too.
        done = subprocess.run(validator("--exporter=http://127.0.0.1:1/", "--truth=none", "--scenario=churn", "--duration=10s"),
                              preexec_fn=service.join, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}, text=True,
                              capture_output=True, check=False, timeout=60)
    print(done.stdout, done.stderr)
    assert "phase churn: its load cannot be started" in done.stderr, done.stderr
    assert done.returncode == 2, done.returncode


def what_is_said_before_a_run():
    """A folder that cannot be written is found before the run; --full is a plan of 40 minutes unless its length is given."""
    done = subprocess.run(validator("--full", "--output=/proc/none"), text=True, capture_output=True, check=False, timeout=20)
    assert done.returncode == 2 and not done.stdout and "/proc/none cannot be written" in done.stderr, done
    done = subprocess.run(validator("--full", "--quick"), text=True, capture_output=True, check=False, timeout=20)
    assert done.returncode == 2 and "cannot be given together" in done.stderr, done
    done = subprocess.run(validator("--exporter=http://me:secret@localhost/"), text=True, capture_output=True, check=False,
                          timeout=20)
    assert done.returncode == 2 and "must not contain a user" in done.stderr and "secret" not in done.stderr, done
    for options, plan in ((["--full"], "Plan, 2400 s:"), (["--full", "--duration=10m"], "Plan, 600 s:"),
                          (["--quick"], "Plan, 180 s:")):
        with subprocess.Popen(validator("--truth=none", "--exporter=http://127.0.0.1:1/", *options), stdout=subprocess.PIPE,
                              text=True) as process:
            lines = [process.stdout.readline().rstrip() for _ in range(3)]
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        assert lines[0] == plan and "before (no load)" in lines[1], lines
        assert ("25 %" in lines[2]) == ("--full" in options), lines


changed_pages()
with only_load_of_a_validator():
    current_names()
    loads()
    no_load()
    what_is_said_before_a_run()
