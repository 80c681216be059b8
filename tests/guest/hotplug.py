#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R7: CPUs that go off- and online under load, with events of each CPU. Sums hold in every response, utilisation is of the CPUs
that there are, nothing is unseen, events are opened anew, and neither descriptors nor memory grow. The argument is the number of
cycles.
"""
import os
import pathlib
import subprocess
import sys

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case, unprivileged

CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 4
CPUS = os.cpu_count()
RATIO = 'kepler_node_cpu_usage_ratio'
# cpu-clock counts the ns of a CPU, and the PMU msr its time stamps, with an instruction as real counters are read.
MSR = pathlib.Path('/sys/bus/event_source/devices/msr').exists()
EVENTS = ('--counters.enabled=true', '--counters.cycles=cpu-clock', '--counters.instructions=none', '--counters.cache-misses=none',
          '--counters.ref-cycles=' + ('msr:0x0' if MSR else 'none'))
COUNTERS = ['cpu_cycles'] + ['cpu_ref_cycles'] * MSR
PARANOID = pathlib.Path('/proc/sys/kernel/perf_event_paranoid')


def online(cpu, on):
    pathlib.Path(f'/sys/devices/system/cpu/cpu{cpu}/online').write_text('1' if on else '0', encoding='ascii')


def descriptors(exporter):
    return len(os.listdir(f'/proc/{exporter.process.pid}/fd'))


def resident_kib(exporter):
    status = pathlib.Path(f'/proc/{exporter.process.pid}/status').read_text(encoding='ascii')
    return int(status.split('VmRSS:')[1].split()[0])


def assert_good(metrics):
    assert_balanced(metrics)
    for name in COUNTERS:
        rows = (metrics.sum(f'kepler_process_{name}_total') + metrics.sum(f'kepler_process_retired_{name}_total') +
                metrics.sum(f'kepler_pending_{name}', level='process') + metrics.sum(f'kepler_node_unattributed_{name}_total'))
        assert rows == metrics.value(f'kepler_node_{name}_total'), (name, rows, metrics.value(f'kepler_node_{name}_total'))
    assert metrics.value('kepler_exporter_counters') == len(COUNTERS)
    assert metrics.value('kepler_exporter_counters_uncounted_cpus') == 0


def cycle(exporter):
    for cpu in range(1, CPUS):
        online(cpu, False)
    gone = exporter.intervals(2)
    assert_good(gone)
    for cpu in range(1, CPUS):
        online(cpu, True)
    back = exporter.intervals(2)
    assert_good(back)
    return float(gone.value(RATIO)), float(back.value(RATIO))


def main():
    PARANOID.write_text('2', encoding='ascii')  # Debian's 3 wants CAP_SYS_ADMIN for each event
    with Exporter('--monitor.interval=200ms', *AT_ONCE, *EVENTS, prefix=unprivileged(*DOCUMENTED)) as exporter:
        burner = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
        cycle(exporter)
        before = exporter.intervals(1), descriptors(exporter), resident_kib(exporter)
        ratios = [cycle(exporter) for _ in range(CYCLES)]
        after = exporter.intervals(1), descriptors(exporter), resident_kib(exporter)
        burner.kill()
        burner.wait()
        ran, unseen, clock = [float(after[0].sum(name) - before[0].sum(name)) for name in
                              ('kepler_node_bpf_cpu_time_ms_total', 'kepler_exporter_unseen_work_seconds_total',
                               'kepler_node_cpu_cycles_total')]
        print(f'{CYCLES} cycles: ratios {ratios[:5]}; {ran / 1e3:.2f} s ran, {unseen:.3f} s unseen; '
              f'{clock / 1e9:.2f} s by {len(COUNTERS)} events; {before[1:]} to {after[1:]} descriptors, KiB')
        # One burner on one CPU, and then together with others that mostly idle.
        assert sum(gone > 0.9 for gone, _ in ratios) >= len(ratios) * 0.8, ratios
        assert sum(back < 0.9 for _, back in ratios) >= len(ratios) * 0.8, ratios
        # A CPU that has come has no event until the next reading.
        assert 0.8 * ran <= clock / 1e6 <= 1.03 * ran, (clock, ran)
        assert unseen < 0.02 * ran / 1e3 + 0.1, (unseen, ran)
        assert after[1] == before[1] and after[2] < before[2] + 2048
        assert exporter.stop() == 0
    case(f'{CYCLES} times {CPUS - 1} CPUs went and came under load')


main()
