#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power of the machine from its BMC by Redfish, over TLS: every vendor's shape counts what flowed, faults are down and back,
counted and never a spike, a BMC that hangs delays nothing, sessions end, and the password is in no log and no page."""
import contextlib
import os
import pathlib
import tempfile
import time

import bmc
from bmc import Bmc, Law
from certificates import Authority
from redfish_rig import QUOTED, machine, new_machine
from remote_rig import DOWN_S, READ_ERRORS, UP, authority, counted_and_flowed, doctor, is_up, keys, node_j, \
    wait_until, watts_between_readings
from rig import Exporter, balanced, close, run_tests

CAVEAT = "kepler_exporter_source_caveat"


def counts(shape, *options, slash=False, percent=4, seconds=6):
    """What flows while it is watched, between two changes of the counter: the law knows how much that is."""
    with machine(*options, law=Law(300, 100, 3), shape=shape, slash=slash) as (lab, exporter):
        first = wait_until(exporter, lambda metrics: is_up(metrics) and node_j(metrics) > 0)
        began, first_j = lab.service.law.joules(), node_j(first)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            last = balanced(exporter.intervals(1))
        # A page is up to a period and an interval behind.
        flowed, counted = lab.service.law.joules() - began, node_j(last) - first_j
        print(f"  {shape.__name__}: {counted:.0f} J counted, {flowed:.0f} J flowed")
        assert abs(counted - flowed) <= flowed * percent / 100 + 1.6 * 400, (counted, flowed)
        assert last.value("kepler_exporter_source_unverified", zone="platform") == 0
        assert lab.service.most_at_once == 1 and lab.service.denied == 0
        sums = {labels["zone"] for labels, _ in last.select("kepler_zone_info", in_total="true")}
        assert sums == {"package", "other"}, sums
    assert not lab.service.tokens, "a session is left"
    return lab


def idrac_counts():
    counts(bmc.idrac)


def ilo_counts():
    lab = counts(bmc.ilo, slash=True)
    again = [path for _, path, _ in lab.service.seen if not path.endswith("/")]
    assert len(again) <= 4, again  # paths that it gave with a slash are asked with it


def xcc_counts():
    counts(bmc.xcc)


def supermicro_counts():
    counts(bmc.supermicro)


def openbmc_counts():
    counts(bmc.openbmc)


def an_unlinked_chassis_counts():
    counts(bmc.unlinked)


def one_supply_of_two_counts():
    counts(bmc.one_supply)


def output_counts_with_a_caveat():
    with machine(law=Law(180), shape=bmc.output_only) as (lab, exporter):
        metrics = wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        assert metrics.value(CAVEAT, zone="platform", source="redfish", caveat="output") == 1
        close("watts", watts_between_readings(exporter), 180, 2)
        says = doctor(*lab.options)
        assert "without their losses" in says, says
        deadline = time.monotonic() + 60  # the log is looked after now and then
        while "without their losses" not in exporter.output():
            assert time.monotonic() < deadline, exporter.output()
            exporter.intervals(2)
        lab.service.shape = bmc.ilo  # another place, after readings without a value
        metrics = wait_until(exporter, lambda metrics: not metrics.select(CAVEAT), 30)
        assert is_up(metrics)


def pages_at_the_own_address_are_followed():
    def shape(law):
        tree = bmc.unlinked(law)
        tree[bmc.V1 + "/Chassis"]["Members@odata.nextLink"] = lab.service.url + bmc.V1 + "/Chassis?$skip=1"
        return tree

    with machine(law=Law(250)) as (lab, exporter):
        lab.service.shape = shape
        wait_until(exporter, lambda metrics: is_up(metrics) and ("GET", bmc.V1 + "/Chassis?$skip=1") in
                   [seen[:2] for seen in lab.service.seen])
        close("watts", watts_between_readings(exporter), 250, 2)


def a_blade_counts():
    counts(bmc.blades, "--meter.redfish.system=Node3")


def power_is_exact_between_two_readings():
    with machine(law=Law(250)) as (_, exporter):
        close("watts", watts_between_readings(exporter), 250, 2)


def a_fine_counter_is_read():
    with machine(law=Law(400, 300, 5), shape=bmc.counting) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        time.sleep(10)  # it proves itself
        # An outage of a counter loses nothing: what flowed meanwhile is counted when it is back.
        first = balanced(exporter.intervals(2))
        began = lab.service.law.joules()
        lab.service.status = 500
        wait_until(exporter, lambda metrics: not is_up(metrics))
        time.sleep(3)
        lab.service.calm()
        wait_until(exporter, is_up)
        last = balanced(exporter.intervals(2))
        flowed, counted = lab.service.law.joules() - began, node_j(last) - node_j(first)
        print(f"  {counted:.0f} J counted, {flowed:.0f} J flowed, an outage among them")
        assert abs(counted - flowed) <= 1.6 * 700, (counted, flowed)


def faults_are_down_and_back(*faults):
    """Each for as long as it takes to be noticed, and as many joules as the power could have made, never more."""
    with machine(law=Law(200)) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        for fault, value in faults:
            before = exporter.intervals(1)
            began = time.monotonic()
            errors = before.value(READ_ERRORS, zone="platform")
            setattr(lab.service, fault, value)
            down = wait_until(exporter, lambda metrics: not is_up(metrics), DOWN_S)
            assert down.value(UP, zone="package") == 1
            assert down.value(READ_ERRORS, zone="platform") > errors
            lab.service.calm()
            back = wait_until(exporter, is_up, DOWN_S + 4)
            later = balanced(exporter.intervals(3))
            assert node_j(later) - node_j(before) <= 200 * (time.monotonic() - began + 2), fault
            print(f"  {fault}={str(value)[:20]}: {time.monotonic() - began:.1f} s, {node_j(back) - node_j(before):.0f} J")
    assert not lab.service.tokens or len(lab.service.tokens) <= 2, lab.service.tokens
    assert "other.example" not in str(lab.service.seen)


def refusals_are_down_and_back():
    faults_are_down_and_back(("status", 401), ("status", 503), ("status", 500), ("redirect", "https://other.example/redfish/v1"))


def nonsense_is_down_and_back():
    faults_are_down_and_back(("null", True), ("text", True), ("zero", True), ("body", "<html>"), ("body", "[1]"))


def broken_answers_are_down_and_back():
    faults_are_down_and_back(("body", '{"a":' + "[" * 1000), ("body", '{"a":"' + "x" * 10_000_000 + '"}'), ("cut", 20),
                             ("drip", 0.5))


def ten_minutes_of_varying_load():
    """At night; a minute by day. Power of the moment, a mean over some seconds, and a counter: all at once, each by its own law."""
    seconds = 600 if os.environ.get("KEPLER_LONG_TESTS") else 30
    with contextlib.ExitStack() as stack:
        labs = [(shape, *stack.enter_context(machine(law=Law(300, 150, 20), shape=shape)))
                for shape in (bmc.supermicro, bmc.averaging, bmc.counting)]
        time.sleep(12)  # the counter proves itself
        began = [counted_and_flowed(lab.service.law, exporter) for _, lab, exporter in labs]
        time.sleep(seconds)
        for (shape, lab, exporter), (first_j, began_j) in zip(labs, began):
            counted, flowed = counted_and_flowed(lab.service.law, exporter)
            counted, flowed = counted - first_j, flowed - began_j
            print(f"  {shape.__name__}: {counted:.0f} J counted, {flowed:.0f} J flowed, {(counted / flowed - 1) * 100:+.2f} %")
            # A mean is late by half of its time, at both ends.
            assert abs(counted - flowed) <= flowed * 0.02 + (2 * 2 * 150 if shape is bmc.averaging else 0), (counted, flowed)


def a_machine_without_a_bmc_loads_nothing():
    with Exporter("--host.sysfs=/nonexistent") as exporter:
        exporter.intervals(2)
        maps = pathlib.Path(f"/proc/{exporter.process.pid}/maps").read_text()
        assert "curl" not in maps
        assert exporter.stop() == 0


def an_ended_session_is_made_again():
    with machine(law=Law(200)) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        for _ in range(3):
            lab.service.tokens.clear()
            logins = lab.service.logins
            wait_until(exporter, lambda metrics: lab.service.logins > logins)
            assert is_up(balanced(exporter.intervals(4)))
        assert exporter.scrape().value(READ_ERRORS, zone="platform") == 0
    assert not lab.service.tokens


def without_sessions_the_password_goes_along():
    for sessions, options in ((False, ()), (True, ("--meter.redfish.login=basic",))):
        with machine(*options, law=Law(200), sessions=sessions) as (lab, exporter):
            wait_until(exporter, lambda metrics: node_j(metrics) > 0)
            assert any("Authorization" in headers for _, _, headers in lab.service.seen)
        assert lab.service.logins == 0 and not lab.service.tokens


def a_bmc_that_hangs_delays_nothing():
    with machine(law=Law(200)) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        lab.service.delay = 30
        wait_until(exporter, lambda metrics: not is_up(metrics), DOWN_S)
        first, began = exporter.intervals(1), time.monotonic()
        slowest = 0
        for _ in range(12):
            asked = time.monotonic()
            exporter.scrape()
            slowest = max(slowest, time.monotonic() - asked)
            exporter.intervals(1)
        assert time.monotonic() - began < 12 and slowest < 1, slowest
        last = exporter.scrape()
        assert last.sum("kepler_node_package_joules_total") > first.sum("kepler_node_package_joules_total")
        print(f"  the slowest scrape took {slowest * 1e3:.0f} ms")
        # The end does not wait for it either.
        began = time.monotonic()
        assert exporter.stop() == 0
        assert time.monotonic() - began < 6


def a_wrong_password_is_not_tried_again_and_again():
    with machine(law=Law(200)) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        lab.service.password = "another"
        lab.service.tokens.clear()
        wait_until(exporter, lambda metrics: not is_up(metrics), DOWN_S)
        before = lab.service.logins
        time.sleep(8)
        assert "the user name or password was refused" in exporter.output(), exporter.output()
        assert lab.service.logins - before <= 4, lab.service.logins - before  # 1, 2, 4 s
        lab.write("kepler,another\n")
        wait_until(exporter, is_up, DOWN_S)


def retry_after_is_kept():
    with machine(law=Law(200)) as (lab, exporter):
        wait_until(exporter, lambda metrics: node_j(metrics) > 0)
        lab.service.status, lab.service.retry_after = 503, 5
        wait_until(exporter, lambda metrics: not is_up(metrics), DOWN_S)
        asked = len(lab.service.seen)
        time.sleep(3)
        assert len(lab.service.seen) == asked, "it was to be left alone"
        lab.service.calm()
        wait_until(exporter, is_up, 12)


def no_session_is_left_after_many_starts():
    with tempfile.TemporaryDirectory(prefix="kepler-redfish-") as directory:
        lab = new_machine(directory)
        for _ in range(8):
            with Exporter("--host.sysfs=/nonexistent", *lab.options) as exporter:
                wait_until(exporter, is_up)
                assert exporter.stop() == 0
            assert not lab.service.tokens, lab.service.tokens
        lab.service.close()


def what_is_wrong_is_one_clear_line():
    with tempfile.TemporaryDirectory(prefix="kepler-redfish-") as directory:
        lab = new_machine(directory)
        says = doctor(*lab.options)
        assert "platform" in says and "redfish" in says, says
        cases = []
        others = Authority(directory, "others")
        cases.append((f"--meter.redfish.ca-file={others.file}", "its certificate has expired, is for another name"))
        cases.append((f"--meter.redfish.url=https://127.0.0.1:{lab.service.port + 1 if lab.service.port < 65535 else 1}",
                      "check the address of the BMC"))
        cases.append(("--meter.redfish.url=https://bmc.invalid", "check the address of the BMC"))
        cases.append(("--meter.redfish.credentials=/nowhere", "No such file"))
        cases.append(("--meter.redfish.credentials=", "meter.redfish.credentials is not given"))
        for option, words in cases:
            says = doctor(*lab.options, option)
            assert words in says and "FIX" in says, (option, words, says)
        expired = Bmc(authority().server_context("expired", days=-1), Law(200))
        says = doctor(*lab.options, f"--meter.redfish.url={expired.url}")
        assert "its certificate has expired" in says and not expired.seen, says
        expired.close()
        assert "anyone between can read the password" in doctor(*lab.options, "--meter.redfish.insecure")
        lab.write("kepler,wrong\n")
        says = doctor(*lab.options)
        assert "the user name or password was refused" in says and str(lab.credentials) in says, says
        lab.write(f"kepler,{QUOTED}\n", 0o644)
        says = doctor(*lab.options)
        assert "chmod 600" in says, says
        lab.write(f"some-node,kepler,{QUOTED},{lab.service.url}\n")
        assert "no line for the machine" in doctor(*lab.options)
        lab.write(f"*,kepler,{QUOTED},{lab.service.url}\n")
        lab.service.shape = bmc.blades
        says = doctor(*lab.options)
        assert '"Node1", "Node2", "Node3", "Node4"' in says and "meter.redfish.system" in says, says
        lab.service.close()


def a_failure_is_logged_and_an_insecure_one_shown():
    with machine("--meter.redfish.url=https://127.0.0.1:1") as (_, exporter):
        assert "check the address of the BMC" in exporter.output()
        assert not is_up(exporter.intervals(1))
    unknown = Authority(keys().name, "unknown").server_context("unknown", "DNS:elsewhere.example")
    with machine("--meter.redfish.insecure", "--meter.redfish.ca-file=", law=Law(200), context=unknown) as (_, exporter):
        metrics = wait_until(exporter, is_up)
        assert metrics.value("kepler_exporter_source_unverified", zone="platform") == 1


run_tests([ten_minutes_of_varying_load, refusals_are_down_and_back, nonsense_is_down_and_back, broken_answers_are_down_and_back,
           a_fine_counter_is_read, power_is_exact_between_two_readings, idrac_counts, ilo_counts, xcc_counts, supermicro_counts,
           openbmc_counts, output_counts_with_a_caveat, pages_at_the_own_address_are_followed,
           an_unlinked_chassis_counts, one_supply_of_two_counts, a_blade_counts, a_machine_without_a_bmc_loads_nothing,
           an_ended_session_is_made_again, without_sessions_the_password_goes_along, a_bmc_that_hangs_delays_nothing,
           a_wrong_password_is_not_tried_again_and_again,
           retry_after_is_kept, no_session_is_left_after_many_starts, what_is_wrong_is_one_clear_line,
           a_failure_is_logged_and_an_insecure_one_shown], at_once=5)
