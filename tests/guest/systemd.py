#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Under a real systemd: the unit file as it is, READY, the watchdog, reload, a stop that leaves nothing, the security score, and a
kubeconfig of root's that comes as a credential."""
import base64
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

from guestlib import case, held_capabilities, DOCUMENTED
from certificates import Authority  # guestlib knows where

UNIT = pathlib.Path('/etc/systemd/system/kepler.service')
WORST_SCORE = 2.5


def systemctl(*words, check=True):
    patient = {**os.environ, 'SYSTEMD_BUS_TIMEOUT': '180'}  # seconds, 25 by default: the guest is slow while others run
    ran = subprocess.run(['systemctl', *words], check=False, capture_output=True, text=True, env=patient)
    if check and ran.returncode:
        log = subprocess.run(['journalctl', '--no-pager', '-u', 'kepler.service'], check=False, capture_output=True,
                             text=True).stdout
        raise SystemExit(f'systemctl {" ".join(words)}: {ran.stderr.strip()}\n{log}')
    return ran.stdout.strip()


def show(name):
    return systemctl('show', '-P', name, 'kepler.service')


def scrape():
    with urllib.request.urlopen('http://127.0.0.1:28282/metrics', timeout=60) as answer:
        return answer.read().decode()


def install():
    source = pathlib.Path('/lab/kepler.service').read_text(encoding='utf-8')
    binary = re.search(r'^ExecStart=[-@:+!]*(\S+)', source, re.MULTILINE)[1]
    shutil.copy(os.environ['KEPLER'], binary)
    UNIT.write_text(source, encoding='utf-8')
    # The guest's root is an overlay over this machine's. State that Kepler keeps there is none of the guest's, and systemd could
    # not move it, as it does for DynamicUser=: an overlay refuses to rename a folder of its lower layer.
    shutil.rmtree('/var/lib/kepler', ignore_errors=True)
    # the watchdog as configured would take the guest half a minute, and systemd may never use the joule of a series
    dropin = UNIT.parent / 'kepler.service.d'
    dropin.mkdir()
    (dropin / 'test.conf').write_text('[Service]\nWatchdogSec=5\nEnvironment=KEPLER_METRICS_PROCESS_MIN_JOULES=0\n'
                                      'Environment=KEPLER_METRICS_SETTLE=0s\n', encoding='utf-8')
    systemctl('daemon-reload')


def first_process_is_seen():
    """On an ordinary kernel, unlike on those of some CI machines, process 1 is one like any other."""
    deadline = time.monotonic() + 120
    own = re.compile(r'^kepler_process_bpf_cpu_time_ms_total\{.*\bpid="1".*\} (\S+)$', re.MULTILINE)
    unseen = re.compile(r'^kepler_exporter_unseen_processes (\S+)$', re.MULTILINE)
    while not (found := own.search(scrape())) or float(found[1]) <= 0:
        assert time.monotonic() < deadline, 'process 1 has no series'
        systemctl('daemon-reload')  # gives it something to do
    text = scrape()
    assert float(unseen.search(text)[1]) == 0, unseen.search(text)[0]
    ran = float(pathlib.Path('/proc/1/schedstat').read_text().split()[0]) / 1e6
    assert float(own.search(text)[1]) <= ran
    case(f'process 1 has a series: {own.search(text)[1]} ms of the {ran:.0f} ms that it ever ran')


class ApiServer(http.server.BaseHTTPRequestHandler):
    """Denies everybody; what it was shown is in shown."""
    shown = []

    def do_GET(self):  # pylint: disable=invalid-name
        self.shown.append((self.path.split('?')[0], self.headers.get('Authorization')))
        self.send_error(403)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def kubeconfig_as_credential():
    """The example of a drop-in, with what it says is to be changed; kubeconfig and token are root's alone."""
    authority = Authority(tempfile.mkdtemp())
    server = http.server.HTTPServer(('127.0.0.1', 0), ApiServer)
    server.socket = authority.server_context().wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = pathlib.Path('/etc/kepler')
    folder.mkdir(mode=0o700, exist_ok=True)
    ca = base64.b64encode(authority.file.read_bytes()).decode()
    files = {'token': 'guest-token\n', 'kubeconfig': f"""current-context: x
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{server.server_port}', certificate-authority-data: {ca}}}}}]
users: [{{name: u, user: {{tokenFile: token}}}}]
"""}
    for name, text in files.items():
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(text, encoding='utf-8')
    example = pathlib.Path('/lab/kepler-kubernetes.conf').read_text(encoding='utf-8')
    dropin = UNIT.parent / 'kepler.service.d' / 'kubernetes.conf'
    dropin.write_text(example.replace('#LoadCredential=', 'LoadCredential='), encoding='utf-8')
    systemctl('daemon-reload')
    systemctl('start', 'kepler.service')
    deadline = time.monotonic() + 60
    up = re.compile(r'^kepler_exporter_name_source_up\{.*\} (\d)$', re.MULTILINE)
    while not ApiServer.shown or not (found := up.search(scrape())):
        assert time.monotonic() < deadline, f'asked: {ApiServer.shown}'
        time.sleep(0.5)
    assert ApiServer.shown[0] == ('/api/v1/pods', 'Bearer guest-token'), ApiServer.shown[0]
    assert found[1] == '0', found[0]
    modes = {path.name: f'{path.stat().st_mode & 0o7777:04o}' for path in pathlib.Path('/run/credentials/kepler.service').iterdir()}
    assert set(modes) == set(files), modes
    systemctl('stop', 'kepler.service')
    assert show('Result') == 'success', show('Result')
    dropin.unlink()
    systemctl('daemon-reload')
    case(f'kubeconfig and token 0600 of root came as credentials {modes}: the API server was shown the token')


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

    first_process_is_seen()

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

    kubeconfig_as_credential()


main()
