#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A machine whose clock is set while Kepler runs: it boots in 1970, learns the time, and is set back by an hour. No birth and
no start is in the future; from the second interval after a step on they are right by the new clock, and they stay where they are
between two steps. Sums hold meanwhile.
"""
import re
import subprocess
import time

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case, unprivileged

OPENMETRICS = {'Accept': 'application/openmetrics-text; version=1.0.0'}
YEAR_1970, YEAR_2026, AN_HOUR = 86400, 1_790_000_000, 3600
BIRTH = re.compile(r'^(\w+_created\{?\S*|kepler_exporter_start_time_seconds) (\S+)', re.MULTILINE)
NEAR_S = 1.5  # an offset in use stays until it is off by more than a second


def set_clock(seconds):
    time.clock_settime(time.CLOCK_REALTIME, seconds)


def uptime_s():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def births(exporter):
    """{series: its birth or start} of one answer, none of which is later than that was made."""
    text = exporter.get(headers=OPENMETRICS)[2].decode()
    found = {name: float(value) for name, value in BIRTH.findall(text)}
    assert len(found) > 20 and 'kepler_exporter_start_time_seconds' in found, text[:2000]
    made = float(re.search(r'^kepler_exporter_snapshot_timestamp_seconds (\S+)', text, re.MULTILINE)[1])
    future = {name: value - made for name, value in found.items() if value > made}
    assert made <= time.time() and not future, f'in the future by s: {made - time.time()}, {future}'
    return found


def after_step(exporter, to_s):
    """The births of the second interval after the clock was set."""
    set_clock(to_s)
    assert_balanced(exporter.intervals(2))
    return births(exporter)


def expect(found, at_boottime, what):
    """Each series was born at these seconds of uptime, by the clock that is set now."""
    now, up = time.time(), uptime_s()
    wrong = {name: found.get(name, 0) - (now - up + at) for name, at in at_boottime.items()
             if abs(found.get(name, 0) - (now - up + at)) > NEAR_S}
    assert not wrong, f'{what}: off by s: {dict(list(wrong.items())[:5])}'
    case(f'{what}: {len(at_boottime)} births and starts are right')


def main():
    set_clock(YEAR_1970)
    began = uptime_s()
    with Exporter('--monitor.interval=500ms', '--metrics.created', *AT_ONCE, prefix=unprivileged(*DOCUMENTED)) as exporter:
        burner = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
        exporter.intervals(4)
        found = births(exporter)
        offset = time.time() - uptime_s()
        assert all(YEAR_1970 <= value < YEAR_1970 + AN_HOUR for value in found.values()), found
        boottimes = {name: value - offset for name, value in found.items()}
        assert began - 1 <= boottimes['kepler_exporter_start_time_seconds'] <= uptime_s()
        mine = [name for name in boottimes if f'pid="{burner.pid}"' in name]
        assert mine, 'no series of the process that runs'
        case(f'in 1970: {len(found)} births and starts')
        stays = exporter.intervals(2) and births(exporter)
        moved = {name for name in found.keys() & stays.keys() if found[name] != stays[name]}
        assert not moved, f'moved without a step: {moved}'
        expect(after_step(exporter, YEAR_2026), boottimes, 'after a step to 2026')
        expect(after_step(exporter, time.time() - AN_HOUR), boottimes, 'after a step back by an hour')
        burner.kill()
        burner.wait()
        assert exporter.stop() == 0


main()
