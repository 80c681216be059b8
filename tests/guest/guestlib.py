# SPDX-License-Identifier: Apache-2.0
"""What the guests' scripts share: running as a user with few capabilities, and a burner whose CPU time the kernel knows exactly."""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
from decimal import Decimal

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/rig'))
os.environ['KEPLER_BINARY'] = os.environ['KEPLER']

from rig import Exporter, seen_with_truth  # noqa: E402,F401  # pylint: disable=wrong-import-position,unused-import

NOBODY = 65534
# The documentation asks for this (lab figure: before 5.11 also a memory lock without limit).
DOCUMENTED = ('bpf', 'perfmon', 'dac_read_search')
CAP_NUMBERS = {'dac_read_search': 2, 'perfmon': 38, 'bpf': 39}
# Every process has its own series at once: guests are slow, and what publication holds back has its own tests.
AT_ONCE = ('--metrics.process.min-joules=0', '--metrics.settle=0s')


def kernel_version():
    return tuple(int(part) for part in re.match(r'(\d+)\.(\d+)', platform.release()).groups())


def unprivileged(*capabilities, memlock=True):
    """The words in front of a command that run it as nobody with just these capabilities."""
    caps = ','.join(['-all'] + ['+' + name for name in capabilities])
    limit = ['prlimit', '--memlock=unlimited'] if memlock else ['prlimit', '--memlock=65536']
    return [*limit, 'setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', f'--inh-caps={caps}',
            f'--ambient-caps={caps}', f'--bounding-set={caps}', '--no-new-privs', '--']


def held_capabilities(pid):
    """Names (numbers, when not documented) in any of the process's sets."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8')
    names = {number: name for name, number in CAP_NUMBERS.items()}
    masks = [int(mask, 16) for mask in re.findall(r'^Cap(?:Prm|Eff|Inh|Amb):\s*(\w+)$', status, re.MULTILINE)]
    assert len(masks) == 4, status
    held = 0
    for mask in masks:
        held |= mask
    return {names.get(number, number) for number in range(64) if held >> number & 1}


class ExactAccount:
    """What all tasks ran: cpuacct's root counts by the very clock and at the very moments as a task's run time. Ticks, of which an
    emulated CPU misses some, are not asked. It is mounted where nothing looks for a hierarchy, for kernels that we boot with v2."""

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix='cpuacct-')
        subprocess.run(['mount', '-t', 'cgroup', '-o', 'cpuacct', 'cpuacct', self.dir], check=True)
        return self

    def busy_s(self):
        return int(pathlib.Path(self.dir, 'cpuacct.usage').read_text(encoding='ascii')) / 1e9

    def __exit__(self, *exc):
        subprocess.run(['umount', self.dir], check=True)
        os.rmdir(self.dir)


def burn(seconds):
    """Burns in a child of its own; returns (its pid, its CPU seconds as the kernel accounts them)."""
    pid = os.fork()
    if pid == 0:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for _ in range(20000):
                pass
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    return pid, usage.ru_utime + usage.ru_stime


def reader_of(exporter):
    """The activity reader that the exporter says it chose."""
    (labels, _), = exporter.scrape().select('kepler_exporter_activity_reader_info')
    return labels['reader']


def assert_balanced(metrics):
    wrong = metrics.imbalance_uj()
    assert not wrong, f'µJ off: {wrong}'
    assert metrics.zones(), 'no zone at all'


def cpu_seconds_of(metrics, pid):
    return float(metrics.sum('kepler_process_bpf_cpu_time_ms_total', pid=str(pid)) / Decimal(1000))


def case(text):
    print(f'{time.monotonic():7.1f} s  {text}', flush=True)
