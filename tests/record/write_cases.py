#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write_cases.py FOLDER - writes the cases that tests/record replays, each as a recording: NAME.krec.

Each is a machine of a few processes with a known answer, written without Kepler. What kepler replay says of each, in each way of
sharing, is in NAME.golden; TEST_UPDATE_GOLDEN=1 tests/record/test-cases.py writes these anew.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'rig'))
from record_file import Writer  # noqa: E402

S = 10**9
J = 10**6
NOW_MS = 1790000000000


def owners(out):
    web = out.owner('web', container_namespace='shop', pod_name='web-1', pod_id='11111111-1111-1111-1111-111111111111')
    database = out.owner('db', millicpu=500, container_namespace='shop', pod_name='db-1',
                         pod_id='22222222-2222-2222-2222-222222222222')
    system = out.owner('system_processes', container_namespace='system')
    return web, database, system


def begin(path, **options):
    out = Writer(path, compress=path.stem != 'alone')
    out.fact('program', 'write_cases.py')
    for name, value in options.items():
        out.option(name.replace('_', '.'), value)
    return out


def alone(path):
    """One process, and all energy is its."""
    with begin(path, idle_mode='off') as out:
        package = out.zone('package', '0', now_ms=NOW_MS)
        web, _, _ = owners(out)
        nginx = out.process(100, 2 * S, 'nginx', web)
        out.interval(10 * S, zones={package: None})
        for second in range(11, 21):
            out.interval(second * S, zones={package: 10 * J + second}, parties=[(nginx, S // 2)], utilisation=0.25)


def idle(path):
    """Two that run, one that sleeps; 5 W of 20 W are idle power."""
    with begin(path, idle_mode='fixed', idle_watts='package=5', idle_share='node') as out:
        package = out.zone('package', '0', now_ms=NOW_MS)
        web, database, system = owners(out)
        nginx, postgres = out.process(100, S, 'nginx', web), out.process(200, S, 'postgres', database)
        out.process(1, 1, 'init', system)
        out.interval(10 * S, zones={package: None})
        for second in range(11, 31):
            out.interval(second * S, zones={package: 20 * J}, parties=[(nginx, 300_000_000), (postgres, 100_000_001)],
                         utilisation=0.1)


def short_lived(path):
    """Each second a compiler runs for 90 ms and ends: what polls /proc does not see it."""
    with begin(path, idle_mode='off') as out:
        package = out.zone('package', '0', now_ms=NOW_MS)
        web, _, system = owners(out)
        nginx = out.process(100, S, 'nginx', web)
        out.interval(10 * S, zones={package: None})
        for second in range(11, 31):
            cc = out.process(1000 + second, second * S - S // 2, 'cc1', system, number=10 + second)
            out.interval(second * S, zones={package: 12 * J + 7}, parties=[(nginx, 60_000_000), (cc, 90_000_000)], ended=[cc],
                         utilisation=0.1)


def intensity(path):
    """Equal CPU time, unequal work: counters say that one does three times as much, and all of the misses."""
    with begin(path, idle_mode='off') as out:
        package, dram = out.zone('package', '0', now_ms=NOW_MS), out.zone('dram', '0', now_ms=NOW_MS)
        web, database, _ = owners(out)
        nginx, postgres = out.process(100, S, 'nginx', web), out.process(200, S, 'postgres', database)
        out.interval(10 * S, zones={package: None, dram: None})
        for second in range(11, 31):
            out.interval(second * S, zones={package: 20 * J, dram: 4 * J},
                         parties=[(nginx, S // 2), (postgres, S // 2)], utilisation=0.5,
                         signals={'counted_time': [S // 2, S // 2], 'cpu_cycles': [10**9, 10**9],
                                  'cpu_instructions': [3 * 10**9, 10**9], 'cache_miss': [0, 10**6]})
            out.truth(package, {nginx: 12 * J, postgres: 8 * J})
            out.truth(dram, {nginx: J // 2, postgres: 7 * J // 2})


def two_sockets(path):
    """Two packages of which each runs one process, and one that has no name."""
    with begin(path, idle_mode='off') as out:
        first, second_ = out.zone('package', '0', now_ms=NOW_MS), out.zone('package', '1', now_ms=NOW_MS)
        web, database, _ = owners(out)
        nginx, postgres = out.process(100, S, 'nginx', web), out.process(200, S, 'postgres', database)
        out.interval(10 * S, zones={first: None, second_: None}, places=[(0, 4), (1, 4)])
        for second in range(11, 31):
            out.interval(second * S, zones={first: 30 * J, second_: 10 * J}, places=[(0, 4), (1, 4)],
                         parties=[(nginx, S), (postgres, S)], sockets=[[S, 0], [0, S]], dropped_ns=S // 10, utilisation=0.3)


def gap(path):
    """A meter that fails for five seconds: what comes then is of all that ran in them. Later its reading is refused."""
    with begin(path, idle_mode='off') as out:
        package = out.zone('package', '0', now_ms=NOW_MS)
        web, database, _ = owners(out)
        nginx, postgres = out.process(100, S, 'nginx', web), out.process(200, S, 'postgres', database)
        out.interval(10 * S, zones={package: None})
        for second in range(11, 31):
            party = nginx if second < 18 else postgres
            zones, states = {package: 10 * J}, {}
            if 15 <= second < 20:
                zones, states = {}, {package: 2}
            elif second == 20:
                zones = {package: 60 * J}
            elif second == 25:
                zones, states = {package: None}, {package: 5}
            out.interval(second * S, zones=zones, states=states, parties=[(party, S // 2)], utilisation=0.1)


def guest(path):
    """A virtual machine: its part of the host is estimated, and from its sixth second on vCPUs wait for the host."""
    with begin(path, idle_mode='off') as out:
        platform = out.zone('platform', flags=3, source='platform_power_model', now_ms=NOW_MS)
        web, database, _ = owners(out)
        nginx, postgres = out.process(100, S, 'nginx', web), out.process(200, S, 'postgres', database)
        out.interval(10 * S, zones={platform: None})
        for second in range(11, 31):
            waited = (second % 5 * 40_000_000, second % 5 * 30_000_001) if second > 15 else None
            out.interval(second * S, zones={platform: 9 * J + second}, utilisation=0.5, steal=waited,
                         parties=[(nginx, 600_000_000), (postgres, 200_000_001)])


CASES = (alone, idle, short_lived, intensity, two_sockets, gap, guest)


def main_in(folder):
    for case in CASES:
        case(folder / f'{case.__name__}.krec')


if __name__ == '__main__':
    main_in(pathlib.Path(sys.argv[1]))
