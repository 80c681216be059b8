# SPDX-License-Identifier: Apache-2.0
"""What the tests of names from Kubernetes share: a rig with a fake API server, and a runner of cases.

Cases run four at a time: each has its own servers and mostly waits.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import traceback

from certificates import Authority
from fake_kubernetes import PROBE, Account, FakeKubernetes, Probe
from rig import BUILD, ROOT


class Rig:
    """An API server with TLS, and an account there."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.authority = Authority(directory)
        self.api = FakeKubernetes(self.authority.server_context())
        self.account = Account(directory, self.api, self.authority)

    def probe(self, **options):
        options.setdefault("source", "apiserver")
        return Probe(self.account, **options)


def release_probe():
    """What is measured: built without sanitizers, which cost more than what is measured."""
    settings = subprocess.run(["meson", "introspect", "--buildoptions", BUILD], capture_output=True, text=True, check=True).stdout
    if {"b_sanitize": "none"} == {o["name"]: o["value"] for o in json.loads(settings) if o["name"] == "b_sanitize"}:
        return PROBE
    subprocess.run([ROOT / "tools/release-binary", BUILD], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["ninja", "-C", BUILD / "release", "tests/lab/kube-probe"], stdout=subprocess.DEVNULL, check=True)
    return BUILD / "release/tests/lab/kube-probe"


def gaps(requests):
    times = [entry[0] for entry in requests]
    return [after - before for before, after in zip(times, times[1:])]


def once(count, action):
    """A fault of the first `count` requests of any kind."""
    done = []

    def fault(request, kind):
        if len(done) >= count:
            return False
        done.append(kind)
        action(request)
        return True
    return fault


def run(case):
    try:
        with tempfile.TemporaryDirectory() as directory:
            case(Rig(directory))
    except Exception:
        return traceback.format_exc()
    return ""


def run_cases(cases):
    chosen = [case for case in cases if not sys.argv[1:] or case.__name__ in sys.argv[1:]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for case, problem in zip(chosen, pool.map(run, chosen)):
            print(("not ok " if problem else "ok ") + case.__name__ + ("\n" + problem if problem else ""), flush=True)
            failed += bool(problem)
    print(f"{len(chosen)} cases, {failed} failed")
    sys.exit(1 if failed else 0)

