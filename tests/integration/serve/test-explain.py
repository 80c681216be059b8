#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler explain`: its account of an interval is the rise of the counters, to the µJ; which users it answers, and when."""
import concurrent.futures
import http.server
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

from rig import BUILD, Exporter, Metrics, Sensors, Service, need_root, rapl_zone, release_binary, run_tests, snapshots_of

LOAD = str(BUILD / "tests/lab/load")
OPTIONS = ("--metrics.settle=0s", "--metrics.process.min-joules=0", "--idle.mode=fixed", "--idle.watts=package=12",
           "--idle.share=usage")
UNREACHABLE = 3


def explain(address, *words, status=0):
    done = subprocess.run([str(release_binary()), "explain", *words, "--config.file=/dev/null", f"--web.listen-address={address}"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, (words, done)
    return done.stdout if status == 0 else done.stdout + done.stderr


def address_of(exporter):
    return exporter.url.removeprefix("http://")


def explained(exporter, target):
    return json.loads(explain(address_of(exporter), target, "--json"))


def sums(zone):
    """The sum law of one zone, and what the arithmetic gives beside what was charged."""
    assert zone["flow"] == "counted", zone
    assert sum(zone[mode]["energy_uj"] for mode in ("dynamic", "idle")) + zone["asleep_uj"] == zone["energy_uj"], zone
    for mode in (zone["dynamic"], zone["idle"]):
        assert mode["named_uj"] + sum(mode["unattributed_uj"].values()) == mode["energy_uj"], zone
        exact = mode["named_uj"] * mode["weight"] // mode["named_weight"] if mode["named_weight"] else 0
        assert abs(mode["charged_uj"] - exact) <= mode["parties"], zone


def shown_uj(metrics, answer, zone, mode):
    """Of a kind of zone, of which rows have one sum over both sockets."""
    labels = {"container_id": answer["names"]["container_id"]}
    if answer["level"] == "process":  # on a busy machine, what it was until it joined its service and was executed has series, too
        labels |= {"pid": str(answer["pid"]), "command": "load"}
    return round(metrics.value(f"kepler_{answer['level']}_{zone}_joules_total", mode=mode, **labels) * 10**6)


def what_the_counters_rose_by():
    """A process and its service, in each zone and mode, between the scrapes around the interval that is explained."""
    zones = [*rapl_zone("intel-rapl:0", "package-0", 45), *rapl_zone("intel-rapl:1", "package-1", 20)]
    with Sensors(zones) as sensors, Service("kepler-test-explain.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS, binary=release_binary()) as exporter:
        exporter.intervals(1)
        burner = service.run(LOAD, "burn", "600")
        exporter.intervals(2)
        for target in (str(burner.pid), "kepler-test-explain"):
            pages = {snapshots_of(page): page for page in [exporter.page()]}
            with concurrent.futures.ThreadPoolExecutor() as pool:
                asked = pool.submit(explained, exporter, target)
                while not asked.done() or max(pages) < asked.result()["snapshot"]:
                    page = exporter.page()  # parsed afterwards, which may take longer than an interval
                    pages[snapshots_of(page)] = page
                    time.sleep(0.02)
            answer = asked.result()
            before, after = (Metrics(pages[number]) for number in (answer["snapshot"] - 1, answer["snapshot"]))
            assert not after.imbalance_uj()
            for zone in answer["zones"]:
                sums(zone)
            total, = answer["totals"]
            assert total["zone"] == "package" and total["zones"] == len(answer["zones"]) == 2, total
            for mode in ("dynamic", "idle"):
                rise = shown_uj(after, answer, "package", mode) - shown_uj(before, answer, "package", mode)
                assert rise == sum(zone[mode]["charged_uj"] for zone in answer["zones"]) > 0, (target, answer, rise)
                assert shown_uj(after, answer, "package", mode) == total[mode]["shown_uj"], (target, total)
        text = explain(address_of(exporter), str(burner.pid))
        assert f"process {burner.pid} (load)" in text and "kepler-test-explain.service" in text and " µJ × " in text, text
        assert all(len(line) <= 80 for line in text.splitlines()), text
        burner.kill()
        burner.wait()
        exporter.intervals(2)
        text = explain(address_of(exporter), str(burner.pid))
        assert "has ended" in text and "--metrics.keep" in text, text
        assert exporter.stop() == 0


def two_ask_and_a_scrape_does_not_wait():
    """With an interval of 3 s: both answers are of the same one, and scrapes meanwhile take no longer than ever."""
    with Exporter("--monitor.interval=3s", binary=release_binary()) as exporter:
        exporter.intervals(1)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(explained, exporter, target) for target in ("kernel_processes", "namespace:system")]
            slowest = 0
            while not all(question.done() for question in asked):
                began = time.monotonic()
                exporter.scrape()
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.05)
        answers = [question.result() for question in asked]
        assert answers[0]["snapshot"] == answers[1]["snapshot"] and slowest < 2, (slowest, answers)
        assert exporter.stop() == 0


def what_is_not_there():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        said = explain(address, "1", status=UNREACHABLE)
        assert "no exporter responds" in said and said.count(address) == 1, said
    assert "usage:" in explain(address, status=2)
    with Exporter(binary=release_binary()) as exporter:
        exporter.intervals(1)
        assert "kernel_processes" in explain(address_of(exporter), "ernel_process", status=1)  # near it
        full = [str(release_binary()), "explain", "kernel_processes", f"--web.listen-address={address_of(exporter)}"]
        with open("/dev/full", "w", encoding="ascii") as out:
            assert subprocess.run(full, stdout=out, timeout=60, check=False).returncode == UNREACHABLE
        assert json.loads(explain(address_of(exporter), "nosuch", "--json", status=1))["result"] == "not_found"
        assert exporter.get("/explain/")[0] == exporter.get("/explain/%zz")[0] == exporter.get("/explain/" + "a" * 300)[0] == 400
        assert exporter.stop() == 0


class Other(http.server.BaseHTTPRequestHandler):
    """A program in Kepler's place, which gives its next answer, or its last again."""
    answers = []

    def do_GET(self):
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status in (202, 503):
            self.send_header("Retry-After", "10")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


def told_by(target, answers, status):
    Other.answers = answers
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        began = time.monotonic()
        text = explain(f"127.0.0.1:{other.server_port}", target, status=status)
        other.shutdown()
    return text, time.monotonic() - began


def what_others_say():
    """A page that is no explanation, an exporter that hangs, and one that has too many questions."""
    for target in ("404", "1", "<html>"):
        text, _ = told_by(target, [(404, "404: there is no such page; try /metrics\n")], UNREACHABLE)
        assert "older Kepler" in text, text
    text, _ = told_by("404", [(404, "404: not found. Processes are known\n")], 1)
    assert text.startswith("404: not found"), text
    text, took = told_by("1", [(503, "the measuring loop has hung for 40 s\n")], UNREACHABLE)
    assert "hung" in text and "end of the exporter's interval" not in text and took < 5, (text, took)
    text, took = told_by("1", [(503, "503: too many questions at once, try again\n"), (202, "later\n"), (200, "process 1\n")], 0)
    assert text == "process 1\n" and took < 10, (text, took)


def bounded():
    """More questions than there is room for are told to come again; the loop answers the others."""
    with Exporter("--monitor.interval=5s", binary=release_binary()) as exporter:
        exporter.wait_snapshot(0)
        answers = [exporter.get(f"/explain/{pid}") for pid in range(1, 50)]
        assert {status for status, _, _ in answers} == {202, 503}, answers
        assert sum(status == 202 for status, _, _ in answers) == 8 and all(head["Retry-After"] for _, head, _ in answers)
        assert exporter.stop() == 0


def on_this_machine_alone():
    """By a unix socket, too."""
    with tempfile.TemporaryDirectory() as directory:
        address = f"unix:{directory}/kepler.sock"
        with Exporter(f"--web.listen-address={address}", binary=release_binary(), wait=False) as exporter:
            while not pathlib.Path(directory, "kepler.sock").exists():
                time.sleep(0.02)
            assert "kernel_processes" in explain(address, "kernel_processes")
            assert exporter.stop() == 0


IN_NAMESPACE = "ip link set lo up && ip addr add 198.51.100.1/32 dev lo && ip addr add 198.51.100.2/32 dev lo && exec \"$@\""


ASK = """import http.client, sys
peer = http.client.HTTPConnection("198.51.100.1", 28999, timeout=10, source_address=(sys.argv[1], 0))
peer.request("GET", sys.argv[2])
print(peer.getresponse().status)"""


def others_are_refused():
    """A peer at another address has /healthz and no /explain: two addresses in a network namespace of their own."""
    need_root()
    with Exporter("--web.listen-address=198.51.100.1:28999", binary=release_binary(),
                  prefix=("unshare", "--net", "sh", "-c", IN_NAMESPACE, "sh")) as exporter:
        for source, path, want in (("198.51.100.2", "/explain/1", 403), ("198.51.100.2", "/healthz", 200),
                                   ("198.51.100.1", "/explain/1", 202), ("127.0.0.1", "/explain/2", 202)):
            done = subprocess.run(["nsenter", "-t", str(exporter.process.pid), "--net", sys.executable, "-c", ASK, source, path],
                                  capture_output=True, text=True, check=True)
            assert int(done.stdout) == want, (source, path, done.stdout)
        assert exporter.stop() == 0


run_tests([what_the_counters_rose_by, two_ask_and_a_scrape_does_not_wait, what_is_not_there, what_others_say, bounded,
           on_this_machine_alone, others_are_refused])
