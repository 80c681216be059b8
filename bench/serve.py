#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model server's rate and memory: the figures of docs/model-server.md. By hand, on a release build and a quiet machine.

    KEPLER_BUILD=build bench/serve.py [quick]

A repository as large as upstream's (317 machine types, 10 models of each, half of them with weights, archives of 20 kB) is made
and asked over 8 connections that stay open. Server and client share the machine; the server's CPU time
for a request does not depend on what else runs there. Medians with the smallest and largest value.
"""
import json
import os
import pathlib
import random
import socket
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
from model_rig import BPF, HEAD, Program, Repository, archive, weights  # noqa: E402

QUICK = "quick" in sys.argv[1:]
ROUNDS = 5 if QUICK else 9
SECONDS = 1 if QUICK else 3
CONNECTIONS, DEPTH = 8, 16
TRAINERS = ["SGDRegressorTrainer", "LogarithmicRegressionTrainer2", "LinearRegressionTrainer", "XgboostFitTrainer",
            "SVRRegressorTrainer", "GradientBoostingRegressorTrainer", "KNeighborsRegressorTrainer",
            "PolynomialRegressionTrainer", "ATrainer", "BTrainer"]
TYPES = 317


def row(what, values, unit, digits=0):
    values = sorted(values)
    print(f"| {what} | {statistics.median(values):,.{digits}f} {unit} | {values[0]:,.{digits}f}–{values[-1]:,.{digits}f} |",
          flush=True)


def machine(number):
    return {"processor": f"intel_xeon_model_{number}", "cores": 4 + number % 200, "chips": 1 + number % 4, "memory": 16 + number,
            "frequency": 2000 + number}


def fill(repository):
    packed = archive({"metadata.json": "{}", "package.json": bytes(random.Random(1).randbytes(20000))})
    base = repository.path / "specpower"
    group = base / "acpi/AbsPower/BPFOnly"
    group.mkdir(parents=True)
    rows = [HEAD]
    for number in range(TYPES):
        for index, trainer in enumerate(TRAINERS):
            name = f"{trainer}_{number}"
            (group / f"{name}.zip").write_bytes(packed)
            if index % 2 == 0:
                (group / f"{name}.json").write_text(json.dumps(weights(100 + number, 50, "platform")))
            mae = 5 + (number * 7 + index * 3) % 40
            rows.append(f"""0,{name},scikit,{name}.json,"['{BPF[0]}', '{BPF[1]}']",[],AbsPower,{mae},3,{mae},3,{trainer},"""
                        f"{number},BPFOnly\n")
    (base / "acpi_AbsPower_model_metadata.csv").write_text("".join(rows))
    (base / "node_type_index.json").write_text(json.dumps({n: {"attrs": machine(n), "members": ["m"]} for n in range(TYPES)}))


def request(number, weight=True, extra=""):
    body = json.dumps({"metrics": [*BPF, "cpu_architecture"], "output_type": "AbsPower", "source": "acpi", "node_type": 0,
                       "weight": weight, "trainer_name": "", "filter": extra,
                       "machine_spec": {"vendor": "genuineintel", **machine(number)}}).encode()
    return b"POST /model HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body


class Connection:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, text):
        self.socket.sendall(text)

    def receive(self, count):
        """Reads that many answers; each must have succeeded."""
        for _ in range(count):
            while (end := self.rest.find(b"\r\n\r\n")) < 0:
                self.rest += self.more()
            head = self.rest[:end]
            assert head.startswith(b"HTTP/1.1 200"), head
            length = int(head[head.index(b"Content-Length:") + 15:].split(b"\r\n", 1)[0])
            while len(self.rest) < end + 4 + length:
                self.rest += self.more()
            self.rest = self.rest[end + 4 + length:]

    def more(self):
        data = self.socket.recv(1 << 18)
        assert data, "the server has closed the connection"
        return data


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rate(connections, make, process):
    """Answers a second, and the server's CPU time for each in µs."""
    began, used, done = time.monotonic(), cpu_seconds(process), 0
    while time.monotonic() - began < SECONDS:
        for connection in connections:
            connection.send(b"".join(make() for _ in range(DEPTH)))
        for connection in connections:
            connection.receive(DEPTH)
        done += DEPTH * len(connections)
    return done / (time.monotonic() - began), (cpu_seconds(process) - used) / done * 1e6


def rates(what, connections, make, process):
    answers, costs = zip(*[rate(connections, make, process) for _ in range(ROUNDS)])
    row(what, answers, "requests/s")
    row("– CPU of the server a request", costs, "µs", 1)


def delays(connection, make, count):
    out = []
    for _ in range(count):
        text = make()
        began = time.perf_counter()
        connection.send(text)
        connection.receive(1)
        out.append((time.perf_counter() - began) * 1e6)
    return sorted(out)


def main():
    draw = random.Random(7)
    with Repository() as repository:
        fill(repository)
        began = time.monotonic()
        with Program("serve", repository.path, "--web.listen-address=127.0.0.1:0", "--log.level=info") as server:
            print(f"{TYPES * len(TRAINERS)} models; start in {time.monotonic() - began:.2f} s, "
                  f"{server.rss_bytes() / 1e6:.1f} MB resident\n")
            print("| what | median | range |\n|---|---|---|")
            connections = [Connection(server.address) for _ in range(CONNECTIONS)]
            hot = [request(number) for number in range(TYPES)]
            cold = iter(range(1, 1 << 30))
            rates("weights, one of 317 requests", connections, lambda: draw.choice(hot), server.process)
            rates("weights, each request a new one", connections,
                  lambda: request(draw.randrange(TYPES), True, f"mae:{100 + next(cold)}"), server.process)
            zips = [request(number, False) for number in range(TYPES)]
            rates("archives of 20 kB", connections, lambda: draw.choice(zips), server.process)
            row("delay of one request", delays(connections[0], lambda: draw.choice(hot), 2000)[20:-20], "µs")
            row("resident", [server.rss_bytes() / 1e6], "MB", 1)


if __name__ == "__main__":
    main()
