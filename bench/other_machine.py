#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How wide the bound of a model has to be on another machine than its own: the constants of src/model/selection.c.

    bench/other_machine.py BUILD [DATA]

DATA (../shared/data) has rows of SPECpower_ssj2008's machine types, of four machines of EC2 and of nx12. BUILD has kepler-model and
bench-other_machine. Each of the last five machines has models of its own, which are asked for
the rows of the others."""
import csv
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINES = {  # as their node types have them; of nx12 the processor's facts, memory is not known
    "ec2_c5.metal": ("intel_xeon_platinum_8275cl", 96, 2, 188, 3900),
    "ec2_m5.metal": ("intel_xeon_platinum_8259cl", 96, 2, 377, 3500),
    "ec2_r5.metal": ("intel_xeon_platinum_8259cl", 96, 2, 755, 3500),
    "ec2_m7i.metal-24xl": ("intel_xeon_platinum_8488c", 96, 1, 377, 3800),
    "nx12": ("intel_xeon_e5_2667v3", 32, 2, 128, 3600),
}
FEATURES = {"BPFOnly": ["bpf_cpu_time_ms"], "CounterOnly": ["cache_miss", "cpu_cycles", "cpu_instructions"]}


def rows_of(data, machine, group, component):
    """The columns of the group and the power, in the units of EC2's rows."""
    names = FEATURES[group]
    if machine == "nx12":
        path = data / f"nx12/preprocess_abs_default_rapl_{group}.csv"
    else:
        path = data / f"ec2/{machine}_{group}_{component}.csv"
    with open(path, encoding="ascii") as file:
        for row in csv.DictReader(file):
            if "bpf_cpu_time_us" in row:
                row["bpf_cpu_time_ms"] = str(float(row["bpf_cpu_time_us"]) / 1000)
            if float(row[f"{component}_power"]) > 0:  # 0 W is a reading that failed
                yield [row[name] for name in names] + [row[f"{component}_power"]]


def make(build, data, folder, machine, group, component):
    """A model of the machine, and its rows: two paths."""
    rows = pathlib.Path(folder, f"{machine}-{group}-{component}.csv")
    with open(rows, "w", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FEATURES[group] + [f"{component}_power"])
        writer.writerows(rows_of(data, machine, group, component))
    processor, cores, chips, memory, frequency = MACHINES[machine]
    model = rows.with_suffix(".json")
    subprocess.run([f"{build}/kepler-model", "train-from-data", rows, f"--output={model}", f"--components={component}",
                    f"--machine.processor={processor}", f"--machine.cores={cores}", f"--machine.chips={chips}",
                    f"--machine.memory={memory}", f"--machine.frequency={frequency}", "--validation=random",
                    "--trainers=SteadyTrees" if group == "BPFOnly" else "--trainers=RatioTrees,SteadyTrees"],
                   check=True, stdout=subprocess.DEVNULL)
    return [model, rows]


def main():
    build = pathlib.Path(sys.argv[1])
    data = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT.parent / "shared/data")
    with tempfile.TemporaryDirectory() as folder:
        pairs = [path for machine in MACHINES for group in FEATURES for component in ("package", "dram")
                 for path in make(build, data, folder, machine, group, component)]
        subprocess.run([build / "bench/bench-other_machine", data / "specpower/specpower.csv", *pairs], check=True)


main()
