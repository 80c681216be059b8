#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An AMD machine's RAPL: the package, and not the zone "core", which is one core of it; the numbers add up."""
from guestlib import AT_ONCE, Exporter, assert_balanced, burn, case
from registers import load_registers, run_on


def main():
    load_registers()
    run_on()
    with Exporter(*AT_ONCE) as exporter:
        exporter.intervals(1)
        pid, _ = burn(3)
        metrics = exporter.intervals(2)
        assert {zone for zone, _ in metrics.zones()} == {'package'}, metrics.zones()
        assert_balanced(metrics)
        share = metrics.sum('kepler_process_package_joules_total', pid=str(pid))
        assert share > 0
        case(f'package alone; the burner got {share} J')
        assert exporter.stop() == 0


main()
