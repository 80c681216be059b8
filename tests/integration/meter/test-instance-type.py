#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a guest of Amazon EC2 the firmware's instance type says how many CPUs its host has, and its processor where that is hidden.
Options go first, and a type that is not known changes nothing. /proc and /sys are folders; what is shown is the real program's."""
import pathlib
import re
import subprocess
import tempfile

from rig import KEPLER, Exporter, run_tests

CPUS = len([line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("processor")])
HIDDEN, NAMED = "Intel(R) Xeon(R) Processor", "Intel(R) Xeon(R) Platinum 8488C"
SHARE = "kepler_node_vm_host_share_ratio"


class Guest:
    """With the files of this machine, but for the names of its processor and of its product."""

    def __init__(self, folder, vendor, product, processor):
        procfs, sysfs = pathlib.Path(folder, "proc"), pathlib.Path(folder, "sys")
        procfs.mkdir()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() and entry.name != "cpuinfo":
                (procfs / entry.name).symlink_to(entry)
        text = re.sub(r"(?m)^model name\t.*\n", "", pathlib.Path("/proc/cpuinfo").read_text())
        text = re.sub(r"(?m)^processor\t.*$", rf"\g<0>\nmodel name\t: {processor}", text)
        (procfs / "cpuinfo").write_text(text)
        firmware = sysfs / "class/dmi/id"
        firmware.mkdir(parents=True)
        (firmware / "sys_vendor").write_text(vendor + "\n")
        (firmware / "product_name").write_text(product + "\n")
        self.options = [f"--host.procfs={procfs}", f"--host.sysfs={sysfs}", "--no-bpf.enabled", "--model.machine=vm=true"]

    def share(self, *options):
        """The share of the host's CPUs, and where their number is from."""
        with Exporter(*self.options, "--monitor.interval=200ms", *options) as exporter:
            (labels, share), = exporter.intervals(1).select(SHARE)
            assert exporter.stop() == 0
        return float(share), labels["host_cpus_source"]

    def doctor(self, *options):
        command = [KEPLER, "doctor", "--verbose", "--host.state-dir=", *self.options, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def guest(vendor="Amazon EC2", product="m7i.2xlarge", processor=HIDDEN):
    folder = tempfile.TemporaryDirectory()
    return folder, Guest(folder.name, vendor, product, processor)


def the_type_says_the_host():
    folder, machine = guest()
    with folder:
        assert machine.share() == (CPUS / 192, "instance_type")
        said = machine.doctor()
        assert "an instance of type m7i.2xlarge (Amazon EC2) has 192 logical CPUs, on 96 cores" in said, said
        assert f"according to the instance type m7i.2xlarge it is {NAMED}" in said, said
        assert "of 96 cores in 2 sockets" in said, said


def a_name_that_is_not_hidden():
    """The type has only the number of CPUs to add."""
    folder, machine = guest(processor=NAMED)
    with folder:
        said = machine.doctor()
        assert "192 logical CPUs" in said and "hides its name" not in said, said


def options_go_first():
    folder, machine = guest()
    with folder:
        assert machine.share("--vm.host-cpus=64") == (min(1, CPUS / 64), "option")
        assert machine.share("--vm.host-processor=Intel(R) Xeon(R) Gold 6330")[1] == "processor"


def a_type_that_is_not_known():
    """The page of a guest whose firmware says nothing, to the digit."""
    folder, machine = guest(vendor="", product="")
    with folder:
        nothing = machine.share()
        assert nothing[1] == "typical", nothing
    for vendor, product in (("Amazon EC2", "zz9.large"), ("Google Compute Engine", "m7i.2xlarge")):
        folder, machine = guest(vendor, product)
        with folder:
            assert machine.share() == nothing, product
            assert "instance of type" not in machine.doctor()


run_tests([the_type_says_the_host, a_name_that_is_not_hidden, options_go_first, a_type_that_is_not_known], at_once=2)
