#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-model under a real systemd, by its units as they are: the model server, training on request and from a Prometheus. What
the last one learns is served by the first, another user; and the trainings run within what the units allow."""
import http.client
import io
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import time
import zipfile

from guestlib import case, held_capabilities
from model_series import STEP_S, Machine, request  # guestlib knows where

UNITS = pathlib.Path('/etc/systemd/system')
MODELS = pathlib.Path('/var/lib/kepler-models')
SERVER, OFFLINE, ONLINE = (f'kepler-model-{name}.service' for name in ('server', 'offline-trainer', 'online-trainer'))
PORTS = {SERVER: 8100, OFFLINE: 8102, ONLINE: 8103}
TOKEN = '0123456789abcdef'
SPEC = {'processor': 'intel_xeon_platinum_8259cl', 'cores': 4, 'chips': 1, 'memory': 16, 'frequency': 3000}


def systemctl(*words):
    patient = {**os.environ, 'SYSTEMD_BUS_TIMEOUT': '180'}
    ran = subprocess.run(['systemctl', *words], check=False, capture_output=True, text=True, env=patient)
    if ran.returncode:
        log = subprocess.run(['journalctl', '--no-pager', '-u', 'kepler-model-*'], check=False, capture_output=True,
                             text=True).stdout
        raise SystemExit(f'systemctl {" ".join(words)}: {ran.stderr.strip()}\n{log[-5000:]}')
    return ran.stdout.strip()


def show(unit, name):
    return systemctl('show', '-P', name, unit)


def ask(unit, path, body=None, headers=None):
    peer = http.client.HTTPConnection('127.0.0.1', PORTS[unit], timeout=240)
    peer.request('POST' if body else 'GET', path, json.dumps(body) if body else None, headers or {})
    answer = peer.getresponse()
    return answer.status, answer.read()


def install():
    for unit in PORTS:
        source = pathlib.Path('/lab', unit).read_text(encoding='utf-8')
        shutil.copy('/lab/kepler-model', re.search(r'^ExecStart=(\S+)', source, re.MULTILINE)[1])
        (UNITS / unit).write_text(source, encoding='utf-8')
    pathlib.Path('/etc/sysusers.d').mkdir(exist_ok=True)
    shutil.copy('/lab/kepler-model.sysusers', '/etc/sysusers.d/kepler-model.conf')
    subprocess.run(['systemd-sysusers'], check=True)
    for folder in (MODELS, pathlib.Path('/var/lib/kepler-online-trainer')):
        shutil.rmtree(folder, ignore_errors=True)  # of this machine, under the guest's overlay
    folder = pathlib.Path('/etc/kepler')
    folder.mkdir(mode=0o755, exist_ok=True)
    tokens = folder / 'model-tokens'
    tokens.touch(mode=0o600)
    tokens.write_text(TOKEN + '\n', encoding='utf-8')
    machines = folder / 'machines.json'
    machines.write_text(json.dumps({'node1:28282': SPEC}), encoding='utf-8')
    return machines


def drop_in(unit, **variables):
    folder = UNITS / (unit + '.d')
    folder.mkdir()
    lines = ''.join(f'Environment="KEPLER_MODEL_{name}={value}"\n' for name, value in variables.items())
    (folder / 'test.conf').write_text('[Service]\n' + lines, encoding='utf-8')


def is_confined(unit, user=None):
    pid = int(show(unit, 'MainPID'))
    owner = os.stat(f'/proc/{pid}').st_uid
    status = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8')
    assert owner and (not user or pwd.getpwuid(owner).pw_name == user), (unit, owner)
    assert not held_capabilities(pid) and 'NoNewPrivs:\t1' in status and 'Seccomp:\t2' in status, status
    return owner


def trains_on_request():
    systemctl('start', OFFLINE)
    owner = is_confined(OFFLINE)
    assert ask(OFFLINE, '/train', request())[0] == 401
    status, body = ask(OFFLINE, '/train', request(), {'Authorization': f'Bearer {TOKEN}'})
    assert status == 200, body
    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        names = [name for name in packed.namelist() if name.endswith('Trainer_0.json')]
    assert len(names) == 2, packed.namelist()
    case(f'the offline trainer, user {owner}, made {names}')


def learns_and_serves(machines):
    machine = Machine()
    machine.until = time.time()
    drop_in(ONLINE, SERVER=machine.url, MACHINES=machines, STEP=STEP_S, INTERVAL='1s', HISTORY='3000s', RETRAIN='1s',
            TRAINERS='LinearRegressionTrainer')
    drop_in(SERVER, MODELS_RESCAN='1s')
    systemctl('daemon-reload')
    systemctl('start', ONLINE)
    is_confined(ONLINE, 'kepler-model')
    deadline = time.monotonic() + 240
    while not (found := list(MODELS.glob('online/rapl-sysfs/AbsPower/BPFOnly/OnlineTrainer_*.json'))):
        assert time.monotonic() < deadline, ask(ONLINE, '/metrics')[1].decode() + show(ONLINE, 'ActiveState')
        time.sleep(1)
    case(f'the online trainer has written {found[0]}, mode {found[0].stat().st_mode & 0o777:04o}')
    systemctl('start', SERVER)
    owner = is_confined(SERVER)
    assert owner != found[0].stat().st_uid
    status, body = ask(SERVER, '/model', {'metrics': ['bpf_cpu_time_ms', 'bpf_page_cache_hit'], 'output_type': 'AbsPower',
                                          'weight': True, 'machine_spec': SPEC})
    assert status == 200 and json.loads(body)['model_name'].startswith('OnlineTrainer_'), (status, body)
    case(f'the model server, user {owner}, serves it')


def stops():
    for unit in (SERVER, ONLINE, OFFLINE):
        pid = show(unit, 'MainPID')
        if unit == SERVER:  # the others have nothing to read again
            systemctl('reload', unit)
        assert show(unit, 'MainPID') == pid and show(unit, 'NRestarts') == '0'
        systemctl('stop', unit)
        assert show(unit, 'Result') == 'success', (unit, show(unit, 'Result'))
    case('reloads keep the processes, stops leave nothing')


def main():
    machines = install()
    systemctl('daemon-reload')
    trains_on_request()
    learns_and_serves(machines)
    stops()


main()
