#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `kepler-validator` itself costs: at most 1 % of a CPU beside an exporter, and 60 MB for series of ten million samples.

The release binary is measured, because a sanitizer needs time and memory of its own. The size of a report is a unit test.
"""
import gzip
import os
import pathlib
import subprocess
import tempfile
import time

from rig import BUILD, ROOT, Exporter, Sensors, load, rapl_zone, release_binary, run_tests

SAMPLES, START = 10_000_000, 1731388532
MEMORY_MAX = 60_000_000
STAIR = SAMPLES // 20  # samples of one power
CPU_MAX = 0.01


def validator():
    done = subprocess.run([ROOT / "tools/release-binary", BUILD, ROOT, "kepler-validator"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def watts(index):
    return 30 + index // STAIR % 7


def many(text_of):
    """The texts of all samples, in parts of some megabytes."""
    for begin in range(0, SAMPLES, 100_000):
        yield "".join(map(text_of, range(begin, begin + 100_000)))


def table():
    """A counter in microjoules, from which the power follows."""
    before = [0]
    for stair in range(20):
        before.append(before[-1] + watts(stair * STAIR) * STAIR)
    yield "time,energy_uj\n"
    yield from many(lambda i: f"{START + i},{(before[i // STAIR] + watts(i) * (i % STAIR)) * 1000000}\n")


def artifact():
    yield '{"query":"x_watts","metric":{},"timestamps":[' + str(START)
    yield from many(lambda i: f",{START + i}" if i else "")
    yield '],"values":[' + str(watts(0))
    yield from many(lambda i: f",{watts(i)}" if i else "")
    yield "]}"


def prometheus_range():
    yield '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"watts","zone":"package"},"values":['
    yield from many(lambda i: f'{"," if i else ""}[{START + i},"{watts(i)}"]')
    yield "]}]}}"


def judge(binary, path):
    with subprocess.Popen([binary, "judge", f"--actual={path}", f"--predicted={path}", "--max-error=5%"], stdout=subprocess.PIPE,
                          text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    print(f"{path.name}: {(usage.ru_maxrss << 10) / 1e6:.1f} MB, {usage.ru_utime + usage.ru_stime:.1f} s of CPU time")
    assert process.returncode == 0 and output.startswith("pass: ") and f"{SAMPLES} samples" in output, output
    assert usage.ru_maxrss << 10 <= MEMORY_MAX, usage.ru_maxrss


def every_format_is_streamed():
    binary = validator()
    for name, parts in (("table.csv.gz", table), ("artifact.json.gz", artifact), ("range.json.gz", prometheus_range)):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            with gzip.open(path, "wt", compresslevel=1) as file:
                file.writelines(parts())
            judge(binary, path)


def an_exporter_is_read_cheaply():
    """Two zones, and the page of this machine each second, as Kepler has it without options."""
    zones = rapl_zone("intel-rapl:0", "package-0", 40) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")
    link = "class/powercap/intel-rapl:0:0 link intel-rapl:0/intel-rapl:0:0"
    with Sensors([*zones, link]) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s",
                     binary=release_binary()) as exporter:
        exporter.intervals(2)
        work = load("storm", 10, 20, 600)  # of an idle machine's CPU time the kernel's ticks say too little to be judged
        began = time.monotonic()
        with subprocess.Popen([validator(), "run", f"--exporter={exporter.url}/metrics", f"--host.sysfs={sensors.mount}",
                               "--scenario=node", "--duration=60s"], stdout=subprocess.PIPE, text=True) as process:
            print(process.stdout.read())
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        share = (usage.ru_utime + usage.ru_stime) / (time.monotonic() - began)
        work.kill()
        work.communicate()
        memory = usage.ru_maxrss << 10
        print(f"{100 * share:.2f} % of a CPU, {memory / 1e6:.1f} MB, a page of {len(exporter.page()) / 1e3:.0f} kB")
        assert exporter.stop() == 0
    assert process.returncode == 0, process.returncode
    assert share <= CPU_MAX, share
    assert memory <= MEMORY_MAX, memory


run_tests([every_format_is_streamed, an_exporter_is_read_cheaply])
