#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of a fleet that DuckDB makes of Parquet train the same model as those that kepler-model extracts (deploy/fleet/*.sql), and
energy by day is what the files of real exporters have, in DuckDB and in ClickHouse, with estimated and measured energy apart."""
import collections
import contextlib
import csv
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile
import time

from rig import BUILD, ROOT, Exporter, Sensors, rapl_zone, run_tests, skip

try:
    import duckdb
    from chdb import session
except ImportError:
    skip("duckdb and chdb (of PyPI) are not installed for this Python")

MODEL = BUILD / "kepler-model"
SQL = ROOT / "deploy/fleet"
NODES, STEPS, EVERY_S = 6, 400, 3
NODE_J = "kepler_node_package_joules_total"
CPU, CYCLES = "kepler_container_bpf_cpu_time_ms_total", "kepler_container_cpu_cycles_total"
START = 1_790_000_000
LABELS = {NODE_J: [{"source": "rapl-sysfs", "mode": "dynamic", "package": "0"}],
          CPU: [{"container_id": name, "container_namespace": "n"} for name in ("c1", "c2")],
          CYCLES: [{"container_id": name, "container_namespace": "n"} for name in ("c1", "c2")]}


def node_points(number):
    """{(name, its labels' number): [(time, value)]}: one counter begins again, energy falls once, and once the scraper was away."""
    chance, points, sums = random.Random(number), collections.defaultdict(list), collections.Counter()
    for step in range(STEPS):
        loads = [abs(math.sin(step / (7 + container))) * chance.random() for container in (0, 1)]
        ghz = chance.choice((1.2, 2.0, 2.8))
        watts = (1 + number / 50) * (50 + 30 * sum(loads) * ghz) + chance.gauss(0, 1)
        sums[NODE_J, 0] = (0 if step == 100 else sums[NODE_J, 0]) + EVERY_S * watts
        for container, load in enumerate(loads):
            if step == 200 and container:
                sums[CPU, 1] = sums[CYCLES, 1] = 0
            sums[CPU, container] += EVERY_S * 16000 * load
            sums[CYCLES, container] += round(EVERY_S * 16e9 * load * ghz)
        if not 250 <= step < 260:
            for key, value in sums.items():
                points[key].append((START + EVERY_S * step, round(value, 6)))
    return points


def write_csv(folder, name, lines):
    """Lines (second, name, labels, value) as `kepler run --file.path` writes them on that node."""
    (folder / "metrics" / name).mkdir(parents=True)
    with open(folder / "metrics" / name / "metrics.csv", "w", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", "name", "labels", "value"])
        for at, metric, labels, value in sorted((*line[:2], json.dumps(line[2], separators=(",", ":")), line[3]) for line in lines):
            writer.writerow([time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at)), metric, labels, value])


def zone_info(at, source, quality):
    return at, "kepler_zone_info", {"zone": "package", "source": source, "quality": quality, "in_total": "true"}, 1


def write_node(folder, number, points):
    """As `kepler run --file.path` writes them, and as `kepler-model collect` does. The file has an estimate of the package as well,
    from another source, which is not to be learned from."""
    name = f"node-{number}"
    lines = [(at, metric, LABELS[metric][which], value) for (metric, which), some in points.items() for at, value in some]
    lines += [zone_info(START, "rapl-sysfs", "measured"), zone_info(START, "trained_power_model", "estimated")]
    lines += [(at, NODE_J, {"source": "trained_power_model", "mode": "dynamic", "package": "0"}, 7 * (at - START))
              for at, _ in points[NODE_J, 0]]
    write_csv(folder, name, lines)
    series = collections.defaultdict(list)
    for (metric, which), some in points.items():
        series[metric].append({"metric": {"__name__": metric, "instance": name, **LABELS[metric][which]},
                               "values": [[at, repr(value)] for at, value in some]})
    (folder / f"{name}.json").write_text(json.dumps(series))


def run_sql(folder, *names, then="SELECT 1"):
    """The files one after the other, as `duckdb <FILE` does in that folder, and the rows of a query then."""
    connection = duckdb.connect()
    with contextlib.chdir(folder):  # file names of the SQL are relative
        for name in names:
            connection.execute((SQL / name).read_text())
        return connection.execute(then).fetchall()


def run_clickhouse(folder, *queries):
    """The statements of clickhouse.sql, twice as after a second import of the same files, and the numbers that the queries give."""
    with contextlib.chdir(folder):
        connection = session.Session()
        for statement in 2 * re.sub("^--.*$", "", (SQL / "clickhouse.sql").read_text(), flags=re.MULTILINE).split(";"):
            if statement.strip():
                connection.query(statement)
        return [float(str(connection.query(query))) for query in queries]


def model(*words):
    done = subprocess.run([MODEL, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_rows(path, node=None):
    with open(path, newline="", encoding="ascii") as file:
        return [{key: float(value) for key, value in row.items() if key != "node" and value}
                for row in csv.DictReader(file) if node is None or row["node"] == node]


def close(a, b, where=""):
    """The same structure, with numbers equal to 1e-9."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), (where, a.keys() ^ b.keys())
        for key in a:
            close(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for index, (one, other) in enumerate(zip(a, b)):
            close(one, other, f"{where}[{index}]")
    elif isinstance(a, float):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12), (where, a, b)
    else:
        assert a == b, (where, a, b)


def train(folder, name, *rows):
    """Errors of each trainer, and the components of the model."""
    words = ["--features=bpf_cpu_time_ms,cpu_cycles", "--folds=3",
             "--trainers=LinearRegressionTrainer,Polynomial,GradientBoostingRegressorTrainer",
             "--format=json", f"--output={folder / name}.json"]
    report = json.loads(model("train-from-data", *rows, *words))
    return report["results"], json.loads((folder / f"{name}.json").read_text())["components"]


def rows_and_models_are_the_same():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "rows").mkdir()
        for number in range(NODES):
            write_node(folder, number, node_points(number))
            model("extract", folder / f"node-{number}.json", f"--output={folder}/rows/node-{number}.csv")
        parquet = run_sql(folder, "history.sql", "rows.sql", then="SELECT * FROM read_parquet('rows.parquet')")
        for number in range(NODES):
            here, there = read_rows(folder / f"rows/node-{number}.csv"), read_rows(folder / "rows.csv", f"node-{number}")
            assert len(here) == len(there) == STEPS - 10 - 1 - 2, (len(here), len(there))
            close(here, there, f"node-{number}")
        assert len(parquet) == NODES * len(here)
        local = train(folder, "local", folder / "rows")
        engine = train(folder, "engine", folder / "rows.csv", "--group-by=node")
    close(local[0], engine[0], "results")
    close(local[1], engine[1], "components")
    print(f"  {len(parquet)} rows of {NODES} nodes: " + ", ".join(f"{row['model']} {row['mae_w']:.4f} W" for row in local[0]))


def kinds_of_energy_are_apart():
    """A node whose meter fails, a source that measures and estimates, and one without kepler_zone_info."""
    lines = [zone_info(START + at, source, quality) for at, source, quality in (
        (0, "rapl-sysfs", "measured"), (60, "trained_power_model", "estimated"), (0, "passthrough", "measured"),
        (60, "passthrough", "estimated"))]
    risen = {"rapl-sysfs": 100, "trained_power_model": 30, "passthrough": 7, "acpi": 5}
    for source, joules in risen.items():
        for metric, labels in (("kepler_node_joules_total", {}), ("kepler_container_joules_total", {"container_namespace": "n"})):
            lines += [(START + at, metric, labels | {"source": source}, value)
                      for at, value in ((0, 0), (60, joules), (120, joules))]
    expected = {"measured": 100, "estimated": 30 + 7, "unknown": 5}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_csv(folder, "node-a", lines)
        for view in ("energy_by_day", "energy_of_nodes"):
            query = f"SELECT coalesce(sum(kwh), 0) * 3.6e6 FROM {view} WHERE quality = "
            for quality, joules in expected.items():
                found = run_sql(folder, "history.sql", then=f"{query}'{quality}'")[0][0]
                assert math.isclose(found, joules, rel_tol=1e-9), (view, quality, found, joules)
            found = run_clickhouse(folder, *(query.replace("FROM ", "FROM kepler_") + f"'{quality}'" for quality in expected))
            for (quality, joules), other in zip(expected.items(), found):
                assert math.isclose(other, joules, rel_tol=1e-9), (view, quality, other, joules)
    print(f"  {expected}")


def energy_of_real_files_is_kept():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "sys").mkdir()
        with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors:
            for node, sysfs in (("measured", sensors.mount), ("estimated", folder / "sys")):
                (folder / "metrics" / node).mkdir(parents=True)
                with Exporter(f"--host.sysfs={sysfs}", "--monitor.interval=500ms", "--metrics.settle=0s", "--file.interval=1s",
                              f"--file.path={folder}/metrics/{node}/metrics.csv", "--file.keep=kepler_*_joules_total",
                              "--file.keep=kepler_zone_info") as exporter:
                    exporter.intervals(12)
                    assert exporter.stop() == 0
        asked = [(level, view, node) for level, view in (("container", "energy_by_day"), ("node", "energy_of_nodes"))
                 for node in ("measured", "estimated")]
        want = [file_energy(folder / "metrics" / node / "metrics.csv", f"kepler_{level}_joules_total") for level, _, node in asked]
        queries = [f"SELECT sum(kwh) * 3.6e6 FROM {view} WHERE quality = '{node}' AND node = '{node}'" for _, view, node in asked]
        # Each run adds the points again, which changes nothing.
        got = [run_sql(folder, "history.sql", then=query)[0][0] for query in queries]
        others = run_sql(folder, "history.sql", then="SELECT count(*) FROM energy_of_nodes WHERE quality <> node")[0][0]
        clickhouse = run_clickhouse(folder, *(query.replace("FROM ", "FROM kepler_") for query in queries))
    assert others == 0, others
    for (level, _, node), expected, joules, other in zip(asked, want, got, clickhouse):
        assert math.isclose(joules, expected, rel_tol=1e-9) and joules > 1, (level, node, joules, expected)
        assert math.isclose(other, expected, rel_tol=1e-9), (level, node, other, expected)
        print(f"  {node}, {level}: {joules:.6f} J by DuckDB, {other:.6f} J by ClickHouse, {expected:.6f} J in the file")


def file_energy(path, name):
    """The rise of all series of a family in a file."""
    series = collections.defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        for _, metric, labels, value in list(csv.reader(file))[1:]:
            if metric == name:
                series[labels].append(float(value))
    return sum(values[-1] - values[0] for values in series.values())


def main():
    if not MODEL.exists():
        skip("kepler-model is not built")
    run_tests((rows_and_models_are_the_same, kinds_of_energy_are_apart, energy_of_real_files_is_kept))


main()
