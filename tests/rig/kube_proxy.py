# SPDX-License-Identifier: Apache-2.0
"""A proxy between an exporter and a real API server that does what networks, load balancers and servers do on bad days.

TLS on both sides. `mode` says what happens to the next request, and to the streams that are open:
  pass       hands on                        status CODE [retry-after]  answers that
  cut        half of the answer, then FIN    reset   closes with a reset, without an answer
  slow       one byte a second               silent  a watch hears nothing any more, bookmarks included
  stale      410 as a list's page gives it   gone    410 inside a watch, as after a restart of the server
The last two happen once; then `then` is the mode.
Every request is noted with its time, path, token and status.
"""
import contextlib
import http.client
import http.server
import json
import socket
import ssl
import struct
import threading
import time

EXPIRED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "too old resource version",
           "reason": "Expired", "code": 410}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 300

    def log_message(self, *args):
        pass

    def note(self, status):
        self.server.proxy.requests.append((time.monotonic(), self.path, self.headers.get("Authorization", ""), status))

    def answer(self, status, body, headers=()):
        self.note(status)
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def reset(self):
        """With a reset instead of an end."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.server.proxy.forget(self.connection)
        socket.socket(fileno=self.connection.detach()).close()  # others may hold the object: the descriptor is gone

    def do_GET(self):
        with contextlib.suppress(OSError):
            self.serve(*self.server.proxy.mode)

    def serve(self, mode, *args):
        if mode == "status":
            body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": args[0]}).encode()
            self.answer(args[0], body, [("Retry-After", str(args[1]))] if len(args) > 1 else [])
        elif mode == "reset":
            self.note(0)
            self.reset()
        elif mode == "stale" and "continue=" in self.path:
            self.server.proxy.once()
            self.answer(410, json.dumps(EXPIRED).encode())
        elif mode == "gone" and "watch=" in self.path:
            self.server.proxy.once()
            self.answer(200, json.dumps({"type": "ERROR", "object": EXPIRED}).encode() + b"\n")
        else:
            self.hand_on(mode)

    def hand_on(self, mode):
        proxy = self.server.proxy
        upstream = http.client.HTTPSConnection(*proxy.upstream, context=proxy.upstream_tls, timeout=600)
        try:
            upstream.request("GET", self.path, headers={k: v for k, v in self.headers.items() if k.lower() != "host"})
            reply = upstream.getresponse()
            self.note(reply.status)
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection", "date"):
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.copy(reply, mode)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
        finally:
            upstream.close()

    def copy(self, reply, mode):
        watching = "watch=" in self.path
        while data := reply.read1(65536):
            now = self.server.proxy.mode[0]
            while watching and now == "silent":
                time.sleep(0.2)
                now = self.server.proxy.mode[0]
                if now != "silent":  # what was held back is lost, as behind a dead path
                    self.close_connection = True
                    return
            if mode == "cut" or now == "cut":
                self.wfile.write(b"%x\r\n" % len(data) + data[:len(data) // 2])
                self.close_connection = True
                return
            for piece in ([data[i:i + 1] for i in range(len(data))] if mode == "slow" else [data]):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
                if mode == "slow" and self.server.proxy.mode[0] == "slow":
                    time.sleep(1)
        self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass

    def get_request(self):
        connection, address = super().get_request()
        connection.settimeout(300)
        wrapped = self.proxy.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self.proxy.connections.add(wrapped)
        return wrapped, address

    def shutdown_request(self, request):
        self.proxy.forget(request)
        super().shutdown_request(request)


class FaultProxy:
    def __init__(self, cluster, upstream=None):
        self.cluster, self.upstream = cluster, upstream or ("127.0.0.1", cluster.port)
        self.upstream_tls = ssl.create_default_context(cafile=str(cluster.plane / "ca.crt"))
        self.requests, self.connections = [], set()
        self.mode = self.then = ("pass",)
        self.tls = None
        self.use_certificate(*cluster.certificate("proxy"))
        self.server, self.port = None, 0
        self.up()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def use_certificate(self, certificate, key):
        """For connections from now on."""
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)

    def up(self):
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.proxy = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def down(self):
        """Stops listening, and resets the open connections."""
        self.server.shutdown()
        self.server.server_close()
        self.server = None
        self.disconnect()

    def once(self):
        self.mode, self.then = self.then, ("pass",)

    def forget(self, connection):
        self.connections.discard(connection)

    def disconnect(self):
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.shutdown(socket.SHUT_RDWR)
        self.connections.clear()

    def since(self, then):
        """Requests from then on."""
        return [request for request in list(self.requests) if request[0] >= then]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.server:
            self.down()
