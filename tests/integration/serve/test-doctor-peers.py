#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of receivers, which it asks the running exporter about, and of rates: value, source, age, what is wrong."""
import json
import os
import pathlib
import subprocess
import tempfile
import time

from remote_write_rig import Receiver
from rig import KEPLER, Exporter, Sensors, rapl_zone, run_tests


def findings(*options):
    """(level, text, fix) of each finding of the two topics."""
    done = subprocess.run([KEPLER, "doctor", "--json", "--config.file=/dev/null", "--host.state-dir=", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    answer = json.loads(done.stdout)
    return {topic: [(each["level"], each["text"], each.get("fix", "")) for each in answer["findings"] if each["topic"] == topic]
            for topic in ("receivers", "rates")}


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def receivers_of_the_exporter():
    def answer(_, handler, version, series):
        if handler.headers.get("X-Key"):
            handler.take(series)
        else:
            handler.answer(403, b"no key")

    with Sensors(rapl_zone(0, "package-0", 20)) as tree, Receiver(answer) as receiver, tempfile.TemporaryDirectory() as folder:
        socket = f"--local.socket={folder}/socket"
        common = [f"--host.sysfs={tree.mount}", "--remote-write.interval=1s", f"--remote-write.url={receiver.url}", socket]
        with Exporter(*common) as exporter:
            wait_for(lambda: exporter.scrape().sum("kepler_exporter_send_dropped_samples_total", reason="refused"))
            (level, text, fix), = findings(socket, f"--remote-write.url={receiver.url}")["receivers"]
            assert level == "fix" and text.startswith(f"{receiver.url}: 0 samples were accepted by remote write"), text
            assert " refused" in text and "HTTP 403: no key" in text and "token file" in fix, (text, fix)
        with Exporter(*common, "--remote-write.headers=X-Key=1") as exporter:
            wait_for(lambda: exporter.scrape().sum("kepler_exporter_send_samples_total"))
            (level, text, fix), = findings(socket, f"--remote-write.url={receiver.url}")["receivers"]
            assert level == "ok" and "by remote write 2.0, the last" in text and text.endswith("none was lost"), text
            assert not text.startswith(f"{receiver.url}: 0 samples"), text
            # One that the exporter does not have is tried.
            requests = len(receiver.requests)
            (_, text, fix), = findings(socket, f"--remote-write.url={receiver.url}/other")["receivers"][1:]
            assert "HTTP 403" in text and "--remote-write.url" in fix, (text, fix)
            assert any(not series for _, series, _ in receiver.requests[requests:]), "a request without data"


def receivers_without_an_exporter():
    with Receiver(lambda receiver, handler, version, series: handler.take(series)) as receiver:
        (level, text, _), = findings("--local.socket=", f"--remote-write.url={receiver.url}")["receivers"]
        assert (level, text) == ("ok", f"{receiver.url.removesuffix('/api/v1/write')} accepts remote write"), text
        assert all(not series for _, series, _ in receiver.requests)
        gone = receiver.url
    (level, text, fix), = findings("--local.socket=", f"--remote-write.url={gone}")["receivers"]
    assert level == "fix" and "no metrics can be pushed" in text and fix, (text, fix)


def rates_and_what_is_wrong_with_them():
    assert findings("--local.socket=")["rates"] == []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "carbon")
        file.write_text("312\n")
        os.utime(file, (time.time() - 600,) * 2)
        options = ["--local.socket=", f"--carbon.file={file}", "--price.per-kwh=0.31", "--price.currency=EUR", "--site.pue=1.3"]
        assert findings(*options)["rates"] == [
            ("ok", "the price of a kilowatt-hour is 0.31 EUR, from price.per-kwh", ""),
            ("ok", f"the carbon intensity is 312 g/kWh (average), from {file}, 10 min old", ""),
            ("ok", "the power usage effectiveness is 1.3, from site.pue", "")]
        os.utime(file, (time.time() - 4 * 3600,) * 2)
        _, (level, text, fix), _ = findings(*options)["rates"]
        assert level == "fix" and text.endswith("is 4.0 h old, more than carbon.max-age (3 h): it is absent"), text
        assert "--carbon.max-age" in fix, fix
        file.write_text("12 g\n")
        _, (level, text, fix), _ = findings(*options)["rates"]
        assert level == "fix" and f"cannot be read (carbon.file): {file}: line 1" in text, text
    (level, text, fix), = findings("--local.socket=", "--price.url=http://127.0.0.1:1/?key=secret", "--price.currency=EUR",
                                   "--price.path=a")["rates"]
    assert level == "fix" and "(price.url): http://127.0.0.1:1: " in text and "secret" not in text and "--price.path" in fix, text


run_tests([receivers_of_the_exporter, receivers_without_an_exporter, rates_and_what_is_wrong_with_them], at_once=3)
