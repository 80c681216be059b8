#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The protobuf exposition, read by Google's decoder, says what the text of the same snapshot says, and when each counter began.

Its messages are described below as client_model's metrics.proto has them. The page has hostile names. That a real Prometheus takes
it is shown by test-http-prometheus.py.
"""
import math
import re
import subprocess
import sys
import urllib.request

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    print("python3-protobuf is not installed")
    sys.exit(77)

PACKAGE = "io.prometheus.client"
ACCEPT = f"application/vnd.google.protobuf;proto={PACKAGE}.MetricFamily;encoding=delimited"
# Message: (field, number, type), in the words of metrics.proto; "*" repeated.
MESSAGES = {
    "Timestamp": [("seconds", 1, "int64"), ("nanos", 2, "int32")],
    "LabelPair": [("name", 1, "string"), ("value", 2, "string")],
    "Gauge": [("value", 1, "double")],
    "Counter": [("value", 1, "double"), ("created_timestamp", 3, "Timestamp")],
    "Bucket": [("cumulative_count", 1, "uint64"), ("upper_bound", 2, "double")],
    "Histogram": [("sample_count", 1, "uint64"), ("sample_sum", 2, "double"), ("bucket", 3, "*Bucket"),
                  ("created_timestamp", 15, "Timestamp")],
    "Metric": [("label", 1, "*LabelPair"), ("gauge", 2, "Gauge"), ("counter", 3, "Counter"), ("timestamp_ms", 6, "int64"),
               ("histogram", 7, "Histogram")],
    "MetricFamily": [("name", 1, "string"), ("help", 2, "string"), ("type", 3, "int32"), ("metric", 4, "*Metric"),
                     ("unit", 5, "string")],
}
COUNTER, GAUGE, HISTOGRAM = 0, 1, 4
KINDS = {"counter": COUNTER, "gauge": GAUGE, "histogram": HISTOGRAM}
LINE = re.compile(r'^([a-z_:A-Z0-9]+)(?:\{(.*)\})? (\S+)$', re.S)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)', re.S)


def family_class():
    field_types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package=PACKAGE, syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            repeated, kind = kind.startswith("*"), kind.lstrip("*")
            one = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in MESSAGES:
                one.type, one.type_name = field_types.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                one.type = getattr(field_types, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(f"{PACKAGE}.MetricFamily"))


def fetch(target, accept):
    request = urllib.request.Request(f"http://{target}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read()


def messages(body):
    """Each message of a delimited stream."""
    at = 0
    while at < len(body):
        length, shift = 0, 0
        while True:
            byte = body[at]
            length |= (byte & 0x7f) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        assert shift <= 35 and at + length <= len(body), (at, length, len(body))
        yield body[at:at + length]
        at += length


def unescape(value):
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found.group(1), found.group(1)), value, flags=re.S)


def read_text(text):
    """{(name, labels): value} and {family: (type, help)} of the text format; values are as Python reads them."""
    samples, families = {}, {}
    for line in text.split("\n"):
        if line.startswith("# HELP ") or line.startswith("# TYPE "):
            _, what, name, rest = line.split(" ", 3)
            families.setdefault(name, {})[what] = rest
        elif line and not line.startswith("#"):
            name, labels, value = LINE.match(line).groups()
            key = name, tuple((label, unescape(text)) for label, text in LABEL.findall(labels or ""))
            assert key not in samples, key
            samples[key] = float(value)
    return samples, families


def seconds(created):
    return created.seconds + created.nanos / 1e9


def read_protobuf(body, cls):
    """The same of the protobuf exposition, as the text format would name it; and {(name, labels): created}."""
    samples, families, births = {}, {}, {}

    def note(name, labels, value):
        assert (name, labels) not in samples, (name, labels)
        samples[name, labels] = value

    for data in messages(body):
        family = cls()
        family.ParseFromString(data)
        assert family.IsInitialized() and not family.UnknownFields() and family.metric, family.name
        assert family.name not in families, family.name
        families[family.name] = family
        for metric in family.metric:
            labels = tuple((pair.name, pair.value) for pair in metric.label)
            if family.type == HISTOGRAM:
                histogram = metric.histogram
                for bucket in histogram.bucket:
                    note(family.name + "_bucket", labels + (("le", f"{bucket.upper_bound:g}"),), bucket.cumulative_count)
                note(family.name + "_bucket", labels + (("le", "+Inf"),), histogram.sample_count)
                note(family.name + "_sum", labels, histogram.sample_sum)
                note(family.name + "_count", labels, histogram.sample_count)
                births[family.name, labels] = seconds(histogram.created_timestamp)
            elif family.type == COUNTER:
                note(family.name, labels, metric.counter.value)
                births[family.name.removesuffix("_total"), labels] = seconds(metric.counter.created_timestamp)
            else:
                assert not metric.HasField("counter") and metric.HasField("gauge"), metric
                note(family.name, labels, metric.gauge.value)
    return samples, families, births


def check_pages(target):
    kind, body = fetch(target, ACCEPT)
    assert kind == f"application/vnd.google.protobuf; proto={PACKAGE}.MetricFamily; encoding=delimited", kind
    samples, families, births = read_protobuf(body, family_class())
    kind, text = fetch(target, "text/plain;version=0.0.4")
    assert kind.startswith("text/plain; version=0.0.4"), kind
    want, want_families = read_text(text.decode())
    # The HTTP server's own metrics change with each request; all other metrics come from one snapshot.
    for page in samples, want:
        for key in [key for key in page if key[0].startswith("kepler_exporter_http_")]:
            del page[key]
    assert samples.keys() == want.keys(), sorted(samples.keys() ^ want.keys())[:5]
    wrong = [(key, samples[key], want[key]) for key in want
             if samples[key] != want[key] and not (math.isnan(samples[key]) and math.isnan(want[key]))]
    assert not wrong and len(want) > 1000, (wrong[:5], len(want))
    assert families.keys() == want_families.keys()
    for name, said in want_families.items():
        assert (families[name].type, families[name].help) == (KINDS[said["TYPE"]], said["HELP"]), name
    _, openmetrics = fetch(target, "application/openmetrics-text")
    created = {(name.removesuffix("_created"), labels): value
               for (name, labels), value in read_text(openmetrics.decode())[0].items() if name.endswith("_created")}
    assert births.keys() == created.keys(), sorted(births.keys() ^ created.keys())[:5]
    assert all(abs(births[key] - created[key]) < 1e-6 for key in created) and len(set(created.values())) > 1
    return len(want)


def main():
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        target = server.stdout.readline().decode().strip()
        try:
            samples = check_pages(target)
        finally:
            server.stdin.close()
        assert server.wait() == 0
    print(f"ok: {samples} samples: every value, label, type, help and birth is that of the text")
    return 0


if __name__ == "__main__":
    sys.exit(main())
