#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator noise` over counters with a known law: update period, resolution and noise are found, and are in each report.

Nothing here depends on how fast this machine reads: a bound that a slow reader widens is a bound of the reader.
"""
import json
import pathlib
import signal
import subprocess
import tempfile
import time

from rig import BUILD, Sensors, rapl_zone, run_tests

PACKAGE, DRAM = "class/powercap/intel-rapl:0/energy_uj", "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"
DRAM_LINK = "class/powercap/intel-rapl:0:0 link intel-rapl:0/intel-rapl:0:0"


def machine():
    """A package that counts 2^-14 J every 10 ms, and memory with up to 150 mJ of noise each time."""
    zones = rapl_zone("intel-rapl:0", "package-0", 20) + rapl_zone("intel-rapl:0:0", "dram", 20, parent="intel-rapl:0")
    return zones + [DRAM_LINK, f"{PACKAGE} ticks 10000 0 61035", f"{DRAM} ticks 10000 150000 61035"]


def noise(sensors, *words, status=0):
    done = subprocess.run([BUILD / "kepler-validator", "noise", f"--host.sysfs={sensors.mount}", *map(str, words)], text=True,
                          capture_output=True, timeout=120, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == status, done.returncode
    return done.stdout if status != 2 else done.stderr


def the_law_is_found():
    with Sensors(machine()) as sensors, tempfile.TemporaryDirectory() as folder:
        msr = pathlib.Path(folder, "msr")
        msr.write_bytes(b"\0" * 0xbc + b"\1" + b"\0" * 16)
        out = noise(sensors, "--duration=5s", "--interval=1ms", f"--output={folder}", f"--host.msr={msr}")
        assert "The processor filters its counters: bit 0 of register 0xBC" in out, out
        report = json.loads(pathlib.Path(folder, "noise.json").read_text())
        meters = {meter["name"]: meter for meter in report["meters"]}
        assert set(meters) == {"package (intel-rapl:0)", "dram (intel-rapl:0:0)"}, meters.keys()
        assert "INTEL-SA-00389" in report["filter"] and report["command"].startswith("kepler-validator noise"), report
        for phase in ("idle", "load"):
            package, dram = meters["package (intel-rapl:0)"][phase], meters["dram (intel-rapl:0:0)"][phase]
            assert abs(package["resolution_uj"] - 61.035) < 1e-6, package
            assert abs(package["power_w"] - 20) < 0.5, package
            # Never more often than the counter changes; a slow reader sees fewer changes.
            assert package["update_s"] is None or package["update_s"] > 0.007, package
            assert not package["is_randomised"], package
            if dram["interval_s"] < 0.002:  # a slower reader may explain the noise by its own intervals
                assert dram["is_randomised"] and 0.03 < dram["counter_noise_j"] < 0.06, dram
            assert package["windows"][3]["window_s"] == 1 and package["read_s"] > 0, package
        page, text = (pathlib.Path(folder, name).read_text() for name in ("noise.html", "noise.md"))
        assert page.count("<svg") == 6 and "<script" not in page, page
        assert "| 1000 ms |" in text and "## dram (intel-rapl:0:0)" in text, text


def unmeasurable_counters_are_reported():
    with Sensors(machine()) as sensors:
        out = noise(sensors, "--zone=psys", status=2)
        assert "zone: this machine has no counter of psys" in out, out
        out = noise(sensors, "--duration=10m", "--interval=10us", status=2)
        assert "choose one --zone" in out, out
        out = noise(sensors, "--output=/proc/none", status=2)
        assert "/proc/none cannot be written" in out, out


def an_interrupt_keeps_what_was_read():
    with Sensors(machine()) as sensors, tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen([BUILD / "kepler-validator", "noise", f"--host.sysfs={sensors.mount}", "--duration=10m",
                               "--interval=1ms", "--zone=package", f"--output={folder}"], stdout=subprocess.PIPE,
                              text=True) as process:
            for _ in range(2):
                process.stdout.readline()
            deadline = time.monotonic() + 60
            while sensors.read_uj([PACKAGE])[PACKAGE][2] < 50 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        assert process.returncode == 3, process.returncode
        report = json.loads(pathlib.Path(folder, "noise.json").read_text())
        assert [sorted(set(meter) - {"name"}) for meter in report["meters"]] == [["idle"]], report


run_tests([the_law_is_found, unmeasurable_counters_are_reported, an_interrupt_keeps_what_was_read])
