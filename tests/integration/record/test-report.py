#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kepler doctor --report`: one file that says what a machine has, and not whose it is. Names and secrets are planted wherever
Kepler looks, and no byte of them is in the file; its recording is replayed to the microjoule, and the sysfs that is laid out from
it shows the same meters.
"""
import contextlib
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time

import report_tree
from bmc import Law
from certificates import Authority
from fake_kubernetes import FakeKubernetes, make_pod, pod_id
from gpu_rig import Gpus, uuid
from hmc import Cpc, Hmc, Partition
from record_file import Reader
from remote_rig import Machine, server_context
from rig import KEPLER, OTHERS_ENVIRONMENT, Sensors, Service, rapl_zone, run_tests

NOBODY = 65534
METER = "devices/LNXSYSTM:00/ACPI000D:00"
INA = "devices/i2c-1/1-0040/hwmon/hwmon7"
DMI = "devices/virtual/dmi/id"
PLANTED = re.compile(rb"plant\w*\d\dx|canary", re.IGNORECASE)
UUID = "4c4c4544-0043-4a10-8054-b8c04f4e3233"

POWERCAP = "devices/virtual/powercap/intel-rapl"
PACKAGE = f"{POWERCAP}/intel-rapl:0/energy_uj"

# Zones are among devices, and the class has links to them, as the kernel has it.
TREE = (
    [line.replace("class/powercap/intel-rapl", f"{POWERCAP}/intel-rapl") for line in
     rapl_zone("intel-rapl:0", "package-0", 40) + rapl_zone("intel-rapl:0:0", "dram", 5, parent="intel-rapl:0")]
    + [f"class/powercap/intel-rapl:0 link ../../{POWERCAP}/intel-rapl:0",
       f"class/powercap/intel-rapl:0:0 link ../../{POWERCAP}/intel-rapl:0/intel-rapl:0:0"]
    + [f"{INA}/name text ina226", f"{INA}/power1_input gauge 7000000", f"{INA}/device link ../../../1-0040",
       "class/hwmon/hwmon7 link ../../devices/i2c-1/1-0040/hwmon/hwmon7"]
    + ["class/hwmon/hwmon0/name text coretemp", "class/hwmon/hwmon0/temp1_input text 40000",
       f"class/hwmon/hwmon2/device link ../../../{METER}", f"{METER}/name text power_meter",
       f"{METER}/power1_average_interval text 1000", f"{METER}/power1_average gauge 200000000",
       f"{METER}/power1_serial_number text plantserial01x", f"{METER}/power1_oem_info text plantoem02x",
       f"class/dmi/id link ../../{DMI}", f"{DMI}/sys_vendor text Vendor", f"{DMI}/product_name text Model of planthost03x",
       f"{DMI}/product_serial text plantserial04x", f"{DMI}/product_uuid text {UUID}",
       f"{DMI}/chassis_asset_tag text plantasset05x", f"{DMI}/board_serial text plantserial06x"])


class Report:
    def __init__(self, path):
        self.path, self.raw = path, path.read_bytes()
        self.tar = gzip.decompress(self.raw)
        with tarfile.open(fileobj=io.BytesIO(self.tar)) as archive:
            self.members = {member.name: archive.extractfile(member).read() for member in archive}
            assert all(member.uid == 0 and not member.uname for member in archive)

    def text(self, name):
        return self.members[name].decode()

    def recording(self):
        path = self.path.parent / "recording.krec"
        path.write_bytes(self.members["recording.krec"])
        return path

    def every_byte(self):
        """The file as it is, as an archive, and the recording as what its blocks have."""
        reader = Reader(self.recording())
        intervals = list(reader.intervals())
        assert reader.owners and reader.processes and intervals and reader.facts["anonymized"] == "true"
        said = repr((reader.facts, reader.options, reader.zones, reader.owners, reader.processes))
        return b"\n".join([self.raw, self.tar, said.encode()])


def make_report(folder, *args, prefix=(), env=None, status=0):
    path = pathlib.Path(folder, "report.tar.gz")
    done = subprocess.run([*prefix, KEPLER, "doctor", f"--report={path}", "--report-time=3s", *args], text=True,
                          capture_output=True, check=False, env={**OTHERS_ENVIRONMENT, **(env or {})}, timeout=90)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return (Report(path) if status == 0 else None), done


def expect_no_plants(everything):
    found = sorted({match.decode() for match in PLANTED.findall(everything)})
    assert not found, found


# ---- what is planted ----

class Plants:
    """A machine of which every name is a plant."""

    def __init__(self, stack, folder):
        self.dir = pathlib.Path(folder, "plantdir10x")
        self.dir.mkdir()
        authority = Authority(folder)
        self.api = FakeKubernetes(authority.server_context("api"), token="canary-token-plant11x")
        pod = make_pod("plantpod12x", namespace="plantspace13x", containers=("plantbox14x",))
        self.api.put(pod)
        self.write("kubeconfig", json.dumps({
            "current-context": "plantcontext15x",
            "contexts": [{"name": "plantcontext15x", "context": {"cluster": "c", "user": "plantuser16x"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.api.url, "certificate-authority": str(authority.file)}}],
            "users": [{"name": "plantuser16x", "user": {"token": self.api.token}}]}))
        self.write("credentials", "plantadmin17x,canary-password-18x\n")
        self.write("passwd", "root:x:0:0::/root:/bin/sh\nplantuser19x:x:1000:1000::/home/planthome20x:/bin/sh\n")
        self.write("external", f"kepler-meter 1\nzone=platform uw=1000000 time={time.time():.2f} name=plantplug21x\n")
        self.write("kepler.yaml", f"""
            meter:
              external: [{self.dir}/external]
              redfish: {{url: "https://plantbmc18x.example:8443", credentials: {self.dir}/credentials}}
            web: {{listen-address: ["127.0.0.1:0", "10.11.12.13:0"], allowed-hosts: [planthost22x.plantzone23x.example]}}
            model: {{url: "https://plantmodels24x.example/plantpath25x?token=canary26x"}}
            record: {{dir: {self.dir}/plantring27x}}
            kube: {{pods: apiserver, kubeconfig: {self.dir}/kubeconfig, node-name: node-1}}
            """)
        program = pathlib.Path(folder, "plantcomm31x")
        shutil.copy("/bin/sh", program)
        self.container_id = pod_id(pod, "plantbox14x")
        for name, arguments in {f"cri-containerd-{self.container_id}.scope": ["plantarg28x"],
                                "plantunit29x.service": ["--password=canary30x"]}.items():
            service = stack.enter_context(Service(name))
            process = service.run(str(program), "-c", "while :; do :; done", *arguments)
            stack.callback(process.wait)
            stack.callback(process.kill)
        self.hosts = ("planthost03x.plantzone32x.example", "planthost03x")

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o600)

    def prefix(self):
        """Another host name and other users, where no other process sees them."""
        return ["unshare", "--uts", "--mount", "sh", "-c",
                f"mount --bind {self.dir}/passwd /etc/passwd; hostname {self.hosts[0]}; exec \"$@\"", "sh"]

    def environment(self):
        return {"SUDO_USER": "plantuser33x", "HOME": "/home/planthome20x", "KEPLER_NODE_NAME": "plantnode34x",
                "PLANT_SECRET": "canary-environment-35x"}


def nothing_of_a_machine_is_named():
    with tempfile.TemporaryDirectory(prefix="plantfolder36x-") as folder, Sensors(TREE) as sensors, \
            contextlib.ExitStack() as stack:
        plants = Plants(stack, folder)
        report, done = make_report(folder, f"--host.sysfs={sensors.mount}", f"--config.file={plants.dir}/kepler.yaml",
                                   "--host.state-dir=/var/lib/plantstate37x", prefix=plants.prefix(), env=plants.environment())
        everything = report.every_byte()
        expect_no_plants(everything)
        for word in (UUID, plants.container_id, plants.container_id[:12], "10.11.12.13", sensors.mount, folder):
            assert word.encode() not in everything, f"{word} is in the report"
        # A value that was not there cannot leak.
        doctor, options = report.text("doctor.txt"), report.text("options.txt")
        assert re.search(r"host-\d+: Linux", doctor) and "pods are named by the " in doctor and ": 1 on this node" in doctor, doctor
        assert "package-0 is read from intel-rapl:0 (rapl-sysfs)" in doctor and "ACPI000D:00/power1 (hwmon)" in doctor, doctor
        assert "meter.redfish.url (file): 1 value, not shown" in options, options
        assert "product_name = Model of host-" in report.text("sysfs.txt"), report.text("sysfs.txt")
        assert folder in done.stdout  # which is for the user's own eyes


def nothing_of_other_machines_is_named():
    """What a console, GPUs and models are called, in what works and in what does not."""
    cpcs = [Cpc(cpc, [Partition("plantpart40x", weight=1), Partition("plant other 41x", weight=1)], ifl=1)
            for cpc in ("PLANTA42X", "PLANTB43X")]
    gpus = Gpus()
    with tempfile.TemporaryDirectory() as folder, gpus.folder:
        gpus.say("gpu 0 1000")
        console = Machine(folder, "hmc", Hmc(server_context(), Law(1000), cpcs), '"canary-hmc,""p4ss"')
        model = pathlib.Path(folder, "model.json")
        error = {"mae_w": 1, "mape_percent": 5, "bound_w": 3}
        model.write_text(json.dumps({
            "format": "kepler-model", "version": 1, "name": "plantmodel45x", "output": "AbsPower",
            "machine": {"processor": "plantprocessor46x", "cores": os.cpu_count()},
            "components": [{"name": "dram", "error": error, "predictor": {"form": "linear", "weights": [20, 80]}, "features": [
                {"name": "bpf_cpu_time_ms", "unit": "ms/s", "scale": 1000, "minimum": 0, "maximum": 1000}]}]}))
        common = (*console.options, gpus.option, f"--model.file={model}", "--host.state-dir=", "--host.sysfs=/nonexistent",
                  "--model.machine=vm=false,processor=plantprocessor46x")
        said = ""
        for options in ((), ("--meter.hmc.cpc=PLANTC47X",), ("--meter.hmc.cpc=PLANTB43X",)):
            report, _ = make_report(folder, "--meter.hmc.partition=plantpart40x", *common, *options,
                                    env={"NVML_LAB_STATE": str(gpus.state)})
            expect_no_plants(report.every_byte())
            assert uuid(0).encode() not in report.every_byte()
            said += report.text("doctor.txt")
            report.path.unlink()
        console.service.close()
        for words in ("several CPCs", "it shows the CPCs", "(hmc)", "ESTIMATED by the trained model name-",
                      "id-1 is read from nvidia0 (nvml)"):
            assert words in said, (words, said)


# ---- what a maintainer does with it ----

def found(*args):
    """What doctor says of each zone that is read: (zone, source)."""
    done = subprocess.run([KEPLER, "doctor", "--json", "--verbose", "--host.state-dir=", *args], capture_output=True, text=True,
                          check=False, env=OTHERS_ENVIRONMENT)
    texts = [finding["text"] for finding in json.loads(done.stdout)["findings"]]
    return sorted(match.groups() for match in (re.match(r"(\S+) is read from .*?\(([a-z-]+)\)", text) for text in texts) if match)


def a_maintainer_replays_it():
    with tempfile.TemporaryDirectory() as folder:
        with Sensors(TREE) as sensors:
            report, _ = make_report(folder, f"--host.sysfs={sensors.mount}", "--host.state-dir=", "--idle.mode=off")
            read = sensors.truth_uj()
            here = found(f"--host.sysfs={sensors.mount}")
        done = subprocess.run([KEPLER, "replay", "--format=json", report.recording()], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        replayed = json.loads(done.stdout)
        reader = Reader(report.recording())
        sums = {}
        for interval in reader.intervals():
            for zone, reading in zip(reader.zones, interval["zones"]):
                sums[zone["kind"]] = sums.get(zone["kind"], 0) + (reading["energy_uj"] or 0)
        assert replayed["off_uj"] == 0 and replayed["intervals"] >= 4, replayed
        for zone in replayed["sums"]:
            assert zone["node_uj"] == sums[zone["zone"]], (zone, sums)
        assert 40e6 < sums["package"] <= read[PACKAGE], (sums, read)
        print(f"  {sums} µJ in {replayed['intervals']} intervals, 0 µJ off")
        lines = list(report_tree.lines(report.path))
        with Sensors(lines) as sensors:
            there = found(f"--host.sysfs={sensors.mount}")
            assert here == there and ("package-0", "rapl-sysfs") in here and ("platform", "hwmon") in here, (here, there)
            began, before = time.monotonic(), sensors.truth_uj()
            time.sleep(0.5)
            watts = (sensors.truth_uj()[PACKAGE]
                     - before[PACKAGE]) / (time.monotonic() - began) / 1e6
        assert 30 < watts < 50, watts  # 40 W, on a machine that is busy meanwhile
        print(f"  the tree that is laid out from it has {there}, and package-0 draws {watts:.1f} W")


def what_was_there_stays():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.tar.gz")
        path.write_text("mine")
        _, done = make_report(folder, status=2)
        assert path.read_text() == "mine" and "exists already" in done.stderr, done.stderr
        assert list(pathlib.Path(folder).iterdir()) == [path]


def it_belongs_to_who_calls_sudo():
    with tempfile.TemporaryDirectory() as folder:
        report, _ = make_report(folder, "--report-time=1s", "--host.state-dir=", "--no-meter.enabled",
                                env={"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)})
        made = report.path.stat()
        assert (made.st_uid, made.st_gid, made.st_mode & 0o777) == (NOBODY, NOBODY, 0o600), made


def not_with_json():
    with tempfile.TemporaryDirectory() as folder:
        _, done = make_report(folder, "--json", status=2)
        assert "goes with neither" in done.stderr and not os.listdir(folder), done.stderr


def without_root():
    """What an ordinary user can read is in it, and what is missing is said."""
    with tempfile.TemporaryDirectory() as folder, Sensors(TREE) as sensors:
        os.chmod(folder, 0o777)
        report, _ = make_report(folder, "--host.state-dir=", f"--host.sysfs={sensors.mount}",
                                prefix=["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"])
        assert "run by an ordinary user" in report.text("versions.txt")
        assert "FIX" in report.text("doctor.txt"), report.text("doctor.txt")
        report.every_byte()


def its_default_name():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([KEPLER, "doctor", "--report", "--report-time=1s", "--no-meter.enabled"], cwd=folder, text=True,
                              capture_output=True, check=False, env=OTHERS_ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        assert os.listdir(folder) == ["kepler-report.tar.gz"], os.listdir(folder)
        listed = subprocess.run(["tar", "-tzf", f"{folder}/kepler-report.tar.gz"], text=True, capture_output=True, check=True)
        assert listed.stdout.split() == ["README.txt", "doctor.txt", "versions.txt", "options.txt", "sysfs.txt",
                                         "sysfs-later.txt", "recording.krec"], listed.stdout


run_tests([nothing_of_a_machine_is_named, nothing_of_other_machines_is_named, a_maintainer_replays_it, what_was_there_stays,
           it_belongs_to_who_calls_sudo, not_with_json, without_root, its_default_name])
