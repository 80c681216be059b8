#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The release binary, confined as users run it (S2, S3, S8): by seccomp, which a build with sanitizers cannot be, and by dropping.

Start and end, the peers' failures, the sensors' faults and processes that hang pass under the filter; every thread holds what is
documented and no more; as nobody with the three capabilities of the unit file it measures with BPF, and with each one fewer it says
which one is missing and goes on without.
"""
import concurrent.futures
import ctypes
import functools
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time

from rig import BUILD, ROOT, Exporter, Sensors, need_program, need_root, rapl_zone

CAPABILITIES = {"dac_read_search": 2, "perfmon": 38, "bpf": 39}
NOBODY = 65534
FAST = ["--monitor.interval=200ms"]
SCENARIOS = ["life/lifecycle", "life/peer-failures", "meter/drm-users", "meter/sensor-faults", "process/hanging-process"]


def release_binary():
    done = subprocess.run([ROOT / "tools/release-binary", BUILD], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return pathlib.Path(done.stdout.strip())


def threads(pid):
    """Of every thread: the fields of its status."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        found.append({key: value.strip() for key, _, value in (line.partition(":") for line in lines)})
    return found


def capabilities(names):
    return sum(1 << CAPABILITIES[name] for name in names)


def after_start():
    """What docs and privileges.h allow: CAP_DAC_READ_SEARCH, and CAP_BPF only where running a program wants it (before 5.19)."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    return capabilities(["dac_read_search"] if (major, minor) >= (5, 19) else ["dac_read_search", "bpf"])


def check_rights(pid):
    """What is left to each thread of a process; their names."""
    seen = threads(pid)
    for thread in seen:
        what = f"{thread['Name']}: {thread}"
        allowed = 0 if thread["Name"] == "kepler-http" else after_start()
        assert thread["Seccomp"] == "2" and thread["NoNewPrivs"] == "1", what
        for field in ("CapEff", "CapPrm"):
            assert int(thread[field], 16) & ~allowed == 0, f"{field} of {what}"
        assert int(thread["CapInh"], 16) == int(thread["CapAmb"], 16) == 0, what
    return sorted(thread["Name"] for thread in seen)


def check_threads(exporter, expect_threads):
    names = check_rights(exporter.process.pid)
    assert len(names) >= expect_threads and "kepler-http" in names, names
    assert "not confined" not in exporter.output() and "privileges" not in exporter.output(), exporter.output()
    limits = pathlib.Path(f"/proc/{exporter.process.pid}/limits").read_text()
    core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
    assert core.split()[4:6] == ["0", "0"], core
    return names


def as_nobody(names):
    """A prefix that runs as nobody with exactly these capabilities, as a service manager would start it."""
    wanted = "-all" + "".join(f",+{name}" for name in names)
    return [need_program("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            f"--bounding-set={wanted}", f"--inh-caps={wanted}", f"--ambient-caps={wanted}"]


def of_root(binary):
    """Root, every thread there is, the one that reads a stalled meter and the one that took its place among them."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", *FAST, binary=binary) as exporter:
        exporter.intervals(2)
        check_threads(exporter, 3)
        sensors.control("class/powercap/intel-rapl:0/energy_uj stall 2000")
        exporter.intervals(3)
        print("root: " + ", ".join(check_threads(exporter, 3)))
        sensors.control("class/powercap/intel-rapl:0/energy_uj stall 0")
        exporter.intervals(3)
        check_threads(exporter, 3)
        assert exporter.stop() == 0


def without_parts(binary):
    """Root again, without BPF and meters: a capability is left for files of runtimes; without these none, and no call is denied."""
    less = ["--no-bpf.enabled", "--no-meter.enabled", *FAST]
    with Exporter(*less, binary=binary) as exporter:
        exporter.intervals(2)
        held = {int(thread["CapPrm"], 16) for thread in threads(exporter.process.pid)}
        assert held == {0, capabilities(["dac_read_search"])}, held
        assert exporter.stop() == 0
    with Exporter(*less, "--no-runtimes.enabled", "--config.file=", binary=binary) as exporter:
        metrics = exporter.intervals(3)
        for thread in threads(exporter.process.pid):
            assert int(thread["CapEff"], 16) == int(thread["CapPrm"], 16) == 0, thread
        assert metrics.value("kepler_exporter_denied_system_calls_total") == 0, exporter.output()
        assert exporter.stop() == 0


def landlock_abi():
    """The version that the kernel has: landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)."""
    return max(ctypes.CDLL(None).syscall(444, None, 0, 1), 0)


def of_files(binary):
    """Root, and yet it writes to no folder but the one that was its state directory at the start."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, tempfile.TemporaryDirectory() as directory:
        state = pathlib.Path(directory, "state")
        for moved in (False, True):
            with Exporter(f"--host.sysfs={sensors.mount}", f"--host.state-dir={state}", "--idle.mode=learned", *FAST,
                          binary=binary) as exporter:
                metrics = exporter.intervals(3)
                assert metrics.value("kepler_exporter_landlock_abi") == landlock_abi(), exporter.output()
                if moved:  # another folder of the same name, which nothing but Landlock protects from root
                    state.rename(state.with_name("first"))
                    state.mkdir()
                assert exporter.stop() == 0
                kept = "cannot save learned idle power and cost factors" not in exporter.output()
                assert kept != moved and (state / "kepler.state").exists() != moved, (list(state.iterdir()), exporter.output())
                assert not moved or "Permission denied" in exporter.output(), exporter.output()
    print("files: a write outside of the state directory is refused")


def of_a_recording(binary):
    """`kepler record`, as root: confined like the exporter, with its file open, and no call that it makes is denied."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "a.krec")
        meter = "class/powercap/intel-rapl:0/energy_uj"
        with subprocess.Popen([binary, "record", file, "--config.file=/dev/null", "--host.state-dir=",
                               f"--host.sysfs={sensors.mount}", *FAST], stderr=subprocess.PIPE, text=True) as recorder:
            try:
                deadline = time.monotonic() + 60
                while sensors.read_uj([meter])[meter][2] < 3:
                    assert recorder.poll() is None and time.monotonic() < deadline, recorder.poll()
                    time.sleep(0.05)
                names = check_rights(recorder.pid)
                recorder.send_signal(signal.SIGINT)
                said = recorder.communicate(timeout=60)[1]
            finally:
                recorder.kill()
        assert recorder.returncode == 0 and "level=warn" not in said, said
        assert [path.name for path in pathlib.Path(directory).iterdir()] == [file.name]
        done = subprocess.run([binary, "replay", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "package" in done.stdout, done
    print("a recording: " + ", ".join(names))


def root_only_zone(directory):
    """A zone as the kernel makes it since 5.10: energy_uj is root's alone."""
    zone = pathlib.Path(directory, "class/powercap/intel-rapl:0")
    zone.mkdir(parents=True)
    for name, text, mode in (("name", "package-0", 0o444), ("max_energy_range_uj", "262143328850", 0o444),
                             ("energy_uj", "1000000", 0o400)):
        (zone / name).write_text(text + "\n")
        (zone / name).chmod(mode)
    pathlib.Path(directory).chmod(0o755)
    return zone / "energy_uj"


def of_nobody(binary, sysfs, energy):
    """With exactly the documented set: BPF, the meter, and neither a core file nor a look inside for others of the same user."""
    with Exporter(f"--host.sysfs={sysfs}", *FAST, binary=binary, prefix=as_nobody(CAPABILITIES)) as exporter:
        exporter.intervals(2)
        energy.write_text("1300000\n")
        metrics = exporter.intervals(2)
        assert metrics.sum("kepler_node_package_joules_total") * 1000000 == 300000
        assert metrics.select("kepler_exporter_activity_reader_info", reader="bpf-walk"), exporter.output()
        assert "level=warn" not in exporter.output(), exporter.output()
        assert not metrics.imbalance_uj()
        check_threads(exporter, 3)
        # A process that is not dumpable belongs to root in /proc, so its own user can neither trace nor dump it.
        assert os.stat(f"/proc/{exporter.process.pid}/maps").st_uid == 0
        peep = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all",
                               "cat", f"/proc/{exporter.process.pid}/environ"], capture_output=True, check=False)
        assert peep.returncode != 0, "another process of the same user can read its memory"
        assert exporter.stop() == 0


def one_fewer(binary, sysfs, missing):
    kept = [name for name in CAPABILITIES if name != missing]
    name = "CAP_" + missing.upper()
    with Exporter(f"--host.sysfs={sysfs}", *FAST, binary=binary, prefix=as_nobody(kept)) as exporter:
        metrics = exporter.intervals(3)
        warnings = [line for line in exporter.output().splitlines() if "level=warn" in line]
        assert any(name in line for line in warnings), f"{name}: not named:\n{exporter.output()}"
        for other in CAPABILITIES:
            told = any(f"missing CAP_{other.upper()}" in line for line in warnings)
            assert told == (other == missing), warnings
        reader = "bpf-walk" if missing == "dac_read_search" else "procfs"
        assert metrics.select("kepler_exporter_activity_reader_info", reader=reader), exporter.output()
        assert not metrics.imbalance_uj()
        # A zone that never had a value has no series.
        up = [value for _, value in metrics.select("kepler_exporter_source_up", zone="package")]
        assert up == ([] if missing == "dac_read_search" else [1]), f"{missing}: up {up}"
        check_threads(exporter, 2)
        doctor = subprocess.run([*as_nobody(kept), binary, "doctor", "--verbose", f"--host.sysfs={sysfs}",
                                "--config.file=/dev/null"], capture_output=True, text=True, check=False)
        assert name in doctor.stdout, doctor.stdout
        assert exporter.stop() == 0
    print(f"without {name}: {warnings[0].partition('msg=')[2]}")


def scenario(binary, name):
    began = time.monotonic()
    group, _, test = name.partition("/")
    done = subprocess.run([sys.executable, ROOT / f"tests/integration/{group}/test-{test}.py"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "KEPLER_BINARY": str(binary)}, check=False)
    assert done.returncode == 0, f"{name} under the filter:\n{done.stdout[-5000:]}"
    print(f"{name} under the filter: ok, {time.monotonic() - began:.1f} s", flush=True)


def scenarios(binary):
    """At once: they mostly wait, and each has an exporter, sensors and ports of its own."""
    with concurrent.futures.ThreadPoolExecutor(len(SCENARIOS)) as pool:
        for _ in pool.map(functools.partial(scenario, binary), SCENARIOS):
            pass


def main():
    need_root()
    binary = release_binary()
    of_root(binary)
    without_parts(binary)
    of_a_recording(binary)
    if landlock_abi():
        of_files(binary)
    else:
        print("files: not limited, the kernel has no Landlock")
    with tempfile.TemporaryDirectory(prefix="kepler-sysfs-") as sysfs:
        energy = root_only_zone(sysfs)
        assert stat.S_IMODE(energy.stat().st_mode) == 0o400
        of_nobody(binary, sysfs, energy)
        for missing in CAPABILITIES:
            one_fewer(binary, sysfs, missing)
    scenarios(binary)


main()
