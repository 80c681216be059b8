# SPDX-License-Identifier: Apache-2.0
"""The kubelet's PodResources socket, which can be told to lie: what a real kubelet says is in names/kubernetes-devices.

Messages are written by hand (k8s.io/kubelet, podresources/v1/api.proto), and so is as much of HTTP/2 (RFC 9113) as one call needs:
what is sent fits the windows that libcurl opens, and headers are literals.
"""
import os
import socket
import struct
import threading

DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
END_STREAM, ACK, END_HEADERS = 1, 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_MAX = 16384


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    """A text or a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def devices(resource, *ids):
    return field(2, field(1, resource) + b"".join(field(2, one) for one in ids))


def claim(driver, name, cdi=""):
    return field(5, field(2, "claim") + field(3, "prod") + field(4, (field(1, field(1, cdi)) if cdi else b"") + field(2, driver) +
                                                                 field(3, "node-1") + field(4, name)))


def container(name, *parts):
    return field(3, field(1, name) + b"".join(parts))


def pod(name, *containers, namespace="prod"):
    return field(1, field(1, name) + field(2, namespace) + b"".join(containers))


def message(body, compressed=0, length=None):
    return struct.pack(">BI", compressed, len(body) if length is None else length) + body


class PodResources:
    """Serves `pods`; or calls fault(call) where there is one: a function of a Call, which answers it, or not."""

    def __init__(self, path, pods=b"", fault=None):
        self.path, self.pods, self.fault, self.calls, self.wrong = str(path), pods, fault, 0, []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        body = b""
        try:
            with connection, connection.makefile("rb") as peer:
                assert peer.read(len(PREFACE)) == PREFACE
                connection.sendall(frame(SETTINGS, 0, 0, b""))
                while head := peer.read(9):
                    kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                    payload = peer.read(int.from_bytes(head[:3], "big"))
                    if kind in (SETTINGS, PING) and not flags & ACK:
                        connection.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
                    body += payload if kind == DATA else b""
                    if kind in (DATA, HEADERS) and flags & END_STREAM:
                        self.answer(Call(connection, stream), body)
        except OSError:
            pass

    def answer(self, call, body):
        self.calls += 1
        self.wrong += [body] if body != bytes(5) else []
        if self.fault:
            self.fault(call)
        else:
            call.answer(message(self.pods))

    def close(self):
        self.socket.close()
        os.unlink(self.path)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header, neither compressed nor kept (RFC 7541, section 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class Call:
    def __init__(self, connection, stream):
        self.connection, self.stream = connection, stream

    def headers(self, *pairs, end=False):
        self.connection.sendall(frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), self.stream,
                                      b"".join(literal(*pair) for pair in pairs)))

    def begin(self, status="200"):
        self.headers((":status", status), ("content-type", "application/grpc"))

    def data(self, body, end=False):
        for at in range(0, len(body), FRAME_MAX):
            last = at + FRAME_MAX >= len(body)
            self.connection.sendall(frame(DATA, END_STREAM if end and last else 0, self.stream, body[at:at + FRAME_MAX]))

    def end(self, status="0", why=""):
        self.headers(("grpc-status", status), *[("grpc-message", why)] * bool(why), end=True)

    def answer(self, body):
        self.begin()
        self.data(body)
        self.end()
