#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RAPL three ways, on the kernel's own drivers over simulated registers: by powercap and by /dev/cpu/N/msr at once. Both count what
the module says was used; the CPU that is read may go offline, and a socket go and return. And the events of perf, of a clock: those
of a CPU that goes offline are opened anew on the next one of the mask, under the filter of system calls.

The first argument is the vendor: of AMD's the package alone is read, and by request the cores, each of which shows here what the
module has for all of them. With a second one: so many seconds of varying load, and that alone.
"""
import os
import pathlib
import subprocess
import sys
import time

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case, unprivileged
from registers import load_registers, run_on, stand_still

IS_AMD = sys.argv[1] == 'amd'
LONG_SECONDS = int(sys.argv[2]) if sys.argv[2:] else 0
# So that two CPUs are busy by turns.
LOAD = 'while :; do timeout 7 sh -c "while :; do :; done"; sleep 4; done' if LONG_SECONDS else 'while :; do :; done'
ZONES = ('package',) if IS_AMD else ('package', 'core', 'uncore', 'dram', 'psys')
PACKAGES = ('0',) if IS_AMD else ('0', '1')
STEP_UJ = 62  # 2^-14 J; dram's is 15.3
OPTIONS = (*AT_ONCE, '--monitor.interval=500ms', '--meter.read-deadline=5s', '--metrics.per-package')


def online(cpu, on):
    pathlib.Path(f'/sys/devices/system/cpu/cpu{cpu}/online').write_text('1' if on else '0', encoding='ascii')


def keys():
    return [(package, zone) for package in PACKAGES for zone in ZONES]


def sum_of(metrics, name, key):
    return metrics.sum(name, package=key[0], zone=key[1])


def counted_uj(metrics):
    return {key: int(metrics.sum(f'kepler_node_{key[1]}_joules_total', package=key[0]) * 1000000) for key in keys()}


def truth_uj():
    lines = pathlib.Path('/sys/kernel/debug/labmsr/truth').read_text(encoding='ascii').split('\n')
    truth = {(package, zone): int(nj) // 1000 for package, zone, nj in (line.split() for line in lines if line)}
    return {key: truth[key] for key in keys()}


def snapshot_of(exporter):
    """(counted, true) with counters that stand still, when each zone was read since."""
    stand_still()
    reads = {key: 0 for key in keys()}
    metrics, deadline = exporter.intervals(1), time.monotonic() + 60
    first = {key: sum_of(metrics, 'kepler_exporter_source_reads_total', key) for key in keys()}
    while any(reads[key] < first[key] + 3 for key in keys()):
        assert time.monotonic() < deadline, 'not read\n' + exporter.output()
        metrics = exporter.intervals(1)
        reads = {key: sum_of(metrics, 'kepler_exporter_source_reads_total', key) for key in keys()}
    assert_balanced(metrics)
    return counted_uj(metrics), truth_uj()


def worst_uj(before, after, packages=PACKAGES):
    return max(abs((after[0][key] - before[0][key]) - (after[1][key] - before[1][key]))
               for key in keys() if key[0] in packages)


def check_law(msr, powercap):
    """The registers turn over meanwhile: they begin at 0xfff00000."""
    before = snapshot_of(msr), snapshot_of(powercap)
    run_on()
    burner = subprocess.Popen(['timeout', str(LONG_SECONDS or 10), 'sh', '-c', LOAD])
    while burner.poll() is None:
        assert_balanced(msr.intervals(1))
    after = snapshot_of(msr), snapshot_of(powercap)
    wraps = int(msr.scrape().sum('kepler_exporter_source_wraps_total'))
    worst = worst_uj(before[0], after[0])
    assert worst <= 2 * STEP_UJ, worst
    used = {key: after[0][1][key] - before[0][1][key] for key in keys()}
    assert min(used.values()) > 1000000, used
    # The driver takes a step of 61.03515625 µJ for 61.035 µJ, and its range is the largest value, a step short.
    for key, uj in used.items():
        apart = (after[0][0][key] - before[0][0][key]) - (after[1][0][key] - before[1][0][key])
        assert abs(apart) <= 4 * STEP_UJ + uj * 4e-6, (key, apart)
    case(f'{len(used)} zones, {wraps} wraps: by registers at most {worst} µJ off the truth, and so by powercap')


def check_hotplug(msr):
    before = snapshot_of(msr)
    run_on()
    errors = msr.intervals(1).sum('kepler_exporter_source_read_errors_total', package='1')
    online(2, False)  # that is read of socket 1; CPU 3 is left
    deadline = time.monotonic() + 120
    while msr.intervals(1).sum('kepler_exporter_source_read_errors_total', package='1') == errors:
        assert time.monotonic() < deadline, 'a CPU that is gone is read'
    while msr.intervals(2).sum('kepler_exporter_source_up', package='1') < len(ZONES):
        assert time.monotonic() < deadline, 'the other CPU is not read\n' + msr.output()
    online(3, False)
    while msr.intervals(1).sum('kepler_exporter_source_up', package='1') > 0:
        assert time.monotonic() < deadline, 'a socket that is gone is up'
    gone = counted_uj(msr.intervals(2))
    later = counted_uj(msr.intervals(3))
    assert gone[('1', 'package')] == later[('1', 'package')] and gone[('0', 'package')] < later[('0', 'package')]
    for cpu in (2, 3):
        online(cpu, True)
    while counted_uj(msr.intervals(1))[('1', 'package')] <= later[('1', 'package')]:
        assert time.monotonic() < deadline, 'it does not return\n' + msr.output()
    after = snapshot_of(msr)
    worst = worst_uj(before, after, packages=('0',))
    assert worst <= 2 * STEP_UJ, worst
    assert all(after[0][key] - before[0][key] <= after[1][key] - before[1][key] + 2 * STEP_UJ for key in keys())
    case(f'the CPU that is read and a socket went and returned: socket 0 at most {worst} µJ off, '
         'socket 1 nothing twice')


def core_uj(exporter, cores):
    """(counted, true) of the sum of cores, with counters that stand still."""
    stand_still()
    metrics = exporter.intervals(3)
    assert_balanced(metrics)
    lines = pathlib.Path('/sys/kernel/debug/labmsr/truth').read_text(encoding='ascii').splitlines()
    truth = dict(line.rsplit(' ', 1) for line in lines)
    return int(metrics.sum('kepler_node_core_joules_total') * 1000000), int(truth['0 core']) * cores // 1000


def check_cores(exporter):
    """By law, and a core goes and returns."""
    cores = os.cpu_count()
    before = core_uj(exporter, cores)
    run_on()
    assert_balanced(exporter.intervals(10))
    after = core_uj(exporter, cores)
    worst = abs((after[0] - before[0]) - (after[1] - before[1]))
    assert worst <= 2 * STEP_UJ * cores and after[1] - before[1] > 1000000, (before, after)
    run_on()
    deadline = time.monotonic() + 120
    for on in (False, True):
        dropped = exporter.intervals(1).sum('kepler_exporter_source_read_errors_total', zone='core')
        online(cores - 1, on)
        while not on and exporter.intervals(1).sum('kepler_exporter_source_read_errors_total', zone='core') == dropped:
            assert time.monotonic() < deadline, 'a core that is gone is read'
        while exporter.intervals(1).sum('kepler_exporter_source_up', zone='core') < 1:
            assert time.monotonic() < deadline, 'the other cores are not read\n' + exporter.output()
        earlier = exporter.scrape().sum('kepler_node_core_joules_total')
        assert exporter.intervals(4).sum('kepler_node_core_joules_total') > earlier
    last = core_uj(exporter, cores)
    assert last[0] - after[0] <= last[1] - after[1] + 2 * STEP_UJ * cores, (after, last)
    began = time.perf_counter()
    device = os.open(f'/dev/cpu/{cores - 1}/msr', os.O_RDONLY)
    for _ in range(1000):
        os.pread(device, 8, 0xc001029a)
    os.close(device)
    case(f'{cores} cores are one sum, at most {worst} µJ off; a core went and returned; '
         f'{(time.perf_counter() - began) * 1e3:.1f} µs for a register of another CPU')


def make_clock(root, cpumask):
    pmu = root / 'bus/event_source/devices/power'
    files = {'type': '1', 'cpumask': cpumask, 'format/event': 'config:0-7', 'events/energy-pkg': 'event=0x00',
             'events/energy-pkg.scale': '4e-8', 'events/energy-pkg.unit': 'Joules'}
    for name, text in files.items():
        path = pmu / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + '\n', encoding='ascii')
    return pmu


def check_events():
    """40 W a socket, of a clock on one of its CPUs."""
    # Debian's 3 denies events to all but CAP_SYS_ADMIN.
    pathlib.Path('/proc/sys/kernel/perf_event_paranoid').write_text('2', encoding='ascii')
    root = pathlib.Path('/tmp/events')
    pmu = make_clock(root, '0,2')
    (root / 'devices/system').mkdir(parents=True)
    (root / 'devices/system/cpu').symlink_to('/sys/devices/system/cpu')
    with Exporter(*OPTIONS, f'--host.sysfs={root}', prefix=unprivileged(*DOCUMENTED)) as exporter:
        def watts():
            metrics = exporter.intervals(1)
            assert_balanced(metrics)
            return [float(metrics.sum('kepler_node_package_watts', package=package)) for package in PACKAGES]
        deadline = time.monotonic() + 90
        while not all(39 < power < 41 for power in watts()):
            assert time.monotonic() < deadline, 'no power of the clock\n' + exporter.output()
        online(2, False)  # these events are moved by no driver
        while exporter.intervals(1).value('kepler_exporter_source_up', package='1') == 1:
            assert time.monotonic() < deadline, 'events that stand still are not noticed'
        (pmu / 'cpumask').write_text('0,3\n', encoding='ascii')
        while not all(39 < power < 41 for power in watts()):
            assert time.monotonic() < deadline, 'the events are not opened anew\n' + exporter.output()
        online(2, True)
        assert exporter.stop() == 0
    case('events of a CPU that went offline are opened anew on another one, by a confined process')


def check_without_rawio():
    doctor = subprocess.run([*unprivileged(*DOCUMENTED), os.environ['KEPLER'], 'doctor', '--meters=auto,rapl-msr'],
                            capture_output=True, text=True, check=False)
    assert doctor.returncode == 1 and 'CAP_SYS_RAWIO' in doctor.stdout, doctor
    case('without sys_rawio doctor says what is missing')


def main():
    load_registers()
    prefix = unprivileged(*DOCUMENTED, 'sys_rawio')
    with Exporter(*OPTIONS, '--meters=rapl-msr', prefix=prefix) as msr, \
            Exporter(*OPTIONS, '--meters=rapl-sysfs', prefix=unprivileged(*DOCUMENTED)) as powercap:
        metrics = msr.intervals(2)
        sources = {label['source'] for label, _ in metrics.select('kepler_zone_info') if label['zone'] != 'other'}
        assert sources == {'rapl-msr'}, metrics.text
        zones = {(zone, package) for zone in ZONES for package in PACKAGES}
        assert metrics.zones() - {('other', '')} == zones, metrics.zones()  # psys has that in addition to its parts
        check_law(msr, powercap)
        assert powercap.stop() == 0
        if not IS_AMD and not LONG_SECONDS:
            check_hotplug(msr)
        assert msr.stop() == 0
    if LONG_SECONDS:
        return
    if IS_AMD:
        with Exporter(*OPTIONS, '--meters=rapl-msr', '--meter.msr-cores', prefix=prefix) as exporter:
            check_cores(exporter)
            assert exporter.stop() == 0
    if not IS_AMD:
        check_without_rawio()
        check_events()


main()
