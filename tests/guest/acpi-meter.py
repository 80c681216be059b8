#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The power of a machine by its ACPI power meter: the kernel's driver, and a meter in the firmware whose power is in a page of
memory (tests/lab/pmeter.asl). Right power for a confined program; a meter without a reading is down and back; one that takes
long, or whose driver is taken away, costs its zone alone. With an argument: so many seconds of varying load, and that alone.
"""
import mmap
import os
import pathlib
import random
import struct
import subprocess
import sys
import time

from guestlib import AT_ONCE, DOCUMENTED, Exporter, assert_balanced, case, unprivileged

PAGE = 0x1F000000
NO_READING = 0xFFFFFFFF
OPTIONS = (*AT_ONCE, '--monitor.interval=500ms', '--idle.mode=off')
ZONE = {'zone': 'platform', 'source': 'hwmon'}


class Meter:
    def __init__(self):
        self.fd = os.open('/dev/mem', os.O_RDWR | os.O_SYNC)
        self.page = mmap.mmap(self.fd, mmap.PAGESIZE, offset=PAGE)

    def set(self, watts=None, stall_s=0):
        """None: it has no reading."""
        self.page[0:8] = struct.pack('<II', NO_READING if watts is None else int(watts * 1000), stall_s)

    def reads(self):
        return struct.unpack('<I', self.page[8:12])[0]


def node_j(metrics):
    return float(metrics.sum('kepler_node_platform_joules_total', source='hwmon'))


def is_up(metrics):
    return metrics.sum('kepler_exporter_source_up', **ZONE) == 1


def wait_until(exporter, condition, seconds=90):
    deadline = time.monotonic() + seconds
    while True:
        metrics = exporter.intervals(1)
        assert_balanced(metrics)
        if condition(metrics):
            return metrics
        assert time.monotonic() < deadline, exporter.output()


def counted(exporter):
    """When the last reading of a page was made, and what it has counted: of a page that has just come with a new one."""
    before = node_j(exporter.intervals(1))
    metrics = wait_until(exporter, lambda metrics: node_j(metrics) > before)
    age = float(metrics.value('kepler_exporter_source_age_seconds', **ZONE))
    return float(metrics.value('kepler_exporter_snapshot_timestamp_seconds')) - age, node_j(metrics)


def power_is_right(exporter, watts):
    (began, first), _, (ended, last) = counted(exporter), time.sleep(15), counted(exporter)
    got = (last - first) / (ended - began)
    case(f'{got:.2f} W of {watts} W')
    assert abs(got / watts - 1) <= 0.01, got


def varying_load_is_right(exporter, meter, seconds):
    """Another power every few seconds, within the 1 % of a sensor that is read once a second."""
    draw, flowed_j, watts = random.Random(1), 0.0, 150
    meter.set(watts)
    time.sleep(5)
    began, first = counted(exporter)
    since = began
    while time.time() < began + seconds:
        time.sleep(draw.uniform(4, 12))
        chosen = draw.randrange(80, 900)
        meter.set(chosen)
        flowed_j, since, watts = flowed_j + watts * (time.time() - since), time.time(), chosen
    time.sleep(5)
    ended, last = counted(exporter)
    flowed_j += watts * (ended - since)
    case(f'{last - first:.0f} J of {flowed_j:.0f} J in {ended - began:.0f} s, {((last - first) / flowed_j - 1) * 100:+.2f} %')
    assert abs(last - first - flowed_j) <= flowed_j * 0.01, (last - first, flowed_j)


def without_a_reading_it_is_down(exporter, meter):
    before = wait_until(exporter, is_up)
    began = time.monotonic()
    meter.set(None)
    wait_until(exporter, lambda metrics: not is_up(metrics))
    meter.set(300)
    after = wait_until(exporter, is_up)
    gained = node_j(after) - node_j(before)
    assert gained <= 300 * (time.monotonic() - began + 3), gained
    case(f'without a reading it is down, and back after {time.monotonic() - began:.1f} s with {gained:.0f} J')


def one_that_takes_long_delays_nothing(exporter, meter):
    meter.set(300, stall_s=9)
    reads = meter.reads()
    deadline = time.monotonic() + 60
    while meter.reads() == reads:
        assert time.monotonic() < deadline, 'it is not read'
        time.sleep(0.1)
    slowest, end = 0.0, time.monotonic() + 7
    while time.monotonic() < end:
        began = time.monotonic()
        metrics = exporter.scrape()
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.1)
    assert not is_up(metrics), 'it is up while it does not answer'
    assert metrics.value('kepler_exporter_source_up', zone='package') == 1, 'RAPL is disturbed'
    meter.set(300)
    wait_until(exporter, is_up)
    case(f'a reading that takes 9 s: a page takes at most {slowest:.2f} s')


def a_driver_that_goes_and_returns(exporter):
    subprocess.run(['modprobe', '-r', 'acpi_power_meter'], check=True)
    wait_until(exporter, lambda metrics: not is_up(metrics))
    subprocess.run(['modprobe', 'acpi_power_meter'], check=True)
    wait_until(exporter, is_up)
    case('the driver went and returned')


def main():
    meter = Meter()
    meter.set(250)
    subprocess.run(['insmod', '/lab/labmsr.ko'], check=True)
    for module in ('intel_rapl_msr', 'acpi_power_meter'):
        subprocess.run(['modprobe', module], check=True)
    assert list(pathlib.Path('/sys/class/hwmon').glob('hwmon*')), 'the driver has found no meter'
    with Exporter(*OPTIONS, prefix=unprivileged(*DOCUMENTED)) as exporter:
        wait_until(exporter, lambda metrics: is_up(metrics) and node_j(metrics) > 0)
        if sys.argv[1:]:
            varying_load_is_right(exporter, meter, int(sys.argv[1]))
        else:
            metrics = exporter.intervals(1)
            info = [labels['path'] for labels, _ in metrics.select('kepler_zone_info', **ZONE)]
            assert info == ['power_meter@ACPI000D:00/power1'], info
            power_is_right(exporter, 250)
            meter.set(610)
            time.sleep(3)
            power_is_right(exporter, 610)
            without_a_reading_it_is_down(exporter, meter)
            one_that_takes_long_delays_nothing(exporter, meter)
            a_driver_that_goes_and_returns(exporter)
            assert metrics.select('kepler_node_other_joules_total'), 'what package does not count is other'
        assert exporter.scrape().sum('kepler_exporter_denied_system_calls_total') == 0, exporter.output()
        assert exporter.stop() == 0, exporter.output()


main()
