#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R24: 100,000 processes that sleep, more than the tables hold by default: a response, memory and an interval stay small, and what
is not known is counted. The argument is another number of processes.
"""
import os
import pathlib
import subprocess
import sys
import time

from guestlib import AT_ONCE, ExactAccount, Exporter, assert_balanced, burn, case

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
ROOM = {'kernel/pid_max': COUNT * 2, 'kernel/threads-max': COUNT * 2, 'vm/max_map_count': COUNT * 2}
CPU, KNOWN = 'kepler_node_bpf_cpu_time_ms_total', 'kepler_exporter_threads_known'


def reads(exporter):
    """System calls that read, so far."""
    text = pathlib.Path(f'/proc/{exporter.process.pid}/io').read_text(encoding='ascii')
    return int(text.split('syscr:')[1].split()[0])


def processes():
    return sum(name.isdigit() for name in os.listdir('/proc'))


def main():
    for name, value in ROOM.items():
        pathlib.Path('/proc/sys', name).write_text(str(value), encoding='ascii')
    load = os.path.join(os.environ['KEPLER_BUILD'], 'tests/lab/load')
    with subprocess.Popen([load, 'light', str(COUNT)], stdout=subprocess.PIPE, text=True) as crowd, ExactAccount() as account:
        assert crowd.stdout.readline() == 'ready\n'
        assert processes() > COUNT
        case(f'{processes()} processes')
        with Exporter('--monitor.interval=2s', *AT_ONCE) as exporter:
            exporter.intervals(1)
            most, before = -account.busy_s(), exporter.intervals(2)  # a pass may be under way
            case(f'{before.value(KNOWN)} threads known')
            least, calls = -account.busy_s(), reads(exporter)
            burn(2)
            least += account.busy_s()
            after = exporter.intervals(4)
            most += account.busy_s()
            calls = (reads(exporter) - calls) / float(after.value('kepler_exporter_snapshots_total') -
                                                      before.value('kepler_exporter_snapshots_total'))
            ran = float(after.sum(CPU) - before.sum(CPU)) / 1e3
            began = time.monotonic()
            metrics = exporter.scrape()
            took = time.monotonic() - began
            resident = int(metrics.value('kepler_exporter_resident_memory_bytes'))
            overflows = {labels['table']: int(value) for labels, value in metrics.select('kepler_exporter_table_overflows_total')}
            case(f'scrape {took:.3f} s, {resident / 1e6:.1f} MB, {calls:.0f} reads an interval, {ran:.3f} s seen, '
                 f'{least:.3f} to {most:.3f} s ran; overflows {overflows}')
            assert_balanced(metrics)
            assert took < 1 and resident < 150e6
            assert calls < COUNT / 100, 'it goes through /proc'
            # The sum over tasks without a row is known, and reported a pass later.
            assert least * 0.97 <= ran <= most * 1.03
            assert exporter.stop() == 0
        crowd.kill()


main()
