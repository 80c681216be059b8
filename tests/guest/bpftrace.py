#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R56: bpftrace counts context switches beside us: both are right."""
import pathlib
import re
import shutil
import subprocess
import sys

from guestlib import AT_ONCE, Exporter, assert_balanced, burn, case, cpu_seconds_of

PROGRAM = 'tracepoint:sched:sched_switch { @switches = count(); }'


def switches():
    return int(re.search(r'^ctxt (\d+)$', pathlib.Path('/proc/stat').read_text(encoding='ascii'), re.M)[1])


def main():
    if not shutil.which('bpftrace'):
        print('bpftrace is not installed')
        sys.exit(77)
    with Exporter(*AT_ONCE) as exporter:
        outside = -switches()
        with subprocess.Popen(['bpftrace', '-e', PROGRAM], stdout=subprocess.PIPE, text=True) as tracer:
            assert 'Attaching' in tracer.stdout.readline()
            exporter.intervals(1)
            inside = -switches()
            pid, truth = burn(4)
            metrics = exporter.intervals(3)
            inside += switches()
            tracer.terminate()
            counted = int(re.search(r'@switches: (\d+)', tracer.communicate()[0])[1])
        outside += switches()
        seen = cpu_seconds_of(metrics, pid)
        case(f'burner {seen:.3f} of {truth:.3f} s; {counted} switches counted, {inside} to {outside} in the kernel')
        assert abs(seen - truth) <= 0.02 * truth
        assert inside * 0.99 <= counted <= outside
        assert_balanced(metrics)
        assert exporter.stop() == 0


main()
