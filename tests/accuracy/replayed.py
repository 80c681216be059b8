# SPDX-License-Identifier: Apache-2.0
"""
Kepler as a method of the laboratory: a trace is written as a recording, and `kepler replay` books it. It prints sums of the
whole file; what it charges in a block is the difference between two files that are cut off after different intervals.
"""
import json
import os
import subprocess
import tempfile

import judge
import recording
import scenarios

ZONES = {"pkg": "package", "dram": "dram"}


class NoReplay(Exception):
    """This kepler cannot replay."""


def replay(program, path, options):
    result = subprocess.run([program, "replay", path, "--by=container", "--format=json", *options], capture_output=True, text=True,
                            timeout=120, check=False)
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        raise NoReplay(f"{program} replay: exit status {result.returncode}: {result.stderr.strip()[:300]}") from None
    if result.returncode:
        raise AssertionError(f"{path}: exit status {result.returncode}: {result.stderr.strip()[:300]}")
    if answer["off_uj"]:
        raise AssertionError(f"{path}: the rows and the rest are {answer['off_uj']} uJ off from the meters")
    return answer


def charged(answer, zone, mode="dynamic_uj"):
    out = {}
    for row in answer["rows"]:
        for part in row["zones"]:
            if part["zone"] == ZONES[zone]:
                out[row["container_id"]] = out.get(row["container_id"], 0.0) + part[mode] / 1e6
    return out


def prefixes(trace):
    """Numbers of intervals at which the sums are looked at: the borders of blocks, and the end."""
    count = len(trace.intervals)
    return sorted(set(range(min(scenarios.LEARNING, count), count, judge.BLOCK)) | {count})


def estimate(program, trace, zone, options=(), without=(), idle_known=True, counts=None):
    """
    For each interval container -> joules; all of a block is in its last interval, which is enough for sums over blocks. The blocks
    end after so many intervals: @counts.
    """
    result = [{} for _ in trace.intervals]
    with tempfile.TemporaryDirectory() as folder:
        whole, cut = os.path.join(folder, "whole.krec"), os.path.join(folder, "cut.krec")
        ends = recording.write(trace, whole, without, idle_known)
        with open(whole, "rb") as file:
            data = file.read()
        before = {}
        for count in counts or prefixes(trace):
            with open(cut, "wb") as file:
                file.write(data[:ends[count - 1]])
            sums = charged(replay(program, cut, options), zone)
            result[count - 1] = {name: joules - before.get(name, 0.0) for name, joules in sums.items()}
            before = sums
    return result


def method(program, *options, without=(), idle_known=True):
    """@options of `kepler replay`; @without: signals that the machine lacks; @idle_known: the meter says its idle part."""
    program = os.path.abspath(program)
    return lambda trace, zone: estimate(program, trace, zone, options, without, idle_known)
