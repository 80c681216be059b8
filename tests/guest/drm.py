#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds a GPU, by real DRM device files (virtio-gpu, whose sensor and driver's name are files of ours): the confined
program, with the documented capabilities, finds the processes of other users by BPF, the process beside it opens their fdinfo, and
no call is denied."""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case, held_capabilities, unprivileged

SYSFS = pathlib.Path('/tmp/sys')
ADDRESS = '0000:4d:00.0'
PTRACE = 19
HOLDER = 'import sys, time; held = open("/dev/dri/renderD128", "r+b", buffering=0); print("ready", flush=True); time.sleep(600)'
IDLE = ('--idle.mode=fixed', '--idle.watts=gpu=40', '--gpu.idle=holder')


def write(path, text):
    path = SYSFS / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{text}\n', encoding='ascii')


def make_board():
    """A board of 100 W that has the nodes of the real one."""
    device = f'devices/{ADDRESS}'
    write(f'{device}/power/runtime_status', 'active')
    write('bus/pci/drivers/i915/bind', '')
    (SYSFS / device / 'driver').symlink_to(SYSFS / 'bus/pci/drivers/i915')
    for node in ('card0', 'renderD128'):
        write(f'class/drm/{node}/dev', '')
        (SYSFS / f'class/drm/{node}/device').symlink_to(SYSFS / device)

    def run():
        began = time.monotonic()
        while True:
            write(f'{device}/hwmon/hwmon0/energy1_input', 10**9 + int((time.monotonic() - began) * 100e6))
            time.sleep(0.2)

    threading.Thread(target=run, daemon=True).start()
    time.sleep(0.5)


def only_child(pid):
    (child,) = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split()
    return int(child)


def status_of(pid, field):
    lines = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii').splitlines()
    return next(line.split()[1] for line in lines if line.startswith(field + ':'))


def loaded_programs():
    done = subprocess.run(['bpftool', '-j', 'prog', 'show'], capture_output=True, text=True, check=True)
    return {program.get('name') for program in json.loads(done.stdout)}


def idle_j(metrics, pid):
    return float(metrics.sum('kepler_process_gpu_joules_total', pid=str(pid), mode='idle'))


def check_holder(holder, *capabilities):
    with Exporter(f'--host.sysfs={SYSFS}', *AT_ONCE, *IDLE, prefix=unprivileged(*capabilities)) as exporter:
        helper = only_child(exporter.process.pid)
        assert 'open_devices' in loaded_programs(), loaded_programs()
        assert status_of(helper, 'Seccomp') == '2', 'the helper is not confined'
        assert held_capabilities(helper) <= {'dac_read_search', PTRACE}, held_capabilities(helper)
        assert PTRACE not in held_capabilities(exporter.process.pid)
        deadline = time.monotonic() + 60
        metrics = exporter.intervals(1)
        while idle_j(metrics, holder) < 200:
            assert time.monotonic() < deadline, metrics.text + exporter.output()
            metrics = exporter.intervals(1)
        assert_balanced(metrics)
        assert idle_j(metrics, os.getpid()) == 0
        assert metrics.value('kepler_exporter_denied_system_calls_total') == 0, exporter.output()
        assert metrics.value('kepler_exporter_landlock_abi') > 0, 'this kernel has no Landlock'
        output = exporter.output()
        assert exporter.stop() == 0
        assert not pathlib.Path(f'/proc/{helper}').exists() or status_of(helper, 'State') in 'ZX'
    return output


def main():
    case('Linux ' + os.uname().release)
    make_board()
    for node in pathlib.Path('/dev/dri').iterdir():
        node.chmod(0o666)
    holder = subprocess.Popen(['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--inh-caps=-all', sys.executable, '-c',
                               HOLDER], stdout=subprocess.PIPE)
    try:
        holder.stdout.readline()
        output = check_holder(holder.pid, *DOCUMENTED, 'sys_ptrace')
        assert 'are unknown' not in output, output
        case('with CAP_SYS_PTRACE: the holder has its idle energy, fdinfo is read')
        output = check_holder(holder.pid, *DOCUMENTED)
        assert 'without CAP_SYS_PTRACE' in output, output
        case('without: the holder is found by BPF, and the log says what is missing')
    finally:
        holder.kill()
        holder.wait()


main()
