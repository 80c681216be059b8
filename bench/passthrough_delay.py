#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""passthrough_delay.py [RECORDS] - how late a guest's Kepler shows what its host's Kepler reports.

KEPLER_BUILD=build bench/passthrough_delay.py 30: for each of so many records, the time from the end of the record's interval to the
end of the guest's interval that shows it. The goal is one interval of the guest and 50 ms. What the machine adds is measured beside
it: how late a thread wakes that sleeps until a given time, and how long after its end a record arrives at the guest's port.
"""
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/rig"))
from passthrough_pair import GUEST, both, of_guest  # noqa: E402
from rig import need_root  # noqa: E402

STEP_S = 0.02
GOAL_S = 0.05


class Sleeper(threading.Thread):
    """How late it wakes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.late_s, self.is_stopped = [], False

    def run(self):
        due = time.monotonic()
        while not self.is_stopped:
            due = max(due + STEP_S, time.monotonic())
            time.sleep(max(0, due - time.monotonic()))
            self.late_s.append(time.monotonic() - due)


def shown_as(values, records):
    """The record that the guest's values are; None: it shows parts of two."""
    return next((record for record in reversed(records) if all(record.values[key] == value for key, value in values.items())), None)


def measure(pair, port, wanted):
    """The guest counts from the first record on, so its values are a record's."""
    found, began = {}, time.monotonic()
    while len(found) < wanted:
        if time.monotonic() - began > 30 + 10 * wanted:
            sys.exit(f"only {len(found)} records were shown")
        page = pair.guest.intervals(1)
        record = shown_as(of_guest(page), list(port.sent))
        if record and record.sequence not in found:
            found[record.sequence] = float(page.value("kepler_exporter_snapshot_timestamp_seconds")) - record.realtime_ns / 1e9
    return list(found.values())[1:]


def row(name, values):
    ordered = sorted(values)
    high = ordered[int(len(ordered) * 0.95)]
    print(f"{name:46} {statistics.median(ordered) * 1000:8.1f} {high * 1000:8.1f} {ordered[-1] * 1000:8.1f}")


def main():
    need_root()
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    interval_s = next(int(option.split("=")[1].removesuffix("ms")) / 1000 for option in GUEST if "monitor.interval" in option)
    with both(["--passthrough.sockets=DIR"], ["--meter.passthrough=DIR/port"]) as (pair, port):
        pair.start_guest()
        sleeper = Sleeper()
        sleeper.start()
        delays = measure(pair, port, wanted + 1)
        sleeper.is_stopped = True
        arrivals = [at - record.realtime_ns / 1e9 for record, at in zip(port.sent, port.sent_at)]
    print(f"{'ms':46} {'median':>8} {'95 %':>8} {'most':>8}")
    row(f"shown after the record's end (goal {(interval_s + GOAL_S) * 1000:.0f})", delays)
    row("… arrived at the guest's port after its end", arrivals)
    row("a thread of this machine wakes late by", sleeper.late_s)


if __name__ == "__main__":
    main()
