# SPDX-License-Identifier: Apache-2.0
"""The rig: a real exporter, simulated sensors, real load, and exact arithmetic on what is exported.

Used by the integration tests. Values are read as integers of microjoules (Decimal inside), never as floats, so that a
test can ask for 0 µJ of error. Standard library only.
"""
import concurrent.futures
import contextlib
import fcntl
import functools
import gzip
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from decimal import Decimal

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("KEPLER_BUILD", ROOT / "build-check"))
CONFIG = ROOT / "tests/rig/rig.yaml"
KEPLER = pathlib.Path(os.environ.get("KEPLER_BINARY", BUILD / "kepler"))
SKIP = 77
# The exporter warns of KEPLER_ variables that it does not know; those above are ours.
OTHERS_ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("KEPLER_")}


def skip(reason):
    print("SKIP: " + reason)
    sys.exit(SKIP)


def need_root():
    if os.geteuid() != 0:
        skip("needs root")


def need_program(name):
    path = shutil.which(name)
    if not path:
        skip(f"{name} is not installed")
    return path


@functools.cache
def is_sanitized(binary):
    """Built with the address sanitizer: several times as slow, and with its own memory."""
    return b"__asan_init" in pathlib.Path(binary).read_bytes()


def machine_busy_s():
    """What the kernel says all tasks ran: exact where there is a cpuacct root, in ticks from /proc/stat elsewhere."""
    exact = pathlib.Path("/sys/fs/cgroup/cpuacct/cpuacct.usage")
    if exact.exists():
        return int(exact.read_text()) / 1e9
    user, nice, system, _, _, irq, softirq, *_ = map(int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (\S+))?$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
UNESCAPE = {'\\\\': '\\', '\\"': '"', '\\n': '\n'}
NO_PODS = ("system", "kernel")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def in_pod(labels):
    """Whether a container's series is one of a pod, whose namespace is "unknown" as long as it has no name. A virtual machine,
    whose name may look like a pod's uid, is in none."""
    return labels["container_namespace"] not in NO_PODS


class Metrics:
    """One parsed response: a list of (name, labels, Decimal)."""

    def __init__(self, text):
        self.text = text
        self.samples = []
        self.named = {}  # name → [(labels, value)]
        self.types = {}
        seen = set()
        for line in text.split("\n"):
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ", 3)
                assert name not in self.types, f"TYPE twice: {name}"
                self.types[name] = kind
                continue
            if not line or line.startswith("#"):
                continue
            match = SAMPLE.match(line)
            assert match, f"no sample: {line!r}"
            labels, end = {}, 0
            for label in LABEL.finditer(match[2] or ""):
                assert label.start() == end, f"bad labels: {line!r}"
                end = label.end()
                labels[label[1]] = re.sub(r'\\[\\"n]', lambda m: UNESCAPE[m[0]], label[2])
            assert end == len(match[2] or ""), f"bad labels: {line!r}"
            key = (match[1], tuple(sorted(labels.items())))
            assert key not in seen, f"series twice: {line!r}"
            seen.add(key)
            value = match[3].replace("+Inf", "Infinity").replace("-Inf", "-Infinity")
            self.samples.append((match[1], labels, Decimal(value)))
            self.named.setdefault(match[1], []).append((labels, self.samples[-1][2]))

    def select(self, name, **labels):
        return [(l, v) for l, v in self.named.get(name, []) if all(l.get(k) == w for k, w in labels.items())]

    def sum(self, name, **labels):
        return sum((v for _, v in self.select(name, **labels)), Decimal(0))

    def value(self, name, **labels):
        found = self.select(name, **labels)
        assert len(found) == 1, f"{name}{labels}: {len(found)} series"
        return found[0][1]

    def zones(self):
        """(kind, package) of each zone of the node whose energy is shown."""
        found = ((re.match(r"kepler_node_(package|core|uncore|dram|psys|platform|gpu|other)_joules_total$", name), rows)
                 for name, rows in self.named.items())
        return {(match[1], labels.get("package", "")) for match, rows in found if match for labels, _ in rows}

    def accounts(self):
        """(zone, labels) of every sum that rows have: of a kind, mode and source, and by package where rows have that label."""
        by_package = any("package" in labels for labels, _ in self.select("kepler_pending_joules"))
        keys = ("mode", "source", "package") if by_package else ("mode", "source")
        out = []
        for name, rows in self.named.items():
            match = re.match(r"kepler_node_(package|core|uncore|dram|psys|platform|gpu|other)_joules_total$", name)
            for labels, _ in rows if match else []:
                account = (match[1], {key: labels[key] for key in keys if labels.get(key)})
                if "mode" in labels and account not in out:  # else the current name of a GPU's
                    out.append(account)
        return out

    def imbalance_uj(self):
        """Every (level, zone, labels) whose parts do not sum to the node, with the difference in µJ."""
        wrong = {}
        for zone, at in self.accounts():
            node = self.sum(f"kepler_node_{zone}_joules_total", **at)
            unattributed = self.sum("kepler_node_unattributed_joules_total", zone=zone, **at)
            for level in ("process", "container", "namespace"):
                error = self.level_sum(level, zone, at) + unattributed - node
                if error:
                    wrong[(level, zone, *at.values())] = int(error * 1000000)
        return wrong | self.total_imbalance_uj()

    def total_imbalance_uj(self):
        """Every total, of the node or a row, that is not the sum of the zones in it, and every (level, source, mode) whose totals,
        with what is in no row, do not sum to the node's; with the difference in µJ."""
        wrong, zones_of = {}, {}
        for labels, _ in self.select("kepler_zone_info", in_total="true"):
            zones_of.setdefault(labels["source"], set()).add(labels["zone"])
        for level in ("node", "process", "container", "pod", "vm", "namespace"):
            parts = {}
            for source, zone in ((source, zone) for source, zones in zones_of.items() for zone in zones):
                for labels, value in self.select(f"kepler_{level}_{zone}_joules_total", source=source):
                    key = frozenset(labels.items() - {("package", labels.get("package"))})
                    parts[key] = parts.get(key, 0) + value
            totals = {frozenset(labels.items()): value for labels, value in self.named.get(f"kepler_{level}_joules_total", [])}
            if self.accounts():  # the parts are shown under the classic names only
                wrong |= {(level, *key): int((totals.get(key, 0) - parts.get(key, 0)) * 1000000)
                          for key in totals.keys() | parts.keys() if totals.get(key) != parts.get(key)}
        for labels, node in self.named.get("kepler_node_joules_total", []):
            for level in ("process", "container", "namespace"):
                error = self.sum(f"kepler_{level}_joules_total", **labels) - node
                for zone in zones_of[labels["source"]]:
                    error += self.sum("kepler_node_unattributed_joules_total", zone=zone, **labels)
                    error += self.sum(f"kepler_{level}_retired_joules_total", zone=zone, **labels)
                    error += self.sum("kepler_pending_joules", level=level, zone=zone, **labels)
                if error:
                    wrong[(level, labels["source"], labels["mode"])] = int(error * 1000000)
        return wrong

    def level_sum(self, level, zone, at, **only):
        """What a level's rows and those that are gone have, and, without `only`, what waits for its series."""
        total = self.sum(f"kepler_{level}_{zone}_joules_total", **at, **only)
        total += self.sum(f"kepler_{level}_retired_joules_total", zone=zone, **at, **only)
        return total if only else total + self.sum("kepler_pending_joules", level=level, zone=zone, **at)

    def pod_imbalance_uj(self):
        """As imbalance_uj(), of pods against the containers in them. Two bounds, because what is pending or retired of containers
        without names does not say whether they are in a pod; they are one where there is none of it."""
        wrong = {}
        for zone, at in self.accounts():
            pods = self.level_sum("pod", zone, at)
            rows = sum((v for l, v in self.select(f"kepler_container_{zone}_joules_total", **at) if in_pod(l)), Decimal(0))
            gone = self.select("kepler_container_retired_joules_total", zone=zone, **at)
            least = rows + sum((v for l, v in gone if l["container_namespace"] not in NO_PODS), Decimal(0))
            most = rows + sum((v for _, v in gone), Decimal(0))
            most += self.sum("kepler_pending_joules", level="container", zone=zone, **at)
            if not least <= pods <= most:
                wrong[(zone, *at.values())] = int((pods - (least if pods < least else most)) * 1000000)
        return wrong


def snapshots_of(page):
    """The number of its snapshot, without parsing the rest."""
    return int(re.search(r"^kepler_exporter_snapshots_total (\d+)", page, re.MULTILINE)[1])


class Exporter:
    """A running `kepler run` on a free port."""

    def __init__(self, *args, env=None, binary=KEPLER, wait=True, preexec=None, prefix=(), pass_fds=()):
        self.log = tempfile.NamedTemporaryFile("w+", prefix="kepler-log-")
        self.began = time.monotonic()
        self.binary = binary
        own = any(str(arg).startswith("--config.file=") for arg in args)  # where a container does not see the rig's
        self.process = subprocess.Popen(
            [*prefix, str(binary), "run", *([] if own else [f"--config.file={CONFIG}"]), "--host.state-dir=", "--table=never",
             "--web.listen-address=127.0.0.1:0", *args],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, preexec_fn=preexec, pass_fds=pass_fds,
            env={**OTHERS_ENVIRONMENT, **(env or {})})
        self.url = None
        if wait:
            self.wait_url()

    def output(self):
        with open(self.log.name) as file:
            return file.read()

    def wait_url(self, seconds=60, pattern=r"Kepler serves (https?://[^\s\"]+)/metrics"):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            match = re.search(pattern, self.output())
            if match:
                self.url = match[1]
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise AssertionError("the exporter did not start:\n" + self.output())

    def get(self, path="/metrics", headers=None, timeout=10, context=None):
        request = urllib.request.Request(self.url + path, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=timeout, context=context) as answer:
                body, status, head = answer.read(), answer.status, answer.headers
        except urllib.error.HTTPError as error:
            body, status, head = error.read(), error.code, error.headers
        if head.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return status, head, body

    def page(self, **headers):
        status, _, body = self.get(headers=headers)
        assert status == 200, (status, body)
        return body.decode()

    def scrape(self, **headers):
        return Metrics(self.page(**headers))

    def wait_page(self, after, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            text = self.page()
            if snapshots_of(text) > after:
                return text
            time.sleep(0.02)
        raise AssertionError("no new snapshot:\n" + self.output() + self.where_threads_wait())

    def wait_snapshot(self, after=0, seconds=30):
        """The first response whose snapshot number is above `after`. Only that one is parsed, because parsing takes long."""
        return Metrics(self.wait_page(after, seconds))

    def where_threads_wait(self):
        """What each thread of the exporter does in the kernel now."""
        said = ""
        for task in sorted(pathlib.Path(f"/proc/{self.process.pid}/task").glob("*")):
            with contextlib.suppress(OSError):
                said += f"{task.name} {(task / 'comm').read_text().strip()}:\n{(task / 'stack').read_text()}"
        return said

    def page_after(self, count):
        """The response after `count` more intervals, not parsed."""
        now = snapshots_of(self.page())
        return self.wait_page(now + count - 1, seconds=30 + 3 * count)

    def intervals(self, count):
        """The response after `count` more intervals."""
        return Metrics(self.page_after(count))

    def stop(self, sig=signal.SIGTERM, timeout=20):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        status = self.process.wait(timeout)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        ended = self.process.poll()
        if ended is None:
            self.process.kill()
            self.process.wait()
        if exc[0]:
            sys.stderr.write(self.output()[-4000:] + (f"it ended by itself: {ended}\n" if ended is not None else ""))
        self.log.close()


class Sensors:
    """labsysfs mounted on a temporary directory."""

    def __init__(self, lines):
        binary = BUILD / "tests/lab/labsysfs"
        if not binary.exists():
            skip(f"no {binary.relative_to(BUILD)} in the build: install libfuse3-dev and fuse3, configure and build again")
        if not os.path.exists("/dev/fuse"):
            skip("no /dev/fuse")
        need_root()
        self.dir = tempfile.mkdtemp(prefix="kepler-sysfs-")
        self.mount = os.path.join(self.dir, "sys")
        os.mkdir(self.mount)
        conf = os.path.join(self.dir, "tree.conf")
        pathlib.Path(conf).write_text("\n".join(lines) + "\n")
        self.process = subprocess.Popen([str(binary), "-f", conf, self.mount, "-f"])
        deadline = time.monotonic() + 10
        while not os.path.exists(os.path.join(self.mount, ".truth")):
            assert self.process.poll() is None and time.monotonic() < deadline, "labsysfs did not start"
            time.sleep(0.01)

    def control(self, line):
        with open(os.path.join(self.mount, ".ctl"), "w") as file:
            file.write(line + "\n")

    def truth_uj(self):
        """path → exact µJ since the mount, unwrapped."""
        out = {}
        for line in pathlib.Path(self.mount, ".truth").read_text().splitlines():
            fields = line.split()
            out[fields[0]] = int(fields[1])
        return out

    def read_uj(self, paths):
        """path → (its energy in µJ when it began to count, and when it was read last; how often), by the law of the sensor.

        A counter is tried once before it counts, at its second reading; a power counts from the first one on."""
        out = {}
        for line in pathlib.Path(self.mount, ".truth").read_text().splitlines():
            match = re.match(r"(\S+) -?\d+ first=(-?\d+) last=(-?\d+) reads=(\d+)(?: second=(\d+))?", line)
            first, last, reads, second = (int(value or 0) for value in match.groups()[1:])
            out[match[1]] = (second if second and reads > 1 else first, last, reads)
        return {path: out[path] for path in paths}

    def settled(self, exporter, paths):
        """A response, and read_uj() of all that it has: nothing was read while two intervals began and ended. It is parsed
        afterwards, because that may take as long as the time from one reading to the next."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            before = self.read_uj(paths)
            page = exporter.page_after(2)
            if self.read_uj(paths) == before:
                return balanced(Metrics(page)), before
            balanced(Metrics(page))
        raise AssertionError("sensors are read all the time")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        subprocess.run(["umount", "-l", self.mount], check=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def release_binary():
    """What users get: time and memory are measured of it, not of a build with sanitizers."""
    done = subprocess.run([ROOT / "tools/release-binary", BUILD], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return pathlib.Path(done.stdout.strip())


def close(what, got, want, percent):
    error = (got / want - 1) * 100
    print(f"  {what}: {got:.4f}, truth {want:.4f}, error {error:+.3f} %")
    assert abs(error) <= percent, f"{what}: {error:+.3f} % is more than {percent} %"


def balanced(metrics):
    """The response itself, whose every part sums to the node."""
    wrong = metrics.imbalance_uj()
    assert not wrong, wrong
    return metrics


def seen_with_truth(exporter, account=machine_busy_s):
    """A new response, and the least and the most that the machine (or what the account is of) can have run when it was made."""
    looks = []
    while True:
        looks.append((time.time(), account()))
        metrics = balanced(exporter.scrape())
        began = float(metrics.value("kepler_exporter_snapshot_timestamp_seconds"))  # before its pass
        before = [busy for when, busy in looks if when < began]
        if before:
            return metrics, before[-1], account()
        time.sleep(0.01)


def check_machine(before, after, unread_s=0):
    """The node's CPU time between two of seen_with_truth() is what the kernel says: between its bounds, or 0.5 % off. Of
    unread_s nothing is known: they may be in it or not."""
    name = "kepler_node_bpf_cpu_time_ms_total"
    got, least, most = float(after[0].sum(name) - before[0].sum(name)) / 1e3, after[1] - before[2], after[2] - before[1]
    print(f"  CPU of the machine, s: {got:.3f}, truth {least:.3f} to {most:.3f}")
    assert (least - unread_s) * 0.995 <= got <= most * 1.005


def run_tests(tests, at_once=1):
    """Runs all, or those named on the command line. More than one at once, each in a process of its own: for tests that wait most
    of the time and judge neither CPU time nor shares of it."""
    need_root()
    wanted = [test for test in tests if test.__name__ in sys.argv[1:]] if sys.argv[1:] else tests
    if at_once > 1 and len(wanted) > 1:
        run_at_once([test.__name__ for test in wanted], at_once)
        return
    for test in wanted:
        began = time.monotonic()
        print(test.__name__, flush=True)
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


def run_at_once(names, count):
    """Each name is an argument of this program, run again. All of them end, whether one fails or not; a skip is the whole's."""
    def run(name):
        done = subprocess.run([sys.executable, sys.argv[0], name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        print(done.stdout, end="", flush=True)
        return done.returncode
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        statuses = list(pool.map(run, names))
    failed = [name for name, status in zip(names, statuses) if status not in (0, SKIP)]
    if failed or SKIP in statuses:
        print("failed: " + ", ".join(failed) if failed else "SKIP: see above", flush=True)
        sys.exit(1 if failed else SKIP)


def load(*args):
    """Starts tests/lab/load; .communicate() gives its last line."""
    binary = BUILD / "tests/lab/load"
    return subprocess.Popen([str(binary), *map(str, args)], stdout=subprocess.PIPE, text=True)


def load_result(process, timeout=1200):
    """(children, their CPU seconds, what the parent ran) of a finished load."""
    out, _ = process.communicate(timeout=timeout)
    match = re.search(r"children=(\d+) cpu_us=(\d+) self_us=(\d+)", out)
    assert process.returncode == 0 and match, out
    return int(match[1]), int(match[2]) / 1e6, int(match[3]) / 1e6


@contextlib.contextmanager
def only_load_of_a_validator(shape="own"):
    """Two validators with a load in cgroups of one shape refuse each other: a test that has one waits here for its turn."""
    with pathlib.Path(tempfile.gettempdir(), f"kepler-test-load-{shape}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


PORTS = []  # what says, for as long as this process lives, that a port is taken


def free_port():
    """Not one that the kernel gives to connections, nor one that another test has: it stays free while nothing listens there."""
    lowest_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, lowest_given) if lowest_given > 20000 else 0
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            port = probe.getsockname()[1]
            taken = socket.socket(socket.AF_UNIX)
            taken.bind(f"\0kepler-test-port-{port}")
            PORTS.append(taken)
            return port


def rapl_zone(index, name, watts, max_uj=262143328850, start_uj=0, parent=None, busy_watts=0, busy="stat"):
    """Lines of a labsysfs tree for one powercap zone: `watts` always, and `busy_watts` for each CPU that `busy` says is."""
    path = f"class/powercap/{parent + '/' if parent else ''}{index}"
    return [f"{path}/name text {name}", f"{path}/max_energy_range_uj text {max_uj}",
            f"{path}/energy_uj busy {int(watts * 1e6)} {int(busy_watts * 1e6)} {max_uj} {start_uj} {busy}" if busy_watts else
            f"{path}/energy_uj counter {int(watts * 1e6)} {max_uj} {start_uj}"]


class Service:
    """A cgroup of our own that looks like a systemd service, in every hierarchy, so that its work can be told apart."""

    def __init__(self, name):
        need_root()
        self.name = name
        self.dirs = []
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
            fields = line.split()
            if fields[2] not in ("cgroup", "cgroup2") or "cpuset" in fields[3]:
                continue
            path = pathlib.Path(fields[1], "system.slice", name)
            with contextlib.suppress(OSError):
                path.mkdir(parents=True, exist_ok=True)
                self.dirs.append(path)
        if not self.dirs:
            skip("no cgroup hierarchy can be written")

    def join(self, pid=0):
        """Moves a process here (0: the caller)."""
        for path in self.dirs:
            with contextlib.suppress(OSError):
                (path / "cgroup.procs").write_text(str(pid or os.getpid()))

    def run(self, *command):
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=self.join)

    def load(self, *args):
        return self.run(str(BUILD / "tests/lab/load"), *map(str, args))

    def limit_pids(self, count):
        """At most so many tasks; returns a function that tells how many forks were refused since then."""
        limited = [path for path in self.dirs if (path / "pids.max").exists()]
        if not limited:
            skip("no cgroup hierarchy limits pids")
        (limited[0] / "pids.max").write_text(str(count))
        return lambda: int((limited[0] / "pids.events").read_text().split()[1])

    def ran_s(self):
        """What the kernel says its tasks ran, those that are gone, too."""
        for path in self.dirs:
            if (path / "cpuacct.usage").exists():
                return int((path / "cpuacct.usage").read_text()) / 1e9
        return int(re.search(r"usage_usec (\d+)", (self.dirs[0] / "cpu.stat").read_text())[1]) / 1e6

    def told(self, exporter):
        """A response with all that ran here, or that of ten seconds later: a busy kernel tells of ends seconds late."""
        deadline, metrics = time.monotonic() + 10, exporter.intervals(1)
        while self.cpu_seconds(metrics) < 0.995 * self.ran_s() and time.monotonic() < deadline:
            metrics = exporter.intervals(1)
        return balanced(metrics)

    def cpu_seconds(self, metrics):
        return float(metrics.sum("kepler_container_bpf_cpu_time_ms_total", container_name=self.name)) / 1e3

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()

    def remove(self):
        time.sleep(0.1)  # the kernel empties a cgroup a moment after its last task
        for path in self.dirs:
            with contextlib.suppress(OSError):
                path.rmdir()
