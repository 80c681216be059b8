#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was recorded is booked again to what the exporter said, to the microjoule; and what a recording keeps, and what it does not.

The meters' power is 0 at the end, so that a response and the recording are of the same energy.
"""
import json
import pathlib
import signal
import subprocess
import tempfile
import time

import gpu_rig
from record_file import Reader
from rig import KEPLER, Exporter, Sensors, load, load_result, rapl_zone, run_tests

ZONES = {"package": [0, 1], "dram": [0, 1]}
# A container of another test has its series at once, because no names are awaited; a replay has it at once, too.
FAST = ("--monitor.interval=100ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--runtimes.enabled=false")


def tree():
    lines, paths = [], []
    for socket in ZONES["package"]:
        top = f"intel-rapl:{socket}"
        lines += rapl_zone(top, f"package-{socket}", 40 + socket)
        lines += rapl_zone(f"{top}:0", "dram", 5 + socket, parent=top)
        paths += [f"class/powercap/{top}/energy_uj", f"class/powercap/{top}/{top}:0/energy_uj"]
    return lines, paths


def replay(*args):
    done = subprocess.run([KEPLER, "replay", *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


def replay_json(*args):
    return json.loads(replay(*args, "--format=json"))


def uj(value):
    return int(value * 1000000)


def rows_of(result):
    """(container id, zone, mode) → µJ, without what is 0."""
    out = {}
    for row in result["rows"]:
        for zone in row["zones"]:
            for mode in ("dynamic", "idle"):
                key = (row["container_id"], zone["zone"], mode)
                out[key] = out.get(key, 0) + zone[f"{mode}_uj"]
    return {key: value for key, value in out.items() if value}


def containers_of(metrics):
    out = {}
    for zone in ZONES:
        for labels, value in metrics.select(f"kepler_container_{zone}_joules_total"):
            key = (labels["container_id"], zone, labels["mode"])
            out[key] = out.get(key, 0) + uj(value)
    return {key: value for key, value in out.items() if value}


def run_and_record(folder, *options):
    """The last response of an exporter that records, and its files."""
    lines, paths = tree()
    with Sensors(lines) as sensors, Exporter(f"--host.sysfs={sensors.mount}", f"--record.dir={folder}", *FAST,
                                             *options) as exporter:
        exporter.intervals(2)
        load_result(load("storm", 20, 5, 3))
        for path in paths:
            sensors.control(f"{path} power 0")
        metrics = exporter.intervals(5)
        assert exporter.stop() == 0
    return metrics, sorted(pathlib.Path(folder).glob("*.krec"))


def check_same(*options):
    with tempfile.TemporaryDirectory() as folder:
        metrics, files = run_and_record(folder, *options)
        check_equal(metrics, replay_json(*files))


def check_equal(metrics, result):
    assert result["off_uj"] == 0 and result["lost"] == 0 and result["intervals"] > 20, result["off_uj"]
    for zone in result["sums"]:
        node = uj(metrics.sum(f"kepler_node_{zone['zone']}_joules_total"))
        assert node == zone["node_uj"] > 10_000_000, (zone, node)
        none = uj(metrics.sum("kepler_node_unattributed_joules_total", zone=zone["zone"]))
        assert none == zone["unattributed_uj"], (zone, none)
    wrong = set(containers_of(metrics).items()) ^ set(rows_of(result).items())
    assert not wrong, sorted(wrong)[:20]
    print(f"  {result['intervals']} intervals, {len(rows_of(result))} values of containers: 0 µJ off")


def as_the_exporter():
    check_same("--idle.mode=learned")


def with_a_bound_by_usage():
    """Idle power that is not learned yet."""
    check_same("--idle.mode=learned", "--idle.share=usage")


def with_idle_by_usage():
    check_same("--idle.mode=fixed", "--idle.watts=package=10", "--idle.share=usage")


def with_idle_shared_equally():
    check_same("--idle.mode=fixed", "--idle.watts=package=10", "--idle.share=equal")


def across_a_reload():
    """A reload begins a file with the new options; the first file's are used for all, and the replay says so."""
    lines, _ = tree()
    with tempfile.TemporaryDirectory() as folder, Sensors(lines) as sensors:
        config = pathlib.Path(folder, "kepler.yaml")
        config.write_text("idle: {mode: fixed, watts: [package=10]}\n")
        with Exporter(f"--host.sysfs={sensors.mount}", f"--record.dir={folder}", f"--config.file={config}", *FAST) as exporter:
            exporter.intervals(5)
            config.write_text("idle: {mode: off}\n")
            exporter.process.send_signal(signal.SIGHUP)
            while len(list(pathlib.Path(folder).glob("*.krec"))) < 2:
                exporter.intervals(1)
            exporter.intervals(5)
            assert exporter.stop() == 0
        files = sorted(pathlib.Path(folder).glob("*.krec"))
        assert len(files) == 2, files
        done = subprocess.run([KEPLER, "replay", *files], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and f"{files[1]}: recorded with a different idle.mode" in done.stderr, done
        replay(files[1])


def with_other_options():
    """Given other options the sums are those of an exporter that ran with them."""
    with tempfile.TemporaryDirectory() as folder:
        _, files = run_and_record(folder, "--idle.mode=fixed", "--idle.watts=package=10")
        node = replay_json(*files)
        usage = replay_json(*files, "--idle.share=usage")
        assert not any(mode == "idle" for _, _, mode in rows_of(node))
        assert any(mode == "idle" for _, _, mode in rows_of(usage))
        assert usage["off_uj"] == 0
        assert [zone["node_uj"] for zone in node["sums"]] == [zone["node_uj"] for zone in usage["sums"]]
        both = replay_json(*files, "--idle.share=usage", "--diff")
        assert [row["container_id"] for row in both["rows"]]
        by_id = {row["container_id"]: row for row in usage["rows"]}
        for row in both["rows"]:
            for zone, given in zip(row["zones"], by_id[row["container_id"]]["zones"]):
                assert zone["idle_uj"] == 0 and zone["other_uj"] == given["dynamic_uj"] + given["idle_uj"], row


def across_files():
    """A ring of several files is one recording; each of them is one, too."""
    lines, paths = tree()
    with tempfile.TemporaryDirectory() as folder:
        with Sensors(lines) as sensors, Exporter(f"--host.sysfs={sensors.mount}", f"--record.dir={folder}", "--record.keep=1m",
                                                 "--idle.mode=fixed", "--idle.watts=package=10", "--idle.share=usage",
                                                 *FAST) as exporter:
            storm = load("storm", 20, 5, 16)
            while len(list(pathlib.Path(folder).glob("*.krec"))) < 3:
                exporter.intervals(5)
            for path in paths:
                sensors.control(f"{path} power 0")
            metrics = exporter.intervals(5)
            storm.kill()
            storm.communicate()
            assert exporter.stop() == 0
        files = sorted(pathlib.Path(folder).glob("*.krec"))
        check_equal(metrics, replay_json(*files))
        alone = [replay_json(file) for file in files]
        for number in range(2):
            assert sum(result["sums"][number]["node_uj"] for result in alone) == \
                replay_json(*files)["sums"][number]["node_uj"], alone


def with_a_gpu():
    """What used a device, and holds it, is recorded with the rest."""
    with tempfile.TemporaryDirectory() as folder, gpu_rig.sleepers(2) as (first, second):
        processes = [f"proc 0 {first} 60 100", f"proc 0 {second} 20 100"]
        options = (f"--record.dir={folder}", "--gpu.idle=holder", "--idle.mode=fixed", "--idle.watts=gpu=50")
        with gpu_rig.machine("gpu 0 0", options=options) as (gpus, exporter):
            began, _ = gpu_rig.settled(gpus, exporter)
            gpus.say("gpu 0 300000", *processes)
            gpu_rig.wait_until(exporter, lambda metrics: gpu_rig.node_uj(metrics, 0) - gpu_rig.node_uj(began, 0) > 1e9)
            gpus.say("gpu 0 0", *processes)
            metrics, _ = gpu_rig.settled(gpus, exporter)
            said = {pid: uj(metrics.sum("kepler_process_gpu_joules_total", pid=str(pid))) for pid in (first, second)}
        got = {int(row["pid"]): sum(zone["dynamic_uj"] + zone["idle_uj"] for zone in row["zones"] if zone["zone"] == "gpu")
               for row in replay_json(*sorted(pathlib.Path(folder).glob("*.krec")), "--by=process")["rows"]}
        assert {pid: got[pid] for pid in said} == said and said[first] > said[second] > 100_000_000, (said, got)
        print(f"  {said} µJ of two users of a board: 0 µJ off")


def the_ring_is_bounded():
    """Old files go, and no system call is denied for that."""
    with tempfile.TemporaryDirectory() as folder:
        sleepers = [subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"]) for _ in range(40)]
        try:
            with Exporter(f"--record.dir={folder}", "--record.max-size=64KiB", *FAST) as exporter:
                exporter.intervals(1)
                first = sorted(pathlib.Path(folder).glob("*.krec"))[0]
                deadline = time.monotonic() + 120
                while first.exists():
                    assert time.monotonic() < deadline, list(pathlib.Path(folder).iterdir())
                    metrics = exporter.intervals(5)
                assert metrics.value("kepler_exporter_denied_system_calls_total") == 0
                assert exporter.stop() == 0
            files = sorted(pathlib.Path(folder).glob("*.krec"))
            assert sum(file.stat().st_size for file in files) < 128 * 1024 and len(files) > 1, files
            assert replay_json(*files)["lost"] == 0
        finally:
            for sleeper in sleepers:
                sleeper.kill()
                sleeper.wait()


def of_one_file():
    """kepler record: another program reads the same energy from it as the sensors say was read, and no file is overwritten."""
    lines, paths = tree()
    with tempfile.TemporaryDirectory() as folder, Sensors(lines) as sensors:
        file = pathlib.Path(folder, "a.krec")
        command = [KEPLER, "record", file, "--config.file=/dev/null", "--host.state-dir=", f"--host.sysfs={sensors.mount}",
                   "--duration=2s", "--interval=100ms"]
        storm = load("storm", 20, 5, 60)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        storm.kill()
        storm.communicate()
        assert done.returncode == 0, done.stderr
        reader, sums, comms, ended = Reader(file), {}, set(), 0
        for interval in reader.intervals():
            for number, zone in enumerate(interval["zones"]):
                sums[number] = sums.get(number, 0) + (zone["energy_uj"] or 0)
            comms |= {reader.processes[number]["comm"] for kind, number in interval["parties"] if kind == "process"}
            ended += len(interval["ended"])
        assert reader.end and reader.end[1] == 0 and not reader.is_cut, reader.end
        assert "load" in comms and ended > 10, (comms, ended)
        read = sensors.read_uj(paths)
        assert sorted(sums.values()) == sorted(last - first for first, last, _ in read.values()), (sums, read)
        assert [zone["read_uj"] for zone in replay_json(file)["sums"]] == [sums[0] + sums[2], sums[1] + sums[3]] or \
            sum(zone["read_uj"] for zone in replay_json(file)["sums"]) == sum(sums.values())
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert again.returncode == 1 and "exists already" in again.stderr, again
        whole = file.read_bytes()
        file.write_bytes(whole[:-7])
        done = subprocess.run([KEPLER, "replay", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "the end is missing" in done.stderr, done
        file.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
        done = subprocess.run([KEPLER, "replay", file], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "byte 16, block 0: a block with a wrong checksum" in done.stderr, done


def without_names():
    """Anonymized, a recording has the same energies and no name, and the same thing is the same."""
    with tempfile.TemporaryDirectory() as folder:
        metrics, files = run_and_record(folder, "--record.anonymize")
        result = replay_json(*files)
        want = sorted(containers_of(metrics).values())
        assert sorted(rows_of(result).values()) == want, (want, sorted(rows_of(result).values()))
        reader = Reader(files[0])
        for _ in reader.intervals():
            pass
        comms = {process["comm"] for process in reader.processes.values()}
        assert reader.facts["anonymized"] == "true" and "load" not in comms and len(comms) > 1, comms
        known = ("system_processes", "kernel_processes", "system", "kernel")
        words = {text for owner in reader.owners.values() for key, text in owner.items()
                 if key in ("container_id", "container_name", "pod_name")}
        assert all(word in known or word.startswith("x") for word in words), words


def on_a_full_disk():
    """What the disk has no room for is counted, the exporter runs on, and records again when there is room."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
        try:
            filler = pathlib.Path(folder, "filler")
            filler.write_bytes(b"\0" * 64 * 1024)
            with Exporter(f"--record.dir={folder}", *FAST) as exporter:
                deadline = time.monotonic() + 30
                metrics = exporter.intervals(3)
                while not metrics.value("kepler_exporter_recording_lost_intervals_total"):
                    assert time.monotonic() < deadline, exporter.output()
                    metrics = exporter.intervals(3)
                assert metrics.value("kepler_exporter_recording_errors_total") > 0
                assert "No space left on device" in exporter.output(), exporter.output()
                filler.unlink()
                lost, recorded = None, None
                while recorded is None or metrics.value("kepler_exporter_recorded_intervals_total") == recorded:
                    assert time.monotonic() < deadline, exporter.output()
                    recorded = metrics.value("kepler_exporter_recorded_intervals_total")
                    metrics = exporter.intervals(3)
                    lost = metrics.value("kepler_exporter_recording_lost_intervals_total")
                assert lost > 0 and exporter.stop() == 0
            files = [file for file in pathlib.Path(folder).glob("*.krec") if file.stat().st_size]
            assert replay_json(files[-1])["intervals"] > 0
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


def nothing_remains_of_a_failure():
    """The file is made before the process gives up the right to make, and to remove, any."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.rec")
        done = subprocess.run([KEPLER, "record", path, "--host.procfs=/nonexistent"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "/nonexistent: cannot be read" in done.stderr, (done.returncode, done.stderr)
        assert not path.exists()


run_tests([across_files, as_the_exporter, with_a_bound_by_usage, with_idle_by_usage, with_idle_shared_equally, across_a_reload,
           with_other_options, the_ring_is_bounded, with_a_gpu, of_one_file, without_names, on_a_full_disk,
           nothing_remains_of_a_failure], at_once=4)
