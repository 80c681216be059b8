#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler-validator run` on two sockets of two cores with two CPUs each: the loads of `smt` and `sockets` are bound to the CPUs
that they are for, by the kernel's topology, and are charged to their container.

Whether the charge is right is judged elsewhere: an emulated machine of eight CPUs is too slow for that.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading

from guestlib import AT_ONCE, Exporter, case
from registers import load_registers, run_on

STEADY_LOOKS = 4


def cpus_of_loads():
    """The CPUs that the processes of the load may use, all together."""
    found = set()
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            if (folder / 'comm').read_text(encoding='utf-8').startswith('kv-load'):
                text = (folder / 'status').read_text(encoding='utf-8')
                for part in re.search(r'^Cpus_allowed_list:\t(.*)$', text, re.MULTILINE)[1].split(','):
                    first, _, last = part.partition('-')
                    found |= set(range(int(first), int(last or first) + 1))
        except (OSError, TypeError):
            pass  # it ended
    return frozenset(found)


def topology(cpus, name):
    return {pathlib.Path(f'/sys/devices/system/cpu/cpu{cpu}/topology/{name}').read_text(encoding='ascii') for cpu in cpus}


def places(exporter, scenario):
    """The sets of CPUs that its loads had, in this order."""
    looks, seen, ends = [], [], threading.Event()

    def look():
        while not ends.wait(0.05):
            looks.append(cpus_of_loads())
            # While its processes start and end, a load has other CPUs for a moment.
            if looks[-1] and looks[-1] not in seen and looks[-STEADY_LOOKS:] == [looks[-1]] * STEADY_LOOKS:
                seen.append(looks[-1])

    with tempfile.TemporaryDirectory() as folder:
        watcher = threading.Thread(target=look)
        watcher.start()
        done = subprocess.run([os.environ['KEPLER_VALIDATOR'], 'run', f'--exporter={exporter.url}/metrics',
                               f'--scenario={scenario}', '--duration=40s', f'--output={folder}'], text=True, capture_output=True,
                              check=False, timeout=400)
        ends.set()
        watcher.join()
        print(done.stdout, done.stderr, seen, flush=True)
        results = json.loads(pathlib.Path(folder, 'report.json').read_text(encoding='utf-8'))['results']
    loads = re.findall(r'^Load in (.*): [1-9]\d* chunks of work', done.stdout, re.MULTILINE)
    assert len(loads) == 2, done.stdout
    for name in loads:
        assert any(result['name'] == f'container/package/{name}' for result in results), (name, results)
    return seen


def main():
    load_registers()
    run_on()
    with Exporter(*AT_ONCE, '--monitor.interval=1s', '--meters=rapl-sysfs') as exporter:
        exporter.intervals(2)
        one, two = places(exporter, 'smt')
        assert len(one) == len(two) == 2, (one, two)
        assert len(topology(one, 'thread_siblings_list')) == 1 and len(topology(two, 'thread_siblings_list')) == 2, (one, two)
        case(f'smt: CPUs {sorted(one)} of one core, then {sorted(two)} of two')
        first, second = places(exporter, 'sockets')
        assert len(first) == len(second) == 4 and not first & second, (first, second)
        assert len(topology(first, 'physical_package_id')) == len(topology(second, 'physical_package_id')) == 1, (first, second)
        case(f'sockets: CPUs {sorted(first)}, then {sorted(second)}')
        assert exporter.stop() == 0


main()
