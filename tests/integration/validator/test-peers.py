#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` over six kinds of exporters in one report: each fault that other exporters were seen to have is found by
the result that docs/validation.md names, and without the fault that result passes. The node_exporter is the real one."""
import json
import math
import pathlib
import subprocess
import tempfile

from peer_pages import Alumet, ClassicKepler, Kepler, PeerServer, Scaphandre
from real_peers import NodeExporter
from rig import BUILD, Exporter, Sensors, free_port, rapl_zone

VALIDATOR = str(BUILD / "kepler-validator")
RANGE_UJ = 262143328850
ZONES = {"package": "class/powercap/intel-rapl:0/energy_uj", "dram": "class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj"}
PASS, FAIL = ("pass",), ("fail",)


def run(sensors, urls, *options):
    """{name of the exporter: {name of the result: (verdict, reason)}}"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([VALIDATOR, "run", f"--host.sysfs={sensors.mount}", "--scenario=node", "--duration=26s",
                               f"--output={folder}", *options, *(f"--exporter={url}" for url in urls)], text=True,
                              capture_output=True, check=False, timeout=200)
        print(done.stdout, done.stderr)
        assert done.returncode == 1, done
        report = json.loads(pathlib.Path(folder, "report.json").read_text())
    found = {}
    for result in report["results"]:
        found.setdefault(result["exporter"].rsplit("/", 1)[-1], {})[result["name"]] = (result["verdict"], result["reason"])
    return found


def check(found, wanted):
    for exporter, name, verdicts, words in wanted:
        verdict, reason = found[exporter][name]
        assert verdict in verdicts and words in reason, (exporter, name, verdict, reason)


def first_report(sensors, own):
    """All six kinds, and what each of them does wrong."""
    peers = {"kepler": Kepler(sensors, ZONES), "unreadable": Kepler(sensors, ZONES, {"unreadable": True}),
             "reused": Kepler(sensors, ZONES, {"reused": True}), "classic": ClassicKepler(sensors, ZONES),
             "scaphandre": Scaphandre(sensors, ZONES), "alumet": Alumet(sensors, ZONES)}
    with PeerServer(peers) as server, NodeExporter(sensors) as node:
        found = run(sensors, [own.url + "/metrics", node.url, *map(server.url, peers)])
    check(found, [
        ("metrics", "correctness/answers", PASS, "Kepler in C answered"),
        ("kepler", "correctness/answers", PASS, "Kepler answered"),
        ("classic", "correctness/answers", PASS, "classic Kepler answered"),
        ("scaphandre", "correctness/answers", PASS, "Scaphandre answered"),
        ("alumet", "correctness/answers", PASS, "Alumet answered"),
        ("node_exporter", "correctness/answers", PASS, "node_exporter answered"),
        ("node_exporter", "correctness/types", PASS, ""),
        ("node_exporter", "correctness/monotone", PASS, ""),
        # The exporters themselves.
        ("unreadable", "correctness/answers", FAIL, "a page of Kepler has 2 series, and none of energy"),
        ("reused", "correctness/finite", FAIL, "kepler_process_cpu_joules_total is 1.84"),
        ("reused", "correctness/process-names", FAIL, "not a-former-name"),
        ("scaphandre", "correctness/updates", FAIL, "stood still for"),
        ("scaphandre", "correctness/descriptions", FAIL, "scaph_process_power_consumption_microwatts"),
        ("alumet", "correctness/cpu-limit", FAIL, "cpu_time_delta_alumet_nanoseconds"),
        ("alumet", "correctness/types", FAIL, 'has the type "gauge"'),
        ("alumet", "correctness/dead-processes", FAIL, "process 999999999"),
        ("alumet", "node/package", FAIL, "energy between two scrapes is lost"),
    ])
    # Nothing else is wrong with any of them.
    for exporter, faults in (("metrics", ()), ("node_exporter", ()), ("kepler", ()), ("classic", ()),
                             ("scaphandre", ("updates", "descriptions", "dead-processes")),  # it stands still
                             ("alumet", ("cpu-limit", "types", "dead-processes"))):
        for name, (verdict, reason) in found[exporter].items():
            if name.startswith("correctness/") and name.partition("/")[2] not in faults:
                assert verdict != "fail", (exporter, name, reason)
    for exporter in ("metrics", "node_exporter", "kepler", "classic"):
        check(found, [(exporter, f"upstream/2-1/{zone}", PASS, "") for zone in ("core", "dram", "package", "uncore")])
    # On a busy machine, pages that come late leave the node's energy undecided.
    check(found, [("kepler", "node/package", ("pass", "inconclusive"), ""), ("kepler", "conservation/process/package", PASS, ""),
                  ("node_exporter", "node/package", ("pass", "inconclusive"), ""),
                  ("node_exporter", "node/dram", ("pass", "inconclusive"), "")])


def second_report(sensors):
    """Exporters that do not answer (as after a crash at the start), answer nothing, lose what they had, or confuse processes; a
    counter that falls when the register wraps."""
    peers = {"poisoned": Scaphandre(sensors, ZONES, {"poisoned": True}), "alumet": Alumet(sensors, ZONES, {"no-processes": True}),
             "register": Kepler(sensors, ZONES, {"register": True}), "kepler": Kepler(sensors, ZONES),
             "zeroed": Kepler(sensors, ZONES, {"zeroed": True, "pods": True}),
             "misnamed": ClassicKepler(sensors, ZONES, {"misnamed": True})}
    with PeerServer(peers) as server, NodeExporter(sensors, "--collector.rapl.enable-zone-label") as node:
        found = run(sensors, [f"http://127.0.0.1:{free_port()}/dead", node.url, *map(server.url, peers)], "--require=process")
    check(found, [
        ("dead", "correctness/answers", FAIL, "Failed to connect"),
        ("poisoned", "correctness/answers", FAIL, "a page of Scaphandre has 0 series"),
        ("alumet", "correctness/levels", FAIL, "level process was never there"),
        ("node_exporter", "correctness/monotone", FAIL, "node_rapl_joules_total went from"),
        ("node_exporter", "correctness/levels", FAIL, "level process was never there"),
        ("register", "correctness/monotone", FAIL, "kepler_node_cpu_joules_total went from"),
        ("zeroed", "correctness/monotone", FAIL, "to 0"),
        ("misnamed", "correctness/process-names", FAIL, "not the-one-before"),
        ("zeroed", "correctness/cpu-limit", FAIL, "kepler_pod_cpu_seconds_total: a pod has"),
        ("kepler", "correctness/levels", PASS, ""),
        ("kepler", "correctness/monotone", PASS, ""),
        ("kepler", "correctness/cpu-limit", PASS, ""),
    ])


def guest():
    """A guest whose energy is a fifth: the host adds the power of each 5 s as if it were energy."""
    with tempfile.TemporaryDirectory() as folder:
        host, seen = pathlib.Path(folder, "host.csv"), pathlib.Path(folder, "guest.csv")
        energy, counter = 0, 0
        with host.open("w") as host_file, seen.open("w") as seen_file:
            host_file.write("time,vm_energy_uj\n")
            seen_file.write("time,energy_uj\n")
            for step in range(200):
                watts = 20 + 15 * math.sin(step / 10)
                host_file.write(f"{5 * step},{int(energy)}\n")
                seen_file.write(f"{5 * step},{int(counter)}\n")
                energy += 5e6 * watts
                counter += 1e6 * watts
        done = subprocess.run([VALIDATOR, "judge", f"--actual={host}", f"--predicted={seen}", "--max-error=5%"], text=True,
                              capture_output=True, check=False, timeout=60)
    print(done.stdout, done.stderr)
    assert done.returncode == 1 and "(cause: scale)" in done.stdout, done
    assert "as if microwatts of 5 s were counted as microjoules" in done.stdout, done


def sensors(left_j):
    """The package's register has this much left until it wraps."""
    lines = rapl_zone("intel-rapl:0", "package-0", 45, max_uj=RANGE_UJ, start_uj=RANGE_UJ - left_j * 1000000)
    lines += rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")
    return Sensors(lines + ["class/powercap/intel-rapl:0:0 link intel-rapl:0/intel-rapl:0:0"])


guest()
with sensors(200000) as lab, Exporter(f"--host.sysfs={lab.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter:
    exporter.intervals(2)
    first_report(lab, exporter)
    assert exporter.stop() == 0
with sensors(600) as lab:
    second_report(lab)
