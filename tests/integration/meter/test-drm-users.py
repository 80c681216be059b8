#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What processes use of the GPUs of AMD and Intel, by fdinfo: files in the place of sysfs and of /proc, whose engines run and whose
boards draw power meanwhile. The processes are real."""
import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import stat
import subprocess
import tempfile
import threading
import time

from rig import KEPLER, OTHERS_ENVIRONMENT, Exporter, Sensors, balanced, close, need_program, rapl_zone, release_binary, run_tests

# Without BPF processes and their open files are read from the /proc that is given.
OPTIONS = ("--no-bpf.enabled", "--monitor.interval=500ms", "--metrics.settle=0s", "--metrics.process.min-joules=0",
           "--idle.mode=off")
GPU = "kepler_{}_gpu_joules_total"
I915, XE, AMD = "0000:4d:00.0", "0000:5e:00.0", "0000:03:00.0"
XE_HZ = 19_200_000
PTRACE, READ = 1 << 19, 1 << 2


class Machine:
    """Boards and their users. Everything advances in steps; fdinfo is written in place, because Kepler keeps it open."""

    def __init__(self, folder):
        self.sysfs, self.procfs = pathlib.Path(folder, "sys"), pathlib.Path(folder, "proc")
        self.boards, self.clients, self.elapsed_ns, self.ends, self.lock = {}, [], 0, threading.Event(), threading.Lock()
        self.thread = threading.Thread(target=self.run)
        self.procfs.mkdir()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                (self.procfs / entry.name).symlink_to(entry)

    def write(self, path, text):
        path = self.sysfs / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def board(self, number, address, driver, watts):
        """Its card, its render node, its driver and its sensor."""
        device = f"devices/pci0000:00/{address}"
        self.write(f"{device}/power/runtime_status", "active")
        self.write(f"bus/pci/drivers/{driver}/bind", "")
        (self.sysfs / device / "driver").symlink_to(self.sysfs / "bus/pci/drivers" / driver)
        for node in (f"card{number}", f"renderD{128 + number}"):
            self.write(f"class/drm/{node}/dev", "")
            (self.sysfs / f"class/drm/{node}/device").symlink_to(self.sysfs / device)
        sensor = f"{device}/hwmon/hwmon{number}/" + ("power1_average" if driver == "amdgpu" else "energy1_input")
        if driver == "amdgpu":
            self.write(f"{device}/hwmon/hwmon{number}/power1_cap", 300_000_000)
            self.write(sensor, watts * 10**6)
        self.boards[address] = (driver, watts, sensor)

    def process(self, pid):
        """Its /proc entry is the real one but for its descriptors, and files that Kepler opens through no link: it sleeps."""
        folder = self.procfs / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "fdinfo").mkdir()
        for name in ("status", "cgroup", "cmdline", "comm", "task", "exe"):
            (folder / name).symlink_to(f"/proc/{pid}/{name}")
        for name in ("stat", "schedstat"):
            (folder / name).write_text(pathlib.Path(f"/proc/{pid}/{name}").read_text())

    def opens(self, pid, fd, node, address, client_id, share):
        """@share: the part of the time for which its engine is busy for the client."""
        folder = self.procfs / str(pid)
        with self.lock:
            self.clients.append([folder / f"fdinfo/{fd}", address, client_id, share, 0])
            self.print()
            (folder / f"fd/{fd}").symlink_to(self.device(node))

    def device(self, node):
        """The device file, which nothing opens."""
        path = self.procfs.parent / node
        if not path.exists():
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(226, int(node.strip("cardenD"))))
        return path

    def print(self):
        for path, address, client_id, _, busy_ns in self.clients:
            driver = self.boards[address][0]
            text = f"pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t685\ndrm-driver:\t{driver}\ndrm-client-id:\t{client_id}\n" \
                   f"drm-pdev:\t{address}\n"
            if driver == "xe":
                cycles = [ns * XE_HZ // 10**9 for ns in (busy_ns, self.elapsed_ns + 10**10)]
                text += f"drm-cycles-ccs:\t{2 * cycles[0]:020}\ndrm-total-cycles-ccs:\t{cycles[1]:020}\n" \
                        "drm-engine-capacity-ccs:\t2\n"
            else:
                engine = "gfx" if driver == "amdgpu" else "render"
                text += f"drm-engine-{engine}:\t{busy_ns:020} ns\ndrm-memory-vram:\t2068 KiB\n"
            with open(path, "r+b" if path.exists() else "wb", buffering=0) as file:
                file.write(text.encode())

    def step(self, ns):
        with self.lock:
            self.elapsed_ns += ns
            for client in self.clients:
                client[4] += int(ns * client[3])
            self.print()
            for driver, watts, sensor in self.boards.values():
                if driver != "amdgpu":
                    self.write(sensor, 10**9 + self.elapsed_ns * watts // 1000)

    def run(self):
        before_ns = time.monotonic_ns()
        while not self.ends.wait(0.1):
            now_ns = time.monotonic_ns()
            self.step(now_ns - before_ns)
            before_ns = now_ns

    def __enter__(self):
        self.step(1)
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.ends.set()
        self.thread.join()


@contextlib.contextmanager
def made(*boards, users=3):
    """Boards as (number, address, driver, watts), and processes that sleep."""
    processes = [subprocess.Popen(["sleep", "1000"]) for _ in range(users)]
    try:
        with tempfile.TemporaryDirectory(prefix="kepler-drm-", dir="/dev/shm") as folder:
            os.chmod(folder, 0o755)
            machine = Machine(folder)
            for board in boards:
                machine.board(*board)
            for process in processes:
                machine.process(process.pid)
            with machine:
                yield machine, [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def exporter_of(machine, *options):
    return Exporter(f"--host.sysfs={machine.sysfs}", f"--host.procfs={machine.procfs}", *OPTIONS, *options)


def process_j(metrics, pid, **labels):
    return float(metrics.sum(GPU.format("process"), pid=str(pid), **labels))


def node_j(metrics, address, **labels):
    return float(metrics.sum(GPU.format("node"), package=address, **labels))


def unattributed_j(metrics, address, **labels):
    return float(metrics.sum("kepler_node_unattributed_joules_total", zone="gpu", package=address, **labels))


def wait_until(exporter, condition, seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        metrics = balanced(exporter.intervals(1))
        if condition(metrics):
            return metrics
        assert time.monotonic() < deadline, metrics.text


def helper_of(exporter):
    children = pathlib.Path(f"/proc/{exporter.process.pid}/task/{exporter.process.pid}/children").read_text().split()
    assert len(children) == 1, children
    return int(children[0])


def capabilities(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {int(line.split()[1], 16) for line in status if line.startswith(("CapEff:", "CapPrm:"))}


def each_process_has_what_it_used():
    """Two on a board, of which one has a copy of its descriptor and a child that inherited it; one alone on another."""
    with made((0, I915, "i915", 200), (1, XE, "xe", 100)) as (machine, (first, second, child)):
        machine.opens(first, 5, "renderD128", I915, 7, 0.6)
        machine.opens(first, 6, "renderD128", I915, 7, 0.6)
        machine.opens(child, 5, "renderD128", I915, 7, 0.6)
        machine.opens(second, 5, "renderD128", I915, 8, 0.3)
        machine.opens(second, 9, "renderD129", XE, 9, 0.5)
        with exporter_of(machine) as exporter:
            helper = helper_of(exporter)
            assert capabilities(helper) == {PTRACE | READ}, capabilities(helper)
            assert all(held & PTRACE == 0 for held in capabilities(exporter.process.pid))
            began = wait_until(exporter, lambda metrics: process_j(metrics, second) > 0 and process_j(metrics, first) > 0)
            metrics = wait_until(exporter, lambda metrics: process_j(metrics, first) > process_j(began, first) + 1000)
            grown = {pid: process_j(metrics, pid) - process_j(began, pid) for pid in (first, second, child)}
            boards = {address: node_j(metrics, address) - node_j(began, address) for address in (I915, XE)}
            lost = sum(unattributed_j(metrics, address) - unattributed_j(began, address) for address in (I915, XE))
            assert lost == 0 and grown[child] == 0, (lost, grown)
            assert metrics.value("kepler_exporter_denied_system_calls_total") == 0, exporter.output()
            # Energy of a board is in a process's one sum, so the second one's part of the first board is what is left.
            close("of two on a board", grown[first] / (boards[I915] - grown[first]), 2, 2)
            close("on both boards", (grown[second] - boards[XE]) / boards[I915], 1 / 3, 2)
            # The opener ends, and its child goes on with what both have open.
            for fd in (5, 6):
                (machine.procfs / str(first) / f"fd/{fd}").unlink()
            wait_until(exporter, lambda metrics: process_j(metrics, child) > 50)
            assert exporter.stop() == 0
        deadline = time.monotonic() + 10
        while pathlib.Path(f"/proc/{helper}").exists():
            assert time.monotonic() < deadline, "the helper outlives Kepler"
            time.sleep(0.01)


def one_that_comes_later_is_charged_at_once():
    with made((0, I915, "i915", 200), users=2) as (machine, (first, second)):
        machine.opens(first, 5, "renderD128", I915, 7, 0.5)
        with exporter_of(machine) as exporter:
            wait_until(exporter, lambda metrics: process_j(metrics, first) > 0)
            machine.opens(second, 5, "renderD128", I915, 8, 0.5)
            began = time.monotonic()
            wait_until(exporter, lambda metrics: process_j(metrics, second) > 0)
            print(f"  after {time.monotonic() - began:.1f} s")
            # A session manager's descriptor of the card is of no process that is known.
            for pid in (first, second):
                machine.opens(pid, 9, "card0", I915, 9, 0.5)
            before = wait_until(exporter, lambda metrics: unattributed_j(metrics, I915) > 0)
            metrics = wait_until(exporter, lambda metrics: unattributed_j(metrics, I915) > unattributed_j(before, I915) + 100)
            close("of what nobody is known for", (unattributed_j(metrics, I915) - unattributed_j(before, I915)) /
                  (node_j(metrics, I915) - node_j(before, I915)), 1 / 3, 2)


def copies_and_decoys_hide_nothing():
    """A user of 80 per cent copies a descriptor 4,100 times, in front of one of 10 per cent, or opens plain files."""
    with made((0, I915, "i915", 200)) as (machine, (user, victim, second)):
        plain = machine.procfs.parent / "renderD128.plain"
        plain.write_text("")
        machine.opens(victim, 5, "renderD128", I915, 7, 0.1)
        for fd in range(10, 4110):
            (machine.procfs / str(second) / f"fd/{fd}").symlink_to(plain)
        with exporter_of(machine) as exporter:
            wait_until(exporter, lambda metrics: process_j(metrics, victim) > 0)
            assert "than are read" not in exporter.output()
            for fd in range(10, 4110):
                (machine.procfs / str(user) / f"fd/{fd}").symlink_to(machine.device("renderD128"))
            machine.opens(user, 5000, "renderD128", I915, 8, 0.8)
            began = wait_until(exporter, lambda metrics: metrics.value("kepler_exporter_device_files_unread") > 4000)
            began = wait_until(exporter, lambda metrics: node_j(metrics, I915) > node_j(began, I915) + 400)
            metrics = wait_until(exporter, lambda metrics: node_j(metrics, I915) > node_j(began, I915) + 1000)
            flowed = node_j(metrics, I915) - node_j(began, I915)
            close("of the victim", (process_j(metrics, victim) - process_j(began, victim)) / flowed, 0.1, 10)
            # Time whose user cannot be known belongs to no user.
            assert process_j(metrics, user) + unattributed_j(metrics, I915, reason="unseen") > 0.8 * flowed
        doctor = subprocess.run([KEPLER, "doctor", "--verbose", "--config.file=/dev/null", f"--host.sysfs={machine.sysfs}",
                                 f"--host.procfs={machine.procfs}", "--no-bpf.enabled"], text=True, capture_output=True,
                                check=False).stdout
        assert "a process with more than 64" in doctor and "raise LimitNOFILE" not in doctor, doctor


def one_that_is_passed_on_takes_no_energy():
    with made((0, I915, "i915", 200), users=2) as (machine, (daemon, user)):
        cgroup = machine.procfs / str(daemon) / "cgroup"
        cgroup.unlink()
        cgroup.write_text("0::/system.slice/daemon.service\n")
        machine.opens(user, 5, "renderD128", I915, 7, 0.5)
        with exporter_of(machine) as exporter:
            wait_until(exporter, lambda metrics: process_j(metrics, user) > 0)
            machine.opens(daemon, 9, "renderD128", I915, 7, 0.5)
            wait_until(exporter, lambda metrics: process_j(metrics, user) > 500)
            assert process_j(exporter.intervals(1), daemon) == 0


def holders_of_a_board_are_charged_its_idle_energy():
    idle = ("--idle.mode=fixed", "--idle.watts=gpu=60", "--gpu.idle=holder")
    with made((0, I915, "i915", 200)) as (machine, (busy, quiet, other)):
        machine.opens(busy, 5, "renderD128", I915, 7, 0.5)
        machine.opens(quiet, 5, "renderD128", I915, 8, 0)
        with exporter_of(machine, *idle) as exporter:
            metrics = wait_until(exporter, lambda metrics: process_j(metrics, busy) > 250)
            shares = [process_j(metrics, pid, mode="idle") for pid in (busy, quiet, other)]
            close("of what works over what only holds it", shares[0] / shares[1], 1, 2)
            assert shares[2] == 0 and process_j(metrics, quiet, mode="dynamic") == 0, shares


def what_kfd_computes_is_no_other_process_s():
    """A board that is busy for 80 per cent of the time, of which fdinfo knows a quarter."""
    with made((0, AMD, "amdgpu", 200), users=1) as (machine, (only,)):
        machine.write("class/kfd/kfd/proc/4711/pasid", 1)
        machine.write(f"devices/pci0000:00/{AMD}/gpu_busy_percent", 80)
        machine.opens(only, 5, "renderD128", AMD, 7, 0.2)
        with exporter_of(machine) as exporter:
            began = wait_until(exporter, lambda metrics: process_j(metrics, only) > 0)
            metrics = wait_until(exporter, lambda metrics: process_j(metrics, only) > process_j(began, only) + 150)
            close("of one beside KFD", (process_j(metrics, only) - process_j(began, only)) /
                  (node_j(metrics, AMD) - node_j(began, AMD)), 0.25, 8)


def a_helper_that_hangs_costs_the_users_alone():
    with made((0, I915, "i915", 200), users=1) as (machine, (only,)), \
            Sensors(rapl_zone("intel-rapl:0", "package-0", 50)) as sensors:
        machine.opens(only, 5, "renderD128", I915, 7, 0.5)
        (machine.sysfs / "class/powercap").symlink_to(f"{sensors.mount}/class/powercap")
        with exporter_of(machine) as exporter:
            wait_until(exporter, lambda metrics: process_j(metrics, only) > 0)
            os.kill(helper_of(exporter), signal.SIGSTOP)
            began = wait_until(exporter, lambda _: "open files cannot be searched for" in exporter.output(), 60)
            metrics = wait_until(exporter, lambda metrics: node_j(metrics, I915) > node_j(began, I915) + 100)
            assert metrics.value("kepler_exporter_source_up", zone="package") == 1
            assert process_j(metrics, only) > process_j(began, only), "what was open can be read"
            os.kill(helper_of(exporter), signal.SIGKILL)
            assert exporter.stop() == 0


def the_helper_s_system_calls_are_filtered():
    """Of what users get: a build with sanitizers has no filter."""
    def filters(pid):
        return int(re.search(r"Seccomp_filters:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    with made((0, I915, "i915", 200), users=1) as (machine, _), \
            Exporter(f"--host.sysfs={machine.sysfs}", f"--host.procfs={machine.procfs}", *OPTIONS,
                     binary=release_binary()) as exporter:
        wait_until(exporter, lambda metrics: True)
        assert filters(helper_of(exporter)) == filters("self") + 1


def what_may_not_be_read_is_said():
    with made((0, I915, "i915", 200), users=1) as (machine, (only,)):
        machine.opens(only, 5, "renderD128", I915, 7, 0.5)
        (machine.procfs / str(only) / "fdinfo").chmod(0)
        prefix = [need_program("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
        doctor = subprocess.run([*prefix, KEPLER, "doctor", "--verbose", "--config.file=/dev/null", f"--host.sysfs={machine.sysfs}",
                                 f"--host.procfs={machine.procfs}", "--no-bpf.enabled"], text=True, capture_output=True,
                                check=False, env=OTHERS_ENVIRONMENT).stdout
        assert "unread: 1 device files" in doctor and "CAP_SYS_PTRACE" in doctor, doctor
        needs = [subprocess.run([KEPLER, "config", "needs", "--config.file=/dev/null", f"--host.sysfs={sysfs}"], text=True,
                                capture_output=True, check=True).stdout for sysfs in (machine.sysfs, "/nowhere")]
        assert "CAP_SYS_PTRACE" in needs[0] and "CAP_SYS_PTRACE" not in needs[1], needs
        with Exporter("--host.sysfs=/nowhere", *OPTIONS) as exporter:  # no board: no helper
            assert pathlib.Path(f"/proc/{exporter.process.pid}/task/{exporter.process.pid}/children").read_text() == ""


def all_at_once():
    """They mostly wait, and each has a machine and an exporter of its own."""
    tests = (each_process_has_what_it_used, one_that_comes_later_is_charged_at_once,
             copies_and_decoys_hide_nothing, one_that_is_passed_on_takes_no_energy, holders_of_a_board_are_charged_its_idle_energy,
             what_kfd_computes_is_no_other_process_s, a_helper_that_hangs_costs_the_users_alone,
             the_helper_s_system_calls_are_filtered, what_may_not_be_read_is_said)
    with concurrent.futures.ThreadPoolExecutor(len(tests)) as pool:
        for result in [pool.submit(test) for test in tests]:
            result.result()


run_tests([all_at_once])
