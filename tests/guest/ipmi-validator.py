#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The validator's truth by the machine's own IPMI device: the kernel's driver, and a BMC behind QEMU's KCS interface, which is
tests/rig/ipmi_bmc.py. auto finds it where there is no other meter; the exporter passes by it; and a BMC that does not answer for a
while is missing time, not an error of the exporter.
"""
import os
import pathlib
import re
import subprocess
import threading

from guestlib import Exporter, case

BMC = pathlib.Path('/lab/bmc')
OPTIONS = ('--meter.ipmi.period=1s', '--monitor.interval=1s', '--metrics.settle=0s', '--idle.mode=off')


def say(text):
    BMC.write_text(text, encoding='ascii')


def validate(exporter, *options, meanwhile=()):
    """{result: (verdict, reason)}, and the output; the BMC says other things at times (seconds, text)."""
    timers = [threading.Timer(seconds, say, [text]) for seconds, text in meanwhile]
    for timer in timers:
        timer.start()
    done = subprocess.run([os.environ['KEPLER_VALIDATOR'], 'run', f'--exporter={exporter.url}/metrics', '--scenario=node',
                           '--duration=40s', '--max-error=10%', *options], text=True, capture_output=True, check=False, timeout=180)
    for timer in timers:
        timer.join()
    print(done.stdout, done.stderr, flush=True)
    lines = re.findall(r'^(pass|fail|inconclusive|not applicable) +(\S+?)(?: \(\w+\))?: (.*)$', done.stdout, re.MULTILINE)
    return {name: (verdict, reason) for verdict, name, reason in lines}, done.stdout


def main():
    with Exporter(*OPTIONS) as exporter:
        while 'measured (ipmi)' not in exporter.output():
            exporter.intervals(1)
        found, output = validate(exporter, meanwhile=((8, '400'), (16, '150'), (24, '320'), (32, '200')))
        assert 'Truth: ipmi, 1 meters' in output and '  platform: /dev/ipmi0' in output, output
        assert found['node/platform'][0] == 'pass', found
        case('the platform passes by the BMC that auto has found')
        found, output = validate(exporter, '--truth=ipmi', meanwhile=((10, '231 c0'), (28, '231')))
        assert found['node/platform'][0] == 'inconclusive', found
        assert 'no energy of platform' in found['truth/platform'][1], found
        case('a BMC that refuses for a while decides nothing')
        assert exporter.stop() == 0


main()
