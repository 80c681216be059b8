# SPDX-License-Identifier: Apache-2.0
"""Pages of other exporters, written from their documented formats, over the rig's own sensors and this machine's processes.

Each exporter is right unless faults are named, which are ones that it was seen to have. A page is a metric's TYPE and rows, without
descriptions but where they are the fault.
"""
import os
import pathlib
import threading
import time

from page_server import PageServer

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
NOT_A_PID = 999999999
OLD_S = 3600


class Process:
    def __init__(self, folder):
        self.pid, self.comm = folder.name, (folder / "comm").read_text().rstrip("\n")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        self.cpu_s = (int(fields[11]) + int(fields[12])) * TICK_S
        self.key = (self.pid, fields[19])
        words = (folder / "cmdline").read_text(errors="replace").split("\0")[:2]
        self.is_renamed = words != [""] and self.comm not in [pathlib.Path(word).name[:15] for word in words]


def processes():
    """All processes except those that have renamed themselves. Some of them have their new name for a moment only, so that a page
    would name them wrongly."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append(Process(folder))
            except (OSError, IndexError):
                pass  # it ended
    return [process for process in found if not process.is_renamed]


def busy_s():
    """(CPUs that were busy, all of them), in seconds since the boot."""
    user, nice, system, idle, wait, irq, soft, steal = map(int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    busy = user + nice + system + irq + soft + steal
    return busy * TICK_S, (busy + idle + wait) * TICK_S


def family(name, kind, rows, description=""):
    lines = [f"# HELP {name} {description}"] if description else []
    lines.append(f"# TYPE {name} {kind}")
    for labels, value in rows:
        lines.append(name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + f"}} {value:.6f}")
    return "\n".join(lines) + "\n"


class Peer:
    """What all have: an interval of their own, and energy and CPU time since the page before, shared by CPU time."""
    every_s = 0.5

    def __init__(self, sensors, zones, faults=()):
        self.sensors, self.zones, self.faults = sensors, zones, faults  # zones: name → labsysfs path
        self.lock, self.text = threading.Lock(), ""
        self.began_s = self.made_s = time.monotonic()
        self.node, self.shares = {}, {}
        self.cpu, self.busy = {}, (0, 0)
        self.read()

    def read(self):
        """Sets .delta (J by zone), .usage (busy part of the CPUs), .now (processes), .used (CPU seconds by process)."""
        truth = self.sensors.truth_uj()
        node = {zone: truth[path] / 1e6 for zone, path in self.zones.items()}
        busy, self.now = busy_s(), processes()
        self.delta = {zone: joules - self.node.get(zone, joules) for zone, joules in node.items()}
        total = busy[1] - self.busy[1]
        self.usage = (busy[0] - self.busy[0]) / total if total > 0 else 0
        self.used = {process.key: process.cpu_s - self.cpu.get(process.key, process.cpu_s) for process in self.now}
        self.node, self.busy = node, busy
        self.cpu = {process.key: process.cpu_s for process in self.now}

    def share(self, joules):
        """By CPU time; no process is in debt, and what ended meanwhile has no part."""
        total = sum(self.used.values())
        for zone, energy in joules.items():
            for key, used in self.used.items() if total > 0 else ():
                self.shares[key, zone] = self.shares.get((key, zone), 0) + energy * used / total
        return total > 0

    def page(self):
        with self.lock:
            if time.monotonic() - self.made_s >= self.every_s or not self.text:
                self.made_s = time.monotonic()
                self.read()
                self.text = self.make()
            return self.text

    def is_late(self):
        """The fault shows some time after the start."""
        return time.monotonic() - self.began_s > 8


class Kepler(Peer):
    """From 0.10 on. Faults: unreadable, reused, zeroed, register; pods: it has CPU seconds of a pod, and adds the whole of its
    container's each time."""
    def __init__(self, *args):
        self.active, self.pod_s = {}, 0
        super().__init__(*args)

    def pods(self):
        """CPU seconds of the pod of all processes."""
        used_s = sum(process.cpu_s for process in self.now)
        self.pod_s = self.pod_s + used_s if "pods" in self.faults else used_s
        return family("kepler_pod_cpu_seconds_total", "counter", [({"pod_id": "a-pod", "pod_name": "a-pod"}, self.pod_s)])

    def rows(self):
        name = "a-former-name" if "reused" in self.faults else None
        for process in self.now:
            comm = name if name and process.pid == str(os.getpid()) else process.comm
            for zone in self.zones:
                joules = self.shares.get((process.key, zone), 0)
                if "reused" in self.faults and self.is_late() and process.pid != str(os.getpid()):
                    joules += 18446744073694.0
                yield {"comm": comm, "pid": process.pid, "state": "running", "zone": zone}, joules

    def make(self):
        info = family("kepler_build_info", "gauge", [({"version": "0"}, 1)])
        info += family("kepler_node_cpu_info", "gauge", [({"processor": "0"}, 1)])
        if "unreadable" in self.faults:
            return info
        active = {zone: joules * self.usage for zone, joules in self.delta.items()}
        if self.share(active):
            for zone, joules in active.items():
                self.active[zone] = self.active.get(zone, 0) + joules
        if "zeroed" in self.faults and self.is_late() and self.faults.pop("zeroed"):
            self.shares.clear()
        node = dict(self.node)
        if "register" in self.faults:
            node = {zone: int(pathlib.Path(self.sensors.mount, path).read_text()) / 1e6 for zone, path in self.zones.items()}
        return (info + family("kepler_node_cpu_joules_total", "counter", [({"zone": zone}, j) for zone, j in node.items()]) +
                family("kepler_node_cpu_active_joules_total", "counter", [({"zone": z}, self.active.get(z, 0)) for z in node]) +
                family("kepler_process_cpu_joules_total", "counter", self.rows()) +
                family("kepler_process_cpu_seconds_total", "counter",
                       [({"comm": p.comm, "pid": p.pid}, p.cpu_s) for p in self.now]) +
                (self.pods() if "pods" in self.faults else ""))


class ClassicKepler(Peer):
    """Up to 0.9: it updates every 3 s. Fault: misnamed."""
    every_s = 3

    def name_of(self, process):
        is_wrong = "misnamed" in self.faults and process.pid == str(os.getpid())
        return "the-one-before" if is_wrong else process.comm

    def make(self):
        self.share(self.delta)
        text = family("kepler_exporter_build_info", "gauge", [({"version": "0"}, 1)])
        for zone, joules in self.node.items():
            text += family(f"kepler_node_{zone}_joules_total", "counter",
                           [({"mode": "dynamic", "package": "0", "source": "rapl-sysfs"}, joules)])
            text += family(f"kepler_process_{zone}_joules_total", "counter",
                           [({"command": self.name_of(p), "mode": "dynamic", "pid": p.pid, "source": "rapl-sysfs"},
                             self.shares.get((p.key, zone), 0)) for p in self.now])
        return text


class Scaphandre(Peer):
    """It reads only if the last request is more than 2 s old. Faults: poisoned."""
    def __init__(self, *args):
        self.asked_s = 0
        super().__init__(*args)

    def page(self):
        with self.lock:
            if "poisoned" in self.faults and self.is_late():
                return ""
            now_s = time.monotonic()
            if now_s - self.asked_s > 2 or not self.text:
                span_s, self.made_s = now_s - self.made_s, now_s
                self.read()
                self.text = self.make(span_s)
            self.asked_s = now_s
            return self.text

    def make(self, span_s):
        package, dram = self.node["package"], self.node["dram"]
        power = sum(self.delta.values()) / span_s if span_s > 0 else 0
        cpus = os.cpu_count()
        wrong = "Total data read on disk by the process, in bytes"
        return (family("scaph_process_disk_total_read_bytes", "gauge", [({"exe": "", "pid": "1"}, 0)], wrong) +
                family("scaph_process_power_consumption_microwatts", "gauge",
                       [({"exe": "", "pid": p.pid}, 1e6 * power * self.used[p.key] / (span_s * cpus) if span_s > 0 else 0)
                        for p in self.now], wrong) +
                family("scaph_domain_energy_microjoules", "counter",
                       [({"domain_name": "dram", "domain_id": "0", "socket_id": "0"}, 1e6 * dram)]) +
                family("scaph_socket_energy_microjoules", "counter", [({"socket_id": "0"}, 1e6 * package)]))


class Alumet(Peer):
    """Each value is what came since the value before, and no row is ever removed. Fault: no-processes."""
    every_s = 1

    def __init__(self, *args):
        self.old = {str(NOT_A_PID): 0}
        super().__init__(*args)

    def make(self):
        here = {"resource_id": "", "resource_kind": "local_machine"}
        text = family("rapl_consumed_energy_alumet_joules", "gauge",
                      [({**here, "domain": zone + end, "resource_consumer_kind": "local_machine"}, joules)
                       for zone, joules in self.delta.items() for end in ("", "_total")])
        if "no-processes" in self.faults:
            return text
        # The first value of a process is the CPU time of its whole life, and pid 1 of this machine has lived for long.
        first_s = {p.pid: p.cpu_s + (OLD_S if p.pid == "1" else 0) for p in self.now}
        self.old.update({p.pid: self.used[p.key] if p.pid in self.old else first_s[p.pid] for p in self.now})
        return text + family("cpu_time_delta_alumet_nanoseconds", "gauge",
                             [({**here, "resource_consumer_id": pid, "resource_consumer_kind": "process"}, 1e9 * used)
                              for pid, used in self.old.items()])


class PeerServer(PageServer):
    """Hands out the page of the peer that the path names."""

    def __init__(self, peers):
        super().__init__(lambda name: peers[name].page())
