#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R7: CPUs that go off- and online under load. Sums hold in every response, utilisation is of the CPUs that there are, nothing is
unseen, and neither descriptors nor memory grow. The argument is the number of cycles.
"""
import os
import pathlib
import subprocess
import sys

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case, unprivileged

CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 4
CPUS = os.cpu_count()
RATIO = 'kepler_node_cpu_usage_ratio'


def online(cpu, on):
    pathlib.Path(f'/sys/devices/system/cpu/cpu{cpu}/online').write_text('1' if on else '0', encoding='ascii')


def descriptors(exporter):
    return len(os.listdir(f'/proc/{exporter.process.pid}/fd'))


def resident_kib(exporter):
    status = pathlib.Path(f'/proc/{exporter.process.pid}/status').read_text(encoding='ascii')
    return int(status.split('VmRSS:')[1].split()[0])


def cycle(exporter):
    for cpu in range(1, CPUS):
        online(cpu, False)
    gone = exporter.intervals(2)
    assert_balanced(gone)
    for cpu in range(1, CPUS):
        online(cpu, True)
    back = exporter.intervals(2)
    assert_balanced(back)
    return float(gone.value(RATIO)), float(back.value(RATIO))


def main():
    with Exporter('--monitor.interval=200ms', *AT_ONCE, prefix=unprivileged(*DOCUMENTED)) as exporter:
        burner = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
        cycle(exporter)
        before = exporter.intervals(1), descriptors(exporter), resident_kib(exporter)
        ratios = [cycle(exporter) for _ in range(CYCLES)]
        after = exporter.intervals(1), descriptors(exporter), resident_kib(exporter)
        burner.kill()
        burner.wait()
        ran, unseen = [float(after[0].sum(name) - before[0].sum(name)) for name in
                       ('kepler_node_bpf_cpu_time_ms_total', 'kepler_exporter_unseen_work_seconds_total')]
        print(f'{CYCLES} cycles: ratios {ratios[:5]}; {ran / 1e3:.2f} s ran, {unseen:.3f} s unseen; '
              f'{before[1:]} to {after[1:]} descriptors, KiB')
        # One burner on one CPU, and then beside others that mostly idle.
        assert sum(gone > 0.9 for gone, _ in ratios) >= len(ratios) * 0.8, ratios
        assert sum(back < 0.9 for _, back in ratios) >= len(ratios) * 0.8, ratios
        assert unseen < 0.02 * ran / 1e3 + 0.1, (unseen, ran)
        assert after[1] == before[1] and after[2] < before[2] + 2048
        assert exporter.stop() == 0
    case(f'{CYCLES} times {CPUS - 1} CPUs went and came under load')


main()
