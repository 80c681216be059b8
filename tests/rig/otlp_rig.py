# SPDX-License-Identifier: Apache-2.0
"""A receiver of OTLP over HTTP that reads requests with Google's decoder and answers by a script.

The messages are described below as opentelemetry-proto has them: numbers of fields are facts.
"""
import gzip
import http.server
import sys
import threading
import time

from otlp_sums import Point, Sums

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    print("SKIP: python3-protobuf is not installed")
    sys.exit(77)

PACKAGE = "otlp"
# Message: (field, number, type); "*" repeated.
MESSAGES = {
    "AnyValue": [("string_value", 1, "string"), ("int_value", 3, "int64")],
    "KeyValue": [("key", 1, "string"), ("value", 2, "AnyValue")],
    "Resource": [("attributes", 1, "*KeyValue")],
    "Scope": [("name", 1, "string"), ("version", 2, "string")],
    "Point": [("attributes", 7, "*KeyValue"), ("start_time_unix_nano", 2, "fixed64"), ("time_unix_nano", 3, "fixed64"),
              ("as_double", 4, "double"), ("as_int", 6, "sfixed64"), ("flags", 8, "uint32")],
    "Gauge": [("data_points", 1, "*Point")],
    "Sum": [("data_points", 1, "*Point"), ("aggregation_temporality", 2, "int32"), ("is_monotonic", 3, "bool")],
    "Metric": [("name", 1, "string"), ("description", 2, "string"), ("unit", 3, "string"), ("gauge", 5, "Gauge"),
               ("sum", 7, "Sum")],
    "ScopeMetrics": [("scope", 1, "Scope"), ("metrics", 2, "*Metric"), ("schema_url", 3, "string")],
    "ResourceMetrics": [("resource", 1, "Resource"), ("scope_metrics", 2, "*ScopeMetrics"), ("schema_url", 3, "string")],
    "Request": [("resource_metrics", 1, "*ResourceMetrics")],
    "Partial": [("rejected_data_points", 1, "int64"), ("error_message", 2, "string")],
    "Response": [("partial_success", 1, "Partial")],
    "Status": [("code", 1, "int32"), ("message", 2, "string")],
}
DELTA, CUMULATIVE = 1, 2
ENDED = 1  # a flag of a point


def make_classes():
    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package=PACKAGE, syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            repeated, kind = kind.startswith("*"), kind.lstrip("*")
            one = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in MESSAGES:
                one.type, one.type_name = types.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                one.type = getattr(types, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return {name: factory.GetPrototype(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in MESSAGES}


CLASSES = make_classes()


def text_of(value):
    return str(value.int_value) if value.HasField("int_value") else value.string_value


def attributes_of(pairs):
    found = {}
    for pair in pairs:
        assert pair.key not in found, f"{pair.key} twice"
        found[pair.key] = text_of(pair.value)
    return found


class Body(Sums):
    """One request."""

    def __init__(self, data):
        request = CLASSES["Request"].FromString(data)
        assert not list(request.UnknownFields()), "fields that a request does not have"
        super().__init__()
        self.size, self.resources = len(data), []
        for of in request.resource_metrics:
            resource = attributes_of(of.resource.attributes)
            self.resources.append(resource)
            for scope in of.scope_metrics:
                assert scope.scope.name == "kepler" and scope.scope.version
                for metric in scope.metrics:
                    self.add(metric, resource)
        self.time_ms = self.points[0].time // 1000000 if self.points else None

    def add(self, metric, resource):
        data = metric.sum if metric.HasField("sum") else metric.gauge
        assert data.data_points and metric.description, metric.name
        for point in data.data_points:
            is_sum = metric.HasField("sum")
            self.points.append(Point(
                metric.name, metric.unit, resource, attributes_of(point.attributes), point.start_time_unix_nano,
                point.time_unix_nano, point.as_double if point.HasField("as_double") else None, bool(point.flags & ENDED),
                data.aggregation_temporality if is_sum else None, is_sum and data.is_monotonic))


def success(rejected=0, message=""):
    response = CLASSES["Response"]()
    if rejected or message:
        response.partial_success.rejected_data_points = rejected
        response.partial_success.error_message = message
    return 200, response.SerializeToString(), {}


def failure(status, message="", **headers):
    body = CLASSES["Status"](code=3, message=message).SerializeToString()
    return status, body, {name.replace("_", "-"): value for name, value in headers.items()}


class Receiver:
    """Keeps every request. `answer(receiver, handler)` returns (status, body, headers), or None if it has answered itself."""

    def __init__(self, answer=None, seen=None):
        self.answer, self.seen = answer or (lambda receiver, handler: success()), seen
        self.bodies, self.headers, self.raw, self.lock = [], [], [], threading.Condition()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                data = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take(self, data)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # the exporter ended first

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, handler, data):
        plain = gzip.decompress(data) if handler.headers.get("Content-Encoding") == "gzip" else data
        body = Body(plain)
        if self.seen:
            self.seen(body)
        with self.lock:
            self.bodies.append(body)
            self.headers.append((handler.path, dict(handler.headers.items())))
            self.raw.append(data)
            self.lock.notify_all()
        answer = self.answer(self, handler)
        if answer is None:
            return
        status, content, headers = answer
        handler.send_response(status)
        for name, value in {"Content-Type": "application/x-protobuf", "Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    def wait(self, count, seconds=60):
        """The bodies, once there are as many."""
        deadline = time.monotonic() + seconds
        with self.lock:
            while len(self.bodies) < count:
                if not self.lock.wait(max(0, deadline - time.monotonic())):
                    raise AssertionError(f"{len(self.bodies)} requests instead of {count}")
            return list(self.bodies)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()
