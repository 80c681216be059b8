# SPDX-License-Identifier: Apache-2.0
"""Receivers of Prometheus remote write: a real Prometheus, and a scripted one that decodes what it gets."""
import http.server
import pathlib
import re
import struct
import subprocess
import tempfile
import threading
import time

from prometheus_rig import Prometheus
from rig import free_port, need_program

STALE = 0x7FF0000000000002
TYPE_2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
LABEL, METRIC = re.compile("[a-zA-Z_][a-zA-Z0-9_]*"), re.compile("[a-zA-Z_:][a-zA-Z0-9_:]*")
AGENT = re.compile(r"[\w.-]+(/[\w.-]+)?( .*)?")  # RFC 9110: product, with or without a version
WRITTEN = "X-Prometheus-Remote-Write-Samples-Written"


class ReceivingPrometheus(Prometheus):
    """It scrapes nothing. It can be stopped and started again, and keeps its data and port."""

    def __init__(self, binary=None, options=()):
        self.options = options
        self.dir = tempfile.TemporaryDirectory(prefix="kepler-prometheus-")
        self.port, self.binary = free_port(), binary or need_program("prometheus")
        pathlib.Path(self.dir.name, "prometheus.yml").write_text("scrape_configs: []\n")
        self.url = f"http://127.0.0.1:{self.port}/api/v1/write"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, f"--config.file={self.dir.name}/prometheus.yml", f"--storage.tsdb.path={self.dir.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver", "--log.level=error",
             *self.options])

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def unsnap(data):
    """The content of a block."""
    size, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = (tag >> 2) + 1
            if length > 60:
                more = length - 60
                length = int.from_bytes(data[at:at + more], "little") + 1
                at += more
            out += data[at:at + length]
            at += length
            continue
        if tag & 3 == 1:
            length, back = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at]
            at += 1
        else:
            more = 2 if tag & 3 == 2 else 4
            length, back = (tag >> 2) + 1, int.from_bytes(data[at:at + more], "little")
            at += more
        for _ in range(length):
            out.append(out[-back])
    assert len(out) == size, (len(out), size)
    return bytes(out)


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        yield key >> 3, value


def check_labels(labels):
    assert all(LABEL.fullmatch(name) for name, _ in labels) and METRIC.fullmatch(dict(labels)["__name__"]), labels
    names = [name for name, _ in labels]
    assert names == sorted(set(names)) and "__name__" in names and all(value for _, value in labels), labels


def decode_2(message):
    """[(labels, value's bits, time, start, type)]"""
    all_fields = list(fields(message))
    symbols = [value.decode() for number, value in all_fields if number == 4]
    assert symbols[0] == "" and len(set(symbols)) == len(symbols)
    found = []
    for number, series in all_fields:
        if number != 5:
            assert number == 4, number
            continue
        parts = dict(fields(series))
        refs, at = [], 0
        while at < len(parts[1]):
            ref, at = varint(parts[1], at)
            refs.append(symbols[ref])
        labels = list(zip(refs[::2], refs[1::2]))
        check_labels(labels)
        sample, metadata = dict(fields(parts[2])), dict(fields(parts.get(5, b"")))
        found.append((dict(labels), int.from_bytes(sample[1], "little"), sample[2], sample.get(3, 0), metadata.get(1, 0)))
    return found


def decode_1(message):
    found = []
    for number, series in fields(message):
        if number != 1:
            assert number == 3, number
            continue
        labels, sample = [], None
        for part, value in fields(series):
            if part == 1:
                pair = dict(fields(value))
                labels.append((pair[1].decode(), pair[2].decode()))
            else:
                sample = dict(fields(value))
        check_labels(labels)
        found.append((dict(labels), int.from_bytes(sample[1], "little"), sample[2], 0, 0))
    return found


def number(bits):
    return struct.unpack("<d", bits.to_bytes(8, "little"))[0]


class Receiver:
    """Answers each request by `script(receiver, handler, version, series)`; keeps (version, series, headers) of all."""

    def __init__(self, script):
        self.requests = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = unsnap(self.rfile.read(int(self.headers["Content-Length"])))
                version = 2 if self.headers["Content-Type"] == TYPE_2 else 1
                assert self.headers["X-Prometheus-Remote-Write-Version"] == ("2.0.0" if version == 2 else "0.1.0")
                assert self.headers["Content-Encoding"] == "snappy" and AGENT.fullmatch(self.headers["User-Agent"])
                series = decode_2(body) if version == 2 else decode_1(body)
                receiver.requests.append((version, series, dict(self.headers)))
                script(receiver, self, version, series)

            def answer(self, status, text=b"", **headers):
                self.send_response(status)
                for name, value in {"Content-Length": len(text), **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.end_headers()
                self.wfile.write(text)

            def take(self, series):
                self.answer(204, **{WRITTEN: len(series)})

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *args: None
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/v1/write"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count, seconds=60):
        deadline = time.monotonic() + seconds
        while len(self.requests) < count:
            assert time.monotonic() < deadline, f"{len(self.requests)} of {count} requests"
            time.sleep(0.02)
        return self.requests[:]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()
