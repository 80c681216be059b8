# SPDX-License-Identifier: Apache-2.0
"""Real containers for the tests: runc, Podman, containerd, Docker, each with cgroups as Kubernetes makes them.

All state is in a mount namespace of our own with an empty /run and /var/lib/containers, so that nothing of it is left behind,
nothing of this machine's own runtimes is touched, and the exporter that runs beside them finds the state where it always is.
Programs that are only unpacked (tests/lab/unpack-packages) are laid over /usr in that namespace.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

from rig import BUILD, ROOT, need_root, skip

CACHE = pathlib.Path(os.environ.get("KEPLER_LAB_CACHE", "/var/cache/kepler-lab"))
MARK = "KEPLER_TEST_OWN_MOUNTS"
# Pods of a test have their cgroups here: a kubelet kills all processes in those that it does not know below its own root.
TOP = f"kepler-test-{os.getpid()}"
STATE = ["/run", "/var/lib/containers"]


def enter_own_mounts(state=STATE, programs=True):
    """Starts this program again in a mount namespace of its own, where `state` is empty and, if wanted, the unpacked programs
    are in /usr; returns only there."""
    need_root()
    if MARK in os.environ:
        del os.environ[MARK]
        if programs:
            lay_programs()
        for path in state:
            mount("-t", "tmpfs", "-o", "mode=755", "kepler-test", path)
        return
    made = [path for path in state if not os.path.isdir(path)]
    for path in made:
        os.mkdir(path)
    try:
        status = subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv],
                                env={**os.environ, MARK: "1"}, check=False).returncode
    finally:
        for path in made:
            os.rmdir(path)
    sys.exit(status)


def mount(*args):
    subprocess.run(["mount", *args], check=True)


def lay_over(tools, target):
    """`tools` over `target`. The kernel refuses layers of which one holds the other (ELOOP): what the cache itself lies in stays,
    and each folder in it is laid over by itself. One that the machine has not is not made."""
    if not tools.is_dir() or not target.is_dir():
        return
    if target not in (tools, *tools.parents):
        mount("-t", "overlay", "-o", f"ro,lowerdir={tools}:{target}", "kepler-test", target)
        return
    for inner in sorted(tools.iterdir()):
        lay_over(inner, target / inner.name)


def lay_programs():
    tools = (CACHE / "tools").resolve()
    for name in ("usr", "etc", "var"):
        lay_over(tools / name, pathlib.Path("/", name).resolve())
    os.environ["PATH"] += ":/usr/sbin:/sbin"


def unpack():
    """The runtimes that ./check does not install, from Debian."""
    done = subprocess.run([ROOT / "tests/lab/unpack-packages", "containers"], check=False)
    if done.returncode:
        print("the packages of section containers cannot be fetched")


def hierarchies():
    """[(root, controllers)] of every mounted cgroup hierarchy; controllers is None for v2."""
    out = []
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        fields = line.split()
        if fields[2] in ("cgroup", "cgroup2"):
            out.append((pathlib.Path(fields[1]), fields[3].split(",") if fields[2] == "cgroup" else None))
    return out


def is_pure_v2():
    return all(controllers is None for _, controllers in hierarchies())


def cpu_seconds_of(cgroup):
    """What the kernel charged to a cgroup, from the controller that counts CPU time on this machine."""
    for root, controllers in hierarchies():
        at = root / cgroup.lstrip("/")
        if controllers and "cpuacct" in controllers:
            return int((at / "cpuacct.usage").read_text()) / 1e9
    for root, controllers in hierarchies():
        at = root / cgroup.lstrip("/") / "cpu.stat"
        if controllers is None and at.exists():
            return int(at.read_text().split()[1]) / 1e6
    raise AssertionError(f"no CPU time of {cgroup}")


def remove_group(path, seconds=5):
    """One directory. The kernel empties a cgroup a moment after its last task."""
    deadline = time.monotonic() + seconds
    while path.is_dir() and time.monotonic() < deadline:
        try:
            path.rmdir()
        except OSError:
            time.sleep(0.02)


def remove_cgroup(cgroup):
    """A cgroup and those of its parents that are empty then."""
    for root, _ in hierarchies():
        at = root / cgroup.lstrip("/")
        remove_group(at)
        while at != root:
            with contextlib.suppress(OSError):
                at.rmdir()
            at = at.parent


def pod_parent(pod_uid, driver):
    if driver == "systemd":
        unit = "kubepods-burstable-pod" + pod_uid.replace("-", "_")
        return f"/{TOP}/kubepods.slice/kubepods-burstable.slice/{unit}.slice"
    return f"/{TOP}/kubepods/burstable/pod{pod_uid}"


def new_id():
    return uuid.uuid4().hex + uuid.uuid4().hex


class Container:
    """name, pod: what is expected in labels; id; cgroup: the path that the runtime made."""

    def __init__(self, engine, name, container_id, cgroup, pod=None):
        self.engine, self.name, self.id, self.cgroup, self.pod = engine, name, container_id, cgroup, pod

    def cpu_seconds(self):
        return cpu_seconds_of(self.cgroup)

    def go(self):
        """Lets the work of all that were started begin together."""
        os.write(self.engine.gate, b"\n" * self.engine.waiting)
        self.engine.waiting = 0

    def wait_done(self, seconds):
        deadline = time.monotonic() + seconds
        while not (self.engine.dir / f"done.{self.name}").exists():
            assert time.monotonic() < deadline, f"{self.name} did not end in {seconds} s"
            time.sleep(0.1)


class Engine:
    """A runtime with a directory of its own; leaving it stops and removes all that was started."""
    program = ""

    def __init__(self):
        self.program_path = shutil.which(self.program)
        if not self.program_path:
            raise FileNotFoundError(f"{self.program} is not installed")
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="kepler-containers-"))
        os.mkfifo(self.dir / "gate")
        self.gate = os.open(self.dir / "gate", os.O_RDWR | os.O_CLOEXEC)
        self.cgroups = []
        self.running = []
        self.waiting = 0  # for go()
        # The machine's own programs, read-only: no image has to come from anywhere.
        self.rootfs = self.dir / "rootfs"
        for name in ("usr", "proc", "sys", "dev", "tmp", "lab", "work", "etc", "run"):
            (self.rootfs / name).mkdir(parents=True)
        for name in ("bin", "lib", "lib64"):
            (self.rootfs / name).symlink_to(f"usr/{name}")
        self.binds = [("/usr", "/usr", "ro"), (str(BUILD / "tests/lab"), "/lab", "ro"), (str(self.dir), "/work", "rw")]

    def command(self, name, work):
        """Waits without work of its own for go(), works, says so and stays: its cgroup can still be read. For one container."""
        self.waiting += 1
        script = f"read go </work/gate; {work} >/work/out.{name}; : >/work/done.{name}; sleep 3600"
        return ["/bin/sh", "-c", script]

    def check_call(self, *args, **more):
        done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False, stdin=subprocess.DEVNULL, **more)
        assert done.returncode == 0, f"{args}: {done.stdout}"
        return done.stdout

    def call(self, *args):
        """As to clean up: whatever comes of it."""
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            subprocess.run([str(a) for a in args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
                           check=False)

    def __enter__(self):
        return self

    def stop_all(self):
        for container in self.running:
            self.remove(container)
        self.running, self.waiting = [], 0

    def __exit__(self, *exc):
        self.stop_all()
        self.close()
        for cgroup in self.cgroups:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                remove_cgroup(cgroup)
                if not any((root / cgroup.lstrip("/")).is_dir() for root, _ in hierarchies()):
                    break
                time.sleep(0.1)
        os.close(self.gate)
        shutil.rmtree(self.dir, ignore_errors=True)

    def close(self):
        pass


def oci_config(engine, container_id, cgroup, args, annotations):
    namespaces = [{"type": t} for t in ("pid", "mount", "ipc", "uts")]
    own_view = []
    if is_pure_v2():  # as every runtime does there: the container sees itself as the root of all cgroups
        namespaces.append({"type": "cgroup"})
        own_view = [{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
                    {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": ["nosuid", "ro"]}]
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
              {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}]
    mounts += own_view
    mounts += [{"destination": to, "type": "bind", "source": source, "options": ["rbind", mode]}
               for source, to, mode in engine.binds]
    return {"ociVersion": "1.0.2", "root": {"path": str(engine.rootfs)}, "hostname": container_id[:12],
            "process": {"terminal": False, "cwd": "/", "args": args, "env": ["PATH=/usr/bin:/bin"],
                        "user": {"uid": 0, "gid": 0}, "noNewPrivileges": True},
            "mounts": mounts, "annotations": annotations,
            "linux": {"namespaces": namespaces, "cgroupsPath": cgroup, "resources": {"devices": [
                {"allow": True, "access": "rwm"}]}}}


def cri_annotations(name, pod):
    return {"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": name,
            "io.kubernetes.cri.sandbox-name": pod["name"], "io.kubernetes.cri.sandbox-namespace": pod["namespace"],
            "io.kubernetes.cri.sandbox-uid": pod["uid"], "io.kubernetes.cri.image-name": "localhost/lab:1"}


class Runc(Engine):
    """runc alone, with bundles where containerd has them: what containerd's CRI leaves, without containerd."""
    program = "runc"
    tasks = pathlib.Path("/run/containerd/io.containerd.runtime.v2.task/k8s.io")
    runc = ["runc", "--root", "/run/runc"]

    def __init__(self):
        super().__init__()
        self.tasks.mkdir(parents=True, exist_ok=True)

    def start(self, name, work, pod, driver="cgroupfs"):
        container, config = self.describe(name, self.command(name, work), pod, driver)
        self.running.append(container)
        self.run(container, config, "-d")
        return container

    def describe(self, name, args, pod, driver):
        """(the container to be, its config.json as a dict)"""
        container_id = new_id()
        leaf = f"cri-containerd-{container_id}.scope" if driver == "systemd" else container_id
        cgroup = f"{pod_parent(pod['uid'], driver)}/{leaf}"
        self.cgroups.append(cgroup)
        return (Container(self, name, container_id, cgroup, pod),
                oci_config(self, container_id, cgroup, args, cri_annotations(name, pod)))

    def run(self, container, config, *options):
        """Without -d: until it has ended and is removed."""
        bundle = self.tasks / container.id
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(config))
        with open(self.dir / f"log.{container.name}", "w") as log:
            done = subprocess.run([*self.runc, "run", *options, "--bundle", str(bundle), container.id],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=60, check=False)
        assert done.returncode == 0, (self.dir / f"log.{container.name}").read_text()
        if "-d" not in options:
            shutil.rmtree(bundle)

    def remove(self, container):
        self.call(*self.runc, "delete", "--force", container.id)
        shutil.rmtree(self.tasks / container.id, ignore_errors=True)


class Podman(Engine):
    program = "podman"

    def __init__(self):
        super().__init__()
        for program in ("conmon", "runc"):
            if not shutil.which(program):
                raise FileNotFoundError(f"{program} is not installed")
        (self.dir / "containers.conf").write_text(
            '[containers]\ndefault_ulimits = []\nlog_driver = "k8s-file"\n[engine]\ncgroup_manager = "cgroupfs"\n'
            'events_logger = "none"\nruntime = "runc"\n')
        (self.dir / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        os.environ["CONTAINERS_CONF"] = str(self.dir / "containers.conf")
        self.podman = ["podman", "--storage-driver", "vfs"]
        self.check_call("tar", "-C", self.rootfs, "-cf", self.dir / "rootfs.tar", ".")
        self.check_call(*self.podman, "import", "--signature-policy", self.dir / "policy.json", self.dir / "rootfs.tar",
                        "lab:1")

    def start(self, name, work, pod, driver="cgroupfs"):
        parent = pod_parent(pod["uid"], driver)
        volumes = [word for source, to, mode in self.binds for word in ("-v", f"{source}:{to}:{mode}")]
        out = self.check_call(*self.podman, "run", "-d", "--pull=never", "--name", name, "--runtime", "runc", "--ulimit", "host",
                              "--network=none", "--cgroup-parent", parent, *volumes, "localhost/lab:1",
                              *self.command(name, work))
        container_id = out.split()[-1]
        container = Container(self, name, container_id, f"{parent}/libpod-{container_id}")
        self.cgroups += [container.cgroup, f"{parent}/conmon"]
        self.running.append(container)
        return container

    def remove(self, container):
        self.call(*self.podman, "rm", "--force", "--time", "0", container.id)

    def close(self):
        os.environ.pop("CONTAINERS_CONF", None)


class Containerd(Engine):
    program = "containerd"

    def __init__(self):
        super().__init__()
        for program in ("ctr", "runc"):
            if not shutil.which(program):
                raise FileNotFoundError(f"{program} is not installed")
        config = self.dir / "config.toml"
        config.write_text(f'version = 2\nroot = "{self.dir}/root"\nstate = "/run/containerd"\n'
                          'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
                          '[grpc]\n  address = "/run/containerd/containerd.sock"\n')
        self.log = open(self.dir / "containerd.log", "w")
        self.daemon = subprocess.Popen(["containerd", "--config", str(config)], stdout=self.log, stderr=self.log)
        self.ctr = ["ctr", "-a", "/run/containerd/containerd.sock", "-n", "k8s.io"]
        deadline = time.monotonic() + 30
        while subprocess.run([*self.ctr, "version"], capture_output=True, check=False).returncode:
            assert self.daemon.poll() is None and time.monotonic() < deadline, (self.dir / "containerd.log").read_text()
            time.sleep(0.1)

    def start(self, name, work, pod, driver="systemd"):
        container_id = new_id()
        leaf = f"cri-containerd-{container_id}.scope" if driver == "systemd" else container_id
        cgroup = f"{pod_parent(pod['uid'], driver)}/{leaf}"
        mounts = [word for source, to, mode in self.binds
                  for word in ("--mount", f"type=bind,src={source},dst={to},options=rbind:{mode}")]
        notes = [word for key, value in cri_annotations(name, pod).items() for word in ("--annotation", f"{key}={value}")]
        container = Container(self, name, container_id, cgroup, pod)
        self.cgroups.append(cgroup)
        self.running.append(container)
        self.check_call(*self.ctr, "run", "--detach", "--null-io", "--rootfs", "--cgroup", cgroup, *notes, *mounts, self.rootfs,
                        container_id, *self.command(name, work))
        return container

    def remove(self, container):
        self.call(*self.ctr, "task", "kill", "--signal", "SIGKILL", container.id)
        self.call(*self.ctr, "task", "delete", "--force", container.id)
        self.call(*self.ctr, "container", "delete", container.id)

    def close(self):
        self.daemon.terminate()
        try:
            self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        self.log.close()


class Docker(Engine):
    """An engine that runs already; it is asked for what it has, and images are imported."""
    program = "docker"

    def __init__(self):
        super().__init__()
        answer = subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=30)
        if answer.returncode:
            shutil.rmtree(self.dir)
            raise FileNotFoundError("no Docker engine answers")
        self.check_call("tar", "-C", self.rootfs, "-cf", self.dir / "rootfs.tar", ".")
        self.check_call("docker", "import", self.dir / "rootfs.tar", "kepler-lab:1")

    def start(self, name, work, pod, driver="cgroupfs"):
        volumes = [word for source, to, mode in self.binds for word in ("-v", f"{source}:{to}:{mode}")]
        out = self.check_call("docker", "run", "-d", "--name", name, "--network=none", *volumes, "kepler-lab:1",
                              *self.command(name, work))
        container_id = out.split()[-1]
        pid = self.check_call("docker", "inspect", "-f", "{{.State.Pid}}", container_id).strip()
        lines = pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        container = Container(self, name, container_id, max((line.split(":", 2)[2] for line in lines), key=len))
        self.running.append(container)
        return container

    def remove(self, container):
        self.call("docker", "rm", "--force", container.id)

    def close(self):
        self.call("docker", "rmi", "kepler-lab:1")


ENGINES = {engine.__name__.lower(): engine for engine in (Runc, Podman, Containerd, Docker)}


def new_pod(name, namespace="kepler-test"):
    return {"name": name, "namespace": namespace, "uid": str(uuid.uuid4())}


def open_engine(name):
    try:
        return ENGINES[name]()
    except FileNotFoundError as why:
        skip(str(why))
