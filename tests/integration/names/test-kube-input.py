#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names from the kubelet, and answers that are wrong or hostile; one function each. test-kube-input.py [CASE...]"""
import json
import time

from certificates import Authority
from fake_kubernetes import FAST, FakeKubernetes, container_id, make_pod, pod_id
from kube_rig import run_cases


# ---- the kubelet ----

def kubelet_of(rig, token="good"):
    kubelet = FakeKubernetes(rig.authority.server_context("kubelet"), token)
    return kubelet, {"kubelet-url": kubelet.url}


def kubelet_polls(rig):
    kubelet, options = kubelet_of(rig)
    pods = [kubelet.put(make_pod(f"pod-{i}")) for i in range(300)]
    with rig.probe(source="kubelet", **options) as probe:
        probe.until(lambda p: p.stats()["containers"] == 300)
        kubelet.delete(pods[0])
        changed = kubelet.put(make_pod("pod-1", containers=("main", "more")))
        probe.knows(changed, "more")
        probe.until(lambda p: p.stats()["pods"] == 299, what="the deleted pod stays")
        stats = probe.stats()
        assert (stats["pods"], stats["source"], stats["bad_pods"], stats["failures"]) == (299, "kubelet", 0, 0), stats
        assert not rig.api.log and all("continue" not in entry[2] for entry in kubelet.log)


def kubelet_is_asked_on_demand(rig):
    kubelet, options = kubelet_of(rig)
    with rig.probe(source="kubelet", timing={**FAST, "poll": 20000, "demand": 200}, **options) as probe:
        probe.until(lambda p: p.stats()["reachable"] and kubelet.log)
        time.sleep(0.3)
        pod = kubelet.put(make_pod("shop"))
        assert probe.knows(pod) < 2, "waited for the next poll"


def demand_is_heard_after_a_quiet_time(rig):
    """Ordinary polls that bring nothing are no reason to be slow when something is wanted."""
    kubelet, options = kubelet_of(rig)
    with rig.probe(source="kubelet", timing={**FAST, "poll": 2500, "demand": 100}, **options) as probe:
        probe.until(lambda p: len(kubelet.log) >= 4, seconds=15)
        time.sleep(0.3)
        pod = kubelet.put(make_pod("shop"))
        assert probe.knows(pod) < 1.5, "waited for the next poll"


def interval_can_change(rig):
    """A poll is for the loop's next look; how soon that is may be said anew."""
    kubelet, options = kubelet_of(rig)
    with rig.probe(source="kubelet", timing={**FAST, "poll": 60000, "demand": 100}, interval=60000, **options) as probe:
        probe.until(lambda p: p.stats()["reachable"] and kubelet.log)
        probe.ask("interval 500")
        pod = kubelet.put(make_pod("shop"))
        probe.knows(pod, seconds=30)


def unknown_containers_do_not_make_it_poll(rig):
    """A container of no pod is asked for in every interval; the kubelet is not."""
    kubelet, options = kubelet_of(rig)
    with rig.probe(source="kubelet", timing={**FAST, "poll": 20000, "demand": 100}, **options) as probe:
        end = time.monotonic() + 6
        while time.monotonic() < end:
            assert probe.find(container_id("docker's own")) == {}
            time.sleep(0.02)
        assert len(kubelet.log) <= 12, len(kubelet.log)  # six at first, then at 0.8, 1.2, 2, 3.6, 6.8 s


def kubelet_is_preferred_and_replaced(rig):
    kubelet, options = kubelet_of(rig)
    pod = make_pod("shop")
    kubelet.put(pod)
    rig.api.put(pod)
    with rig.probe(source="auto", **options) as probe:
        probe.knows(pod)
        assert probe.stats()["source"] == "kubelet" and not rig.api.log
        kubelet.down()
        probe.until(lambda p: p.stats()["source"] == "apiserver", what="the API server is not asked")
        late = rig.api.put(make_pod("late"))
        probe.knows(late)


def kubelet_that_forbids(rig):
    kubelet, options = kubelet_of(rig, token="another")
    pod = rig.api.put(make_pod("shop"))
    with rig.probe(source="auto", **options) as probe:
        assert probe.knows(pod) < 3
        time.sleep(1)
        assert len(kubelet.log) == 1, "asked again though the API server answers"


def kubelet_of_another_authority(rig):
    other = Authority(rig.directory, "other")
    kubelet = FakeKubernetes(other.server_context("kubelet"))
    pod = kubelet.put(make_pod("shop"))
    with rig.probe(source="kubelet", **{"kubelet-url": kubelet.url}) as probe:
        probe.until(lambda p: "certificate" in p.stats()["error"])
        assert not kubelet.log
    with rig.probe(source="kubelet", **{"kubelet-url": kubelet.url, "kubelet-ca": other.file}) as probe:
        probe.knows(pod)


def plain_port_gets_no_token(rig):
    kubelet = FakeKubernetes(token=None)
    pod = kubelet.put(make_pod("shop"))
    with rig.probe(source="kubelet", **{"kubelet-url": kubelet.url}) as probe:
        probe.knows(pod)
        assert kubelet.log[0][3] is None


def no_proxy_before_the_kubelet(rig):
    kubelet, options = kubelet_of(rig)
    pod = kubelet.put(make_pod("shop"))
    with rig.probe(source="kubelet", environment={"https_proxy": "http://127.0.0.1:1"}, **options) as probe:
        probe.knows(pod)
    with rig.probe(environment={"https_proxy": "http://127.0.0.1:1"}) as probe:
        probe.until(lambda p: p.stats()["failures"] >= 1)
        assert not rig.api.log


# ---- bad input ----

def bad_pods_cost_themselves(rig):
    good, huge = make_pod("good"), make_pod("huge", filler=1000)
    hostile = [{}, {"metadata": 5}, 7, None, "pod", {"metadata": {"name": "x" * 300, "namespace": "n", "uid": "u"}}]
    deep = "[" * 3000 + "]" * 3000

    def answer(request, kind):
        if kind != "list":
            return False
        items = [json.dumps(item) for item in (huge, *hostile)]
        items.insert(2, '{"metadata":{"name":"deep","namespace":"n","uid":"d","x":%s}}' % deep)
        request.answer(200, ('{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[%s]}' %
                             ",".join([*items, json.dumps(good)])).encode())
        return True
    rig.api.fault = answer
    good["metadata"]["annotations"] = {"note": "x" * 200}
    with rig.probe(**{"max-pod-bytes": 20000, "labels": "app,note"}) as probe:
        probe.knows(good)
        stats = probe.stats()
        assert stats["labels_lost"] == 1, stats  # the note is cut
        assert stats["pods"] == 1 and stats["failures"] == 0, stats
        assert stats["bad_pods"] == 5, stats  # huge, {}, deep, metadata 5, long name; 7, null and "pod" are no objects
        big = rig.api.put(make_pod("big", filler=1000))
        late = rig.api.put(make_pod("late"))
        probe.knows(late)
        assert not probe.find(pod_id(big)) and probe.stats()["bad_pods"] == 6


def what_is_no_list_removes_nothing(rig):
    pod = rig.api.put(make_pod("shop"))
    bodies = [b"", b"<html>login</html>", b"{}", b'{"kind":"NodeList","metadata":{},"items":[]}', b'{"kind":"PodList","items":[',
              b'[{"kind":"PodList"}]', b'{"kind":"PodList","metadata":{}} {}', b"\0" * 100, b'{"kind":"' + b"x" * 100000 + b'"}']
    with rig.probe() as probe:
        probe.knows(pod)

        def nonsense(request, kind):
            if kind == "watch":
                request.fail(410, "Expired")
            else:
                request.answer(200, bodies[len(rig.api.requests("list")) % len(bodies)])
            return True
        rig.api.fault = nonsense
        rig.api.cut_connections()
        probe.until(lambda p: len(rig.api.requests("list")) >= 6, seconds=12)
        assert probe.find(pod_id(pod))["pod"] == "shop" and not probe.stats()["reachable"]
        rig.api.fault = None
        late = rig.api.put(make_pod("late"))
        probe.knows(late)


def pages_without_end(rig):
    def endless(request, kind):
        if kind != "list":
            return False
        request.answer_json({"kind": "PodList", "metadata": {"resourceVersion": "1", "continue": "more"}, "items": []})
        return True
    rig.api.fault = endless
    with rig.probe() as probe:
        probe.until(lambda p: p.stats()["failures"] >= 1, what="never given up")
        assert "too many pages" in probe.stats()["error"] and len(rig.api.requests("list")) >= 200


def stop_interrupts_everything(rig):
    def hold(request, kind):
        request.silent()
        return True
    rig.api.fault = hold
    probe = rig.probe(timing={})
    probe.until(lambda p: rig.api.log)
    with probe:
        pass  # leaving checks that it stops within a second
    blackhole = FakeKubernetes()  # speaks no TLS: the handshake hangs
    rig.account.fake = blackhole
    blackhole.fault = hold
    with rig.probe(timing={}):
        time.sleep(0.5)


run_cases([
    kubelet_polls, kubelet_is_asked_on_demand, interval_can_change, demand_is_heard_after_a_quiet_time,
    unknown_containers_do_not_make_it_poll, kubelet_is_preferred_and_replaced,
    kubelet_that_forbids, kubelet_of_another_authority, plain_port_gets_no_token, no_proxy_before_the_kubelet,
    bad_pods_cost_themselves, what_is_no_list_removes_nothing, pages_without_end, stop_interrupts_everything])
