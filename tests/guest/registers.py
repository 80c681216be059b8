# SPDX-License-Identifier: Apache-2.0
"""The simulated registers of RAPL (tests/lab/labmsr), and the kernel's own drivers over them."""
import pathlib
import subprocess

PARAMETERS = pathlib.Path('/sys/module/labmsr/parameters')
IDLE_MW, DYNAMIC_MW = (20000, 5000, 500, 3000, 20000), (15000, 12000, 0, 1500, 15000)  # package, core, uncore, dram, psys


def load_registers():
    """They turn over soon. Where an earlier script of this guest has loaded them they count on."""
    if not PARAMETERS.exists():
        subprocess.run(['insmod', '/lab/labmsr.ko', 'start_raw=0xfff00000'], check=True)
    for module in ('msr', 'intel_rapl_msr'):
        subprocess.run(['modprobe', module], check=True)


def set_parameter(name, *values):
    (PARAMETERS / name).write_text(','.join(map(str, values)), encoding='ascii')


def run_on():
    set_parameter('idle_mw', *IDLE_MW)
    set_parameter('dyn_mw', *DYNAMIC_MW)


def stand_still():
    set_parameter('idle_mw', *[0] * 5)
    set_parameter('dyn_mw', *[0] * 5)
