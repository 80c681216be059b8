#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names from Kubernetes while Kubernetes fails: R30 to R32 and R34 against a fake API server, one function a fault.

test-kube-faults.py [CASE...]
"""
import contextlib
import json
import socket
import threading
import time

from fake_kubernetes import FAST, container_id, event, make_pod, once_free, pod_id, status_of
from kube_rig import gaps, once, run_cases


# ---- R30: the API server is not there ----

def down_at_start_then_back(rig):
    """With the real durations: the names must be right within 10 s of its return."""
    pod = rig.api.put(make_pod("shop"))
    rig.api.down()
    with rig.probe(timing={}) as probe:
        probe.until(lambda p: not p.stats()["directory_reachable"], what="still called reachable")
        time.sleep(5)
        assert probe.find(pod_id(pod)) == {}
        rig.api.up()
        assert probe.knows(pod, seconds=10) <= 10
        assert probe.stats()["directory_reachable"]


def down_later_then_back(rig):
    first = rig.api.put(make_pod("first"))
    with rig.probe(timing={}) as probe:
        assert probe.knows(first) < 3, "a healthy server is asked at once"
        time.sleep(10)
        rig.api.down()
        probe.until(lambda p: not p.stats()["reachable"], what="still called reachable")
        assert probe.find(pod_id(first))["pod"] == "first", "what was known stays known"
        second = rig.api.put(make_pod("second"))
        rig.api.up()
        assert probe.knows(second, seconds=10) <= 10


def failing_for_long_is_asked_once_in_ten_seconds(rig):
    """With the real durations: each ten seconds, so that the names are right within 10 s of its return, however long it lasts."""
    pod = rig.api.put(make_pod("shop"))
    rig.api.fault = lambda request, kind: request.fail(503, "ServiceUnavailable") or True
    with rig.probe(timing={}) as probe:
        lasted = probe.until(lambda p: p.stats()["failures"] >= 3, seconds=60)
        assert "503" in probe.stats()["error"] and not probe.stats()["reachable"], probe.stats()
        assert probe.stats()["cpu_us"] < lasted * 1e6 / 10, "it does more than wait"
        rig.api.fault = None
        probe.knows(pod, seconds=30)
        lists = gaps(rig.api.requests("list"))
        assert len(lists) == 3 and min(lists) >= 10, lists
        assert lists[2] < 16, f"ten seconds have grown: {lists}"


def cut_watch_goes_on_soon(rig):
    """With the real durations: a watch that worked is taken up again at once, and once only: then it is a fault."""
    with rig.probe(timing={}) as probe:
        probe.knows(rig.api.put(make_pod("before")))
        probe.until(lambda p: rig.api.requests("watch"))
        probe.knows(rig.api.put(make_pod("first")))
        rig.api.cut_connections()
        probe.until(lambda p: not p.stats()["reachable"] or len(rig.api.requests("watch")) == 2, what="not asked again")
        assert probe.stats()["reachable"], "called unreachable for a cut"
        probe.until(lambda p: len(rig.api.requests("watch")) == 2)
        assert gaps(rig.api.requests("watch"))[0] >= 1
        probe.knows(rig.api.put(make_pod("second")))
        rig.api.cut_connections()
        probe.until(lambda p: not p.stats()["reachable"], what="a hot loop")
        probe.until(lambda p: len(rig.api.requests("watch")) == 3, seconds=30)
        assert gaps(rig.api.requests("watch"))[1] >= 10, "a hot loop"
        probe.knows(rig.api.put(make_pod("third")))
        assert len(rig.api.requests("list")) == 1


def watch_that_ends_at_once_is_a_fault(rig):
    """Politely, again and again: no reason to ask again and again."""
    def end(request, kind):
        if kind != "watch":
            return False
        request.begin_chunks()
        request.chunk(b"")
        return True
    rig.api.fault = end
    with rig.probe(timing={}) as probe:
        probe.until(lambda p: p.stats()["failures"] >= 2)
        assert len(rig.api.requests("watch")) == 2 and "ended early" in probe.stats()["error"], probe.stats()
        time.sleep(5)
        assert len(rig.api.requests("watch")) == 2


def mute_server_is_no_absent_one(rig):
    """Takes connections, by its kernel if need be, and never begins TLS: a failure with a failure's wait."""
    rig.api.down()
    taken = []
    with once_free(lambda: socket.create_server(("127.0.0.1", rig.api.port))) as mute, contextlib.ExitStack() as kept:
        def take():
            with contextlib.suppress(OSError):
                while True:
                    kept.enter_context(mute.accept()[0])
                    taken.append((time.monotonic(),))
        threading.Thread(target=take, daemon=True).start()
        with rig.probe(timing={**FAST, "connect": 500, "retry": 3000}) as probe:
            probe.until(lambda p: len(taken) >= 2, seconds=30)
            assert gaps(taken)[0] >= 1.5, gaps(taken)
            assert not probe.stats()["reachable"] and probe.stats()["requests"] == 0
        mute.shutdown(socket.SHUT_RDWR)


# ---- R31: what was to be resumed is gone ----

def gone(rig, as_status):
    rig.api.gone_as_status = as_status
    old = rig.api.put(make_pod("old"))
    with rig.probe() as probe:
        probe.knows(old)
        probe.until(lambda p: rig.api.requests("watch"))
        rig.api.delete(old)
        new = rig.api.put(make_pod("new"))
        rig.api.compact()
        rig.api.cut_connections()
        probe.knows(new)
        probe.until(lambda p: p.stats()["pods"] == 1, what="the deleted pod stays")
        stats = probe.stats()
        assert stats["relists"] == 1 and len(rig.api.requests("list")) == 2, stats
        assert "resourceVersion" not in rig.api.requests("list")[1][2], "listed again from the server's cache"
        later = rig.api.put(make_pod("later"))
        probe.knows(later)


def gone_within_the_stream(rig):
    gone(rig, False)


def gone_as_the_answer(rig):
    gone(rig, True)


def gone_between_pages(rig):
    rig.api.cache_ignores_limit = False
    pods = [rig.api.put(make_pod(f"pod-{i}")) for i in range(250)]
    pages = []

    def compact_once(_request, kind):
        pages.append(kind)
        if len(pages) == 2:
            rig.api.compact()
    rig.api.fault = compact_once
    with rig.probe() as probe:
        probe.until(lambda p: p.stats()["pods"] == 250, what="not all pods")
        probe.knows(pods[249])
        stats = probe.stats()
        assert stats["relists"] == 1 and len(rig.api.requests("list")) == 2 + 3, stats


def gone_for_ever(rig):
    """A server that lists what it then calls too old: asked again, but not in a loop."""
    def always_gone(request, kind):
        if kind == "watch":
            request.begin_chunks()
            request.chunk(event("ERROR", {"kind": "Status", "code": 410, "message": "too old"}))
            request.chunk(b"")
            return True
        return False
    rig.api.fault = always_gone
    pod = rig.api.put(make_pod("shop"))
    with rig.probe(timing={}) as probe:
        probe.knows(pod)
        time.sleep(9)
        assert len(rig.api.requests()) <= 4, rig.api.requests()


def gone_again_and_again(rig, answer):
    """Whatever comes before it: one list at once, then a request in each wait."""
    def always_gone(request, kind):
        if kind == "watch":
            answer(request)
            return True
        return False
    rig.api.fault = always_gone
    pod = rig.api.put(make_pod("shop"))
    with rig.probe(timing={**FAST, "retry": 2000}) as probe:
        probe.until(lambda p: len(rig.api.requests()) >= 6, seconds=60)
        assert probe.find(pod_id(pod))["pod"] == "shop"
        assert [entry[1] for entry in rig.api.requests()][:6] == ["list", "watch"] * 3
        assert min(gaps(rig.api.requests())[3:]) >= 2, gaps(rig.api.requests())
        rig.api.fault = None
        late = rig.api.put(make_pod("late"))
        probe.knows(late, seconds=30)


def gone_after_an_event(rig):
    def answer(request):
        request.begin_chunks()
        request.chunk(event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": "99"}}))
        request.chunk(event("ERROR", {"kind": "Status", "code": 410, "message": "too old"}))
        request.chunk(b"")
    gone_again_and_again(rig, answer)


def gone_in_other_words(rig):
    gone_again_and_again(rig, lambda request: request.answer(410, b"Gone\n"))


# ---- R32: answers that are no answers ----

def too_many_requests(rig):
    pod = rig.api.put(make_pod("shop"))
    rig.api.fault = once(1, lambda request: request.fail(429, "TooManyRequests", [("Retry-After", "3")]))
    with rig.probe() as probe:
        probe.knows(pod)
        first, second = rig.api.requests("list")
        assert 3 <= second[0] - first[0] < 4, second[0] - first[0]


def server_errors(rig):
    pod = rig.api.put(make_pod("shop"))
    rig.api.fault = once(3, lambda request: request.fail(500, "InternalError"))
    with rig.probe() as probe:
        probe.knows(pod)
        assert min(gaps(rig.api.requests("list"))[:3]) >= 0.3
        assert probe.stats()["failures"] == 3


def failing_watches(rig, count, answer):
    def fault(request, kind):
        if kind == "watch" and len(rig.api.requests("watch")) <= count:
            answer(request)
            return True
        return False
    rig.api.fault = fault


def watch_errors_are_no_reason_to_list(rig):
    """However many: when the server is back, each node goes on where it was."""
    rig.api.put(make_pod("shop"))
    failing_watches(rig, 6, lambda request: request.fail(503, "ServiceUnavailable"))
    with rig.probe() as probe:
        probe.until(lambda p: len(rig.api.requests("watch")) == 7, seconds=30)
        late = rig.api.put(make_pod("late"))
        probe.knows(late)
        assert len(rig.api.requests("list")) == 1


def version_that_is_refused_is_given_up(rig):
    rig.api.put(make_pod("shop"))
    failing_watches(rig, 5, lambda request: request.fail(400, "BadRequest"))
    with rig.probe() as probe:
        probe.until(lambda p: len(rig.api.requests("list")) == 2, seconds=30)
        assert [entry[1] for entry in rig.api.requests()][:7] == ["list", *["watch"] * 5, "list"], rig.api.requests()
        late = rig.api.put(make_pod("late"))
        probe.knows(late)


def words_of_a_refusal_are_no_events(rig):
    """May list, may not watch: asked less and less often, nothing of the answer is believed, and nothing is listed for it."""
    forged = make_pod("forged")
    page = b"<html>\nno\n</html>\n" + event("ADDED", forged)
    rig.api.put(make_pod("shop"))
    failing_watches(rig, 100, lambda request: request.answer(403, page))
    with rig.probe(timing={**FAST, "denied_max": 1200}) as probe:
        probe.until(lambda p: len(rig.api.requests("watch")) >= 7, seconds=60)
        stats, waits = probe.stats(), gaps(rig.api.requests("watch"))
        assert not probe.find(pod_id(forged)) and (stats["bad_pods"], stats["events"]) == (0, 0), stats
        assert not stats["reachable"] and "watch: HTTP 403" in stats["error"], stats
        assert waits[1] >= 0.6 and min(waits[2:]) >= 1.2, waits
        assert len(rig.api.requests("list")) == 1


def refused_watch_without_an_end(rig):
    """An answer of an error has the time of any answer, not a watch's."""
    def stall(request):
        request.send_response(503)
        request.send_header("Content-Length", "100")
        request.end_headers()
        request.silent()
    rig.api.put(make_pod("shop"))
    failing_watches(rig, 1, stall)
    with rig.probe(timing={**FAST, "watch_idle": 60000, "watch_life": 60000}) as probe:
        probe.until(lambda p: len(rig.api.requests("watch")) == 2, seconds=30, what="still waited for")
        assert gaps(rig.api.requests("watch"))[0] >= 1.5 and probe.stats()["failures"] == 1
        late = rig.api.put(make_pod("late"))
        probe.knows(late)


def half_a_chunk_in_the_watch(rig):
    first = rig.api.put(make_pod("first"))
    second = make_pod("second")

    def half(request, kind):
        if kind != "watch" or len(rig.api.requests("watch")) > 1:
            return False
        rig.api.put(second)
        request.begin_chunks()
        text = event("ADDED", rig.api.pods[second["metadata"]["uid"]])
        request.wfile.write(b"%x\r\n%s" % (len(text), text[:len(text) // 2]))
        request.cut()
        return True
    rig.api.fault = half
    with rig.probe() as probe:
        probe.knows(first)
        probe.knows(second)
        watches = rig.api.requests("watch")
        assert len(rig.api.requests("list")) == 1 and watches[0][2]["resourceVersion"] == watches[1][2]["resourceVersion"]


def reset_in_the_list(rig):
    pod = rig.api.put(make_pod("shop", filler=100))

    def reset(request):
        request.send_response(200)
        request.send_header("Content-Length", "10000")
        request.end_headers()
        request.wfile.write(b'{"kind":"PodList","items":[{"metadata":')
        request.cut()
    rig.api.fault = once(1, reset)
    with rig.probe() as probe:
        probe.knows(pod)
        assert probe.stats()["failures"] == 1


def a_list_cut_between_pods_removes_none(rig):
    pods = [rig.api.put(make_pod(f"pod-{i}")) for i in range(3)]
    with rig.probe() as probe:
        probe.knows(pods[2])

        def cut_list(request, kind):
            if kind == "list":
                text = json.dumps({"kind": "PodList", "items": [rig.api.pods[pods[0]["metadata"]["uid"]]]})
                request.answer(200, text[:-2].encode())
                return True
            request.fail(410, "Expired")
            return True
        rig.api.fault = cut_list
        rig.api.cut_connections()
        probe.until(lambda p: p.stats()["failures"] >= 3)
        assert all(probe.find(pod_id(pod)) for pod in pods)


def one_byte_a_second(rig):
    pod = rig.api.put(make_pod("shop"))

    def trickle(request):
        request.send_response(200)
        request.send_header("Content-Length", "10000")
        request.end_headers()
        for _ in range(20):
            request.wfile.write(b" ")
            time.sleep(0.5)
    rig.api.fault = once(1, trickle)
    with rig.probe() as probe:
        assert 1.5 <= probe.knows(pod, seconds=6), "the deadline of a request"


def slow_watch(rig, pieces, times):
    """What comes of the first watch, again and again, is not what keeps it."""
    def trickle(request, kind):
        if kind != "watch" or len(rig.api.requests("watch")) > 1:
            return False
        request.begin_chunks()
        for i in range(times):
            request.chunk(pieces[i % len(pieces)])
            time.sleep(0.1)
        return True
    rig.api.fault = trickle
    with rig.probe() as probe:
        probe.until(lambda p: len(rig.api.requests("watch")) >= 2, what="the slow watch is kept")
        first, second = rig.api.requests("watch")[:2]
        assert second[0] - first[0] >= 1.2, "not even the time that it has"
        late = rig.api.put(make_pod("late"))
        probe.knows(late)
        assert len(rig.api.requests("list")) == 1


def event_byte_by_byte(rig):
    slow_watch(rig, [bytes([byte]) for byte in event("ADDED", make_pod("slow"))], 300)


def blank_lines_for_events(rig):
    slow_watch(rig, [b"\n", b" ", b"\r"], 300)


def silent_list(rig):
    pod = rig.api.put(make_pod("shop"))
    rig.api.fault = once(1, lambda request: request.silent())
    with rig.probe() as probe:
        probe.knows(pod, seconds=6)


def silent_watch(rig):
    first = rig.api.put(make_pod("first"))

    def silent(request, kind):
        if kind != "watch" or len(rig.api.requests("watch")) > 1:
            return False
        request.begin_chunks()
        text = event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": "9999"}})
        request.chunk(text)
        request.silent()
        return True
    rig.api.fault = silent
    with rig.probe() as probe:
        probe.knows(first)
        probe.until(lambda p: len(rig.api.requests("watch")) >= 2, what="the silent watch is kept")
        assert rig.api.requests("watch")[1][2]["resourceVersion"] == "9999", "not resumed from the bookmark"
        assert len(rig.api.requests("list")) == 1


def bookmarks_keep_a_quiet_watch(rig):
    rig.api.bookmark_s = 0.3
    first = rig.api.put(make_pod("first"))
    with rig.probe() as probe:
        probe.knows(first)
        time.sleep(3)
        assert len(rig.api.requests("watch")) == 1
        assert probe.stats()["age_s"] < 1


def watches_end_as_agreed(rig):
    first = rig.api.put(make_pod("first"))
    with rig.probe(timing={**FAST, "watch_life": 1000, "watch_idle": 60000}) as probe:
        probe.knows(first)
        probe.until(lambda p: len(rig.api.requests("watch")) >= 3, seconds=12)
        stats = probe.stats()
        assert stats["failures"] == 0 and stats["reachable"] and len(rig.api.requests("list")) == 1, stats


# ---- R34: which container is which ----

def same_name_again(rig):
    old = rig.api.put(make_pod("db-0", uid="uid-old"))
    with rig.probe() as probe:
        probe.knows(old)
        rig.api.delete(old)
        new = rig.api.put(make_pod("db-0", uid="uid-new"))
        probe.knows(new)
        assert probe.find(pod_id(new))["pod_id"] == "uid-new"
        assert probe.find(pod_id(old))["pod_id"] == "uid-old", "energy that is still on its way has no name"
        probe.until(lambda p: p.stats()["pods"] == 1)


def restarted_container(rig):
    pod = rig.api.put(make_pod("shop"))
    with rig.probe() as probe:
        probe.knows(pod)
        newer = container_id("restarted")
        pod["status"]["containerStatuses"] = [status_of("main", newer, last=pod_id(pod))]
        rig.api.put(pod)
        probe.until(lambda p: p.find(newer))
        assert probe.find(newer)["pod_id"] == probe.find(pod_id(pod))["pod_id"]


def every_kind_of_container(rig):
    pod = make_pod("etcd-node-1", namespace="kube-system", ownerReferences=[{"kind": "Node", "name": "node-1", "controller": True}],
                   annotations={"kubernetes.io/config.hash": "0" * 32, "kubernetes.io/config.mirror": "0" * 32})
    for kind in ("init", "ephemeral"):
        pod["status"][kind + "ContainerStatuses"] = [status_of(kind, container_id(kind))]
    rig.api.put(pod)
    with rig.probe(labels="app") as probe:
        probe.knows(pod)
        for identity, name in ((pod_id(pod), "main"), (container_id("init"), "init"), (container_id("ephemeral"), "ephemeral")):
            found = probe.find(identity)
            assert (found["name"], found["pod_id"], found["workload"], found["type"], found["labels"], found["qos"]) == \
                (name, "0" * 32, "etcd", "StaticPod", {"label_app": "etcd-node-1"}, "Burstable"), found


def pod_that_is_not_there_yet(rig):
    """Events of the one watch bring it; no list, and no watch that is begun anew."""
    pod = make_pod("late")
    patient = dict.fromkeys(("request", "watch_idle", "watch_life"), 300000)
    with rig.probe(timing={**FAST, **patient}) as probe:
        probe.until(lambda p: p.stats()["reachable"] and rig.api.requests("watch"), seconds=30)
        assert probe.find(pod_id(pod)) == {}
        starting = make_pod("late", containers=())
        rig.api.put(starting)
        rig.api.put(pod)
        probe.knows(pod, seconds=60)
        assert len(rig.api.requests("watch")) == 1 and len(rig.api.requests("list")) == 1, rig.api.requests()


def many_that_boot_do_not_ask_together(rig):
    """Sixteen nodes of a machine that has just booted; evenly within 3 s here, 10 s by default."""
    timing = {"boot_window": 10 ** 15, "boot_spread": 3000}
    with contextlib.ExitStack() as nodes:
        ready = {}
        for number in range(16):
            nodes.enter_context(rig.probe(timing=timing, source="apiserver", node=f"node-{number}"))
            ready[f"spec.nodeName=node-{number}"] = time.monotonic()
        deadline = time.monotonic() + 60
        while len(rig.api.requests("list")) < 16 and time.monotonic() < deadline:
            time.sleep(0.05)
        waits = [at - ready[query["fieldSelector"]] for at, _, query, _ in rig.api.requests("list")]
    assert len(waits) == 16 and max(waits) - min(waits) > 0.75, sorted(waits)


run_cases([
    failing_for_long_is_asked_once_in_ten_seconds, cut_watch_goes_on_soon, watch_that_ends_at_once_is_a_fault,
    mute_server_is_no_absent_one, down_later_then_back, down_at_start_then_back, gone_for_ever, gone_within_the_stream,
    gone_as_the_answer, gone_after_an_event, gone_in_other_words, gone_between_pages, too_many_requests, server_errors,
    watch_errors_are_no_reason_to_list, version_that_is_refused_is_given_up, words_of_a_refusal_are_no_events,
    refused_watch_without_an_end, half_a_chunk_in_the_watch, reset_in_the_list, a_list_cut_between_pods_removes_none,
    one_byte_a_second, event_byte_by_byte, blank_lines_for_events, silent_list, silent_watch, bookmarks_keep_a_quiet_watch,
    watches_end_as_agreed, same_name_again, restarted_container, every_kind_of_container, pod_that_is_not_there_yet,
    many_that_boot_do_not_ask_together])
