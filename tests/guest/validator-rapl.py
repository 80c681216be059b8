#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The validator's meters on the kernel's own drivers over simulated registers: powercap and /dev/cpu/N/msr, two sockets, counters
that wrap. The exporter passes by both, also if the clock is set by an hour during the run; and a truth that stands still decides
nothing.
"""
import os
import pathlib
import re
import subprocess
import threading
import time

from guestlib import AT_ONCE, Exporter, case

PARAMETERS = pathlib.Path('/sys/module/labmsr/parameters')
IDLE_MW, DYNAMIC_MW = (20000, 5000, 500, 3000, 20000), (15000, 12000, 0, 1500, 15000)
ZONES = ('package', 'core', 'dram', 'psys')


def set_parameter(name, *values):
    (PARAMETERS / name).write_text(','.join(map(str, values)), encoding='ascii')


def run_on():
    set_parameter('idle_mw', *IDLE_MW)
    set_parameter('dyn_mw', *DYNAMIC_MW)


def stand_still():
    set_parameter('idle_mw', *[0] * 5)
    set_parameter('dyn_mw', *[0] * 5)


def set_clock():
    time.clock_settime(time.CLOCK_REALTIME, time.time() + 3600)


def validate(exporter, *options, seconds=24, meanwhile=None, after=12):
    """{result: (verdict, reason)}, and the output."""
    timer = threading.Timer(after, meanwhile or (lambda: None))
    timer.start()
    done = subprocess.run([os.environ['KEPLER_VALIDATOR'], 'run', f'--exporter={exporter.url}/metrics', '--scenario=node',
                           f'--duration={seconds}s', *options], text=True, capture_output=True, check=False, timeout=180)
    timer.join()
    print(done.stdout, done.stderr, flush=True)
    lines = re.findall(r'^(pass|fail|inconclusive|not applicable) +(\S+?)(?: \(\w+\))?: (.*)$', done.stdout, re.MULTILINE)
    return {name: (verdict, reason) for verdict, name, reason in lines}, done.stdout


def passes(found):
    for zone in ZONES:
        assert found[f'node/{zone}'][0] == 'pass', (zone, found[f'node/{zone}'])


def main():
    subprocess.run(['insmod', '/lab/labmsr.ko', 'start_raw=0xfff00000'], check=True)
    for module in ('msr', 'intel_rapl_msr'):
        subprocess.run(['modprobe', module], check=True)
    run_on()
    with Exporter(*AT_ONCE, '--monitor.interval=1s', '--meters=rapl-sysfs') as exporter:
        exporter.intervals(2)
        found, output = validate(exporter)
        assert 'Truth: rapl-sysfs, 10 meters' in output, output
        passes(found)
        assert found['correctness/invented-zones'][0] == 'pass', found
        # An emulated machine misses ticks, which is not the exporter's fault.
        assert found['correctness/cpu-time'][0] in ('pass', 'inconclusive'), found['correctness/cpu-time']
        case('powercap: two sockets, five kinds')
        found, output = validate(exporter, '--truth=msr', meanwhile=set_clock)
        assert 'Truth: msr, 10 meters' in output and '/dev/cpu/2/msr:0x611' in output, output
        passes(found)
        case('registers, and the clock was set by an hour meanwhile')
        found, output = validate(exporter, '--truth=msr', seconds=30, meanwhile=stand_still, after=15)
        assert found['node/package'][0] == 'inconclusive' and 'stood still' in found['node/package'][1], found
        assert 'stood still' in found['truth/package'][1], found
        case('registers that stand still decide nothing')
        assert exporter.stop() == 0


main()
