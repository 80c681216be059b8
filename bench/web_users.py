#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""web_users.py BUILD [SECONDS] - scrapes of users with bcrypt passwords at cost 10, on connections that stay open, compared with
scrapes without users: how many a second, and the CPU time of the exporter for each.

Of 50 users, each on a connection of its own. The first scrape of each has its password compared; all others are answered from
what is kept. Two processes of this program read the answers, so that the exporter has less than one CPU on small machines."""
import base64
import os
import pathlib
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/rig"))
os.environ.setdefault("KEPLER_BUILD", str(pathlib.Path(sys.argv[1]).resolve()))
from rig import Exporter, release_binary  # noqa: E402 (the path and the build are set first)

USERS = 50
# bcrypt of "right horse", at cost 10
HASH = "$2y$10$abcdefghijklmnopqrstuuD7glF7JkEDexTpZG9m5tiAZ7VOyjUiO"


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(connection, request):
    """The status of one answer, read whole."""
    connection.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1])


def connect(port, user):
    credentials = base64.b64encode(f"user{user}:right horse".encode()).decode()
    request = (f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nAuthorization: Basic {credentials}\r\n"
               "\r\n").encode()
    return socket.create_connection(("127.0.0.1", port)), request


def read_for(port, users, seconds):
    """Asks in turn on connections that stay open; the number of answers, in a process of its own."""
    here, there = os.pipe()
    if os.fork():
        os.close(there)
        return here
    peers = [connect(port, user) for user in users]
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        for connection, request in peers:
            assert ask(connection, request) == 200
            count += 1
    os.write(there, str(count).encode())
    os._exit(0)


def measure(config, seconds):
    options = [f"--web.config-file={config}"] if config else []
    with Exporter(*options, "--runtimes.enabled=false", binary=release_binary()) as exporter:
        port = int(exporter.url.rsplit(":", 1)[1])
        began = time.monotonic()
        for user in range(USERS):
            connection, request = connect(port, user)
            while ask(connection, request) != 200:
                time.sleep(0.05)
            connection.close()
        first_s = time.monotonic() - began
        time.sleep(1)
        idle = cpu_s(exporter.process.pid)
        time.sleep(seconds)
        idle = cpu_s(exporter.process.pid) - idle
        used = cpu_s(exporter.process.pid)
        pipes = [read_for(port, range(begin, USERS, 2), seconds) for begin in range(2)]
        count = sum(int(os.read(pipe, 32)) for pipe in pipes)
        used = cpu_s(exporter.process.pid) - used - idle
        return count / seconds, used / count * 1e6, first_s


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as directory:
        config = pathlib.Path(directory, "web.yml")
        config.touch(0o600)
        config.write_text("basic_auth_users:\n" + "".join(f"  user{user}: {HASH}\n" for user in range(USERS)))
        for name, file in (("without users", None), (f"{USERS} users", config)):
            rate, cpu_us, first_s = measure(file, seconds)
            print(f"{name:14} {rate:6.0f} scrapes/s, {cpu_us:6.0f} us of CPU each; the first of each user took {first_s:.1f} s")


main()
