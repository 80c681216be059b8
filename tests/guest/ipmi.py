#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The power of a machine by its own IPMI device: the kernel's driver, and a BMC behind QEMU's KCS interface, which is
tests/rig/ipmi_bmc.py. Right power for a confined program with the documented capability, by DCMI and by sensors; faults that are
down and back; and at most one request a second. With an argument: so many seconds of varying load, and that alone.
"""
import os
import pathlib
import random
import subprocess
import sys
import time

from guestlib import Exporter, case, unprivileged

BMC, LOG = pathlib.Path('/lab/bmc'), pathlib.Path('/lab/bmc.log')
DEVICE = pathlib.Path('/dev/ipmi0')
OPTIONS = ('--meter.ipmi.period=1s', '--monitor.interval=1s', '--metrics.settle=0s', '--idle.mode=off')
UP = 'kepler_exporter_source_up'


def say(text):
    BMC.write_text(text, encoding='ascii')


def node_j(metrics):
    return float(metrics.sum('kepler_node_platform_joules_total'))


def is_up(metrics):
    return bool(metrics.select(UP, zone='platform')) and metrics.value(UP, zone='platform') == 1


def wait_until(exporter, condition, seconds=90):
    deadline = time.monotonic() + seconds
    while True:
        metrics = exporter.intervals(1)
        if condition(metrics):
            return metrics
        assert time.monotonic() < deadline, metrics.text + exporter.output()


def counted(exporter):
    """What a page has counted, and when its last reading was made: of one that has just come."""
    before = node_j(exporter.intervals(1))
    metrics = wait_until(exporter, lambda metrics: node_j(metrics) > before)
    age = float(metrics.value('kepler_exporter_source_age_seconds', zone='platform'))
    return float(metrics.value('kepler_exporter_snapshot_timestamp_seconds')) - age, node_j(metrics)


def power_is_right(exporter, watts):
    """Between two readings, whose times are those of a page and its age: no start is in it."""
    began, first = counted(exporter)
    time.sleep(12)
    ended, last = counted(exporter)
    got = (last - first) / (ended - began)
    case(f'{got:.2f} W of {watts} W')
    assert abs(got - watts) <= watts * 0.02, got


def varying_load_is_right(exporter, seconds):
    """Another power every few seconds, from an idle server's to a busy one's, within the 2 % of what is read once a second."""
    draw, flowed_j, watts = random.Random(1), 0.0, 231
    began, first = counted(exporter)
    since = began
    while time.time() < began + seconds:
        time.sleep(draw.uniform(4, 12))
        say(str(chosen := draw.randrange(80, 900)))
        flowed_j, since, watts = flowed_j + watts * (time.time() - since), time.time(), chosen
    time.sleep(5)
    ended, last = counted(exporter)
    flowed_j += watts * (ended - since)
    case(f'{last - first:.0f} J of {flowed_j:.0f} J in {ended - began:.0f} s, {((last - first) / flowed_j - 1) * 100:+.2f} %')
    assert abs(last - first - flowed_j) <= flowed_j * 0.02, (last - first, flowed_j)


def faults_are_down_and_back(exporter):
    for fault in ('231 c0', '231 c1', '231 d4', '231 ff', '0 0 0 00', '0', '231 0 4'):
        before = wait_until(exporter, is_up)
        began = time.monotonic()
        say(fault)
        wait_until(exporter, lambda metrics: not is_up(metrics))
        down_s = time.monotonic() - began
        say('231')
        after = wait_until(exporter, is_up)
        gained = node_j(after) - node_j(before)
        assert gained <= 231 * (time.monotonic() - began + 3), (fault, gained)
        case(f'"{fault}": down after {down_s:.1f} s, back after {time.monotonic() - began:.1f} s, {gained:.0f} J')


def a_driver_that_goes_and_returns(exporter):
    hotmod = pathlib.Path('/sys/module/ipmi_si/parameters/hotmod')
    hotmod.write_text('remove,kcs,i/o,0xca2', encoding='ascii')
    wait_until(exporter, lambda metrics: not is_up(metrics))
    assert not DEVICE.exists()
    hotmod.write_text('add,kcs,i/o,0xca2', encoding='ascii')
    wait_until(exporter, is_up)
    case('the driver went and returned')


def at_most_one_a_second():
    """By the BMC's own clock, to which a busy host brings a request late: then the next one seems to be early, but however many
    follow, they do not gain more than that delay. A program that asked twice as often would gain a second with every other one."""
    times = [float(line) for line in LOG.read_text(encoding='ascii').split()]
    early = [when - index for index, when in enumerate(times)]  # of requests that are a second apart it is constant
    gained = max(max(early[:index + 1]) - when for index, when in enumerate(early))
    case(f'{len(times)} requests, at most {gained:.2f} s sooner than one a second')
    assert len(times) > 20 and gained < 0.9, times


def documented_needs():
    words = subprocess.run([os.environ['KEPLER'], 'config', 'needs'], check=True, capture_output=True, text=True).stdout
    assert 'DeviceAllow=char-ipmidev r' in words, words
    with pathlib.Path('/proc/devices').open(encoding='ascii') as devices:
        assert any(line.split()[1:] == ['ipmidev'] for line in devices), 'the unit names a device that there is not'


def long_run(seconds):
    with Exporter(*OPTIONS, prefix=unprivileged('bpf', 'perfmon', 'dac_read_search')) as exporter:
        wait_until(exporter, lambda metrics: is_up(metrics) and node_j(metrics) > 0)
        varying_load_is_right(exporter, seconds)
        assert exporter.stop() == 0, exporter.output()


def main():
    assert DEVICE.exists(), 'the driver has found no BMC'
    DEVICE.chmod(0o600)
    if sys.argv[1:]:
        long_run(int(sys.argv[1]))
        return
    documented_needs()
    with Exporter(*OPTIONS, prefix=unprivileged()) as exporter:
        metrics = exporter.intervals(2)
        assert not metrics.select(UP, zone='platform', source='ipmi'), metrics.text
        assert '/dev/ipmi0: it cannot be opened: Permission denied' in exporter.output(), exporter.output()
        case('without the capability it says so')
    with Exporter(*OPTIONS, prefix=unprivileged('bpf', 'perfmon', 'dac_read_search')) as exporter:
        wait_until(exporter, lambda metrics: is_up(metrics) and node_j(metrics) > 0)
        power_is_right(exporter, 231)
        faults_are_down_and_back(exporter)
        a_driver_that_goes_and_returns(exporter)
        denied = exporter.scrape().sum('kepler_exporter_denied_system_calls_total')
        assert denied == 0, exporter.output()
        began = time.monotonic()
        assert exporter.stop() == 0, exporter.output()
        case(f'ended in {time.monotonic() - began:.1f} s')
    at_most_one_a_second()
    say('0 c1 0 40 25')  # two supplies take 25 steps of 8 W each
    with Exporter(*OPTIONS, prefix=unprivileged('bpf', 'perfmon', 'dac_read_search')) as exporter:
        # Until they are found energy is estimated.
        wait_until(exporter, lambda metrics: 'measured energy counts from now on: measured (ipmi)' in exporter.output(), 200)
        exporter.intervals(3)
        power_is_right(exporter, 400)
        assert exporter.stop() == 0, exporter.output()


main()
