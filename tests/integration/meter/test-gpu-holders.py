#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Idle energy of boards goes to the containers that the kubelet gave them to, to the microjoule: a pod in which nothing has opened
its board bears it, pods that share one bear their shares, and a socket that lies costs nothing else.

The kubelet's answers are played; the test names/kubernetes-devices asks a real one. Boards are those of tests/lab/nvml.c.
"""
import concurrent.futures
import contextlib
import pathlib
import subprocess
import tempfile
import threading
import time

import containers
from fake_kubernetes import FakeKubernetes, make_pod, pod_id
from kube_pods import join, pod_cgroup
from pod_resources import PodResources, claim, container, devices, message, pod
from rig import BUILD, Exporter, Sensors, balanced, need_root, rapl_zone, run_tests

OPTIONS = ("--monitor.interval=250ms", "--metrics.settle=0s", "--metrics.process.min-joules=0", "--idle.mode=fixed",
           "--idle.watts=gpu=40", "--gpu.idle=holder", "--kube.pods=kubelet", "--runtimes.enabled=false",
           f"--meter.nvml-library={BUILD}/tests/lab/nvml.so")
ROW = "kepler_container_gpu_joules_total"
IDS = "kepler_exporter_pod_resources_ids"


def uuid(index):
    return f"GPU-{index:08x}-0000-4000-8000-{index:012x}"


def instance(number):
    return f"MIG-00000000-0000-4000-8000-{number:012x}"


class Pod:
    """A pod that Kubernetes knows, with a container in which `count` processes sleep."""

    def __init__(self, fake, name, count=1):
        self.name, self.api = name, fake.put(make_pod(name))
        self.id = pod_id(self.api)
        self.cgroup = pod_cgroup(self.api["metadata"]["uid"], self.id)
        self.processes = [subprocess.Popen(["sleep", "1000"], preexec_fn=lambda: join(self.cgroup)) for _ in range(count)]
        self.pids = [process.pid for process in self.processes]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
        containers.remove_cgroup(self.cgroup)


class Node:
    """Pods, the kubelet's two doors, boards and the exporter."""

    def __init__(self, stack):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kepler-holders-")))
        self.fake, self.stack, self.exporter = FakeKubernetes(token=""), stack, None
        self.kubelet = None
        stack.callback(self.fake.down)

    def pod(self, name, count=1):
        made = Pod(self.fake, name, count)
        self.stack.callback(made.end)
        return made

    def serve(self, pods=b"", fault=None):
        self.kubelet = PodResources(self.folder / "kubelet.sock", pods, fault)
        self.stack.callback(self.kubelet.close)

    def start(self, *boards, options=()):
        (self.folder / "state").write_text("".join(line + "\n" for line in boards))
        sensors = self.stack.enter_context(Sensors(rapl_zone("intel-rapl:0", "package-0", 50)))
        self.exporter = self.stack.enter_context(Exporter(
            f"--host.sysfs={sensors.mount}", *OPTIONS, f"--kube.kubelet-url={self.fake.url}",
            f"--kube.pod-resources={self.folder}/kubelet.sock", *options, env={"NVML_LAB_STATE": str(self.folder / "state")}))
        return self.exporter

    def until(self, condition, seconds=25):
        deadline = time.monotonic() + seconds
        while True:
            metrics = balanced(self.exporter.intervals(1))
            assert not metrics.pod_imbalance_uj(), metrics.pod_imbalance_uj()
            if condition(metrics):
                return metrics
            assert time.monotonic() < deadline, metrics.text + self.exporter.output()


def node():
    stack = contextlib.ExitStack()
    return stack, Node(stack)


def uj(metrics, name, **labels):
    return int(metrics.sum(name, mode="idle", **labels) * 10**6)


def grown(before, after, name, **labels):
    return uj(after, name, **labels) - uj(before, name, **labels)


def held(metrics):
    return metrics.value(IDS, result="held")


def a_board_that_nothing_has_opened_is_its_pods():
    """Neither a monitor on the host, which looks at all boards, nor the pod beside it has any of it."""
    stack, node_ = node()
    with stack:
        train, beside = node_.pod("train"), node_.pod("beside")
        monitor = subprocess.Popen(["sleep", "1000"])
        stack.callback(monitor.kill)
        node_.serve(pod("train", container("main", devices("nvidia.com/gpu", uuid(0)))) +
                    pod("beside", container("main", devices("vendor.example/nic", "0000:03:00.0"))))
        node_.start("gpu 0 60000", f"proc 0 {monitor.pid} 0 10")
        before = node_.until(lambda m: held(m) == 1 and m.sum(ROW, container_id=train.id, mode="idle") > 0)
        after = node_.until(lambda m: uj(m, ROW, container_id=train.id) > uj(before, ROW, container_id=train.id) + 80_000_000)
        got, want = grown(before, after, ROW, container_id=train.id), grown(before, after, "kepler_node_gpu_joules_total")
        print(f"  {got / 1e6:.6f} J of {want / 1e6:.6f} J of idle energy")
        assert got == want > 0
        for name in ("kepler_pod_gpu_joules_total", "kepler_process_gpu_joules_total"):
            assert grown(before, after, name, pod_name="train") == want, name
        assert grown(before, after, "kepler_process_gpu_joules_total", pid=str(train.pids[0])) == 0, "it has not opened it"
        assert grown(before, after, "kepler_process_gpu_joules_total", pid=str(monitor.pid)) == 0
        assert grown(before, after, ROW, container_id=beside.id) == 0
        assert not node_.kubelet.wrong, node_.kubelet.wrong
        assert after.value("kepler_exporter_pod_resources_up") == 1


def pods_that_share_a_board_are_charged_their_shares():
    """Of four replicas one has three and no process with the board open, one has one and two such processes."""
    stack, node_ = node()
    with stack:
        large, small = node_.pod("large"), node_.pod("small", 2)
        node_.serve(pod("large", container("main", devices("nvidia.com/gpu.shared", *[f"{uuid(0)}::{i}" for i in range(3)]))) +
                    pod("small", container("main", devices("nvidia.com/gpu.shared", f"{uuid(0)}::3"))) +
                    pod("claims", container("main", claim("gpu.nvidia.com", "gpu-1", f"k8s.gpu.nvidia.com/device={uuid(1)}"),
                                            claim("gpu.nvidia.com", "gpu-0-mig-9-0-1"))))
        claims = node_.pod("claims")
        node_.start("gpu 0 60000", "gpu 1 50000", *[f"proc 0 {pid} 0 10" for pid in small.pids])
        before = node_.until(lambda m: held(m) == 5 and m.sum(ROW, container_id=small.id, mode="idle") > 0)
        after = node_.until(lambda m: uj(m, ROW, container_id=large.id) > uj(before, ROW, container_id=large.id) + 60_000_000)
        parts = [grown(before, after, ROW, container_id=one.id) for one in (large, small)]
        want = grown(before, after, "kepler_node_gpu_joules_total", package=uuid(0))
        spans = 1 + want // 8_000_000  # each is rounded to the microjoule
        print(f"  {parts} µJ of {want} µJ")
        assert sum(parts) == want and abs(parts[0] - 3 * parts[1]) <= 4 * spans, parts
        two = [grown(before, after, "kepler_process_gpu_joules_total", pid=str(pid)) for pid in small.pids]
        assert sum(two) == parts[1] and abs(two[0] - two[1]) <= spans, two
        other = grown(before, after, "kepler_node_gpu_joules_total", package=uuid(1))
        assert grown(before, after, ROW, container_id=claims.id) == other > 0
        assert after.value(IDS, result="unknown") == 1 and after.value(IDS, result="nameless") == 0


def pods_with_an_instance_are_charged_its_slices():
    """Of seven slices in MIG mode four and three; neither pod has opened its instance."""
    stack, node_ = node()
    with stack:
        large, small = node_.pod("large"), node_.pod("small")
        node_.serve(pod("large", container("main", devices("nvidia.com/mig-4g.40gb", instance(1)))) +
                    pod("small", container("main", devices("nvidia.com/mig-3g.40gb", f"{instance(2)}::0"))))
        node_.start("gpu 0 60000", "mig 0 1 60 4 0", "mig 0 2 60 3 0")
        before = node_.until(lambda m: held(m) == 2 and m.sum(ROW, container_id=small.id, mode="idle") > 0)
        after = node_.until(lambda m: uj(m, ROW, container_id=large.id) > uj(before, ROW, container_id=large.id) + 40_000_000)
        parts = [grown(before, after, ROW, container_id=one.id) for one in (large, small)]
        want = grown(before, after, "kepler_node_gpu_joules_total")
        print(f"  {parts} µJ of {want} µJ")
        assert sum(parts) == want and abs(3 * parts[0] - 4 * parts[1]) <= 7 * (1 + want // 8_000_000), parts
        assert after.value(IDS, result="unknown") == 0


def boards_held_by_unknown_pods_are_charged_to_no_other():
    """A share of a container that Kubernetes has not named: dropped, and not its neighbour's."""
    stack, node_ = node()
    with stack:
        known = node_.pod("known")
        node_.serve(pod("known", container("main", devices("nvidia.com/gpu", uuid(0)))) +
                    pod("ghost", container("main", devices("nvidia.com/gpu", uuid(0)))))
        node_.start("gpu 0 60000")
        before = node_.until(lambda m: held(m) == 1 and m.value(IDS, result="nameless") == 1)
        after = node_.until(lambda m: uj(m, ROW, container_id=known.id) > uj(before, ROW, container_id=known.id) + 20_000_000)
        want = grown(before, after, "kepler_node_gpu_joules_total")
        lost = grown(before, after, "kepler_node_unattributed_joules_total", zone="gpu", reason="dropped")
        assert lost + grown(before, after, ROW, container_id=known.id) == want and abs(2 * lost - want) <= 20, (lost, want)


def endless(call):
    call.begin()
    call.data(message(b"", length=4 << 20))
    while True:
        call.data(pod("p" * 200, container("c" * 100)))


def hangs(call):
    threading.Event().wait(8)
    call.connection.close()


def many(call):
    """One board in a thousand containers, most of which nothing knows."""
    call.answer(message(b"".join(pod(f"p{i}", container("main", devices("nvidia.com/gpu", uuid(0)))) for i in range(999)) +
                        pod("held", container("main", devices("nvidia.com/gpu", uuid(0))))))


def ended(call, status, why=""):
    call.begin()
    call.end(status, why)


LIES = {
    "garbage": lambda call: call.answer(message(bytes(range(1, 256)) * 100)),
    "a frame of 4 GB": lambda call: call.answer(message(b"x", length=2**32 - 1)),
    "compressed": lambda call: call.answer(message(b"x", compressed=1)),
    "cut": lambda call: call.answer(message(b"x" * 10, length=1000)),
    "refused": lambda call: ended(call, "8", "rejected by rate limit"),
    "another method": lambda call: ended(call, "12", "unknown service"),
    "no status": lambda call: (call.begin(), call.data(message(b""), end=True)),
    "HTTP 500": lambda call: (call.begin("500"), call.end("13")),
    "endless": endless,
    "hangs": hangs,
    "not HTTP/2": lambda call: call.connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 1000),
}


def lie(fault):
    stack, node_ = node()
    with stack:
        node_.serve(fault=fault)
        node_.start("gpu 0 60000")
        metrics = node_.until(lambda m: m.value("kepler_exporter_pod_resources_failures_total") == 1)
        assert metrics.value("kepler_exporter_pod_resources_up") == 0
        later = node_.until(lambda m: m.sum("kepler_node_package_joules_total") >
                            metrics.sum("kepler_node_package_joules_total") + 50)
        assert held(later) == 0 and later.sum("kepler_node_gpu_joules_total", mode="idle") > 0
        assert "does not report which containers hold GPUs" in node_.exporter.output()
        assert node_.exporter.stop() == 0


def start_again():
    stack, node_ = node()
    with stack:
        train = node_.pod("train")
        node_.start("gpu 0 60000")
        node_.until(lambda m: m.value("kepler_exporter_pod_resources_failures_total") >= 1)
        assert "kubelet.sock: No such file or directory" in node_.exporter.output()
        node_.serve(pod("train", container("main", devices("nvidia.com/gpu", uuid(0)))))
        node_.until(lambda m: held(m) == 1 and m.sum(ROW, container_id=train.id, mode="idle") > 0)
        train.end()
        node_.until(lambda m: m.value(IDS, result="nameless") == 1 and held(m) == 0)


def a_socket_that_lies_costs_nothing_else():
    """Beside them, because it waits, a kubelet that starts after Kepler, whose pod ends later."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=7) as pool:
        done = {name: pool.submit(lie, fault) for name, fault in LIES.items()} | {"starts again": pool.submit(start_again)}
    failed = {name: repr(one.exception())[:3000] for name, one in done.items() if one.exception()}
    assert not failed, failed


def what_it_lists_has_limits():
    stack, node_ = node()
    with stack:
        kept = node_.pod("held")
        node_.serve(fault=many)
        node_.start("gpu 0 60000")
        metrics = node_.until(lambda m: m.value(IDS, result="nameless") == 512)
        assert metrics.value(IDS, result="beyond") == 488 and metrics.sum(ROW, container_id=kept.id) == 0


need_root()
run_tests([a_board_that_nothing_has_opened_is_its_pods, pods_that_share_a_board_are_charged_their_shares,
           pods_with_an_instance_are_charged_its_slices, boards_held_by_unknown_pods_are_charged_to_no_other,
           a_socket_that_lies_costs_nothing_else, what_it_lists_has_limits])
