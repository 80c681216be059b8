#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ipmi_bmc.py SOCKET CONTROL LOG - a management controller for QEMU's device ipmi-bmc-extern, which connects to the socket.

It speaks the protocol of OpenIPMI's lanserv for virtual machines (QEMU: hw/ipmi/ipmi_bmc_extern.c): messages with a checksum,
ended by A0, commands ended by A1, and AA before what is escaped. It answers what the kernel's driver asks at its start, and
DCMI's Get Power Reading as the file CONTROL says, which is read for each request: "WATTS [COMPLETION [DELAY-S [STATE
[SENSORS]]]]". SENSORS is what each of three sensors of power supplies reads, in steps of 8 W. Each power request is a line of
LOG: its time.
"""
import os
import pathlib
import socket
import sys
import time

MESSAGE_END, COMMAND_END, ESCAPE = 0xA0, 0xA1, 0xAA
DEVICE_ID = bytes([0x20, 0x01, 0x01, 0x00, 0x02, 0x80, 0, 0, 0, 0, 0])  # IPMI 2.0, a BMC without sensors
GET_MESSAGE_EMPTY, INVALID_COMMAND = 0x80, 0xC1


def packed(data, end):
    out = bytearray()
    for byte in data:
        out += bytes([ESCAPE, byte | 0x10]) if byte in (MESSAGE_END, COMMAND_END, ESCAPE) else bytes([byte])
    return bytes(out) + bytes([end])


def settings(control):
    words = control.read_text(encoding='ascii').split()
    return words + ['0', '0', '0', '40', '0'][len(words):]


def sensor_record(number, following, name):
    """A full sensor record in watts, in steps of 8 W, of a power supply; and the id of the next one."""
    record = bytearray(64)
    record[:14] = [number, 0, 0x51, 1, 59, 0x20, 0, number, 10, number, 0x7F, 0x68, 0x0B, 1]
    record[21], record[24], record[47] = 6, 8, 0xC0 | len(name)
    record[48:48 + len(name)] = name
    return following, bytes(record)


RECORDS = {0: sensor_record(1, 2, b'PS1 Output Power'), 2: sensor_record(2, 3, b'PS1 Input Power'),
           3: sensor_record(3, 0xFFFF, b'PS2 Input Power')}


def record_part(data):
    following, record = RECORDS[data[2]]
    return bytes([0]) + following.to_bytes(2, 'little') + record[data[4]:data[4] + data[5]]


def power_reading(control):
    watts, code, delay_s, state, _ = settings(control)
    time.sleep(float(delay_s))
    if int(code, 16):
        return bytes([int(code, 16)])
    watts = int(watts).to_bytes(2, 'little')
    return bytes([0, 0xDC]) + watts + bytes(2) + b'\xff\x7f' + bytes([1, 0]) + bytes(4) + (1000).to_bytes(4, 'little') \
        + bytes([int(state, 16)])


def answer(function, command, data, control, log):
    """The data of an answer, from its completion code on."""
    if (function, command) == (0x0A, 0x22):
        return bytes([0, 1, 0])  # a reservation
    if (function, command) == (0x0A, 0x23):
        return record_part(data)
    if (function, command) == (0x04, 0x2D):
        return bytes([0, int(settings(control)[4]), 0xC0])
    if (function, command) == (0x2C, 0x02):
        with log.open('a', encoding='ascii') as out:
            print(time.monotonic(), file=out)
        return power_reading(control)
    return {
        (0x06, 0x01): bytes([0]) + DEVICE_ID,
        (0x06, 0x08): bytes([0]) + bytes(16),         # the device's GUID
        (0x06, 0x2E): bytes([0]),                     # global enables are set
        (0x06, 0x2F): bytes([0, 0x08]),               # and read
        (0x06, 0x30): bytes([0]),                     # flags are cleared
        (0x06, 0x31): bytes([0, 0]),                  # and read
        (0x06, 0x33): bytes([GET_MESSAGE_EMPTY]),
        (0x06, 0x42): bytes([0, 0x0F, 0x0C, 0x05, 0, 0xF2, 0x1B, 0, 0, 0]),  # the system interface
    }.get((function, command), bytes([INVALID_COMMAND]))


def serve(connection, control, log):
    message, escaped = bytearray(), False
    while data := connection.recv(4096):
        for byte in data:
            if byte == MESSAGE_END:
                sequence, function, command = message[0], message[1] >> 2, message[2]
                assert sum(message) & 0xFF == 0, message.hex()
                body = bytes([sequence, (function | 1) << 2, command]) + answer(function, command, message[3:-1], control, log)
                connection.sendall(packed(body + bytes([-sum(body) & 0xFF]), MESSAGE_END))
                message.clear()
            elif byte == COMMAND_END:
                message.clear()  # its version, what it can do, resets
            elif byte == ESCAPE:
                escaped = True
            else:
                message.append(byte & ~0x10 if escaped else byte)
                escaped = False


def main():
    path, control, log = (pathlib.Path(word) for word in sys.argv[1:])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))
        listener.listen()
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(packed(b'\xff\x01', COMMAND_END))  # version 1 of the protocol
                try:
                    serve(connection, control, log)
                except ConnectionError:
                    pass


main()
