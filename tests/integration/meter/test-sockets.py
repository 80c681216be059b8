#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two sockets of different power: the energy of each goes to what ran there, and its idle power is learned from how busy it was.

Each of two CPUs is made a socket, with a package of its own, and a burner can keep it busy. A burner gets nothing of the package
in which it does not run, and of its own its part of what ran there: what it ran itself is its cgroup's account. Of what else ran
in that socket only bounds are known here, nothing at all or all that ran beside the burners: a thread that is not bound to a CPU
counts where it was last.

Learning wants over a minute of changing load and runs with KEPLER_LONG_TESTS only. The sockets take turns, so that the machine as
a whole is always as busy as before and would teach nothing.
"""
import os
import pathlib
import subprocess
import time

from rig import BUILD, Exporter, Sensors, Service, close, rapl_zone, run_tests, skip

LOAD = str(BUILD / "tests/lab/load")
LONGEST_S = 120
WATTS = (45, 20)
IDLE_WATTS, BUSY_WATTS = (20, 10), 25
OPTIONS = ("--monitor.interval=500ms", "--metrics.settle=0s", "--idle.mode=off", "--metrics.per-package")
LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
# The work in a CPU's line of /proc/stat: all but idle, iowait, and the guests that user and nice have already.
WORK = (0, 1, 2, 5, 6, 7)


def topology(cpus):
    """What CPUs there are beside these are one more socket, which has no zone."""
    online = sorted(os.sched_getaffinity(0))
    lines = [f"devices/system/cpu/online text {','.join(map(str, online))}"]
    for cpu in online:
        package = cpus.index(cpu) if cpu in cpus else len(cpus)
        path = f"devices/system/cpu/cpu{cpu}/topology"
        lines += [f"{path}/physical_package_id text {package}", f"{path}/core_id text 0"]
    return lines


def busy_s(cpu):
    for line in pathlib.Path("/proc/stat").read_text().splitlines():
        fields = line.split()
        if fields[0] == f"cpu{cpu}":
            return sum(int(fields[1 + i]) for i in WORK) / os.sysconf("SC_CLK_TCK")
    raise AssertionError(f"no cpu{cpu}")


def joules(metrics, package, service):
    return float(metrics.sum("kepler_container_package_joules_total", container_name=service.name, package=str(package)))


def node_joules(metrics, package):
    return float(metrics.sum("kepler_node_package_joules_total", package=str(package)))


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        skip("one CPU only")
    return cpus


def stop(burner):
    burner.kill()
    burner.wait()


def each_gets_its_own():
    cpus = two_cpus()
    zones = [line for package, watts in enumerate(WATTS)
             for line in rapl_zone(f"intel-rapl:{package}", f"package-{package}", watts)]
    with Sensors(topology(cpus) + zones) as sensors, \
            Service("kepler-test-socket0.service") as first, Service("kepler-test-socket1.service") as second, \
            Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        sides = (first, second)
        exporter.intervals(2)
        burners = [side.run("taskset", "-c", str(cpu), LOAD, "burn", str(LONGEST_S)) for side, cpu in zip(sides, cpus)]
        exporter.intervals(3)
        start, busy = exporter.intervals(1), sum(map(busy_s, cpus))
        used = [side.ran_s() for side in sides]
        for _ in range(8):
            assert not exporter.intervals(2).imbalance_uj()
        end, busy = exporter.intervals(1), sum(map(busy_s, cpus)) - busy
        used = [side.ran_s() - before for side, before in zip(sides, used)]
        for burner in burners:
            stop(burner)
        beside = max(0, busy - sum(used))
        for package, side in enumerate(sides):
            whole = node_joules(end, package) - node_joules(start, package)
            own, other = ((joules(end, at, side) - joules(start, at, side)) for at in (package, 1 - package))
            least = used[package] / (used[package] + beside)
            print(f"package {package}: {own / whole:.4f} of {whole:.1f} J, {least:.4f} to 1 wanted; of the other {other:.4f} J")
            assert least - 0.01 <= own / whole <= 1, "not what ran there"
            assert other <= 0.001 * whole, "energy of a socket where it did not run"
        assert exporter.stop() == 0


def rows_sum_the_sockets_unless_asked():
    """One series a kind, as both Keplers have it, but on the node; an option brings the labels back. Each response adds up."""
    zones = [line for package, watts in enumerate(WATTS)
             for line in rapl_zone(f"intel-rapl:{package}", f"package-{package}", watts)]
    for option, series in (("--no-metrics.per-package", 1), ("--metrics.per-package", 2)):
        with Sensors(topology(two_cpus()) + zones) as sensors, \
                Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=500ms", "--metrics.schema=both",
                         "--metrics.settle=0s", "--idle.mode=fixed", "--idle.watts=package=5", "--idle.share=usage",
                         option) as exporter:
            metrics = exporter.intervals(4)
            assert not metrics.imbalance_uj(), metrics.imbalance_uj()
            for level in ("process", "container", "pod", "vm", "namespace"):
                for name in (f"kepler_{level}_package_joules_total", f"kepler_{level}_cpu_joules_total"):
                    rows = {}
                    for labels, _ in metrics.select(name):
                        place = (labels.pop("package", None), labels.pop("path", None))
                        assert (place == (None, None)) == (series == 1), (name, place)
                        rows.setdefault(tuple(sorted(labels.items())), set()).add(place)
                    assert all(len(places) == series for places in rows.values()), (name, rows)
                    assert rows or level in ("pod", "vm"), name
            for name in ("kepler_node_package_joules_total", "kepler_node_unattributed_joules_total"):
                assert {labels["package"] for labels, _ in metrics.select(name)} == {"0", "1"}, name
            assert len({labels["path"] for labels, _ in metrics.select("kepler_node_cpu_joules_total")}) == 2
            power = float(metrics.sum("kepler_container_package_watts", mode="dynamic"))
            assert abs(power - float(metrics.sum("kepler_node_package_watts", mode="dynamic"))) < 0.05 * sum(WATTS), power
            assert exporter.stop() == 0


def each_learns_by_itself():
    if not LONG:
        print("  needs over a minute: only with KEPLER_LONG_TESTS")
        return
    cpus = two_cpus()
    zones = [line for package, (cpu, idle) in enumerate(zip(cpus, IDLE_WATTS)) for line in
             rapl_zone(f"intel-rapl:{package}", f"package-{package}", idle, busy_watts=BUSY_WATTS, busy=f"stat:{cpu}")]
    with Sensors(topology(cpus) + zones) as sensors, Exporter(f"--host.sysfs={sensors.mount}", "--monitor.interval=1s",
                                                              "--metrics.settle=1s") as exporter:
        deadline = time.monotonic() + 240
        learned = []
        while len(learned) < len(cpus):
            assert time.monotonic() < deadline, f"learned by then: {learned}"
            for cpu in cpus:
                burner = subprocess.Popen(["taskset", "-c", str(cpu), LOAD, "burn", str(LONGEST_S)], stdout=subprocess.DEVNULL)
                metrics = exporter.intervals(6)
                stop(burner)
            learned = metrics.select("kepler_node_idle_estimate_watts")
        for package, idle in enumerate(IDLE_WATTS):
            learned = metrics.value("kepler_node_idle_estimate_watts", package=str(package))
            close(f"package {package}: idle W", float(learned), idle, 10)
        assert exporter.stop() == 0


run_tests([each_gets_its_own, rows_sum_the_sockets_unless_asked, each_learns_by_itself])
