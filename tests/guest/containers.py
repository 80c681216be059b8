#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing but cgroup v2: runc's containers, each in a cgroup namespace of its own, and Kepler beside them and in one of them.

Two containers with a load of 1:3, one of processes that live 1 ms, and one that comes and goes while Kepler stands still. Kepler
is run as a process of the host, as deploy/kubernetes runs it (a private cgroup namespace, the host's /sys at /host/sys), and with
nothing of the host's mounted, where /proc/self/cgroup and /sys/fs/cgroup both say that its own container is the root.
"""
import os
import pathlib
import signal
import subprocess
import time

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case

import containers
from rig import Sensors, rapl_zone

SPAN_SECONDS = 4
CPU = 'kepler_container_bpf_cpu_time_ms_total'
OPTIONS = (*AT_ONCE, '--monitor.interval=1s', '--meter.read-deadline=20s', '--metrics.keep=300s')


def joules_of(metrics, container):
    return float(metrics.value('kepler_container_package_joules_total', container_id=container.id, mode='dynamic'))


def cpu_of(metrics, container):
    return float(metrics.value(CPU, container_id=container.id)) / 1e3


def check_names(metrics, container):
    (labels, _), = metrics.select(CPU, container_id=container.id)
    assert labels['container_name'] == container.name and labels['pod_name'] == container.pod['name'], labels


def wait_series(exporter, started):
    """Two intervals, and more until each of them has its series."""
    deadline = time.monotonic() + 60
    metrics = exporter.intervals(2)
    while not all(metrics.select(CPU, container_id=container.id) for container in started):
        assert time.monotonic() < deadline, 'a container has no series'
        metrics = exporter.intervals(1)
    return metrics


def look(exporter, started):
    """A page, and of each container (joules, CPU seconds, CPU seconds by the kernel) when they had all stood still for the interval
    that it shows, however long a busy machine takes for that."""
    deadline = time.monotonic() + 60
    metrics, truth, earlier = wait_series(exporter, started), [container.cpu_seconds() for container in started], []
    while truth != earlier:
        assert time.monotonic() < deadline, 'a container does not stand still'
        metrics, earlier = exporter.intervals(2), truth
        truth = [container.cpu_seconds() for container in started]
    return metrics, [(joules_of(metrics, container), cpu_of(metrics, container), s) for container, s in zip(started, truth)]


def check_shares(engine, exporter, pods, named):
    """Energy by CPU time, as the kernel charged it to the cgroups: within 2 points."""
    started = [engine.start('small', f'/lab/load storm 20 5 {SPAN_SECONDS}', pods[0], 'cgroupfs'),
               engine.start('large', f'/lab/load storm 20 15 {SPAN_SECONDS}', pods[1], 'systemd'),
               engine.start('brief', f'/lab/load storm 40 1 {SPAN_SECONDS}', pods[1], 'systemd')]
    _, before = look(exporter, started)
    started[0].go()
    for container in started:
        container.wait_done(60)
    metrics, after = look(exporter, started)
    used = [[b - a for a, b in zip(*each)] for each in zip(before, after)]
    joules, _, seconds = (sum(column) for column in zip(*used))
    for container, (j, seen, s) in zip(started, used):
        case(f'  {container.name}: {j / joules * 100:.2f} % of the energy, {s / seconds * 100:.2f} % of {seconds:.2f} CPU s; '
             f'{seen:.3f} of {s:.3f} CPU s')
        assert abs(j / joules - s / seconds) <= 0.02, container.name
        assert abs(seen - s) <= 0.02 * s + 0.02, container.name
    assert_balanced(metrics)
    if named:
        for container in started:
            check_names(metrics, container)
    strangers = {labels['container_id'] for labels, _ in metrics.select('kepler_process_bpf_cpu_time_ms_total', command='load')}
    assert strangers <= {container.id for container in started}, strangers


def kepler_pid():
    pids = subprocess.run(['pgrep', '-x', 'kepler'], capture_output=True, text=True, check=True).stdout.split()
    assert len(pids) == 1, pids
    return int(pids[0])


def check_gone(engine, exporter, pod):
    """A container that is gone, with its cgroup, before it is looked at: it says what the kernel charged to it as it ends."""
    exporter.intervals(1)
    os.kill(kepler_pid(), signal.SIGSTOP)
    script = '/lab/load mix 1 1 50; cat /sys/fs/cgroup/cpu.stat >/work/truth'
    container, config = engine.describe('gone', ['/bin/sh', '-c', script], pod, 'systemd')
    engine.run(container, config)
    assert not pathlib.Path('/sys/fs/cgroup' + container.cgroup).exists()
    os.kill(kepler_pid(), signal.SIGCONT)
    truth = int((engine.dir / 'truth').read_text(encoding='utf-8').split()[1]) / 1e6
    seen = cpu_of(wait_series(exporter, [container]), container)
    case(f'  gone before it was looked at: {seen:.3f} s, {truth:.3f} s when it said so itself')
    # More is right: what ran before it entered the cgroup is the same process's.
    assert seen >= 0.98 * truth, (seen, truth)


def start_home(engine, sensors, pod, sys_of_host):
    """The container that Kepler is to run in: hostPID, the documented capabilities, its own cgroup namespace."""
    container, config = engine.describe('kepler', ['/bin/sleep', '3600'], pod, 'systemd')
    linux, process = config['linux'], config['process']
    linux['namespaces'] = [ns for ns in linux['namespaces'] if ns['type'] != 'pid']
    config['mounts'].append({'destination': '/kepler', 'type': 'bind', 'source': '/lab', 'options': ['rbind', 'ro']})
    config['mounts'].append({'destination': '/sensors', 'type': 'bind', 'source': sensors.mount, 'options': ['rbind', 'ro']})
    if sys_of_host:
        config['mounts'].append({'destination': '/host/sys', 'type': 'bind', 'source': '/sys', 'options': ['rbind', 'ro']})
    names = ['CAP_' + name.upper() for name in DOCUMENTED]
    process['capabilities'] = {each: names for each in ('bounding', 'effective', 'permitted', 'inheritable', 'ambient')}
    engine.running.append(container)
    engine.run(container, config, '-d')
    cgroup = engine.check_call(*engine.runc, 'exec', container.id, '/bin/cat', '/proc/self/cgroup')
    assert cgroup == '0::/\n', cgroup  # it lies
    return container, (*engine.runc, 'exec', container.id)


def on_host(engine, sensors, pods):
    with Exporter(*OPTIONS, f'--host.sysfs={sensors.mount}') as exporter:
        check_shares(engine, exporter, pods, True)  # runtimes keep names in the host's /run
        check_gone(engine, exporter, pods[0])
        assert exporter.stop() == 0


def as_deployed(engine, sensors, pods):
    home, prefix = start_home(engine, sensors, containers.new_pod('kepler-x2z', 'kepler'), True)
    with Exporter(*OPTIONS, '--host.sysfs=/sensors', '--host.cgroupfs=/host/sys/fs/cgroup', '--config.file=/dev/null',
                  '--idle.mode=off', prefix=prefix, binary='/kepler/kepler') as exporter:
        assert 'own container' not in exporter.output(), exporter.output()
        check_shares(engine, exporter, pods, False)
        own = exporter.scrape().sum(CPU, container_id=home.id)
        assert own > 0, 'Kepler does not know its own container'
        case(f'  its own container: {own} ms')
        assert exporter.stop() == 0


def with_its_own_view(engine, sensors, pods):
    home, prefix = start_home(engine, sensors, containers.new_pod('kepler-x2z', 'kepler'), False)
    doctor = subprocess.run([*prefix, '/kepler/kepler', 'doctor'], capture_output=True, text=True, check=False).stdout
    assert '--host.cgroupfs' in doctor, doctor
    with Exporter(*OPTIONS, '--host.sysfs=/sensors', '--config.file=/dev/null', '--idle.mode=off', prefix=prefix,
                  binary='/kepler/kepler') as exporter:
        assert "shows only Kepler's own container" in exporter.output(), exporter.output()
        check_shares(engine, exporter, pods, False)
        check_gone(engine, exporter, pods[0])
        rows = exporter.scrape().select('kepler_process_bpf_cpu_time_ms_total', command='kepler')
        assert {labels['container_id'] for labels, _ in rows} == {'system_processes'}, rows
        assert not exporter.scrape().select(CPU, container_id=home.id)
        assert exporter.stop() == 0


def main():
    assert containers.is_pure_v2(), containers.hierarchies()
    # Power follows load, so that a process that ends later does not get an interval's energy for it. Of ticks an emulated CPU
    # misses some, in one interval more than in another.
    zone = rapl_zone('intel-rapl:0', 'package-0', 0, busy_watts=45, busy='schedstat')
    pods = [containers.new_pod('shop-7f9c'), containers.new_pod('jobs-0')]
    for test in (on_host, as_deployed, with_its_own_view):
        case(test.__name__)
        with containers.open_engine('runc') as engine, Sensors(zone) as sensors:
            test(engine, sensors, pods)


main()
