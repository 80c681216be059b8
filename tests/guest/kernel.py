#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On this kernel: the right reader, exact CPU time, the documented capabilities and no more, and /proc when BPF is refused. With
the argument "refused": each BPF program is refused in turn.
"""
import json
import os
import subprocess
import sys
import time

from guestlib import (AT_ONCE, DOCUMENTED, ExactAccount, Exporter, assert_balanced, burn, case, cpu_seconds_of,
                      held_capabilities, kernel_version, reader_of, seen_with_truth, unprivileged)

HAS_WALK = kernel_version() >= (6, 7)
HAS_TASK_STORAGE = kernel_version() >= (5, 12)
OLD = '''
import time
while time.process_time() < 4: pass
print("ready", flush=True)
time.sleep(600)
'''
NEEDS_MEMLOCK = kernel_version() < (5, 11)


def check_burner(exporter):
    """What a burner used is what the kernel says it used, exactly once."""
    exporter.intervals(1)
    pid, truth = burn(2)
    metrics = exporter.intervals(3)
    seen = cpu_seconds_of(metrics, pid)
    assert abs(seen - truth) <= 0.02 * truth, f'burner {truth:.3f} s, seen {seen:.3f} s'
    assert_balanced(metrics)
    return f'{seen:.3f} of {truth:.3f} s'


def check_burner_in_proc(exporter):
    """As check_burner(), but what it ran after the last interval of its life is its parent's, ourselves: we know what we ran
    before and after the pass that made a response, and on a slow machine reading one takes us long."""
    before, *own_before = seen_with_truth(exporter, time.process_time)
    pid, truth = burn(4)
    exporter.intervals(2)
    metrics, *own = seen_with_truth(exporter, time.process_time)
    seen, left = cpu_seconds_of(metrics, pid), cpu_seconds_of(metrics, os.getpid()) - cpu_seconds_of(before, os.getpid())
    missed = metrics.value('kepler_exporter_intervals_missed_total') - before.value('kepler_exporter_intervals_missed_total')
    last = (1.2 + float(missed)) * float(metrics.value('kepler_exporter_interval_seconds'))
    assert truth - last <= seen <= 1.02 * truth, f'burner {truth:.3f} s, seen {seen:.3f} s'
    least, most = truth + own[0] - own_before[1], truth + own[1] - own_before[0]
    both = f'burner and parent {least:.3f} to {most:.3f} s, seen {seen + left:.3f} s'
    assert least - 0.02 * truth <= seen + left <= most + 0.02 * truth, both
    assert_balanced(metrics)
    return both


def loaded_programs():
    """BPF programs in the kernel, which are all ours here."""
    done = subprocess.run(['bpftool', '-j', 'prog', 'show'], capture_output=True, text=True, check=True)
    return {program.get('name') for program in json.loads(done.stdout)}


def check_root():
    with Exporter(*AT_ONCE) as exporter:
        expected = 'bpf-walk' if HAS_WALK else 'bpf-iter'
        assert reader_of(exporter) == expected, (reader_of(exporter), exporter.output())
        case(f'as root: {expected}, burner {check_burner(exporter)}')
        # Exits are reported only if a process is guarded from BPF, and there is no such process here.
        programs = loaded_programs()
        assert exporter.scrape().value('kepler_exporter_unseen_processes') == 0
        assert 'ended' in programs and not {'exiting', 'exiting_raw'} & programs, programs
        assert exporter.stop() == 0


def check_documented_set():
    with Exporter(*AT_ONCE, prefix=unprivileged(*DOCUMENTED)) as exporter:
        assert reader_of(exporter) == ('bpf-walk' if HAS_WALK else 'bpf-iter'), exporter.output()
        held = held_capabilities(exporter.process.pid)
        assert held <= set(DOCUMENTED), f'holds {held}'
        case(f'as nobody with {", ".join(DOCUMENTED)}: burner {check_burner(exporter)}; keeps {sorted(held) or "none"}')
        assert exporter.stop() == 0


def check_one_fewer(missing):
    left = [name for name in DOCUMENTED if name != missing]
    with Exporter(*AT_ONCE, prefix=unprivileged(*left)) as exporter:
        assert reader_of(exporter) == 'procfs', exporter.output()
        assert f'CAP_{missing.upper()}' in exporter.output(), exporter.output()
        assert held_capabilities(exporter.process.pid) <= set(left)
        assert_balanced(exporter.intervals(2))
        case(f'without {missing}: the /proc reader, and says so')
        assert exporter.stop() == 0


def check_memlock():
    with Exporter(*AT_ONCE, prefix=unprivileged(*DOCUMENTED, memlock=False)) as exporter:
        if NEEDS_MEMLOCK:
            assert reader_of(exporter) == 'procfs', exporter.output()
            assert 'MEMLOCK' in exporter.output(), exporter.output()
        else:
            assert reader_of(exporter) != 'procfs', exporter.output()
        case('with 64 KiB of locked memory: ' + reader_of(exporter))


def check_without_btf():
    """A kernel that has no type information for us: an empty folder lies over it."""
    subprocess.run(['mount', '-t', 'tmpfs', 'none', '/sys/kernel/btf'], check=True)
    try:
        with Exporter(*AT_ONCE) as exporter:
            assert reader_of(exporter) == 'procfs', exporter.output()
            assert 'CONFIG_DEBUG_INFO_BTF' in exporter.output(), exporter.output()
            case(f'without BTF: procfs, {check_burner_in_proc(exporter)}')
    finally:
        subprocess.run(['umount', '/sys/kernel/btf'], check=True)


def check_own_namespace():
    """In a pid namespace of its own: an older process is never charged for its past; doctor reports the namespace."""
    prefix = ('unshare', '--pid', '--fork', '--kill-child', '--mount-proc')
    with subprocess.Popen([sys.executable, '-c', OLD], stdout=subprocess.PIPE) as old, ExactAccount() as account:
        old.stdout.readline()
        began = account.busy_s()
        with Exporter(*AT_ONCE, prefix=prefix) as exporter:
            exporter.intervals(2)
            old.kill()
            old.wait()
            burn(1)
            metrics = exporter.intervals(4)
            charged, busy = float(metrics.sum('kepler_node_bpf_cpu_time_ms_total')) / 1e3, account.busy_s() - began
            # the old one's life would be 4 s more
            assert charged <= 1.02 * busy, f'{charged:.3f} s charged, {busy:.3f} s ran'
            assert metrics.value('kepler_exporter_activity_partial') == (not HAS_WALK)
            assert metrics.value('kepler_exporter_own_pid_namespace') == 1
            assert metrics.value('kepler_exporter_bpf_programs_refused') == 0
            assert not HAS_WALK or charged >= 0.9, f'{charged:.3f} s charged'
            assert 'hostPID' in exporter.output(), exporter.output()
        doctor = subprocess.run([*prefix, os.environ['KEPLER'], 'doctor'], capture_output=True, text=True, check=False).stdout
        assert 'hostPID' in doctor, doctor
    case(f'in a pid namespace of its own: {charged:.3f} s charged, {busy:.3f} s ran')


def check_open_devices():
    """Holders of devices by BPF are those that /proc shows."""
    test = os.environ['KEPLER_BUILD'] + '/tests/integration/test-open-devices'
    done = subprocess.run([test], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
    case('open devices: ' + done.stdout.split('# ')[1].splitlines()[0])


def check_switches():
    """What context switches show, where the kernel can keep it for each thread; CPU time is right in any case."""
    options = ('--counters.switches=true', '--counters.cycles=cpu-clock', '--counters.instructions=none')
    # As root: Debian's kernels want CAP_SYS_ADMIN for events (perf_event_paranoid=3).
    with Exporter(*AT_ONCE, *options) as exporter:
        burner = check_burner(exporter)
        metrics = exporter.scrape()
        assert metrics.value('kepler_exporter_switches_counted') == HAS_TASK_STORAGE, exporter.output()
        assert metrics.value('kepler_exporter_counters') == HAS_TASK_STORAGE
        assert metrics.value('kepler_exporter_counters_uncounted_cpus') == 0
        assert metrics.value('kepler_exporter_threads_without_work_total') == 0
        assert ('switch_typed' in loaded_programs()) == HAS_TASK_STORAGE
        case(f'context switches: {"looked at" if HAS_TASK_STORAGE else "left alone"}, burner {burner}')
        assert exporter.stop() == 0
    # The two CPUs are threads of one core: time with a busy sibling is known if the switches are.
    done = subprocess.run([os.environ['KEPLER'], 'doctor', '--verbose', '--counters.switches=true'], capture_output=True,
                          text=True, timeout=60, check=False)
    assert 'smt-time' in done.stdout and ('smt-time (needs' in done.stdout) != HAS_TASK_STORAGE, done
    if HAS_TASK_STORAGE:
        test = os.environ['KEPLER_BUILD'] + '/tests/integration/test-activity-switches'
        done = subprocess.run([test, 'test_adds*'], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done
        case('counted by the switches: ' + next(line for line in done.stdout.splitlines() if 'counted time of burners' in line))


def check_io():
    """What this kernel can count of input and output: no program is refused, only tracepoints are missing. CPU time is right."""
    with Exporter(*AT_ONCE, '--bpf.io=all') as exporter:
        burner = check_burner(exporter)
        assert exporter.scrape().value('kepler_exporter_bpf_programs_refused') == 0, exporter.output()
        assert exporter.stop() == 0
    done = subprocess.run([os.environ['KEPLER'], 'doctor', '--verbose', '--bpf.io=all'], capture_output=True, text=True,
                          timeout=60, check=False)
    lines = [line for line in done.stdout.splitlines() if 'counted per container' in line or 'not counted on' in line]
    assert any('net_rx_irq' in line for line in lines), done
    case(f'input and output: burner {burner}\n' + '\n'.join(lines))


def check_each_refused():
    """Each program refused in turn costs what it does and nothing else: those of passes, of switches, of input and output."""
    tests = {'programs': 'test_without*', 'io': 'test_each_program_refused'}
    if HAS_TASK_STORAGE:
        tests['switches'] = 'test_refused_programs'
    for name, cases in tests.items():
        test = os.environ['KEPLER_BUILD'] + '/tests/integration/test-activity-' + name
        done = subprocess.run([test, cases], capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done
        case(f'refused in turn, {name}: {done.stdout.count("# without ")} programs')


def check_doctor():
    done = subprocess.run([os.environ['KEPLER'], 'doctor', '--verbose'], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done
    case('doctor:\n' + done.stdout + done.stderr)


def main():
    case('Linux ' + os.uname().release)
    if sys.argv[1:] == ['refused']:
        check_each_refused()
        return
    check_root()
    check_documented_set()
    check_one_fewer('bpf')
    check_one_fewer('perfmon')
    check_memlock()
    check_without_btf()
    check_own_namespace()
    check_open_devices()
    check_switches()
    check_io()
    check_doctor()


main()
