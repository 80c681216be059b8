#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler stat: the energy of a command and all of its descendants, measured by itself and by an exporter."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from rig import BUILD, KEPLER, ROOT, Exporter, Sensors, load, need_root, rapl_zone, run_tests

QUIET = (f"--config.file={ROOT / 'tests/rig/rig.yaml'}", "--host.state-dir=")
LOAD = BUILD / "tests/lab/load"
BUSY_W = 12
NOBODY = 65534


def stat(*words, status=0, **kwargs):
    done = subprocess.run([KEPLER, "stat", *QUIET, *words], capture_output=True, text=True, check=False, timeout=120, **kwargs)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


def result(*words, **kwargs):
    return json.loads(stat("--json", *words, **kwargs).stderr)


def plant():
    """A package that draws so many watts for each CPU that is busy, and nothing else."""
    exact = pathlib.Path("/sys/fs/cgroup/cpuacct")  # not in ticks, which leave out what a hypervisor took
    busy = f"cgroup:{exact}" if (exact / "cpuacct.usage").exists() else "stat"
    return Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=BUSY_W, busy=busy))


@contextlib.contextmanager
def competitors(count=2):
    processes = [load("burn", 1000) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def short_children_beside_competitors_are_counted_exactly():
    with plant() as sensors, competitors(), tempfile.NamedTemporaryFile("r") as told:
        got = result(f"--host.sysfs={sensors.mount}", "--", "sh", "-c", f"{LOAD} storm 30 10 10 > {told.name}")
        words = dict(word.split("=") for word in told.read().split() if "=" in word)
    used = (int(words["cpu_us"]) + int(words["self_us"])) / 1e6
    assert int(words["children"]) >= 290, words
    assert abs(got["cpu_seconds"] / used - 1) < 0.01, (got["cpu_seconds"], used)
    print(f"{words['children']} children: {got['cpu_seconds'] / used:.5f} of their CPU time,",
          f"{got['joules'] / (used * BUSY_W):.5f} of their energy")
    assert abs(got["joules"] / (used * BUSY_W) - 1) < 0.01, (got["joules"], used * BUSY_W)
    assert got["processes"] >= int(words["children"]), got["processes"]
    assert got["missed_processes"] == 0
    assert abs(sum(each["joules"] for each in got["commands"]) - got["joules"]) < 1e-3, got["commands"]
    zones = [zone for zone in got["zones"] if zone["zone"] == "package"]
    assert [zone["quality"] for zone in zones] == ["measured"], got["zones"]


def processes_between_two_readings_are_short():
    """With readings before the command and after it only, however long its processes take: all but the command itself. The kernel
    may report an end late; the answer says how much is missing, and the children are alike."""
    with tempfile.NamedTemporaryFile("r") as told:
        got = result("--monitor.interval=1h", "--", "sh", "-c", f"{LOAD} storm 30 10 2 > {told.name}; true")
        words = dict(word.split("=") for word in told.read().split() if "=" in word)
    missing = round(got["missing_cpu_seconds"] * 1e6 / int(words["cpu_us"]) * int(words["children"]))
    assert (got["processes"], got["missed_processes"]) == (int(words["children"]) + 2 - missing, 0), (words, got)
    assert got["short_processes"] == got["processes"] - 1, (words, got)


def a_daemon_is_counted_and_named():
    """It has left the session, its parent and its grandparent, and works while the command sleeps."""
    daemon = "import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n" \
             "import ctypes;ctypes.CDLL(None).prctl(15,b'daemon',0,0,0)\n" \
             "end=time.process_time()+0.7\nwhile time.process_time()<end: pass\ntime.sleep(30)"
    script = f"{sys.executable} -c \"$DAEMON\" >/dev/null 2>&1; sleep 3"
    got = result("--", "sh", "-c", script, env={**os.environ, "DAEMON": daemon})
    left = got["left"]
    for each in left:
        os.kill(each["pid"], signal.SIGKILL)
    assert [each["command"] for each in left] == ["daemon"] and got["left_count"] == 1, left
    work = next(each for each in got["commands"] if each["command"] == "daemon")
    assert work["cpu_seconds"] > 0.65, got["commands"]


def the_exit_status_is_the_commands():
    for status in (0, 3, 77):
        assert "J     total" in stat("--", "sh", "-c", f"exit {status}", status=status).stderr
    stat("--", "sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)
    told = stat("no-such-command", status=127).stderr
    assert told == "kepler: cannot execute no-such-command: there is no such command\n", told
    told = stat("/etc/passwd", status=126).stderr
    assert told == "kepler: cannot execute /etc/passwd: Permission denied\n", told


def standard_streams_are_the_commands():
    done = stat("--", "cat", input="to the command")
    assert done.stdout == "to the command" and "Energy of 'cat':" in done.stderr
    with tempfile.NamedTemporaryFile("r") as file:
        done = stat(f"--output={file.name}", "--", "echo", "-n", "--json")
        assert done.stdout == "--json" and done.stderr == "", done
        assert "Energy of 'echo -n --json':" in file.read()


def an_output_that_cannot_be_written_is_reported():
    told = stat("--output=/dev/full", "true", status=1).stderr
    assert told == "kepler: /dev/full: the result could not be written: No space left on device\n", told
    stat("--output=/dev/full", "--", "sh", "-c", "exit 4", status=4)
    told = stat("--output=/no/such/directory/file", "true", status=1).stderr
    assert told == "kepler: /no/such/directory/file: No such file or directory\n", told
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([KEPLER, "stat", *QUIET, "--", "sh", "-c", "exit 5"], stderr=write, check=False, timeout=60)
    os.close(write)
    assert done.returncode == 5, done


def a_signal_is_passed_on():
    script = "trap 'echo got it; exit 9' TERM; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen([KEPLER, "stat", *QUIET, "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (9, "got it\n") and "J     total" in err, (process.returncode, out, err)


def signals_of_the_command_are_as_before():
    """SIGPIPE ends it although kepler ignores that, and it has no signal blocked or ignored that was not."""
    mask = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
    alone = subprocess.run(["sh", "-c", mask], capture_output=True, text=True, check=True).stdout
    assert stat("--", "sh", "-c", mask).stdout == alone


def a_budget_decides_the_status():
    burn = ("--", LOAD, "burn", "0.2")
    with plant() as sensors:
        sysfs = f"--host.sysfs={sensors.mount}"
        assert "\n within the budget of 3600 J\n" in stat(sysfs, "--budget=1Wh", *burn).stderr
        assert "\n over the budget of 0.001 J\n" in stat(sysfs, "--budget=0.001J", *burn, status=125).stderr
        got = result(sysfs, "--budget=0.001 J", *burn, status=125)
        assert (got["budget"], got["exit_status"]) == ("over", 0), got
    told = stat("--budget=500", "true", status=2).stderr
    assert 'budget: must be an energy above 0 with the unit J, kJ, MJ, Wh or kWh, as in 500J, not "500"' in told, told


def names_cannot_command_the_terminal():
    """The process names itself, and the command line has an escape sequence."""
    rename = "import ctypes; ctypes.CDLL(None).prctl(15, b'\\x1b]0;me\\x07', 0, 0, 0); sum(range(3000000))"
    for form in ((), ("--json",), ("--markdown",)):
        done = stat(*form, "--", "sh", "-c", f"{sys.executable} -c \"$RENAME\"; : \033[2J", env={**os.environ, "RENAME": rename})
        assert "\033" not in done.stderr and "\a" not in done.stderr, done.stderr


def spin(seconds):
    return sys.executable, "-c", f"import time\nwhile time.process_time() < {seconds}: pass"


def runs_are_repeated_prepared_and_compared():
    with plant() as sensors, tempfile.TemporaryDirectory() as directory:
        saved, noted = pathlib.Path(directory, "saved.json"), pathlib.Path(directory, "noted")
        words = (f"--host.sysfs={sensors.mount}", "--repeat=5")
        got = result(*words, "--warmup=2", f"--prepare=echo prepared >> {noted}", f"--save={saved}", "--", *spin(0.1))
        assert noted.read_text().split() == ["prepared"] * 7
        assert got == json.loads(saved.read_text())
        assert len(got["times"]) == len(got["joules_each"]) == 5 and got["exit_codes"] == [0] * 5, got
        assert abs(got["mean"] - sum(got["times"]) / 5) < 1e-5 and abs(got["joules"] - sum(got["joules_each"]) / 5) < 1e-5, got
        assert got["min"] <= got["median"] <= got["max"] and got["stddev"] >= 0, got
        more = result(*words, f"--baseline={saved}", "--", *spin(0.3))["baseline"]
        assert more["verdict"] == "more energy" and 0 < more["low_joules"] < more["difference_joules"] < more["high_joules"], more
        assert abs(more["difference_joules"] / (0.2 * BUSY_W) - 1) < 0.2, more
        told = stat(*words, f"--baseline={saved}", "--", *spin(0.1)).stderr
        assert " J     stddev " in told and " of the mean of 5 runs\n" in told and f" Compared with {saved}: " in told, told
        table = stat(*words, "--markdown", f"--baseline={saved}", "--", *spin(0.3)).stderr
        assert "| runs | 5, deviation " in table and "| against the baseline | +" in table, table


def a_run_that_fails_is_the_last_one():
    with tempfile.NamedTemporaryFile("r") as file:
        script = f"echo run >> {file.name}; [ $(wc -l < {file.name}) -lt 3 ]"
        got = result("--repeat=10", "--", "sh", "-c", script, status=1)
        assert got["exit_codes"] == [0, 0, 1], got
    told = stat("--prepare=exit 3", "true", status=1).stderr
    assert told == "kepler: prepare: the script failed with status 3\n", told
    told = stat("--baseline=/no/such/file", "true", status=1).stderr
    assert told == "kepler: /no/such/file: No such file or directory\n", told
    told = stat("--baseline=/etc/passwd", "true", status=1).stderr
    assert told == "kepler: /etc/passwd: not a result of kepler stat --save: it has no joules_each\n", told


def phases_are_reported_apart():
    spin_for = "end = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
    script = "import sys, time\n" + spin_for.format(0.1) + "print('phase: link', flush=True)\n" + spin_for.format(0.3) \
        + "print('more')\nprint('phase: test', file=sys.stderr)\n" + spin_for.format(0.2) + "print('end')\n"
    with plant() as sensors:
        words = (f"--host.sysfs={sensors.mount}", "--phase-regex=^phase: ", "--", sys.executable, "-c", script)
        done = stat("--json", *words)
        assert done.stdout == "phase: link\nmore\nend\n", done.stdout
        told, _, text = done.stderr.partition("\n")
        assert told == "phase: test", done.stderr
        got = json.loads(text)
        assert [each["phase"] for each in got["phases"]] == ["(start)", "phase: link", "phase: test"], got["phases"]
        assert abs(sum(each["joules"] for each in got["phases"]) - got["joules"]) < 1e-4, got
        assert abs(got["phases"][1]["joules"] / (0.3 * BUSY_W) - 1) < 0.25, got["phases"]
        assert " J     phase: link              # phase of " in stat(*words).stderr
    assert "phase-regex and repeat exclude each other" in stat("--phase-regex=x", "--repeat=2", "true", status=2).stderr
    assert "phase-regex: " in stat("--phase-regex=(", "true", status=2).stderr


@contextlib.contextmanager
def exporter(*args):
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        path = pathlib.Path(directory, "kepler.sock")
        with Exporter(f"--local.socket={path}", *args) as running:
            running.intervals(1)
            yield f"--local.socket={path}", running


def an_exporter_measures_for_root():
    with plant() as sensors, exporter(f"--host.sysfs={sensors.mount}") as (socket, running), competitors():
        with tempfile.NamedTemporaryFile("r") as told:
            got = result(socket, "--", "sh", "-c", f"{LOAD} storm 30 10 4 > {told.name}")
            words = dict(word.split("=") for word in told.read().split() if "=" in word)
        used = (int(words["cpu_us"]) + int(words["self_us"])) / 1e6
        print(f"{words['children']} children: {got['cpu_seconds'] / used:.5f} of their CPU time,",
              f"{got['joules'] / (used * BUSY_W):.5f} of their energy")
        assert abs(got["cpu_seconds"] / used - 1) < 0.01 and got["missed_processes"] == 0, (got["cpu_seconds"], used)
        assert abs(got["joules"] / (used * BUSY_W) - 1) < 0.03, (got["joules"], used * BUSY_W)
        inner = [KEPLER, "stat", *QUIET, socket, "--json", "--output=/dev/fd/3", "--", LOAD, "burn", "1"]
        script = f"exec 3>&1; {' '.join(map(str, inner))} >/dev/null"
        done = stat(socket, "--json", "--", "sh", "-c", script)
        inside, outside = json.loads(done.stdout), json.loads(done.stderr)
        assert inside["cpu_seconds"] > 0.9 and outside["cpu_seconds"] > inside["cpu_seconds"], (inside, outside)
        running.intervals(2)  # each response is balanced


def a_meter_that_is_late_is_waited_for():
    """The counter hangs when the command ends, long after most of its children: their energy comes with its next reading."""
    counter = "class/powercap/intel-rapl:0/energy_uj"
    with plant() as sensors, exporter(f"--host.sysfs={sensors.mount}") as (socket, running):
        stall = f"echo {counter} stall 4000 > {sensors.mount}/.ctl"
        heals = threading.Timer(7, sensors.control, [f"{counter} stall 0"])
        heals.start()
        got = result(socket, "--", "sh", "-c", f"{LOAD} storm 30 10 1; {stall}; {LOAD} storm 30 10 3")
        heals.join()
        used = got["cpu_seconds"]
        assert used > 0.5, got
        zones = [zone for zone in got["zones"] if zone["in_total"]]
        print(f"{got['joules'] / (used * BUSY_W):.5f} of the energy of their CPU time")
        assert zones and not any(zone["incomplete"] for zone in zones), zones
        assert abs(got["joules"] / (used * BUSY_W) - 1) < 0.03, (got["joules"], used * BUSY_W)
        running.intervals(2)  # each response is balanced


def a_cost_follows_from_the_rates_of_who_measures():
    rates = ["--price.per-kwh=0.36", "--price.currency=EUR", "--carbon.intensity=360", "--site.pue=1.5"]
    with plant() as sensors:
        sysfs = f"--host.sysfs={sensors.mount}"
        with exporter(sysfs, *rates) as (socket, _):
            over_the_socket = result(socket, "--", LOAD, "burn", "1")
        for got in over_the_socket, result("--local.socket=", sysfs, *rates, "--", LOAD, "burn", "1"):
            kwh = got["joules"] * 1.5 / 3.6e6
            assert got["joules"] > 1 and not got["estimated"] and got["pue"] == 1.5, got
            assert got["cost"]["currency"] == "EUR" and got["cost"]["per_kwh"] == 0.36, got["cost"]
            assert abs(got["cost"]["amount"] / (kwh * 0.36) - 1) < 1e-6, (got["cost"], got["joules"])
            assert got["carbon"]["kind"] == "average" and abs(got["carbon"]["grams"] / (kwh * 360) - 1) < 1e-6, got["carbon"]
        unset = result("--local.socket=", sysfs, "--price.currency=EUR", "--", "true")
        assert not {"cost", "carbon", "pue"} & set(unset), unset
    estimated = stat("--local.socket=", *rates, "--", LOAD, "burn", "1").stderr
    assert re.search(r"^ +~[0-9.e-]+ EUR   cost .*# at 0.36 EUR/kWh, PUE 1.5$", estimated, re.M), estimated
    assert re.search(r"^ +~[0-9.e-]+ g     CO2e .*# at 360 g/kWh \(average\), PUE 1.5$", estimated, re.M), estimated
    table = stat("--local.socket=", *rates, "--markdown", "--", "true").stderr
    assert "| cost, at 0.36 EUR/kWh, PUE 1.5 | ~" in table and " g |" in table, table


def a_user_measures_its_own_command():
    with plant() as sensors, tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = pathlib.Path(directory, "kepler")
        shutil.copy(KEPLER, program)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": (), "capture_output": True, "text": True, "timeout": 60}
        work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
        with exporter(f"--host.sysfs={sensors.mount}", "--local.everyone=own") as (socket, _):
            words = [program, "stat", "--config.file=/dev/null", socket, "--json", "--", "sh", "-c", work]
            done = subprocess.run(words, check=False, **user)
            got = json.loads(done.stderr)
            assert done.returncode == 0 and got["cpu_seconds"] > 0.01 and got["joules"] > 0, done
            assert round(got["joules"] * 1e6) % 1000 == 0, got["joules"]  # whole millijoules
            assert [each["command"] for each in got["commands"]] == ["sh"], got["commands"]
        with exporter(f"--host.sysfs={sensors.mount}") as (socket, _):
            done = subprocess.run([program, "stat", "--config.file=/dev/null", socket, "true"], check=False, **user)
            assert done.returncode == 1 and "--local.everyone=own" in done.stderr, done


def a_killed_client_leaves_no_tree():
    with exporter() as (socket, running):
        words = [KEPLER, "stat", *QUIET, socket, "--", "cat"]
        for i in range(20):  # more than there may be at once
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            child = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while not child.read_text().strip():
                assert process.poll() is None
            process.kill()
            process.stdin.close()
            process.wait()
            if i % 8 == 7:
                running.intervals(1)
        assert result(socket, "true")["exit_status"] == 0


def an_exporter_that_ends_is_reported():
    with exporter() as (socket, running):
        words = [KEPLER, "stat", *QUIET, socket, "--", "cat"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write("begun\n")
        process.stdin.flush()
        assert process.stdout.readline() == "begun\n"
        running.stop()
        _, told = process.communicate(timeout=60)
        assert process.returncode == 1 and told.startswith("kepler: no exporter responds at /"), (process.returncode, told)


def without_bpf_it_says_what_to_do():
    told = stat("--bpf.enabled=false", "true", status=1).stderr
    assert told.startswith("kepler: ") and "with BPF only" in told and "kepler doctor" in told, told
    with exporter("--bpf.enabled=false") as (socket, _):
        told = stat(socket, "true", status=1).stderr
        assert "without BPF: kepler doctor reports why" in told, told


TESTS = [
    without_bpf_it_says_what_to_do,
    an_exporter_that_ends_is_reported,
    an_exporter_measures_for_root,
    a_meter_that_is_late_is_waited_for,
    a_cost_follows_from_the_rates_of_who_measures,
    a_user_measures_its_own_command,
    a_killed_client_leaves_no_tree,
    short_children_beside_competitors_are_counted_exactly,
    processes_between_two_readings_are_short,
    a_daemon_is_counted_and_named,
    the_exit_status_is_the_commands,
    standard_streams_are_the_commands,
    an_output_that_cannot_be_written_is_reported,
    a_signal_is_passed_on,
    signals_of_the_command_are_as_before,
    a_budget_decides_the_status,
    names_cannot_command_the_terminal,
    runs_are_repeated_prepared_and_compared,
    a_run_that_fails_is_the_last_one,
    phases_are_reported_apart,
]

if __name__ == "__main__":
    need_root()
    run_tests(TESTS)
