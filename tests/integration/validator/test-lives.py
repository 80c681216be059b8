#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` while rows of the exporter end and begin again: none of that is a fault.

Two virtual machines have one name, one after the other, so the counter of their container begins again at 0 from one page to the
next. A process executes another program, so its pid is in two rows, of which one is kept with the former name.
"""
import json
import pathlib
import shutil
import subprocess
import tempfile

from rig import BUILD, Exporter, Sensors, Service, rapl_zone, run_tests

LOAD = BUILD / "tests/lab/load"


def judge(sensors, exporter, folder):
    done = subprocess.run([BUILD / "kepler-validator", "run", f"--exporter={exporter.url}/metrics", f"--host.sysfs={sensors.mount}",
                           "--scenario=node", "--duration=26s", "--step=250ms", f"--output={folder}"], text=True,
                          capture_output=True, check=False, timeout=200)
    print(done.stdout, done.stderr)
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    return {result["name"]: (result["verdict"], result["reason"]) for result in report["results"]}


def commands(page, pid):
    return {labels["command"] for labels, _ in page.select("kepler_process_package_joules_total", pid=str(pid))}


def rows_that_end_and_begin_again_are_right():
    """The program's name makes it a machine; it has used enough energy for a row of its own when it executes another one."""
    with tempfile.TemporaryDirectory() as folder, Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Service("kepler-test-lives.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter:
        exporter.intervals(2)
        # A shell counts, and is then another program, which goes on to use energy under its own name.
        former = service.run("bash", "-c", f'for ((i = 0; i < 1000000; i++)); do :; done; exec "{LOAD}" span 60')
        while commands(exporter.intervals(1), former.pid) != {"bash", "load"}:
            assert former.poll() is None, "it had no row of its own"
        machine = shutil.copy(LOAD, pathlib.Path(folder, "qemu-system-x86_64"))
        both = f'"{machine}" span 4 -name guest=kepler-lives; sleep 3; "{machine}" span 4 -name guest=kepler-lives'
        machines = service.run("sh", "-c", both)
        try:
            found = judge(sensors, exporter, folder)
            assert commands(exporter.scrape(), former.pid) == {"bash", "load"}
        finally:
            for process in (machines, former):
                process.kill()
                process.wait()
                process.stdout.close()
        for name in ("correctness/monotone", "correctness/process-names", "conservation/rows", "correctness/answers"):
            assert found[name][0] == "pass", (name, found[name])
        assert exporter.stop() == 0


run_tests([rows_that_end_and_begin_again_are_right])
