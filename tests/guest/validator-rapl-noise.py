#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator noise` on the kernel's own drivers over simulated registers with a known period and noise: the package's is
exact, and dram's has a uniform error at each tick, as a filtered counter has. Both are found, idle and with a load, and the spread
of power by window follows from the error.

An emulated machine reads late and unevenly, so what is compared has the time of each reading in it, and no bound is on the speed.
"""
import json
import math
import os
import pathlib
import subprocess
import tempfile

from guestlib import case
from registers import IDLE_MW, set_parameter

TICK_S, NOISE_J = 0.2, 0.55  # dram draws 3 W, so 0.6 J each tick: far more than a late reader leaves open
SD_J = NOISE_J / math.sqrt(12)
DRAM_UNIT_UJ = 15.3


def load_noisy_registers():
    noise = f'0,0,0,{NOISE_J * 1e6:.0f},0'
    subprocess.run(['insmod', '/lab/labmsr.ko', 'start_raw=1', f'tick_us={TICK_S * 1e6:.0f}', f'noise_uj={noise}', 'filtered=1'],
                   check=True)  # the driver takes a counter at 0 for none
    for module in ('msr', 'intel_rapl_msr'):
        subprocess.run(['modprobe', module], check=True)
    set_parameter('idle_mw', *IDLE_MW)
    set_parameter('dyn_mw', 15000, 12000, 0, 0, 15000)  # memory draws the same with a load, so all of its spread is noise


def measure(folder):
    done = subprocess.run([os.environ['KEPLER_VALIDATOR'], 'noise', '--duration=60s', '--interval=2ms', f'--output={folder}'],
                          text=True, capture_output=True, check=False, timeout=400)
    print(done.stdout, done.stderr, flush=True)
    assert done.returncode == 0, done.returncode
    report = json.loads(pathlib.Path(folder, 'noise.json').read_text(encoding='utf-8'))
    return report, {meter['name'].split(' ')[0]: meter for meter in report['meters'] if '(intel-rapl:0' in meter['name']}


def check_period(noise):
    assert abs(noise['update_s'] / TICK_S - 1) < 0.1, noise


def check_dram(noise):
    assert abs(noise['power_w'] - 3) < 0.05, noise
    assert noise['resolution_uj'] is None or noise['resolution_uj'] <= DRAM_UNIT_UJ, noise
    check_period(noise)
    assert noise['is_randomised'], noise
    assert 0.75 * SD_J < noise['counter_noise_j'] < 1.25 * SD_J, (SD_J, noise)
    # Adjacent windows share an end: P₂ − P₁ = (n₂ − 2 n₁ + n₀) / window. The last tick of a second may be missing.
    second = noise['windows'][3]
    law_w, late_w = math.sqrt(3) * SD_J / second['window_s'], 3 * TICK_S
    assert second['window_s'] == 1 and 0.6 * law_w < second['allan_w'] < 1.5 * math.hypot(law_w, late_w), (law_w, second)
    assert abs(second['mean_w'] - 3) < 0.1, second
    # Shorter windows are noisier.
    assert noise['windows'][2]['sd_w'] > 3 * second['sd_w'], noise['windows']


def main():
    load_noisy_registers()
    with tempfile.TemporaryDirectory() as folder:
        report, meters = measure(folder)
        page = pathlib.Path(folder, 'noise.html').read_text(encoding='utf-8')
    assert 'bit 0 of register 0xBC' in report['filter'], report['filter']
    case('the register that says of a filter is read')
    for phase in ('idle', 'load'):
        package, dram = meters['package'][phase], meters['dram'][phase]
        assert not package['is_randomised'], package
        check_period(package)
        assert abs(package['resolution_uj'] - 61.035) < 1e-3, package
        check_dram(dram)
        case(f'period, resolution and noise of two counters, {phase}')
    assert meters['package']['load']['power_w'] > meters['package']['idle']['power_w'] + 5, meters['package']
    assert page.count('<svg') >= 6, page
    case('the load draws power, and the pictures are there')


main()
