#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vsock: a host's Kepler reports to a guest's Kepler, and what the guest counts is what the host counts, to the microjoule.

Both run in one kernel, with vsock_loopback: connections to the host (CID 2) come from CID 1, which is the address of the virtual
machine here, a process with QEMU's name and command line. The last host does not know CID 1. The unit test of the meter, which has
no vsock on most machines, runs here first.
"""
import http.client
import os
import pathlib
import socket
import subprocess

from guestlib import case

from passthrough_pair import both, differences, of_guest
from passthrough_rig import Record
from rig import Metrics, balanced

PORT = 28283
WEB_PORT = 28290
OWN_CID, HOST_CID = 1, 2
COUNTED = "kepler_exporter_passthrough_received_records_total"


class VsockConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_VSOCK)
        self.sock.settimeout(30)
        self.sock.connect((OWN_CID, WEB_PORT))


def scrape_by_vsock():
    connection = VsockConnection("vsock")
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    return Metrics(answer.read().decode())


def newest(pair):
    try:
        return Record.of_text((pair.folder / "guests" / pair.machine.uuid / "energy").read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def counted(pair):
    return int(pair.guest.scrape().sum(COUNTED, outcome="counted"))


def await_records(pair):
    count = counted(pair)
    pair.wait(lambda: counted(pair) > count + 1, "no records by vsock")


def check_window(pair, what):
    """From one rest to the next."""
    await_records(pair)
    before = pair.settle(lambda: newest(pair))
    pair.machine.work()
    await_records(pair)
    after = pair.settle(lambda: newest(pair))
    host, guest = (differences(*pages) for pages in zip(after, before))
    assert host["package", "dynamic"] > 0 and host == guest, (what, host, guest)
    case(f"  {what}: {host['package', 'dynamic'] / 1e6:.6f} J of the package, 0 uJ off")
    return after[1]


def restart_host(pair, cid):
    pair.kill(pair.host)
    pair.host_options = (*pair.host_options[:-1], f"--passthrough.cid={cid}={pair.machine.uuid}")
    pair.start_host()
    pair.machine.work()


def check_stranger(pair):
    """The host knows another address only: who connects from this one gets no byte, and the guest counts nothing more."""
    restart_host(pair, OWN_CID + 4095)
    pair.host.intervals(1)
    count, energy = counted(pair), of_guest(balanced(pair.guest.scrape()))
    with socket.socket(socket.AF_VSOCK) as stranger:
        stranger.settimeout(30)
        stranger.connect((HOST_CID, PORT))
        try:
            assert stranger.recv(100) == b""
        except ConnectionResetError:
            pass
    metrics = pair.host.intervals(3)
    assert metrics.value("kepler_exporter_passthrough_unknown_peers_total", channel="vsock") >= 1
    assert metrics.value("kepler_exporter_passthrough_connections", channel="vsock") == 0
    assert counted(pair) == count
    assert of_guest(balanced(pair.guest.scrape())) == energy
    case(f"  a stranger: nothing, and the guest has the {energy['package', 'dynamic'] / 1e6:.6f} J that it had")


def check_unit():
    test = pathlib.Path(os.environ["KEPLER_BUILD"], "tests/unit/meter/test-meter-passthrough")
    if not test.exists():
        case("  the unit test was not built: cmocka is not installed")
        return
    done = subprocess.run([test, "vsock"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "ok 1 - a_connection_is_made_again" in done.stdout, done
    case("  the unit test of the meter")


def main():
    check_unit()
    host = [f"--passthrough.vsock={PORT}", "--passthrough.dir=DIR/guests", f"--passthrough.cid={OWN_CID}=UUID"]
    guest = [f"--meter.passthrough=vsock:{PORT}", f"--web.listen-address=vsock://:{WEB_PORT}", "--web.allow-fast-updates"]
    with both(host, guest, over_port=False) as (pair, _):
        pair.start_guest()
        at_rest = check_window(pair, "at work")
        assert of_guest(balanced(scrape_by_vsock())) == at_rest
        case("  the same page by vsock")
        restart_host(pair, OWN_CID)
        check_window(pair, "the host's Kepler killed")
        pair.kill(pair.guest)
        pair.start_guest()
        check_window(pair, "the guest's Kepler killed")
        check_stranger(pair)
        assert pair.guest.stop() == 0 and pair.host.stop() == 0


main()
