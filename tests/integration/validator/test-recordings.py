#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-validator judge with recordings: of a known machine, cut off, damaged, as a ring, and of Kepler itself."""
import contextlib
import json
import pathlib
import subprocess
import tempfile

from record_file import Reader, Writer
from rig import BUILD, Exporter, Sensors, rapl_zone, run_tests

SECONDS, START_MS = 240, 1790000000000
NS = 10**9


def judge(*words, status):
    done = subprocess.run([BUILD / "kepler-validator", "judge", *map(str, words)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == status, f"{words}: {done.returncode}, {done.stdout}{done.stderr}"
    return done.stdout if status != 2 else done.stderr


def watts(second):
    return (40, 90, 60, 140, 20)[second // 48]


def cpus(second):
    return (0.1, 0.5, 0.2, 0.9, 0.05)[second // 48]


def record(path, first=0, last=SECONDS, unknown=(), missing=(), compress=False):
    """Two packages with the same power, an estimated one, and the containers web and db."""
    with Writer(path, compress=compress, block_bytes=512) as out:
        packages = [out.zone("package", str(i), path=f"intel-rapl:{i}") for i in range(2)]
        out.zone("package", "0", flags=1, rank=9, source="model")
        web, db = out.owner("web", pod_name="shop"), out.owner("db")
        processes = [out.process(100 + i, NS, "work", owner) for i, owner in enumerate((web, db, web))]
        for second in range(first, last + 1):
            is_first = second == first
            if second in missing:
                out.read_ns = {zone: (second + 1) * NS for zone in out.read_ns}
                out.last_ns = (second + 1) * NS
                continue
            energy = None if is_first or second in unknown else round(watts(second - 1) * 10**6)
            run_ns = round(cpus(second - 1) * NS)
            parties = [] if is_first else [(processes[0], run_ns // 2), (processes[1], NS), (processes[2], run_ns - run_ns // 2)]
            out.interval((second + 1) * NS, zones={zone: energy for zone in packages}, parties=parties,
                         now_ms=START_MS + 1000 * second)
    return path


def csv(path, name, value, scale=1.0):
    total, lines = 0, [f"time,{name}"]
    for second in range(SECONDS + 1):
        total += value(second - 1) * scale if second else 0
        lines.append(f"{START_MS / 1000 + second},{total}")
    path.write_text("\n".join(lines))
    return path


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield pathlib.Path(name)


def meters_and_cpu_time_of_a_recording():
    with folder() as at:
        for compress in (False, True):
            file = record(at / f"{compress}.krec", compress=compress)
            one, both = csv(at / "one.csv", "joules_total", watts), csv(at / "both.csv", "joules_total", watts, 2)
            half = csv(at / "half.csv", "joules_total", watts, 0.5)
            cpu = csv(at / "cpu.csv", "cpu_seconds_total", cpus)
            judge(f"--actual={file}#package", f"--predicted={both}", "--max-error=0.1%", status=0)
            judge(f"--actual={file}#intel-rapl:1", f"--predicted={one}", "--max-error=0.1%", status=0)
            judge(f"--actual={file}#web", f"--predicted={cpu}", "--max-error=0.1%", status=0)
            judge(f"--actual={file}#shop", f"--predicted={cpu}", "--max-error=0.1%", status=0)
            out = judge(f"--actual={file}#intel-rapl:0", f"--predicted={half}", "--max-error=5%", status=1)
            assert "cause: scale" in out, out
            out = judge(f"--actual={file}", f"--predicted={one}", "--max-error=5%", status=2)
            assert 'source=\\"model\\"' in out and 'container_id=\\"web\\"' in out, out
            out = judge(f"--actual={file}#web", f"--predicted={one}", "--max-error=5%", status=2)
            assert "the units differ" in out, out


def unknown_energy_and_missing_intervals_are_gaps():
    with folder() as at:
        both = csv(at / "both.csv", "joules_total", watts, 2)
        for words in ({"unknown": range(100, 110)}, {"missing": range(100, 110)}):
            file = record(at / "gap.krec", **words)
            judge(f"--actual={file}#package", f"--predicted={both}", "--max-error=0.1%", f"--output={at / 'report'}", status=0)
            actual = json.loads((at / "report/report.json").read_text())["results"][0]["actual"]
            assert actual["gaps"] == 1, actual


def cut_and_damaged_files_say_so():
    with folder() as at:
        both = csv(at / "both.csv", "joules_total", watts, 2)
        whole = record(at / "whole.krec").read_bytes()
        file = at / "part.krec"
        words = (f"--actual={file}#package", f"--predicted={both}", "--max-error=0.1%")
        file.write_bytes(whole[:len(whole) * 3 // 4])
        out = judge(*words, status=0)
        assert "it is cut off after" in out, out
        broken = bytearray(whole)
        broken[len(whole) * 3 // 4] ^= 0xff
        file.write_bytes(broken)
        out = judge(*words, status=0)
        assert "it is damaged after" in out, out
        for size in (9, 16, 30):
            file.write_bytes(whole[:size])
            judge(*words, status=2)
        file.write_bytes(whole[:8] + b"\x02\x00" + whole[10:])
        out = judge(*words, status=2)
        assert "version 2" in out, out


def a_ring_is_one_series():
    with folder() as at:
        ring = at / "ring"
        ring.mkdir()
        for first in range(0, SECONDS, 60):
            record(ring / f"kepler-{START_MS + first * 1000:013d}-00001.krec", first, first + 60)
        both, cpu = csv(at / "both.csv", "joules_total", watts, 2), csv(at / "cpu.csv", "cpu_seconds_total", cpus)
        judge(f"--actual={ring}#package", f"--predicted={both}", "--max-error=0.1%", status=0)
        judge(f"--actual={ring}#web", f"--predicted={cpu}", "--max-error=0.1%", f"--output={at / 'report'}", status=0)
        actual = json.loads((at / "report/report.json").read_text())["results"][0]["actual"]
        assert actual["gaps"] == 0 and actual["samples"] == SECONDS + 1, actual
        out = judge(f"--actual={ring}#model", f"--predicted={both}", "--max-error=5%", status=3)
        assert "inconclusive" in out or "not applicable" in out, out


def keplers_own_recordings_are_read():
    with folder() as at:
        with Sensors(rapl_zone("intel-rapl:0", "package-0", 40)) as sensors:
            with Exporter(f"--host.sysfs={sensors.mount}", f"--record.dir={at}", "--monitor.interval=100ms") as exporter:
                exporter.intervals(30)
                assert exporter.stop() == 0
        file, = at.glob("*.krec")
        intervals = list(Reader(file).intervals())
        total, lines = 0, ["time,joules_total"]
        for interval in intervals:
            zone = interval["zones"][0]
            total += zone["energy_uj"] or 0
            if zone["to_ns"] is not None:  # it was read: a reading can be late
                lines.append(f"{interval['now_ms'] / 1e3 + (zone['to_ns'] - interval['end_ns']) / 1e9:.9f},{total / 1e6}")
        assert interval["now_ms"] > intervals[0]["now_ms"] and total > 0
        (at / "read.csv").write_text("\n".join(lines))
        judge(f"--actual={at / 'read.csv'}", f"--predicted={file}#package", "--max-error=5%", f"--output={at / 'report'}", status=0)
        result, = json.loads((at / "report/report.json").read_text())["results"]
        assert abs(result["errors"]["energy_ratio"] - 1) < 0.002, result


if __name__ == "__main__":
    run_tests([meters_and_cpu_time_of_a_recording, unknown_energy_and_missing_intervals_are_gaps, cut_and_damaged_files_say_so,
               a_ring_is_one_series, keplers_own_recordings_are_read])
