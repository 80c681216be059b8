#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Under a real systemd: the unit file as it is, READY, the watchdog, reload, a stop that leaves nothing, the security score."""
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.request

from guestlib import case, held_capabilities, DOCUMENTED

UNIT = pathlib.Path('/etc/systemd/system/kepler.service')
WORST_SCORE = 2.5


def systemctl(*words, check=True):
    return subprocess.run(['systemctl', *words], check=check, capture_output=True, text=True).stdout.strip()


def show(name):
    return systemctl('show', '-P', name, 'kepler.service')


def scrape():
    with urllib.request.urlopen('http://127.0.0.1:28282/metrics', timeout=10) as answer:
        return answer.read().decode()


def install():
    source = pathlib.Path('/lab/kepler.service').read_text(encoding='utf-8')
    binary = re.search(r'^ExecStart=[-@:+!]*(\S+)', source, re.MULTILINE)[1]
    shutil.copy(os.environ['KEPLER'], binary)
    UNIT.write_text(source, encoding='utf-8')
    # the watchdog as configured would take the guest half a minute
    dropin = UNIT.parent / 'kepler.service.d'
    dropin.mkdir()
    (dropin / 'watchdog.conf').write_text('[Service]\nWatchdogSec=5\n', encoding='utf-8')
    systemctl('daemon-reload')


def main():
    install()
    began = time.monotonic()
    systemctl('start', 'kepler.service')  # returns when READY came
    ready = time.monotonic() - began
    assert show('Type').startswith('notify') and show('ActiveState') == 'active'
    assert 'kepler_node_' in scrape(), 'READY before there is something to scrape'
    pid = int(show('MainPID'))
    held = held_capabilities(pid)
    assert held <= set(DOCUMENTED), held
    case(f'ready after {ready:.1f} s; keeps {sorted(held) or "no capability"}; status: {show("StatusText")}')

    os.kill(pid, 19)  # SIGSTOP: a loop that hangs
    deadline = time.monotonic() + 60
    while show('NRestarts') == '0' or show('ActiveState') != 'active':
        assert time.monotonic() < deadline, 'the watchdog did not restart it'
        time.sleep(0.5)
    assert int(show('MainPID')) != pid and 'kepler_node_' in scrape()
    case('stopped by SIGSTOP: the watchdog restarted it')

    pid = show('MainPID')
    systemctl('reload', 'kepler.service')
    assert show('MainPID') == pid and show('ActiveState') == 'active' and scrape()
    case('reload keeps the process')

    systemctl('stop', 'kepler.service')
    assert show('ActiveState') == 'inactive' and show('Result') == 'success', show('Result')
    assert not subprocess.run(['pgrep', '-x', 'kepler'], stdout=subprocess.DEVNULL, check=False).returncode == 0
    left = subprocess.run(['bpftool', 'prog'], capture_output=True, text=True, check=True).stdout
    assert 'walk' not in left and 'ended' not in left, left
    case('stop leaves no process and no BPF program')

    score = subprocess.run(['systemd-analyze', 'security', '--no-pager', 'kepler.service'], capture_output=True, text=True,
                           check=False).stdout
    exposure = float(re.search(r'Overall exposure level for kepler.service: ([0-9.]+)', score)[1])
    if exposure > WORST_SCORE:
        print(score)
    assert exposure <= WORST_SCORE, exposure
    case(f'systemd-analyze security: {exposure}')


main()
