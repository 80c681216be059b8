#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image.py busybox OUT.tar | image.py kepler|kepler-validator OUT.tar BINARY - an image that `ctr images import` takes, of files
of this machine.

busybox: docker.io/lab/busybox:1, for pods that do something. The others: docker.io/library/kepler:0.1.0 or kepler-validator:0.1.0,
laid out like deploy/image/Containerfile lays them out (the program at its place and the libraries of deploy/image/packages or
packages-validator), without a registry.
"""
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
APPLETS = ("sh", "sleep", "sha256sum", "dd", "cat", "yes", "true", "false", "head", "timeout")


class Layer:
    """A tar of one layer, in memory."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w")
        self.names = set()

    def entry(self, name, kind, mode, link="", data=b""):
        if name in self.names:
            return
        parent = os.path.dirname(name)
        if parent:
            self.entry(parent, tarfile.DIRTYPE, 0o755)
        self.names.add(name)
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.linkname, info.size = kind, mode, link, len(data)
        self.tar.addfile(info, io.BytesIO(data))

    def file(self, name, source):
        self.entry(name.lstrip("/"), tarfile.REGTYPE, 0o755, data=pathlib.Path(source).read_bytes())

    def link(self, name, target):
        self.entry(name.lstrip("/"), tarfile.SYMTYPE, 0o777, link=target)

    def directory(self, name):
        self.entry(name, tarfile.DIRTYPE, 0o755)

    def close(self):
        self.tar.close()
        return self.bytes.getvalue()


def write_image(out, tag, layer, config):
    digest = hashlib.sha256(layer).hexdigest()
    described = json.dumps({"architecture": "amd64", "os": "linux", "config": config,
                            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [tag], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(out, "w") as tar:
        for name, data in (("config.json", described), ("layer.tar", layer), ("manifest.json", manifest)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def busybox_binary():
    """Of the machine, or of what tests/lab/unpack-packages put into the lab's cache: one that needs no libraries."""
    cache = pathlib.Path(os.environ.get("KEPLER_LAB_CACHE", "/var/cache/kepler-lab"))
    for path in pathlib.Path("/bin/busybox"), cache / "tools/bin/busybox", cache / "tools/usr/bin/busybox":
        if path.exists() and "not a dynamic" in subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stderr:
            return path
    sys.exit("image.py: no static busybox: tests/lab/unpack-packages kubernetes")


def busybox(out):
    layer = Layer()
    for name in ("tmp", "etc", "dev", "proc", "sys"):
        layer.directory(name)
    layer.file("bin/busybox", busybox_binary())
    for applet in APPLETS:
        layer.link("bin/" + applet, "busybox")
    write_image(out, "docker.io/lab/busybox:1", layer.close(), {"Cmd": ["/bin/sleep", "100000000"], "Env": ["PATH=/bin"]})


def libraries(binary):
    """What the loader loads for it, and the loader."""
    out = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", out)


def loaded_later(list_of_packages):
    """Shared objects of the packages of the image, which the program may load when it wants them."""
    lines = (ROOT / "deploy/image" / list_of_packages).read_text().splitlines()
    packages = [line.split("#")[0].strip() for line in lines]
    for package in filter(None, packages):
        listed = subprocess.run(["dpkg-query", "-L", package], capture_output=True, text=True, check=False).stdout
        yield from re.findall(r"^(/\S+\.so\.\d+)$", listed, re.MULTILINE)


def program(out, name, binary, *, list_of_packages, folders, command=()):
    layer = Layer()
    later = [path for path in loaded_later(list_of_packages) if os.path.exists(path)]
    for name_of_folder in ("tmp", "dev", "proc", "sys", *folders):
        layer.directory(name_of_folder)
    for folder in ("bin", "sbin", "lib", "lib64"): # as in Debian: one tree
        layer.link(folder, "usr/" + folder)
    layer.file("usr/bin/" + name, binary)
    for path in later + sorted({library for one in (binary, *later) for library in libraries(one)}):
        layer.file("usr" + path if path.startswith("/lib") else path, path)
    layer.file("etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt")
    write_image(out, f"docker.io/library/{name}:0.1.0", layer.close(), {"Entrypoint": ["/usr/bin/" + name], "Cmd": list(command)})


if sys.argv[1:2] == ["busybox"] and len(sys.argv) == 3:
    busybox(sys.argv[2])
elif sys.argv[1:2] == ["kepler"] and len(sys.argv) == 4:
    program(sys.argv[2], "kepler", sys.argv[3], list_of_packages="packages",
            folders=("etc/kepler", "var/lib/kepler", "host/sys"), command=["run"])
elif sys.argv[1:2] == ["kepler-validator"] and len(sys.argv) == 4:
    program(sys.argv[2], "kepler-validator", sys.argv[3], list_of_packages="packages-validator", folders=())
else:
    sys.exit(__doc__)
