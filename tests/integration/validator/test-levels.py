#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run`: the levels at which the load is judged. In the cgroup of a pod's container, the exporter shows it as
container, pod and namespace; an exporter that loses pods or doubles them fails there. The load is the scenario inference: its
frames are counted, and the report has the energy of a frame for each stage.

Other work on this machine may make the energy of the load inconclusive; nothing else depends on it.
"""
import json
import pathlib
import re
import subprocess
import tempfile

from page_server import PageServer, page_of
from rig import BUILD, Exporter, Sensors, rapl_zone

VALIDATOR = BUILD / "kepler-validator"


def double_pods(page):
    return re.sub(r"^(kepler_pod_\w+_joules_total\{.*\}) (\S+)$", lambda row: f"{row[1]} {2 * float(row[2]):.6f}", page,
                  flags=re.MULTILINE)


def lose_pods(page):
    """Those that Kubernetes does not know."""
    return "\n".join(line for line in page.split("\n") if not (line.startswith("kepler_pod_") and '"unknown"' in line)) \
        + '\n# TYPE kepler_pod_package_joules_total counter\nkepler_pod_package_joules_total{pod_id="x",mode="dynamic"} 1\n'


STAGES = ["kv-decode", "kv-infer", "kv-classify", "all"]
CHANGES = {"doubled": double_pods, "lost": lose_pods}


def run(*args):
    """The report's results by exporter and name."""
    with tempfile.TemporaryDirectory() as folder:
        # The node's energy is not judged here: no phase is longer to decide on it.
        done = subprocess.run([VALIDATOR, "run", f"--output={folder}", "--max-error=25%", *args], text=True, capture_output=True,
                              check=False, timeout=200)
        print(done.stdout, done.stderr)
        found = {}
        for result in json.loads(pathlib.Path(folder, "report.json").read_text())["results"]:
            found.setdefault(result["exporter"], {})[result["name"]] = result
        page = pathlib.Path(folder, "report.md").read_text()
    return found, done.stdout, page


def is_disturbed(result):
    return result["verdict"] == "inconclusive" and re.search("busy|drifted|Other work", result["reason"])


def charged(result):
    """The energy that the load is charged, also where other work leaves the verdict open."""
    return result["errors"]["predicted"]


def is_near(one, other):
    return abs(one - other) <= 0.02 * other


def check_stages(result, output, page):
    """The energy of a frame, for each stage."""
    assert int(re.search(r"^Load in inference: (\d+) frames, ", output, re.MULTILINE)[1]) > 0, output
    rows = result["table"]["rows"]
    assert [row["name"] for row in rows] == STAGES, rows
    j_per_frame = [row["cells"][2] for row in rows]
    assert abs(sum(j_per_frame[:3]) - j_per_frame[3]) < 1e-9 * j_per_frame[3], rows
    assert j_per_frame[1] == max(j_per_frame[:3]), rows  # the network takes the most
    if result["verdict"] == "pass":
        assert abs(rows[3]["cells"][4] - 1) < 0.15, rows
    assert "machine J/frame" in page, page


def a_pod():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter, \
            PageServer(lambda change: CHANGES[change](page_of(exporter.url))) as proxy:
        exporter.intervals(2)
        own = exporter.url + "/metrics"
        found, *texts = run(f"--exporter={own}", f"--exporter={proxy.url('doubled')}", f"--exporter={proxy.url('lost')}",
                            f"--host.sysfs={sensors.mount}", "--step=250ms", "--load-cgroup=pod", "--scenario=inference",
                            "--duration=18s")
        check_stages(found[own]["process/package/inference"], *texts)
        levels = {level: found[own][f"{level}/package/inference"] for level in ("container", "pod", "namespace")}
        for level, result in levels.items():
            assert result["verdict"] == "pass" or is_disturbed(result), (level, result)
            assert charged(result) > 1 and is_near(charged(result), charged(levels["container"])), (level, result)
        for change, factor in (("doubled", 2), ("lost", 0)):
            result = found[proxy.url(change)]["pod/package/inference"]
            assert result["verdict"] == "fail" or is_disturbed(result), (change, result)
            assert is_near(charged(result), factor * charged(levels["pod"])), (change, result)
        assert not list(pathlib.Path("/sys/fs/cgroup").glob("**/kepler-validator"))
        assert exporter.stop() == 0


def a_command():
    """A command of the user is a load, and ends its phase; the report has its exit status if it fails."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=20)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s", "--metrics.settle=1s") as exporter:
        exporter.intervals(2)
        own = exporter.url + "/metrics"
        options = [f"--exporter={own}", f"--host.sysfs={sensors.mount}", "--step=250ms", "--duration=18s"]
        found, output, _ = run(*options, "--load-command=timeout 4 sh -c 'while :; do :; done'; echo it is over")
        assert re.search(r"^Load in command: the command exited with status 0 after [4-7]\.\d s, [0-4]\.\d\d s of CPU time\.$",
                         output, re.MULTILINE), output
        assert not re.search("^it is over", output, re.MULTILINE), output
        result = found[own]["container/package/command"]
        assert result["verdict"] == "pass" or is_disturbed(result), result
        assert charged(result) > 1, result
        assert "process/package/command" not in found[own], found[own].keys()
        found, output, _ = run(*options[:-1], "--duration=10s", "--load-command=no-such-command")
        assert "exited with status 127" in found[""]["run/command"]["reason"], found
        assert found[""]["run/command"]["verdict"] == "inconclusive", found
        assert found[own]["container/package/command"]["verdict"] == "inconclusive", found
        assert exporter.stop() == 0
    for wrong, words in ((["--scenario=command"], "needs --load-command"),
                         (["--scenario=ladder", "--load-command=true"], "without --scenario=ladder")):
        done = subprocess.run([VALIDATOR, "run", *wrong], text=True, capture_output=True, check=False, timeout=20)
        assert done.returncode == 2 and words in done.stderr, done


a_pod()
a_command()
