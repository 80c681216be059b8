#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler profile --format=pprof, read by Google's protobuf decoder and by Go's pprof: sums, values, mappings, the same totals."""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from profile_rig import FRAMES, build, burner, plant, profile, told_uj
from rig import run_tests

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    descriptor_pb2 = None
GO = shutil.which("go")
if not GO and not descriptor_pb2:
    print("neither python3-protobuf nor go is installed")
    sys.exit(77)

# Message: (field, number, type), in the words of profile.proto; "*" repeated.
MESSAGES = {
    "ValueType": [("type", 1, "int64"), ("unit", 2, "int64")],
    "Sample": [("location_id", 1, "*uint64"), ("value", 2, "*int64")],
    "Mapping": [("id", 1, "uint64"), ("filename", 5, "int64"), ("build_id", 6, "int64"), ("has_functions", 7, "bool")],
    "Line": [("function_id", 1, "uint64"), ("line", 2, "int64")],
    "Location": [("id", 1, "uint64"), ("mapping_id", 2, "uint64"), ("address", 3, "uint64"), ("line", 4, "*Line")],
    "Function": [("id", 1, "uint64"), ("name", 2, "int64"), ("system_name", 3, "int64"), ("filename", 4, "int64")],
    "Profile": [("sample_type", 1, "*ValueType"), ("sample", 2, "*Sample"), ("mapping", 3, "*Mapping"),
                ("location", 4, "*Location"), ("function", 5, "*Function"), ("string_table", 6, "*string"),
                ("time_nanos", 9, "int64"), ("duration_nanos", 10, "int64"), ("period_type", 11, "ValueType"),
                ("period", 12, "int64"), ("comment", 13, "*int64"), ("default_sample_type", 14, "int64")],
}


def profile_class():
    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            repeated, kind = kind.startswith("*"), kind.lstrip("*")
            one = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in MESSAGES:
                one.type, one.type_name = types.TYPE_MESSAGE, f".perftools.profiles.{kind}"
            else:
                one.type = getattr(types, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("perftools.profiles.Profile"))


def recorded(directory):
    """A profile of the program: its file, its energy in µJ as the summary has it."""
    path, out = pathlib.Path(directory, "burner"), pathlib.Path(directory, "out.pb.gz")
    build(path, burner("burn"), (*FRAMES, "-Wl,--build-id=0x00c0ffee"))
    with plant() as sensors:
        done = profile(f"--host.sysfs={sensors.mount}", f"--output={out}", "--", path)
    return out, told_uj(done.stderr)[0]


def a_decoder_reads_it():
    with tempfile.TemporaryDirectory() as directory:
        out, energy_uj = recorded(directory)
        raw = out.read_bytes()
    assert raw[4:8] == b"\0\0\0\0", "a time in the header of gzip"
    read = profile_class()()
    read.ParseFromString(gzip.decompress(raw))
    text = read.string_table
    assert text[0] == "" and text[read.default_sample_type] == "energy"
    assert [(text[kind.type], text[kind.unit]) for kind in read.sample_type] == [
        ("samples", "count"), ("cpu", "nanoseconds"), ("energy", "microjoules")]
    assert sum(sample.value[2] for sample in read.sample) == energy_uj, energy_uj
    cpu_s = sum(sample.value[1] for sample in read.sample) / 1e9
    print(f"  {cpu_s:.3f} s of CPU time of about 2 s, {energy_uj} µJ, {sum(sample.value[0] for sample in read.sample)} samples")
    assert abs(cpu_s - 2) < 0.1, cpu_s
    assert [text[comment] for comment in read.comment][1] == "energy is measured"
    names = {one.id: text[one.name] for one in read.function}
    mappings = {one.id: one for one in read.mapping}
    locations = {one.id: (names[one.line[0].function_id], mappings.get(one.mapping_id)) for one in read.location}
    stacks = [[locations[number] for number in sample.location_id] for sample in read.sample]
    # The innermost frame is the first, the process the last.
    stack = next(stack for stack in stacks if [name for name, _ in stack[:2]] == ["burn", "main"])
    assert stack[-1] == ("burner", None), stack
    assert text[stack[0][1].filename].endswith("/burner") and text[stack[0][1].build_id] == "00c0ffee", stack[0]


def pprof_shows_it():
    with tempfile.TemporaryDirectory() as directory:
        out, energy_uj = recorded(directory)
        top = subprocess.run([GO, "tool", "pprof", "-top", out], capture_output=True, text=True, check=True, timeout=300).stdout
        stacks = subprocess.run([GO, "tool", "pprof", "-raw", out], capture_output=True, text=True, check=True, timeout=300).stdout
    assert "Type: energy\n" in top and "energy is measured" in top, top
    assert f"Total samples = {energy_uj}microjoules" in top, (energy_uj, top)
    burn = next(line for line in top.splitlines() if line.endswith("  burn"))
    assert int(burn.split("microjoules")[0]) > 0.8 * energy_uj, top
    assert "samples/count cpu/nanoseconds energy/microjoules[dflt]" in stacks, stacks
    assert re.search(r"/burner 00c0ffee \[FN\]", stacks), stacks


run_tests(([a_decoder_reads_it] if descriptor_pb2 else []) + ([pprof_shows_it] if GO else []))
