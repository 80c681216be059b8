#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics in files: the same series and values as the page, whole lines, rotation, a disk that is full."""
import csv
import json
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

from rig import KEPLER, Exporter, Sensors, need_root, rapl_zone, run_tests

ZONE = rapl_zone("intel-rapl:0", "package-0", 45)
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
OWN = ("kepler_exporter_", "kepler_http", "process_")


def of_page(url):
    """(time of the snapshot, {(name, labels): value}) of the page; without what each scrape changes, and buckets."""
    with urllib.request.urlopen(url + "/metrics", timeout=10) as answer:
        text = answer.read().decode()
    out = {}
    for name, labels, value in (SAMPLE.match(line).groups() for line in text.splitlines() if not line.startswith("#")):
        if not name.startswith(OWN):
            labels = tuple(sorted((key, json.loads(f'"{text}"')) for key, text in LABEL.findall(labels or "")))
            out[name, labels] = float(value)
    stamp = re.search(r"^kepler_exporter_snapshot_timestamp_seconds (\S+)$", text, re.MULTILINE)
    return round(float(stamp[1]), 3), out


def of_json(line):
    item = json.loads(line)
    assert sorted(item) == ["labels", "name", "time", "value"], item
    return item["time"], item["name"], item["labels"], item["value"]


def of_csv(line):
    stamp, name, labels, value = next(csv.reader([line]))
    return stamp, name, json.loads(labels), float(value) if value else None


def of_file(path, read):
    """time → {(name, labels): value} of whole lines."""
    blocks = {}
    for line in path.read_text().splitlines():
        if line == "time,name,labels,value":
            continue
        stamp, name, labels, value = read(line)
        key = name, tuple(sorted(labels.items()))
        block = blocks.setdefault(stamp, {})
        assert key not in block, key
        block[key] = value
    return blocks


def whole_blocks(path, read):
    """As of_file(), without the last block and line, which may still be being written."""
    lines = path.read_text().splitlines(keepends=True)
    if not lines or lines[-1][-1] != "\n":
        lines = lines[:-1]
    with tempfile.NamedTemporaryFile("w") as copy:
        copy.write("".join(lines))
        copy.flush()
        blocks = of_file(pathlib.Path(copy.name), read)
    if blocks:
        blocks.popitem()
    return blocks


def equals_the_page(ending, read):
    with tempfile.TemporaryDirectory() as folder, Sensors(ZONE) as sensors:
        path = pathlib.Path(folder, "kepler" + ending)
        with Exporter(f"--host.sysfs={sensors.mount}", f"--file.path={path}", "--file.interval=1s", "--monitor.interval=1s",
                      "--metrics.settle=0s", "--metrics.process.min-joules=0") as exporter:
            compared, pages = 0, {}
            deadline = time.monotonic() + 180
            while compared < 3:
                assert time.monotonic() < deadline, "no block and page of one snapshot"
                stamp, page = of_page(exporter.url)
                pages[time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(stamp)) + f".{round(stamp * 1000) % 1000:03d}Z"] = page
                blocks = whole_blocks(path, read)
                for wanted in pages.keys() & blocks.keys():
                    page = pages.pop(wanted)
                    block = {key: value for key, value in blocks[wanted].items() if not key[0].startswith(OWN)}
                    assert block == page, set(block.items()) ^ set(page.items())
                    assert any(name == "kepler_process_package_joules_total" for name, _ in block)
                    compared += 1
                time.sleep(0.2)
            print(f"  {len(block)} series of 3 snapshots are those of the page")
            assert exporter.stop() == 0


def json_has_what_the_page_has():
    equals_the_page(".jsonl", of_json)


def csv_has_what_the_page_has():
    equals_the_page(".csv", of_csv)


def it_is_rotated_between_blocks():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kepler.csv")
        # Their number does not depend on how many processes the machine has: a block alone may be larger than a file.
        with Exporter(f"--file.path={path}", "--file.interval=1s", "--file.max-size=64KiB", "--file.max-files=2",
                      "--file.keep=kepler_exporter_*") as exporter:
            deadline = time.monotonic() + 60
            while not pathlib.Path(folder, "kepler.csv.2").exists():
                assert time.monotonic() < deadline, list(pathlib.Path(folder).iterdir())
                time.sleep(0.2)
            exporter.intervals(2)
            assert exporter.stop() == 0
        assert sorted(file.name for file in pathlib.Path(folder).iterdir()) == ["kepler.csv", "kepler.csv.1", "kepler.csv.2"]
        stamps = []
        for name in ("kepler.csv.2", "kepler.csv.1", "kepler.csv"):
            file = pathlib.Path(folder, name)
            assert file.stat().st_size <= 65536 and file.read_text().startswith("time,name,labels,value\n")
            stamps += of_file(file, of_csv)
        assert stamps == sorted(set(stamps)), stamps  # no snapshot is in two files


def a_full_disk_costs_blocks_alone():
    need_root()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], check=True)
        try:
            path = pathlib.Path(folder, "kepler.jsonl")
            with Exporter(f"--file.path={path}", "--file.interval=1s", "--file.keep=kepler_exporter_*") as exporter:
                deadline = time.monotonic() + 60
                while "No space left" not in exporter.output():
                    assert time.monotonic() < deadline, path.stat()
                    time.sleep(0.2)
                metrics = exporter.intervals(2)
                assert metrics.value("kepler_exporter_file_errors_total") >= 1
                deadline = time.monotonic() + 60
                while not path.read_text().endswith("\n"):  # a block is being written, or cut off again
                    assert time.monotonic() < deadline, path.read_text()[-200:]
                assert whole_blocks(path, of_json)
                path.rename(pathlib.Path(folder, "taken"))  # as logrotate does
                pathlib.Path(folder, "taken").unlink()
                deadline = time.monotonic() + 60
                while not path.exists() or not path.read_text().endswith("\n"):
                    assert time.monotonic() < deadline, exporter.output()
                    time.sleep(0.2)
                exporter.intervals(2)
                assert "is written again" in exporter.output()
                assert exporter.stop() == 0
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


def a_torn_line_is_cut_off():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kepler.jsonl")
        path.write_text('{"time":"2026-01-01T00:00:00.000Z","name":"a","labels":{},"value":1}\n{"time":"2026-01-0')
        with Exporter(f"--file.path={path}", "--file.interval=1s", "--file.keep=kepler_node_*") as exporter:
            exporter.intervals(3)
            assert exporter.stop() == 0
        blocks = of_file(path, of_json)
        assert list(blocks)[0] == "2026-01-01T00:00:00.000Z" and len(blocks) > 1, list(blocks)
        del blocks["2026-01-01T00:00:00.000Z"]
        assert all(name.startswith("kepler_node_") for block in blocks.values() for name, _ in block)


def each_reader_of_snapshots_sets_the_time_to_settle():
    """With --metrics.settle=auto a file and a push count like a scraper: this test is the third of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kepler.jsonl")
        with Exporter(f"--file.path={path}", "--file.interval=1s", "--metrics.settle=auto",
                      "--remote-write.url=http://127.0.0.1:9/", "--remote-write.interval=1s") as exporter:
            deadline = time.monotonic() + 30
            while exporter.scrape().value("kepler_exporter_scrape_clients") != 3:
                assert time.monotonic() < deadline, exporter.page()
                time.sleep(0.5)
            assert exporter.stop() == 0


def a_link_is_not_followed():
    with tempfile.TemporaryDirectory() as folder:
        path, other = pathlib.Path(folder, "kepler.jsonl"), pathlib.Path(folder, "other")
        other.write_text("another's\n")
        path.symlink_to(other)
        done = subprocess.run([KEPLER, "run", f"--file.path={path}", "--web.listen-address=127.0.0.1:0", "--local.socket="],
                              capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 1 and f"{path}: must not be a symbolic link" in done.stderr, done
        assert other.read_text() == "another's\n"


run_tests([json_has_what_the_page_has, csv_has_what_the_page_has, it_is_rotated_between_blocks, a_full_disk_costs_blocks_alone,
           a_torn_line_is_cut_off, each_reader_of_snapshots_sets_the_time_to_settle,
           a_link_is_not_followed])
