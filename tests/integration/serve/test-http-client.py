#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTTP client against servers that do what servers should not; one function each."""
import base64
import contextlib
import gzip
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings

from certificates import Authority
from rig import BUILD

GET = BUILD / "tests/lab/http-get"
OK = b"HTTP/1.1 200 OK\r\n"


class Result:
    def __init__(self, line):
        self.line = line
        if line.startswith("["):
            return  # what was heard
        words = line.split(" ", 7)
        self.error, self.text = words[0], words[7]
        self.status, self.retry_after_ms, self.bytes, self.reached, self.connected, self.told = map(int, words[1:7])

    def __repr__(self):
        return str(vars(self))


class Server:
    """Calls answer(connection, request) in a thread for each request; one that returns False has its connection closed."""

    def __init__(self, answer, context=None, path=None):
        self.answer, self.context, self.requests, self.connections = answer, context, [], 0
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(str(path))
            self.socket.listen()
        else:
            self.socket = socket.create_server(("127.0.0.1", 0))
            self.port = self.socket.getsockname()[1]
            self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection:
                while request := self.read(connection):
                    self.requests.append(request.decode())
                    if self.answer(connection, request) is False:
                        return
        except OSError:
            pass

    @staticmethod
    def read(connection):
        request = b""
        while b"\r\n\r\n" not in request:
            more = connection.recv(4096)
            if not more:
                return b""
            request += more
        length = re.search(rb"\r\nContent-Length: (\d+)\r\n", request)
        missing = int(length[1]) + request.index(b"\r\n\r\n") + 4 - len(request) if length else 0
        return request + (connection.recv(missing) if missing else b"")


def get(*arguments, env=None):
    begin = time.monotonic()
    done = subprocess.run([GET, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False, timeout=60,
                          env={"PATH": os.environ["PATH"], **(env or {})})
    assert done.returncode == 0, (done.returncode, done.stdout)
    results = [Result(line) for line in done.stdout.splitlines()]
    results[-1].seconds = time.monotonic() - begin
    return results if len(results) > 1 else results[0]


def plain(body, status=b"200 OK", headers=b""):
    head = b"HTTP/1.1 " + status + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n" + headers + b"\r\n"
    return lambda connection, request: connection.sendall(head + body)


def expect(result, error, **fields):
    assert result.error == error, result
    for name, value in fields.items():
        assert getattr(result, name) == value, (name, value, result)


def connection_is_kept(directory):
    server = Server(plain(b"hello"))
    body = directory / "body"
    results = get("--body", body, *[server.url] * 3)
    for result in results:
        expect(result, "0", status=200, bytes=5, told=200, connected=1)
    assert body.read_text() == "hello"
    assert server.connections == 1, server.connections
    assert "Accept-Encoding: gzip\r\n" in server.requests[0] and "Accept: application/json\r\n" in server.requests[0]
    assert "User-Agent: http-get\r\n" in server.requests[0]


def statuses_are_answers(_directory):
    expect(get(Server(plain(b"no", b"403 Forbidden")).url), "0", status=403, bytes=2)
    expect(get(Server(plain(b"", b"429 Too Many Requests", b"Retry-After: 7\r\n")).url), "0", status=429, retry_after_ms=7000)
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 100)).encode()
    result = get(Server(plain(b"", b"503 No", b"Retry-After: " + later + b"\r\n")).url)
    assert 90000 <= result.retry_after_ms <= 100000, result
    expect(get(Server(plain(b"", b"503 No", b"Retry-After: 999999999\r\n")).url), "0", retry_after_ms=86400000)


def redirects_are_not_followed(_directory):
    other = Server(plain(b"caught"))
    server = Server(plain(b"", b"302 Found", b"Location: " + other.url.encode() + b"\r\n"))
    expect(get(server.url), "0", status=302)
    assert not other.requests


def gzip_is_decoded(directory):
    text = b"energy " * 1000
    packed = gzip.compress(text)
    server = Server(plain(packed, headers=b"Content-Encoding: gzip\r\n"))
    expect(get("--body", directory / "body", server.url), "0", bytes=len(text))
    assert (directory / "body").read_bytes() == text
    expect(get(Server(plain(b"no gzip at all", headers=b"Content-Encoding: gzip\r\n")).url), "EPROTO")


def too_large(_directory):
    server = Server(plain(b"x" * 5000))
    expect(get("--max", 4999, server.url), "EMSGSIZE")
    expect(get("--max", 5000, server.url), "0", bytes=5000)
    bomb = Server(plain(gzip.compress(b"\0" * (64 << 20)), headers=b"Content-Encoding: gzip\r\n"))
    result = get("--max", 1 << 20, bomb.url)
    expect(result, "EMSGSIZE")
    assert result.bytes < 2 << 20, result

    def endless_headers(connection, _request):
        connection.sendall(OK)
        for _ in range(100):
            connection.sendall(b"X-Filler: " + b"y" * 1000 + b"\r\n")
        connection.sendall(b"Content-Length: 0\r\n\r\n")
    expect(get(Server(endless_headers).url), "EMSGSIZE")


def cut(_directory):
    def short(connection, _request):
        connection.sendall(OK + b"Content-Length: 100\r\n\r\nhalf")
        return False

    def half_chunk(connection, _request):
        connection.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n10\r\nhalf")
        return False

    def nothing(_connection, _request):
        return False

    def reset(connection, _request):
        connection.sendall(OK + b"Content-Length: 100\r\n\r\nhalf")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        return False

    def garbage(connection, _request):
        connection.sendall(b"\x15\x03\x01 what?\r\n\r\n")
        return False
    expect(get(Server(short).url), "EPROTO", status=200)
    expect(get(Server(half_chunk).url), "EPROTO", status=200)
    expect(get(Server(nothing).url), "EPROTO", status=0, connected=1)
    expect(get(Server(reset).url), "EPROTO")
    expect(get(Server(garbage).url), "EPROTO")


def slow(_directory):
    def trickle(connection, _request):
        connection.sendall(OK + b"Content-Length: 1000\r\n\r\n")
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.05)

    def silent_after_a_word(connection, _request):
        connection.sendall(OK + b"Content-Length: 1000\r\n\r\nx")
        time.sleep(10)

    def silent(_connection, _request):
        time.sleep(10)

    def endless_head(connection, _request):
        connection.sendall(OK)
        for i in range(100):
            connection.sendall(b"X-%d: y\r\n" % i)
            time.sleep(0.05)

    def packed_trickle(connection, _request):
        """Bytes come, but nothing comes of them."""
        connection.sendall(OK + b"Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n" + gzip.compress(b"")[:4])
        for _ in range(100):
            connection.sendall(b"\0")
            time.sleep(0.05)
    result = get("--timeout", 700, "--idle", 300, Server(trickle).url)
    expect(result, "ETIMEDOUT", told=200)
    assert 0.7 <= result.seconds < 4, result
    result = get("--idle", 300, Server(silent_after_a_word).url)
    expect(result, "ETIMEDOUT", told=200)
    assert result.seconds < 4, result
    for answer in (silent, endless_head):
        result = get("--answer", 300, "--idle", 30000, Server(answer).url)
        expect(result, "ETIMEDOUT", told=0)
        assert "no answer came in time" in result.text and result.seconds < 4, result
    result = get("--idle", 300, Server(packed_trickle).url)
    expect(result, "ETIMEDOUT", told=200, bytes=0)
    assert result.seconds < 4, result


def cancelled(_directory):
    def silent(_connection, _request):
        time.sleep(30)
    result = get("--cancel-ms", 200, Server(silent).url)
    expect(result, "ECANCELED")
    assert result.seconds < 4, result


def not_there(directory):
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    expect(get(f"http://127.0.0.1:{port}/"), "ECONNREFUSED", connected=0, reached=0)
    expect(get("--connect", 300, "https://nowhere.invalid/"), "EHOSTUNREACH", connected=0, reached=0)
    expect(get("--socket", directory / "none", "http://localhost/"), "ECONNREFUSED", connected=0)
    expect(get("ftp://127.0.0.1/"), "EINVAL")
    expect(get("file:///etc/passwd"), "EINVAL")


def there_without_tls(_directory):
    """The peer takes the connection but does not speak TLS: it is reachable, and has received no request."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        result = get("--connect", 300, f"https://127.0.0.1:{mute.getsockname()[1]}/")
    expect(result, "ETIMEDOUT", connected=0, reached=1)


def over_a_unix_socket(directory):
    path = directory / "socket"
    server = Server(plain(b"here"), path=path)
    expect(get("--socket", path, "--proxy", "http://localhost/x", env={"http_proxy": "http://127.0.0.1:1"}), "0", bytes=4)
    assert server.requests[0].startswith("GET /x ")


def proxies_only_where_asked(_directory):
    server, proxy = Server(plain(b"direct")), Server(plain(b"by proxy!"))
    env = {"http_proxy": proxy.url}
    expect(get(server.url, env=env), "0", bytes=6)
    assert not proxy.requests
    expect(get("--proxy", server.url, env=env), "0", bytes=9)
    assert proxy.requests[0].startswith("GET " + server.url)
    expect(get("--proxy", server.url, env={**env, "no_proxy": "127.0.0.0/8"}), "0", bytes=6)
    expect(get("--proxy", server.url, env={"http_proxy": "https://user:hidden@127.0.0.1:1"}), "EINVAL", reached=0)
    result = get("--proxy", server.url, env={"all_proxy": "HTTPS://user:hidden@127.0.0.1:1"})
    expect(result, "EINVAL", reached=0)
    assert "its proxy is https://" in result.text and "hidden" not in result.text, result


def pipe(one, other):
    """Both ways, until one of them ends."""
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
    threading.Thread(target=copy, args=(other, one), daemon=True).start()
    copy(one, other)


def connect_proxy(connection, request):
    host, port = request.split()[1].decode().rsplit(":", 1)
    with socket.create_connection((host, int(port)), 10) as peer:
        connection.sendall(b"HTTP/1.1 200 Connected\r\nX-Proxy: yes\r\n\r\n")
        pipe(connection, peer)
    return False


class Socks(Server):
    """A SOCKS5 proxy without authentication (RFC 1928); asks for names that it was given, in `requests`."""

    def serve(self, connection):
        try:
            assert connection.recv(2)[0] == 5
            connection.recv(255)
            connection.sendall(b"\5\0")
            head = connection.recv(4)
            assert head == b"\5\1\0\3", head  # a name, not an address: it is resolved here
            host = connection.recv(connection.recv(1)[0]).decode()
            port = int.from_bytes(connection.recv(2), "big")
            self.requests.append(host)
            with connection, socket.create_connection(("127.0.0.1", port), 10) as peer:
                connection.sendall(b"\5\0\0\1\0\0\0\0\0\0")
                pipe(connection, peer)
        except OSError:
            pass


def through_a_proxy_that_was_named(directory):
    ours, others = Authority(directory), Authority(directory, "others")
    server = Server(plain(b"secret"), ours.server_context("named", "IP:127.0.0.1,DNS:nowhere.example"))
    away = f"https://nowhere.example:{server.port}/"
    proxy, socks = Server(connect_proxy), Socks(plain(b""))
    expect(get("--ca", ours.file, "--token", "abc", "--proxy-url", proxy.url, server.url, env={"no_proxy": "*"}), "0",
           status=200, told=200, bytes=6)
    assert proxy.requests[0].startswith("CONNECT 127.0.0.1:") and "abc" not in proxy.requests[0]
    expect(get("--ca", ours.file, "--proxy-url", socks.url.replace("http://", "socks5h://"), away), "0", bytes=6)
    assert socks.requests == ["nowhere.example"]
    expect(get("--ca", others.file, "--proxy-url", proxy.url, server.url), "EACCES")  # a proxy does not make a peer trusted
    refusing = Server(plain(b"no", b"403 Forbidden"))
    expect(get("--ca", ours.file, "--proxy-url", refusing.url, server.url), "EPROTO", told=0)


def called_by_another_name(directory):
    """The certificate is for a name without an address; the address stays in the Host header."""
    ours = Authority(directory)
    server = Server(plain(b"secret"), ours.server_context("cluster", "DNS:kubernetes.default.svc"))
    expect(get("--ca", ours.file, server.url), "EACCES")
    for result in get("--ca", ours.file, "--server-name", "kubernetes.default.svc", *[server.url] * 2):
        expect(result, "0", status=200, bytes=6)
    assert f"Host: 127.0.0.1:{server.port}\r\n" in server.requests[0] and "kubernetes" not in server.requests[0]
    assert server.connections == 2, "a connection is not kept"
    before = len(server.requests)
    expect(get("--ca", ours.file, "--server-name", "other.example", server.url), "EACCES")
    expect(get("--ca", ours.file, "--server-name", "a b", server.url), "EINVAL")
    assert len(server.requests) == before
    proxy = Server(connect_proxy)
    expect(get("--ca", ours.file, "--server-name", "kubernetes.default.svc", "--proxy-url", proxy.url, server.url), "0", bytes=6)
    assert proxy.requests[0].startswith(f"CONNECT 127.0.0.1:{server.port} ")


def no_proxy_is_for_the_host_that_is_asked(directory):
    """Not for the name that TLS looks for."""
    ours = Authority(directory)
    server = Server(plain(b"secret"), ours.server_context("cluster", "DNS:kubernetes.default.svc"))
    proxy = Server(connect_proxy)
    options = ("--ca", ours.file, "--server-name", "kubernetes.default.svc", "--proxy", server.url)
    expect(get(*options, env={"https_proxy": proxy.url, "no_proxy": "127.0.0.1"}), "0", bytes=6)
    assert not proxy.requests
    expect(get(*options, env={"https_proxy": proxy.url, "no_proxy": "kubernetes.default.svc"}), "0", bytes=6)
    assert len(proxy.requests) == 1


def tls_is_verified(directory):
    ours, others = Authority(directory), Authority(directory, "others")
    good = Server(plain(b"secret"), ours.server_context())
    for result in get("--ca", ours.file, "--token", "abc", good.url, good.url):
        expect(result, "0", bytes=6, status=200)
    assert good.requests[0].count("Authorization: Bearer abc\r\n") == 1
    expect(get("--ca", others.file, good.url), "EACCES", connected=0, status=0)
    expect(get("--ca", directory / "none", good.url), "EACCES", status=0)
    expect(get(good.url), "EACCES")  # the system's authorities do not know it
    # An own authority replaces the authorities of the system, also those in SSL_CERT_FILE.
    expect(get("--ca", others.file, good.url, env={"SSL_CERT_FILE": str(ours.file)}), "EACCES")
    before = len(good.requests)
    wrong_host = Server(plain(b""), ours.server_context("wrong", "DNS:example.org,IP:127.0.0.2"))
    expect(get("--ca", ours.file, wrong_host.url), "EACCES")
    expired = Server(plain(b""), ours.server_context("expired", days=-1))
    result = get("--ca", ours.file, "--token", "abc", expired.url)
    expect(result, "EACCES")
    assert not wrong_host.requests and not expired.requests and len(good.requests) == before


def nothing_is_verified_where_that_was_asked_for(directory):
    unknown = Server(plain(b"secret"), Authority(directory, "others").server_context("other", "DNS:example.org", days=-1))
    for result in get("--insecure", "--user", "me", "--password", "pa:ss word", unknown.url, unknown.url):
        expect(result, "0", bytes=6, status=200)
    expect(get("--user", "me", "--password", "word", unknown.url), "EACCES")
    word = base64.b64encode(b"me:pa:ss word").decode()
    assert [f"Authorization: Basic {word}\r\n" in request for request in unknown.requests] == [True, True]


def bodies_headers_and_deletion(directory):
    ours = Authority(directory)
    server = Server(plain(b"{}", b"201 Created", b"x-auth-TOKEN:  a b \t\r\nLocation:/x\r\n"), ours.server_context())
    results = get("--ca", ours.file, "--heard", "X-Auth-Token", "--content", '{"a": 1}', "--auth-token", "abc", server.url)
    assert results[0].line == "[a b]", results
    expect(results[1], "0", status=201)
    request = server.requests[0]
    assert request.startswith("POST / ") and request.endswith('\r\n\r\n{"a": 1}'), request
    assert "Content-Type: application/json\r\n" in request and "X-Auth-Token: abc\r\n" in request
    results = get("--ca", ours.file, "--delete", server.url, server.url)
    assert [result.status for result in results] == [201, 201] and server.connections == 2
    assert server.requests[1].startswith("DELETE / ") and "X-Auth-Token" not in server.requests[1]
    result = get("--ca", ours.file, "--auth-token", "a\r\nb", server.url)
    expect(result, "EINVAL", connected=0)


def authority_is_read_for_each_connection(directory):
    ours, others = Authority(directory), Authority(directory, "others")
    bundle = directory / "bundle"
    bundle.write_bytes(others.file.read_bytes())

    def replace_and_close(connection, _request):
        bundle.write_bytes(ours.file.read_bytes())
        connection.sendall(OK + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
        return False
    first = Server(replace_and_close, others.server_context())
    second = Server(plain(b""), ours.server_context())
    results = get("--ca", bundle, second.url, first.url, second.url)
    assert [result.error for result in results] == ["EACCES", "0", "0"], results


def client_certificates(directory):
    ours = Authority(directory)
    server = Server(plain(b"known"), ours.server_context(ask_client=True))
    certificate, key = ours.sign("client")
    expect(get("--ca", ours.file, "--cert", certificate, "--key", key, server.url), "0", bytes=5)
    result = get("--ca", ours.file, server.url)
    assert result.error in ("EPROTO", "EACCES"), result


def old_tls_is_refused(directory):
    ours = Authority(directory)
    context = ours.server_context()
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        context.minimum_version = ssl.TLSVersion.TLSv1_1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
    except (ValueError, ssl.SSLError):
        return
    result = get("--ca", ours.file, Server(plain(b""), context).url)
    assert result.error in ("EPROTO", "EACCES"), result


def tokens_stay_where_they_belong(directory):
    server = Server(plain(b""))
    for secret in (["--token", "abc"], ["--auth-token", "abc"], ["--user", "me", "--password", "abc"], ["--content", "abc"]):
        expect(get(*secret, server.url), "EINVAL", connected=0)
    ours = Authority(directory)
    secure = Server(plain(b""), ours.server_context())
    for token in ("a b", "a\r\nX: y", "x" * 20000):
        result = get("--ca", ours.file, "--token", token, secure.url)
        assert result.error == "EINVAL" and token not in result.text, result
    assert not server.requests


def missing_library(directory):
    """A library of that name that is none: as if it were not installed."""
    (directory / "libcurl-gnutls.so.4").write_text("")
    (directory / "libcurl.so.4").write_text("")
    done = subprocess.run([GET, "http://127.0.0.1:1/"], capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": str(directory)})
    assert done.returncode == 1 and "libcurl3-gnutls" in done.stdout, (done.returncode, done.stdout, done.stderr)


def main():
    cases = [connection_is_kept, statuses_are_answers, redirects_are_not_followed, gzip_is_decoded, too_large, cut, slow, cancelled,
             not_there, there_without_tls, over_a_unix_socket, proxies_only_where_asked, through_a_proxy_that_was_named,
             called_by_another_name, no_proxy_is_for_the_host_that_is_asked, tls_is_verified, authority_is_read_for_each_connection,
             nothing_is_verified_where_that_was_asked_for,
             bodies_headers_and_deletion, client_certificates, old_tls_is_refused, tokens_stay_where_they_belong, missing_library]
    chosen = sys.argv[1:]
    for case in cases:
        if not chosen or case.__name__ in chosen:
            with tempfile.TemporaryDirectory() as directory:
                case(pathlib.Path(directory))
            print("ok " + case.__name__, flush=True)


main()
