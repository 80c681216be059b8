#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_tree.py REPORT - the sysfs of a report of `kepler doctor --report`, as a tree for tests/lab/labsysfs.

    tests/rig/report_tree.py kepler-report.tar.gz > tree.conf
    build/tests/lab/labsysfs -f tree.conf /tmp/sys && kepler doctor --host.sysfs=/tmp/sys

Files have the values of the report. A counter that moved while the report was made runs on at the power it had then, and wraps
where the report says; a power stays as it was.
"""
import pathlib
import re
import sys
import tarfile

COUNTER = re.compile(r"/(energy_uj|energy\d+_input)$")
POWER = re.compile(r"/power\d+_(input|average)$")
LINE = re.compile(r"(\S+) (=|->|!)(?: (.*))?")
ERRNO = {"Permission denied": 13, "No data available": 61, "Input/output error": 5}
NO_END = 1 << 60


def member(report, name):
    with tarfile.open(report) as archive:
        return archive.extractfile(name).read().decode()


def parse(text):
    """When it was read, in seconds, and {path: (mark, value)}."""
    at, files = 0.0, {}
    for line in text.splitlines():
        if line.startswith("# at "):
            at = float(line.split()[2])
        elif not line.startswith("#"):
            path, mark, value = LINE.fullmatch(line).groups()
            files[path] = (mark, value or "")
    return at, files


def end_of(files, path):
    """The value at which the counter begins again."""
    mark, value = files.get(str(pathlib.PurePath(path).with_name("max_energy_range_uj")), ("", ""))
    return int(value) if mark == "=" else NO_END


def counter(files, path, value, later, seconds):
    end = end_of(files, path)
    uj = (int(later) - int(value)) % (end + 1) if later.isdigit() and seconds > 0 else 0
    return f"{path} counter {round(uj / seconds) if uj else 0} {end} {value}"


def lines(report):
    began, files = parse(member(report, "sysfs.txt"))
    ended, later = parse(member(report, "sysfs-later.txt"))
    for path, (mark, value) in files.items():
        if mark == "->":
            yield f"{path} link {value}"
        elif mark == "!":
            yield f"{path} text"
            yield f"{path} errno {ERRNO.get(value, 5)}"
        elif COUNTER.search(path) and value.isdigit():
            yield counter(files, path, value, later.get(path, ("", ""))[1], ended - began)
        elif POWER.search(path) and value.isdigit():
            yield f"{path} gauge {value}"
        else:
            yield f"{path} text {value}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(lines(sys.argv[1])))
