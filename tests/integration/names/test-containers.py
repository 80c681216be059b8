#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-containers.py ENGINE: whose joules, with containers of a real runtime (runc, podman, containerd, docker).

Three containers of two pods, once with unequal steady loads and once with processes of 1 to 50 ms at 1:2:3. The part of each
in the dynamic energy is compared with its part of the CPU time that the kernel charged to its cgroup, which shares no code
with us: within 2 points, and within 2 % for the short ones. Names and ids are those that the runtime was given, and every sum
is exact.
"""
import os
import sys

import containers
from rig import Exporter, Sensors, rapl_zone

LONG = os.environ.get("KEPLER_LONG_TESTS")
SPAN_SECONDS = 40 if LONG else 12
SHORT_COUNT = 10000 if LONG else 1500
OPTIONS = ["--monitor.interval=1s", "--metrics.settle=1s", "--metrics.keep=60s"]
JOULES = "kepler_container_package_joules_total"


def energy(metrics, container):
    return float(metrics.sum(JOULES, container_id=container.id, mode="dynamic"))


def check_names(metrics, all_of_them):
    for container in all_of_them:
        rows = [labels for labels, _ in metrics.select(JOULES, container_id=container.id)]
        assert rows, f"no series of {container.name} ({container.id}) in {container.cgroup}"
        for labels in rows:
            assert labels["container_name"] == container.name, (container.name, labels)
            if container.pod:
                assert labels["pod_name"] == container.pod["name"], (container.pod, labels)
                assert labels["container_namespace"] == container.pod["namespace"], (container.pod, labels)


def settled(exporter):
    """The last records are in, and nothing is held back any more."""
    exporter.intervals(3)
    return exporter.intervals(2)


def measure(exporter, started, seconds):
    """[(container, joules, CPU seconds)] while all of them do their work."""
    before = settled(exporter)
    base = [(energy(before, c), c.cpu_seconds()) for c in started]
    started[0].go()
    for container in started:
        container.wait_done(seconds)
    after = settled(exporter)
    assert not after.imbalance_uj(), after.imbalance_uj()
    check_names(after, started)
    return [(c, energy(after, c) - b[0], c.cpu_seconds() - b[1]) for c, b in zip(started, base)]


def compare(what, measured, points=None, percent=None):
    joules, cpu = sum(m[1] for m in measured), sum(m[2] for m in measured)
    for container, used, seconds in measured:
        got, want = used / joules * 100, seconds / cpu * 100
        print(f"{what}: {container.name}: {got:.3f} % of the energy, {want:.3f} % of {cpu:.2f} CPU s", flush=True)
        if points:
            assert abs(got - want) <= points, f"{container.name}: {got - want:+.3f} points"
        if percent:
            assert abs(got / want - 1) * 100 <= percent, f"{container.name}: {(got / want - 1) * 100:+.3f} %"


def main():
    engine_name = sys.argv[1] if len(sys.argv) > 1 else "runc"
    if engine_name in ("podman", "containerd") and os.environ.get(containers.MARK) is None:
        containers.unpack()
    containers.enter_own_mounts()
    shop, jobs = containers.new_pod("shop-7f9c"), containers.new_pod("jobs-0")
    # Power follows load, so that a process that ends a moment later does not get an interval's energy for it.
    zone = rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=45)
    # The runtime is there before the exporter, as on any host; so no container has to be shown before its name is known.
    with containers.open_engine(engine_name) as engine, Sensors(zone) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", *OPTIONS) as exporter:
        started = [engine.start("steady", f"/lab/load span {SPAN_SECONDS}", shop),
                   engine.start("small", f"/lab/load storm 20 10 {SPAN_SECONDS}", shop),
                   engine.start("large", f"/lab/load storm 20 25 {SPAN_SECONDS}", jobs)]
        compare("loads", measure(exporter, started, SPAN_SECONDS * 5 + 60), points=2)
        engine.stop_all()
        part = SHORT_COUNT // 6
        started = [engine.start(f"part{n}", f"/lab/load mix 1 50 {part * n}", jobs) for n in (1, 2, 3)]
        compare(f"{part * 6} processes of 1-50 ms", measure(exporter, started, SHORT_COUNT / 10 + 120), percent=2)
        assert exporter.stop() == 0


main()
