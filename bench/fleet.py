#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training on the rows of a fleet within a limit of memory that the kernel enforces.

    ninja -C build kepler-model bench/fleet-rows
    KEPLER_BUILD=build bench/fleet.py [ROWS [MEMORY-MIB [TRAINERS [FOLDS]]]]

The rows come through a pipe, of 1,000 nodes whose power is known (fleet-rows.c). kepler-model runs in a cgroup of its own with
memory limit (needs root), the page cache included; --memory is half of that. Prints rows, seconds, the peak of the process
and of the cgroup, and the error on rows without noise, beside that of the held-out nodes.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("KEPLER_BUILD", "build")
MODEL, ROWS = BUILD / "kepler-model", BUILD / "bench/fleet-rows"
NODES = 1000


class Cgroup:
    """A group with a limit of memory: of cgroup v2, or of v1's memory controller."""
    def __init__(self, limit):
        v1 = pathlib.Path("/sys/fs/cgroup/memory")
        self.limit, self.peak = "memory.max", "memory.peak"
        if v1.is_dir():
            self.limit, self.peak = "memory.limit_in_bytes", "memory.max_usage_in_bytes"
        self.path = (v1 if v1.is_dir() else pathlib.Path("/sys/fs/cgroup")) / f"kepler-fleet-{os.getpid()}"
        self.path.mkdir()
        (self.path / self.limit).write_text(str(limit))

    def join(self):
        (self.path / "cgroup.procs").write_text("0")

    def peak_mib(self):
        """None before Linux 5.19 with v2."""
        path = self.path / self.peak
        return int(path.read_text()) >> 20 if path.exists() else None

    def remove(self):
        self.path.rmdir()


def fleet(rows, mib, trainers, folds, folder):
    cgroup = Cgroup(mib << 20)
    model, pipe = folder / "model.json", folder / "rows.csv"
    os.mkfifo(pipe)
    writer = subprocess.Popen(f"exec {ROWS} {rows} {NODES} 1 >{pipe}", shell=True)
    memory = 1 << (mib // 2).bit_length() - 1
    words = [MODEL, "train-from-data", pipe, f"--memory={memory}MiB", f"--trainers={trainers}", f"--folds={folds}",
             "--group-by=node", f"--spool-dir={folder}", f"--output={model}", "--format=json"]
    begun = time.monotonic()
    try:
        done = subprocess.run(words, preexec_fn=cgroup.join, capture_output=True, text=True, check=False)
    finally:
        writer.terminate()
        writer.wait()
        peak = cgroup.peak_mib()
        cgroup.remove()
    assert done.returncode == 0, done.stderr
    seconds = time.monotonic() - begun
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stderr, end="")
    print(f"{rows} rows, {NODES} nodes: {seconds:.0f} s, {rows / seconds / 1e6:.2f} million rows a second; "
          f"at most {usage.ru_maxrss >> 10} MiB resident"
          + (f", {peak} MiB of {mib} MiB in the cgroup, page cache included" if peak else ""))
    for result in json.loads(done.stdout)["results"]:
        print(f"{result['model']}: {result['mae_w']:.2f} W on nodes that it has not seen ({result['mae_low_w']:.2f} to "
              f"{result['mae_high_w']:.2f}), {result['rows']} rows judged")
    return model


def against_truth(model, folder):
    truth = folder / "truth.csv"
    truth.write_bytes(subprocess.run([ROWS, "20000", "1", "7", "truth"], capture_output=True, check=True).stdout)
    report = subprocess.run([MODEL, "validate", model, truth, "--format=json"], capture_output=True, text=True, check=True).stdout
    result = json.loads(report)["results"][0]
    print(f"{json.loads(model.read_text())['origin']['trainer']}, on rows without noise: {result['mae_w']:.2f} W, "
          f"{result['mape_percent']:.2f} %")
    assert result["mape_percent"] < 15, "the model is not that of the rows"


def main():
    if os.geteuid() != 0:
        print("skipped: a limit of memory needs root")
        sys.exit(77)
    rows, mib, trainers, folds = (sys.argv[1:] + [None] * 4)[:4]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        folder = pathlib.Path(folder)
        model = fleet(int(rows or 100_000_000), int(mib or 1024), trainers or "LinearRegressionTrainer,XgboostFitTrainer",
                      int(folds or 2), folder)
        against_truth(model, folder)


if __name__ == "__main__":
    main()
