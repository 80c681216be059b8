#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power of a partition of IBM Z from its HMC, over TLS: its own where that is measured, else its share of the CPC's, by processors
and weights, which says that it is an estimate. A session that ends is made anew, and none is left. Faults are down and back.
"""
import concurrent.futures
import contextlib
import os
import re
import tempfile
import time

from bmc import Law
from hmc import Cpc, Hmc, Partition
from remote_rig import DOWN_S, READ_ERRORS, Machine, authority, counted_and_flowed, doctor, is_up, node_j, server_context, \
    wait_until, watched, watts_between_readings
from rig import balanced, close, run_tests

QUOTED = '"canary-hmc,""p4ss"'


def z16():
    """The console measures each partition."""
    return [Cpc("CPC1", [Partition("LINUX1", weight=100, part=0.375), Partition("LINUX2", weight=300, part=0.5)], ifl=8)]


def z14():
    """It measures the CPC alone: 10 IFLs, 2 of them a partition's own, and 2 CPs, which z/OS has alone."""
    return [Cpc("CPC1", [Partition("LINUX1", weight=100), Partition("LINUX2", weight=300), Partition("OWN", processors=2),
                         Partition("OFF", weight=500, status="not-activated"), Partition("ZOS", "cp", 2, weight=40)], ifl=10, cp=2)]


def dpm():
    """In DPM mode a partition has a long name, and weights also of kinds of processor that it does not have."""
    return [Cpc("CPC2", [Partition("the web servers", weight=100, status="active", short_name="WEB1"),
                         Partition("databases", weight=300, status="degraded", short_name="DB1"),
                         Partition("old ones", weight=100, status="stopped", short_name="OLD1")], ifl=6, cp=4, dpm=True)]


def new_machine(directory, cpcs, partition="LINUX1", law=None, context=None, **service):
    lab = Machine(directory, "hmc", Hmc(context or server_context(), law or Law(1000), cpcs, **service), QUOTED)
    lab.options.append(f"--meter.hmc.partition={partition}")
    return lab


@contextlib.contextmanager
def machine(*options, cpcs, **service):
    with tempfile.TemporaryDirectory(prefix="kepler-hmc-") as directory:
        lab = new_machine(directory, cpcs, **service)
        with watched(lab, *options, package=False) as exporter:
            yield lab, exporter
        assert not lab.service.tokens, "a session is left"


def quality(metrics):
    return {labels["quality"] for labels, _ in metrics.select("kepler_zone_info", zone="platform", source="hmc")}


def counts():
    """Both at once: of the partition itself, by a console that has no values at first, and as a share."""
    with machine(cpcs=z16(), watts_of_partitions=True, mute_s=1.5) as (own, measured), \
            machine(cpcs=z14(), law=Law(1200)) as (_, shared):
        close("the partition's own power", watts_between_readings(measured), 375, 1)
        # 2 processors of 12 are z/OS's, 2 a partition's own, and of 8 that are shared 100 of 400 are ours.
        close("the share", watts_between_readings(shared), 1200 * (8 * 100 / 400) / 12, 1)
        assert quality(measured.scrape()) == {"measured"}, measured.scrape().text
        assert quality(shared.scrape()) == {"estimated"}, shared.scrape().text
        assert "estimated (hmc): platform" in shared.output() and "measured (hmc): platform" in measured.output()
        assert own.service.denied == 0 and own.service.logins == 1 and own.service.most_at_once == 1


def percent_of(cpcs, partition):
    with tempfile.TemporaryDirectory(prefix="kepler-hmc-") as directory:
        lab = new_machine(directory, cpcs, partition)
        says = doctor(*lab.options)
        lab.service.close()
        assert not lab.service.tokens, lab.service.tokens
        found = re.search(r"platform is ESTIMATED: ([0-9.]+) % of the power of CPC", says)
        return float(found.group(1)) if found else says


def shares_of_all_are_the_whole():
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        classic = list(pool.map(lambda name: percent_of(z14(), name), ["LINUX1", "LINUX2", "OWN", "ZOS"]))
        in_dpm = list(pool.map(lambda name: percent_of(dpm(), name), ["WEB1", "databases"]))
    print(f"  {classic} % and {in_dpm} %")
    assert classic == [16.67, 50.0, 16.67, 16.67] and in_dpm == [25.0, 75.0], (classic, in_dpm)


def an_ended_session_is_made_again():
    with machine(cpcs=z16(), watts_of_partitions=True) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        for _ in range(2):
            lab.service.tokens.clear()
            logins = lab.service.logins
            wait_until(exporter, lambda metrics: lab.service.logins > logins)
            assert is_up(balanced(exporter.intervals(2)))
        assert exporter.scrape().value(READ_ERRORS, zone="platform") == 0


def are_down_and_back(faults):
    with machine(cpcs=z14(), law=Law(1200)) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        for fault, value in faults:
            before, began = exporter.intervals(1), time.monotonic()
            setattr(lab.service, fault, value)
            wait_until(exporter, lambda metrics: not is_up(metrics), DOWN_S)
            lab.service.calm()
            wait_until(exporter, is_up, DOWN_S + 4)
            flowed = 200 * (time.monotonic() - began + 2)
            assert node_j(balanced(exporter.intervals(1))) - node_j(before) <= flowed, fault
            print(f"  {fault}={str(value)[:20]!r}: {time.monotonic() - began:.1f} s")
        assert "other.example" not in str(lab.service.seen)


def refusals_are_down_and_back():
    are_down_and_back([("status", 403), ("status", 503), ("redirect", "https://other.example/api/cpcs")])


def nonsense_is_down_and_back():
    are_down_and_back([("null", True), ("body", "<html>"), ("body", '"a"\n' * 300_000), ("cut", 20)])


def a_wrong_password_is_not_tried_again_and_again():
    with machine(cpcs=z16(), watts_of_partitions=True) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        lab.service.password = "another"
        lab.service.tokens.clear()
        wait_until(exporter, lambda metrics: not is_up(metrics), DOWN_S)
        before = lab.service.logins
        time.sleep(5)
        assert "the user name or password was refused" in exporter.output(), exporter.output()
        assert lab.service.logins - before <= 3, lab.service.logins - before  # after 1, 2, 4 s
        lab.write("kepler,another\n")
        wait_until(exporter, is_up, DOWN_S)


def what_is_wrong_is_one_clear_line():
    twice = [Cpc("CPC1", [Partition("LINUX1", weight=1)], ifl=1), Cpc("CPC2", [Partition("LINUX1", weight=1)], ifl=1)]
    with tempfile.TemporaryDirectory(prefix="kepler-hmc-") as directory:
        lab = new_machine(directory, twice)
        expired = Hmc(authority().server_context("expired", days=-1), Law(1), twice)
        wrong = lab.credentials.with_name("wrong")
        wrong.touch(0o600)
        wrong.write_text("kepler,wrong\n")
        cases = [("", 'several CPCs of the HMC have a partition "LINUX1" ("CPC1", "CPC2")'),
                 ("--meter.hmc.cpc=CPC3", 'no partition "LINUX1" in the CPC "CPC3"; it shows the CPCs "CPC1", "CPC2"'),
                 ("--meter.hmc.partition=", "sysinfo does not name this machine's partition"),
                 ("--meter.hmc.credentials=", "meter.hmc.credentials is not given"),
                 (f"--meter.hmc.credentials={wrong}", f"the user name or password was refused; correct it in {wrong}"),
                 (f"--meter.hmc.url={expired.url}", "its certificate has expired"),
                 ("--meter.hmc.url=https://127.0.0.1:1", "check the address of the HMC"),
                 ("--meter.hmc.cpc=CPC2", "platform is read from CPC2/LINUX1@127.0.0.1"),
                 ("--meter.hmc.insecure", "anyone between can read the password")]

        def check(case):
            option, words = case
            more = ["--meter.hmc.cpc=CPC1"] if option == "--meter.hmc.insecure" else []
            says = doctor(*lab.options, *([option] if option else []), *more)
            assert words in says, (option, words, says)

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(check, cases))
        assert not expired.seen and not lab.service.tokens
        expired.close()
        lab.service.close()


def ten_minutes_of_varying_load():
    """At night."""
    with machine(cpcs=z16(), law=Law(1000, 400, 20), watts_of_partitions=True) as (lab, measured), \
            machine(cpcs=z14(), law=Law(1200, 500, 20)) as (other, shared):
        for exporter in (measured, shared):
            wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        began = [counted_and_flowed(lab.service.law, measured), counted_and_flowed(other.service.law, shared)]
        time.sleep(600)
        ended = [counted_and_flowed(lab.service.law, measured), counted_and_flowed(other.service.law, shared)]
        for (first_j, first), (last_j, last), part in zip(began, ended, (0.375, 1 / 6)):
            close("joules", last_j - first_j, (last - first) * part, 2)


AT_NIGHT = [ten_minutes_of_varying_load] if os.environ.get("KEPLER_LONG_TESTS") else []

# Each of them waits for clocks and peers, but all have the same keys.
server_context()
run_tests([*AT_NIGHT, counts, refusals_are_down_and_back, nonsense_is_down_and_back, a_wrong_password_is_not_tried_again_and_again,
           what_is_wrong_is_one_clear_line, shares_of_all_are_the_whole, an_ended_session_is_made_again], at_once=4)
