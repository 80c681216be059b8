#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler-validator judge as a user runs it: files in, a verdict with its cause first, and the exit status."""
import contextlib
import gzip
import json
import math
import pathlib
import random
import subprocess
import tempfile

from rig import BUILD, run_tests

SAMPLES, START, STEP = 400, 1731388532, 3


def judge(*words, status):
    done = subprocess.run([BUILD / "kepler-validator", "judge", *map(str, words)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == status, f"{words}: {done.returncode}, {done.stdout}{done.stderr}"
    return done.stdout if status != 2 else done.stderr


def ladder(seed=1):
    """Watts of a machine whose load changes every 40 samples, with noise."""
    rng = random.Random(seed)
    levels = [40 + 80 * rng.random() for _ in range(SAMPLES // 40)]
    return [levels[i // 40] + rng.gauss(0, 0.8) for i in range(SAMPLES)]


def times():
    return [START + STEP * i for i in range(SAMPLES)]


def artifact(path, values):
    path.write_text(json.dumps({"query": "sum(rate(kepler_node_package_joules_total[20s]))", "metric": {}, "timestamps": times(),
                                "values": values}))
    return path


def prometheus_range(path, values, zone="package"):
    result = [{"metric": {"__name__": "watts", "zone": name}, "values": [[t, str(v)] for t, v in zip(times(), series)]}
              for name, series in ((zone, values), ("dram", [1] * len(values)))]
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    return path


def counter_csv(path, values, compress=False):
    """Microjoules of a counter."""
    lines, total = ["time,package_uj"], 0
    for t, v in zip(times(), values):
        total += round(v * STEP * 1e6)
        lines.append(f"{t},{total}")
    text = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(text) if compress else text)
    return path


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield pathlib.Path(name)


def every_format_is_the_same_series():
    with folder() as at:
        truth = ladder()
        actual = artifact(at / "actual.json", truth)
        for predicted in (f"{prometheus_range(at / 'range.json', truth)}#package", counter_csv(at / "counter.csv", truth),
                          counter_csv(at / "counter.csv.gz", truth, compress=True)):
            out = judge(f"--actual={actual}", f"--predicted={predicted}", "--max-error=0.1%", status=0)
            assert out.startswith("pass: "), out
        out = judge(f"--actual={actual}", f"--predicted={at / 'range.json'}", "--max-error=1%", status=2)
        assert "2 series fit" in out and "zone=" in out, out


def small_errors_beyond_the_bound_fail():
    with folder() as at:
        rng = random.Random(7)
        levels = [40 + 80 * rng.random() for _ in range(30)]
        truth = [levels[i // 120] + rng.gauss(0, 0.8) for i in range(3600)]

        def table(name, factor):
            lines = [f"{START + i},{factor * watts + rng.gauss(0, 0.8)}" for i, watts in enumerate(truth)]
            (at / name).write_text("\n".join(["time,watts", *lines]))
            return at / name
        actual = table("actual.csv", 1)
        for factor, status in ((0.94, 1), (1.06, 1), (0.96, 0), (1.04, 0)):
            out = judge(f"--actual={actual}", f"--predicted={table('predicted.csv', factor)}", "--max-error=5%", status=status)
            assert ("cause: scale" in out) == bool(status), out


def bad_series_fail_with_their_cause():
    truth = ladder()
    late = truth[:10] + truth[:-10]
    with folder() as at:
        actual = artifact(at / "actual.json", truth)
        for values, cause in (([v / 2 for v in truth], "scale"), ([v + 25 for v in truth], "offset"),
                              ([max(v, 90) for v in truth], "offset"), ([min(v, 90) for v in truth], "saturation"),
                              (ladder(2), "shape"), ([80] * SAMPLES, "shape"), (late, "lag")):
            predicted = artifact(at / "predicted.json", values)
            out = judge(f"--actual={actual}", f"--predicted={predicted}", "--max-error=5%", "--name=node/package", status=1)
            assert out.startswith(f"fail: node/package (cause: {cause})\n"), out
        microwatts = counter_csv(at / "micro.csv", [v / 5 for v in truth])
        out = judge(f"--actual={actual}", f"--predicted={microwatts}", "--max-error=5%", status=1)
        assert "cause: scale" in out and "microwatts of 5 s" in out, out


def without_evidence_there_is_no_verdict():
    truth = ladder()
    with folder() as at:
        actual = artifact(at / "actual.json", truth)
        out = judge(f"--actual={actual}", f"--predicted={actual}", status=3)
        assert out.startswith("not applicable: ") and "no threshold" in out, out
        gaps = artifact(at / "gaps.json", [math.nan if 100 < i < 200 else v for i, v in enumerate(truth)])
        out = judge(f"--actual={actual}", f"--predicted={gaps}", "--max-error=5%", status=3)
        assert out.startswith("inconclusive: ") and "99 not finite" in out and "25 % of the actual" in out, out
        zeros = artifact(at / "zeros.json", [0] * SAMPLES)
        out = judge(f"--actual={zeros}", f"--predicted={actual}", "--max-error=5%", status=3)
        assert out.startswith("not applicable: ") and "0 throughout" in out, out


def bad_series():
    """(name of the column, its lines, exit status, what the output has of it): of a series that is otherwise right."""
    truth = ladder()
    rows = [f"{t},{v}" for t, v in zip(times(), truth)]
    counter = [round(STEP * 1e6 * sum(truth[:i + 1])) for i in range(SAMPLES)]
    restarted = [value - (counter[200] if i >= 200 else 0) for i, value in enumerate(counter)]
    yield "watts", rows[:100] + rows[110:], 0, "390 samples, 1 gaps"
    yield "watts", rows[:100] + rows[200:], 3, "25 % of the actual series' time"
    yield "package_uj", [f"{t},{value}" for t, value in zip(times(), restarted)], 0, "1 resets"
    yield "watts", [row for row in rows for _ in range(2)], 0, "400 duplicate"
    yield "watts", [row if i % 50 else f"{t},NaN" for i, (t, row) in enumerate(zip(times(), rows))], 0, "8 not finite"
    yield "watts", [f"{t},{-v}" for t, v in zip(times(), truth)], 1, "400 negative"
    yield "watts", rows[:1], 3, "Only 0 windows"
    yield "watts", [], 3, "Only 0 windows"
    yield "watts", rows[::-1], 3, "399 out of order"


def what_is_bad_in_a_series_is_named():
    """It costs the verdict only where too little is left."""
    with folder() as at:
        actual = artifact(at / "actual.json", ladder())
        for name, lines, status, words in bad_series():
            (at / "bad.csv").write_text("\n".join([f"time,{name}", *lines]))
            out = judge(f"--actual={actual}", f"--predicted={at / 'bad.csv'}", "--max-error=5%", status=status)
            assert words in out, (words, out)


def phases_come_from_the_user():
    truth = ladder()
    with folder() as at:
        actual = artifact(at / "actual.json", truth)
        predicted = artifact(at / "predicted.json", [v * (0.9 if 200 <= i < 240 else 1) for i, v in enumerate(truth)])
        begin = START + STEP * 199
        (at / "phases.csv").write_text(f"name,start,end\nbefore,{START},{begin}\nbusy,{begin},{begin + STEP * 40}\n")
        out = judge(f"--actual={actual}", f"--predicted={predicted}", f"--phases={at / 'phases.csv'}", "--max-error=6%", status=1)
        assert "before: " in out and ", +0.00 %, pass" in out and "busy: " in out and ", -10.00 %, fail" in out, out
        (at / "phases.csv").write_text("name,start,end\nbusy,2,1\n")
        out = judge(f"--actual={actual}", f"--predicted={predicted}", f"--phases={at / 'phases.csv'}", status=2)
        assert "phases.csv:2: must be" in out, out


def published_errors_are_recomputed():
    truth = ladder()
    predicted = [0.8 * v for v in truth]
    pairs = list(zip(truth, predicted))
    mse = sum((p - a) ** 2 for a, p in pairs) / SAMPLES
    right, swapped = (100 * sum(abs(p - a) / d for (a, p), d in zip(pairs, by)) / SAMPLES for by in (truth, predicted))
    with folder() as at:
        files = (f"--actual={artifact(at / 'a.json', truth)}", f"--predicted={artifact(at / 'p.json', predicted)}",
                 f"--published={at / 'report.json'}", "--max-error=30%")
        other = {"metric-name": "dram", "value": {"mse": 5e9, "mape": "Infinity", "status": "mape passed: true"}}
        for mape, verdict, status in ((right, "pass: published/package", 0), (swapped, "fail: published/package", 1)):
            (at / "report.json").write_text(json.dumps({"result": [other, {"metric-name": "package", "value": {
                "mse": f"{mse:.2f}", "mape": f"{mape:.2f}", "status": "mape passed: true"}}]}))
            out = judge(*files, status=status)
            assert verdict in out and ("arguments are swapped" in out) == (status == 1), out
        out = judge(*files, "--published-name=dram", status=1)
        assert "fail: published/dram" in out and "other series" in out, out


def folders_of_artifacts_are_judged_pair_by_pair():
    truth = ladder()
    with folder() as at:
        for label, factor in (("metal", 1), ("vm", 0.5)):
            artifact(at / f"{label}-kepler_node_package_joules_total--dynamic.json", truth)
            artifact(at / f"{label}-kepler_node_dram_joules_total--dynamic.json", [factor * value for value in truth])
        places = (f"--actual={at}#metal", f"--predicted={at}#vm", "--max-error=5%")
        out = judge(*places, f"--output={at / 'report'}", status=1)
        assert "pass: kepler_node_package_joules_total--dynamic" in out, out
        assert "fail: kepler_node_dram_joules_total--dynamic (cause: scale)" in out, out
        results = json.loads((at / "report/report.json").read_text())["results"]
        assert [result["verdict"] for result in results] == ["fail", "pass"], results
        (at / "vm-kepler_node_dram_joules_total--dynamic.json").write_text("{")
        (at / "metal-kepler_node_core_joules_total--dynamic.json").write_text("{}")
        out = judge(*places, status=3)
        assert "inconclusive: kepler_node_dram_joules_total--dynamic" in out and "pass: kepler_node_package" in out, out
        assert "without a partner" in out and "not judged: 1." in out, out
        assert "two files or two folders" in judge(f"--actual={at}#metal", "--predicted=x.csv", status=2)
        assert "published: is for two files" in judge(*places, "--published=report.json", status=2)


def wrong_use_says_what_to_do():
    with folder() as at:
        (at / "bad.csv").write_text("time,watts\n1,5\n2,five\n")
        for words, message in (([], "--actual and --predicted are needed"),
                               (["--max-error=5"], "--max-error: must be a percentage"),
                               ([f"--actual={at / 'bad.csv'}", "--predicted=x"], "bad.csv:3:7: column 2 must be a number"),
                               (["--actual=/nowhere", "--predicted=x"], "/nowhere: No such file"),
                               (["--max-eror=5%"], "--max-error")):
            out = judge(*words, status=2)
            assert message in out, out


if __name__ == "__main__":
    run_tests([every_format_is_the_same_series, small_errors_beyond_the_bound_fail, bad_series_fail_with_their_cause,
               without_evidence_there_is_no_verdict, what_is_bad_in_a_series_is_named,
               phases_come_from_the_user, published_errors_are_recomputed, folders_of_artifacts_are_judged_pair_by_pair,
               wrong_use_says_what_to_do])
