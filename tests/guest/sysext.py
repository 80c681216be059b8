#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The system extension on a booted machine with the commands of docs/install.md: merged, its service runs; it is started again when
it stops, and stays off when it is masked; the file is replaced while the program runs; removed, nothing of it is left."""
import pathlib
import re
import subprocess
import time
import urllib.request

from guestlib import ROOT, case

WAIT_S = 600
# The package that tools/package has made, where the commands have it.
WORK = next(pathlib.Path('/lab/package').glob('*-sysext'))
EXTENSION = pathlib.Path('/var/lib/extensions/kepler.raw')
PROGRAM = pathlib.Path('/usr/bin/kepler')


def documented():
    """The commands of the page's section: to merge or upgrade, and to remove."""
    section = re.search(r'(?ms)^## System extension\n(.*?)^## ', (ROOT / 'docs/install.md').read_text(encoding='utf-8'))[1]
    blocks = ['\n'.join(line.strip() for line in block.splitlines()) for block in re.findall(r'(?:^    .+\n)+', section, re.M)]
    assert len(blocks) == 2, blocks
    return blocks


def run(command):
    ran = subprocess.run(['sh', '-euc', command], cwd=WORK, check=False, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f'{command}: {ran.stdout}{ran.stderr}{log()}')
    return ran.stdout.strip()


def log():
    return subprocess.run(['journalctl', '--no-pager', '-u', 'kepler.service'], check=False, capture_output=True, text=True).stdout


def show(name):
    return run(f'systemctl show -P {name} kepler.service')


def wait_for(condition, what):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f'{what}: {show("ActiveState")}, {show("Result")}\n{log()}'
        time.sleep(0.5)


def is_active():
    return show('ActiveState') == 'active'


def scrape():
    with urllib.request.urlopen('http://127.0.0.1:28282/metrics', timeout=60) as answer:
        return answer.read().decode()


def runs_from_the_extension():
    pid = show('MainPID')
    program = run(f'readlink /proc/{pid}/exe')
    assert program.startswith('/usr/lib/kepler/'), program  # its loader, or the program
    assert 'kepler_node_' in scrape()
    return pid


def main():
    assert not PROGRAM.exists(), f'this machine has a {PROGRAM} of its own'
    merge, remove = documented()
    EXTENSION.parent.mkdir(parents=True, exist_ok=True)
    run('rm -rf /var/lib/kepler /var/lib/private/kepler')  # of the machine below the guest's root
    # The guest boots another target: this one alone, without this machine's own services.
    run('systemctl start --job-mode=ignore-dependencies multi-user.target')
    run(merge.split(' && systemctl restart')[0])
    wait_for(is_active, 'the merged service does not start')
    runs_from_the_extension()
    case(f'merged: the service started by itself; {run("systemd-sysext list --no-legend")}; {run("kepler --version")}')

    run('systemctl stop kepler')
    wait_for(is_active, 'a stopped service is not started again')
    run('systemctl mask --now kepler')
    assert not is_active()
    run('systemctl unmask kepler')
    wait_for(is_active, 'the unmasked service does not start')
    case('stopped it is started again, masked it stays off')

    before = runs_from_the_extension()
    run(merge)
    wait_for(is_active, 'the replaced service does not start')
    assert runs_from_the_extension() != before
    case('replaced while it ran: another process of the new file')

    run(remove)
    assert not PROGRAM.exists() and not EXTENSION.exists()
    assert not pathlib.Path('/usr/lib/kepler').exists()
    states = show('LoadState'), show('ActiveState')
    assert states == ('not-found', 'inactive'), f'{states}\n{log()}'
    assert subprocess.run(['pgrep', '-x', 'kepler'], stdout=subprocess.DEVNULL, check=False).returncode == 1
    case('removed: no program, no unit, no process')


main()
