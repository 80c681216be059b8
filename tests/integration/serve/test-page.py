#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page at "/" in a real browser: values of real load, history, drill-down, many rows; nothing is requested from elsewhere.

With KEPLER_PICTURES=FOLDER it leaves a picture of each state there, to be looked at."""
import http.server
import json
import math
import os
import pathlib
import re
import threading
import time
import urllib.parse

import jsonschema

from browser import Browser
from rig import BUILD, ROOT, Exporter, Sensors, Service, need_root, rapl_zone, run_tests

LOAD = str(BUILD / "tests/lab/load")
NAMES = "[...document.querySelectorAll('#body td.name a')].map(link => link.textContent)"
ROWS = 5000


def picture(browser, name):
    folder = os.environ.get("KEPLER_PICTURES")
    if folder:
        browser.picture(pathlib.Path(folder, name + ".webp"))


def click(browser, name):
    browser.wait(f"{NAMES}.includes({json.dumps(name)})")
    browser.run(f"[...document.querySelectorAll('#body td.name a')].find(link => link.textContent === {json.dumps(name)}).click()")


def has_its_power(browser, name):
    """20 W for each CPU that it uses, whatever share of them it has; both are of one turn of the page."""
    row = f"[...document.querySelectorAll('#body tr')].find(row => row.querySelector('a')?.textContent === {json.dumps(name)})"
    watts, cpu = browser.run(f"['watts span', 'cpu'].map(cell => parseFloat({row}.querySelector('td.' + cell).textContent))")
    return watts > 0 and abs(watts - 20 * cpu / 100) <= 0.1 * watts + 0.1


def check_requests(browser, url):
    """All went to the exporter, and the browser refused none of its own page."""
    assert not browser.logged, browser.logged
    assert browser.requests and all(request.startswith(url) for request in browser.requests), browser.requests


def a_burner_is_found_from_the_node_down():
    zones = rapl_zone("intel-rapl:0", "package-0", 30, busy_watts=20)
    with Sensors(zones) as sensors, Service("kepler-test-page.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", "--idle.mode=fixed", "--idle.watts=package=30") as exporter, \
            Browser() as browser:
        burner = service.run(LOAD, "burn", "120")
        exporter.intervals(2)
        browser.open(exporter.url + "/")
        browser.wait("!document.getElementById('live').hidden")
        assert 30 < browser.run("parseFloat(document.getElementById('total').textContent)") < 30 + 20 * os.cpu_count() + 1
        assert browser.run("document.getElementById('quality').textContent") == "Measured"
        assert browser.run("document.getElementById('plain').hidden")
        assert browser.run("document.getElementById('findings').hidden")  # holders and reservations are unknown here
        # No Kubernetes here, so it begins with the services, unless another test has cgroups of pods.
        if browser.run("location.search") == "?level=namespace":
            owners = browser.run("fetch('/api/v1/now?level=namespace').then(answer => answer.json())"
                                 ".then(page => page.rows.map(row => row.owner))")
            assert set(owners) - {"", "system", "kernel"}, owners
            browser.open(exporter.url + "/?level=container")
        browser.wait(f"{NAMES}.includes('kepler-test-page.service')")
        assert has_its_power(browser, "kepler-test-page.service")
        browser.wait("document.getElementById('facts').textContent.includes('CPU')")
        browser.wait("document.getElementById('legend').textContent.includes('kepler-test-page.service')")
        points = "fetch('/api/v1/history?seconds=300&step=2').then(answer => answer.json()).then(page => page.points)"
        before = browser.run(points)
        browser.wait(f"{points}.then(points => points >= {before} + 2)")
        browser.wait("document.getElementById('graph').getAttribute('aria-label').includes('highest')")
        picture(browser, "light")
        browser.run("document.querySelector('#level button').click()")
        click(browser, "system")
        assert "namespace=system" in browser.run("location.search")
        click(browser, "kepler-test-page.service")
        browser.wait(f"{NAMES}.join() === 'load'")
        path = browser.run("document.getElementById('path').innerText.replace(/\\s+/g, ' ')")
        assert path == "Node system kepler-test-page.service", path
        assert str(burner.pid) in browser.run("document.querySelector('#body td.name small').textContent")
        assert has_its_power(browser, "load")
        at = browser.run("location.href")
        browser.run("document.querySelector('td.why button').click()")
        browser.wait("document.getElementById('why-text').textContent.includes('µJ')")
        picture(browser, "why")
        browser.run("document.getElementById('why').close()")
        browser.run("history.back()")
        browser.wait(f"{NAMES}.includes('kepler-test-page.service')")
        browser.open(at)  # as from a bookmark
        browser.wait(f"{NAMES}.join() === 'load'")
        browser.press("Backspace")
        browser.press("/", "/")
        for letter in "page":
            browser.press(letter, letter)
        browser.wait(f"{NAMES}.join() === 'kepler-test-page.service'")
        assert "q=page" in browser.run("location.search")
        browser.open(exporter.url + "/?level=user")
        browser.wait(f"{NAMES}.includes('root')")
        assert browser.run("document.querySelector('#body td.joules').textContent") == "–"
        browser.open(exporter.url + "/?level=service")
        browser.wait(f"{NAMES}.includes('kepler-test-page.service')")
        check_requests(browser, exporter.url)
        burner.kill()
        burner.wait()
        assert exporter.stop() == 0


def the_policy_lets_nothing_else_run():
    with Exporter() as exporter, Browser() as browser:
        exporter.intervals(1)
        status, head, body = exporter.get("/", headers={"Accept-Encoding": "gzip"})
        policy = head["Content-Security-Policy"]
        assert status == 200 and head["Content-Encoding"] == "gzip" and len(body) > 20000
        assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy, policy
        assert "http" not in body.decode(), "an external resource"
        assert "unsafe-inline" in exporter.get("/metrics")[1]["Content-Security-Policy"]
        browser.open(exporter.url + "/")
        browser.wait("!document.getElementById('live').hidden")
        check_requests(browser, exporter.url)
        browser.run("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }))")
        assert browser.run("window.ran === undefined")
        browser.run("fetch('http://127.0.0.2:1/').catch(() => 0)")
        browser.run("1")
        assert any("Content Security Policy" in text for text in browser.logged), browser.logged
        assert exporter.stop() == 0


# Invented owners, each with its mean power in W.
OWNERS = [("etl-runner", "analytics/etl-5b7c9", 31.4), ("web", "shop/checkout-7d9f", 22.8), ("db", "shop/orders-db-0", 14.6),
          ("search", "shop/search-66fd", 9.7), ("kubelet.service", "", 4.3), ("proxy", "ingress/gateway-2xk8", 3.1)]
IDLE, OTHER, UNATTRIBUTED = 26.0, 2.4, 0.3


def owner_text(name, pod):
    return f"{name} in {pod}" if pod else name


def history_page(steps, step):
    """With a gap after a third of it."""
    end = int(time.time())

    def series(watts, i, swing):
        waves = [1 + swing * math.sin(at / 9 + 2 * i) + swing / 3 * math.sin(at * (1.3 + i)) for at in range(steps)]
        values = [None if steps // 3 <= at < steps // 3 + 4 else watts * wave for at, wave in enumerate(waves)]
        return {"joules": [None if value is None else value * step for value in values], "watts": values}
    return {"start": end - steps * step, "end": end, "step": step, "first": end // step - steps, "points": steps,
            "left_out_zones": 0, "total": series(114, 0, 0), "estimated": series(114, 0, 0), "zones": [],
            "other": series(OTHER, 7, .2), "idle": series(IDLE, 0, 0), "unattributed": series(UNATTRIBUTED, 0, 0),
            "owners": [{"owner": owner_text(name, pod), "namespace": namespace_of(pod), "pod": pod,
                        **series(watts, i, .3)} for i, (name, pod, watts) in enumerate(OWNERS, 1)]}


def namespace_of(pod):
    return pod.partition("/")[0] or "system"


def row(owner, watts, **names):
    return {"pid": None, "command": "", "owner": owner, "cpu_percent": watts * 5.3, "watts": watts, "joules": watts * 8000, **names}


def rows_of(level):
    if level == "process":  # all of one container
        name, pod, _ = OWNERS[0]
        of = {"container": owner_text(name, pod), "pod": pod, "namespace": namespace_of(pod)}
        return [row(pod, (ROWS - i) / ROWS, **of) | {"pid": 1000 + i, "command": f"worker-{i}"} for i in range(ROWS)]
    if level == "container":
        return [row(owner_text(name, pod), watts, **({"pod": pod} if pod else {}), namespace=namespace_of(pod))
                for name, pod, watts in OWNERS]
    sums = {}
    for _, pod, watts in OWNERS:
        name = namespace_of(pod) if level == "namespace" else pod
        if name and level != "vm":
            sums[name] = sums.get(name, 0) + watts
    return [row(name, watts) for name, watts in sorted(sums.items(), key=lambda item: -item[1])]


def now_page(level):
    rows = rows_of(level)
    rows.append({"pid": None, "command": "other", "owner": "", "cpu_percent": 11.2, "watts": OTHER, "joules": 20000.5})
    total = sum(row["watts"] for row in rows) + IDLE + UNATTRIBUTED
    return {"time": time.time(), "node": "node-7.example.org", "version": "0.1.0", "total_watts": total, "error_watts": total / 20,
            "estimated": True, "idle_watts": IDLE, "idle_provisional": False, "unattributed_watts": UNATTRIBUTED,
            "parts": [{"zone": zone, "rest": rest, "quality": "estimated", "watts": total * part}
                      for zone, rest, part in (("package", False, .62), ("dram", False, .11), ("platform", True, .27))],
            "zones": [], "exporter": {"pid": 7, "cpu_percent": 0.21, "watts": 0.04, "joules": 3.2}, "complete": True,
            "level": level, "left_out": 0, "rows": rows}


FINDINGS = {"time": 1.5, "node": "node-7.example.org", "least_seconds": 600, "left_out": 0, "findings": [
    {"kind": "gpu_held", "owner": "notebook in lab/notebook-7c4f", "namespace": "lab", "pod": "notebook-7c4f", "seconds": 93780,
     "device": 3, "package": "GPU-7f3a", "device_watts": 61.5},
    {"kind": "cpu_reserved", "owner": "<b>report</b> in shop/report-0", "namespace": "shop", "pod": "report-0", "seconds": 5400,
     "reserved_cpus": 16},
    {"kind": "of a later version", "owner": "", "namespace": "", "pod": "", "seconds": 700}]}


class Crowd(http.server.ThreadingHTTPServer):
    """The page of an exporter, with invented answers about many processes."""
    daemon_threads = True

    def __init__(self, page, policy):
        crowd, self.findings = self, FINDINGS

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                arguments = dict(urllib.parse.parse_qsl(query))
                if path == "/":
                    body = page
                elif path == "/api/v1/now":
                    body = json.dumps(now_page(arguments["level"])).encode()
                elif path == "/api/v1/findings":
                    body = json.dumps(crowd.findings).encode()
                else:
                    step = int(arguments["step"])
                    body = json.dumps(history_page(int(arguments["seconds"]) // step, step)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8" if path == "/" else "application/json")
                self.send_header("Content-Security-Policy", policy)
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


def five_thousand_rows_are_a_few_elements():
    with Exporter() as exporter:
        exporter.intervals(1)
        _, head, page = exporter.get("/")
        assert exporter.stop() == 0
    with Crowd(page, head["Content-Security-Policy"]) as crowd, Browser() as browser:
        browser.open(crowd.url + "/?level=process")
        browser.wait(f"document.getElementById('table').getAttribute('aria-rowcount') === '{ROWS + 1}'")
        assert browser.run("document.getElementById('quality').textContent") == "Estimated, ±\u00a0126\u00a0W (90\u00a0%)"
        assert browser.run("document.querySelector('td.watts span').textContent").startswith("~")
        count = "document.querySelectorAll('#body tr').length"
        assert browser.run(count) < 100
        browser.wait("document.querySelectorAll('#legend li').length >= 7")
        browser.wait("document.getElementById('past-title').textContent === 'History, estimated'")
        browser.run("document.getElementById('graph').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft' }))")
        assert browser.run("document.getElementById('reading').textContent").count("~") == 4  # the total and the three largest
        browser.wait("document.querySelectorAll('#unused li').length === 2")
        schema = json.loads((ROOT / "docs/findings.schema.json").read_text())
        jsonschema.validate({**FINDINGS, "findings": FINDINGS["findings"][:2]}, schema)
        assert browser.run("[...document.querySelectorAll('#unused li')].map(item => item.textContent).join('; ')") == \
            "notebook in lab/notebook-7c4f has held GPU 3 without use for 26 h 3 min; it draws 61.5 W; " \
            "<b>report</b> in shop/report-0 has reserved 16 CPUs without work for 1 h 30 min"
        picture(browser, "crowd")
        for part in (.5, 1, .25):
            browser.run(f"scrollTo(0, document.documentElement.scrollHeight * {part})")
            # The rows on the screen are there, whatever is above and below them.
            on_screen = "document.elementFromPoint(300, innerHeight * .4)?.closest('tr[aria-rowindex]')"
            browser.wait(f"{count} < 100 && {on_screen} !== null")
        browser.run("scrollTo(0, document.documentElement.scrollHeight)")
        browser.wait(f"{NAMES}.at(-1) === 'everything else'")
        browser.run("document.querySelector('#body tr:nth-last-child(5) button').focus()")
        at = int(browser.run("document.activeElement.closest('tr').getAttribute('aria-rowindex')"))
        for _ in range(40):
            browser.press("ArrowUp")
        now_at = int(browser.run("document.activeElement.closest('tr').getAttribute('aria-rowindex')"))
        assert now_at == at - 40, (at, now_at)
        browser.look(390, 844, phone=True)
        browser.run("scrollTo(0, 0)")
        browser.wait("document.documentElement.scrollWidth <= innerWidth && innerWidth === 390")
        picture(browser, "phone")
        browser.look(1280, 900, dark=True)
        browser.wait("getComputedStyle(document.body).backgroundColor === 'rgb(16, 20, 24)'")
        browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture(browser, "dark")
        browser.look(1060, 640)  # docs/page.webp, without the owner that tries to be an element
        crowd.findings = json.loads(re.sub("</?b>", "", json.dumps(FINDINGS)))
        browser.open(crowd.url + "/?level=container")
        browser.wait("document.querySelectorAll('#legend li').length >= 7")
        picture(browser, "page")
        check_requests(browser, crowd.url)


def a_pod_is_found_from_its_namespace():
    with Exporter() as exporter:
        exporter.intervals(1)
        _, head, page = exporter.get("/")
        assert exporter.stop() == 0
    with Crowd(page, head["Content-Security-Policy"]) as crowd, Browser() as browser:
        browser.open(crowd.url + "/")
        click(browser, "shop")  # with Kubernetes, it begins with the namespaces
        browser.wait(f"{NAMES}.join() === 'shop/checkout-7d9f,shop/orders-db-0,shop/search-66fd'")
        click(browser, "shop/search-66fd")
        browser.wait(f"{NAMES}.join() === 'search in shop/search-66fd'")
        browser.press("Backspace")
        browser.press("Backspace")
        for name in ("analytics", "analytics/etl-5b7c9", "etl-runner in analytics/etl-5b7c9"):
            click(browser, name)
        browser.wait(f"document.getElementById('sum').textContent.startsWith('{ROWS:,} rows')")
        path = browser.run("document.getElementById('path').innerText.replace(/\\s+/g, ' ')")
        assert path == "Node analytics etl-5b7c9 etl-runner", path
        browser.run("[...document.querySelectorAll('#path a')].at(-1).click()")
        browser.wait(f"{NAMES}.join() === 'etl-runner in analytics/etl-5b7c9'")
        browser.run("[...document.querySelectorAll('#head button')].find(button => button.textContent === 'Name').click()")
        browser.wait("document.querySelector('th.name').getAttribute('aria-sort') === 'ascending'")
        check_requests(browser, crowd.url)


def without_a_script_it_is_a_page():
    with Exporter() as exporter:
        exporter.intervals(1)
        page = exporter.get("/")[2].decode()
        plain = page[page.index('<div id="plain">'):page.index('<script type="module">')]
        for link in ("/metrics", "/api/v1/now", "/healthz", "/readyz"):
            assert f'href="{link}"' in plain, plain
        assert re.search(r"<strong class=\"w\">[0-9~]", plain) and "Sources of power" in plain, plain
        assert exporter.stop() == 0


if __name__ == "__main__":
    need_root()
    run_tests([a_burner_is_found_from_the_node_down, the_policy_lets_nothing_else_run, five_thousand_rows_are_a_few_elements,
               a_pod_is_found_from_its_namespace, without_a_script_it_is_a_page])
