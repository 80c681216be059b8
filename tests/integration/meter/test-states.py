#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What "running" and "terminated" say in today's names, of real processes.

Short jobs, scraped as seldom as a cluster is: the sum of increase() is the same in both schemas, and nothing is lost. A process
that sleeps since before the exporter began is running, beyond the time that ended series are kept; one whose cgroup is removed is
terminated.
"""
import contextlib
import pathlib
import subprocess
import time

from containers import remove_group
from rig import Exporter, Sensors, Service, balanced, rapl_zone, run_tests

# A tenth of production: scraped each 1.2 s, held back for longer, jobs of 0.6 to 2 s.
SCRAPE_S, SETTLE_S = 1.2, 2.0
OPTIONS = ["--metrics.schema=both", "--monitor.interval=200ms", f"--metrics.settle={SETTLE_S:.1f}s",
           "--metrics.process.min-joules=0"]
PATIENCE_S = 120
JOBS_S = [0.6, 2, 0.9, 1.3, 1.6]
FAMILIES = {"kepler_process_package_joules_total": "command", "kepler_process_cpu_joules_total": "comm"}  # and its name


class Increase:
    """As PromQL counts it: the first sample of a series is nothing, a smaller one is a new beginning."""

    def __init__(self):
        self.last, self.total = {}, 0

    def take(self, key, value):
        if key in self.last:
            self.total += value - self.last[key] if value >= self.last[key] else value
        self.last[key] = value


def take_all(metrics, counted):
    for family, label in FAMILIES.items():
        for labels, value in metrics.select(family):
            if labels[label] == "yes" and labels.get("mode") != "idle":
                counted[family].take(tuple(sorted(labels.items())), value)


class Job:
    """Works for so long, from when it is due."""

    def __init__(self, begin, end):
        self.begin, self.end, self.process = begin, end, None

    def advance(self, now):
        """Whether it is over."""
        if not self.process and now >= self.begin:
            self.process = subprocess.Popen(["yes"], stdout=subprocess.DEVNULL)
        if self.process and now >= self.end:
            self.process.kill()
            self.process.wait()
        return self.process is not None and self.process.poll() is not None


class Scrapes:
    """Of one exporter, and the longest time from one to the next by its own clock, which decides how long a series settles."""

    def __init__(self, exporter):
        self.exporter, self.last_s, self.longest_s = exporter, None, 0
        self.counted = {family: Increase() for family in FAMILIES}

    def take(self):
        metrics = balanced(self.exporter.scrape())
        now_s = float(metrics.value("kepler_exporter_snapshot_timestamp_seconds"))
        self.longest_s = max(self.longest_s, now_s - (self.last_s or now_s))
        self.last_s = now_s
        take_all(metrics, self.counted)
        return metrics


def run_jobs(exporter):
    """(longest time between two scrapes, energy of the jobs in J, increase() of each family)"""
    scrapes = Scrapes(exporter)
    begin, count, done = time.monotonic(), 0, None
    jobs = [Job(begin + number * 0.7, begin + number * 0.7 + life) for number, life in enumerate(JOBS_S)]
    while not done or count < done + 4:
        if time.monotonic() >= begin + count * SCRAPE_S:
            count += 1
            metrics = scrapes.take()
        if all([job.advance(time.monotonic()) for job in jobs]):
            done = done or count
        time.sleep(0.01)
    truth = sum(value for labels, value in metrics.select("kepler_process_package_joules_total", mode="dynamic")
                if labels["command"] == "yes")
    return scrapes.longest_s, truth, [counter.total for counter in scrapes.counted.values()]


def short_jobs():
    """Run again if a busy machine delayed a scrape beyond the time that series settle: increase() misses energy then."""
    deadline, longest_s = time.monotonic() + PATIENCE_S, SETTLE_S
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors:
        while longest_s >= SETTLE_S:
            assert time.monotonic() < deadline, f"{longest_s:.1f} s between two scrapes"
            with Exporter(f"--host.sysfs={sensors.mount}", "--metrics.keep=60s", *OPTIONS) as exporter:
                exporter.intervals(2)
                longest_s, truth, (classic, current) = run_jobs(exporter)
                print(f"  {len(JOBS_S)} jobs used {truth} J; increase() has {classic} J in classic names, {current} J in today's; "
                      f"{longest_s:.1f} s between scrapes")
                assert exporter.stop() == 0
    assert truth > 0 and classic == current == truth


def states(exporter, service):
    metrics = balanced(exporter.intervals(2))
    return ([labels["state"] for labels, _ in metrics.select("kepler_container_cpu_watts", container_name=service.name)],
            [labels["state"] for labels, _ in metrics.select("kepler_container_cpu_joules_total", container_name=service.name)])


def wait_asleep(pid):
    """Until it has executed its program and sleeps, so that the exporter does not see it run."""
    deadline = time.monotonic() + PATIENCE_S
    while " (sleep) S " not in pathlib.Path(f"/proc/{pid}/stat").read_text():
        assert time.monotonic() < deadline, "it does not sleep"
        time.sleep(0.01)


def asleep_is_not_over():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, Service("kepler-test-asleep.service") as service, \
            contextlib.ExitStack() as stack:
        sleeper = service.run("sleep", "1000")
        stack.callback(sleeper.wait)
        stack.callback(sleeper.kill)
        wait_asleep(sleeper.pid)
        with Exporter(f"--host.sysfs={sensors.mount}", "--metrics.keep=2s", *OPTIONS) as exporter:
            deadline = time.monotonic() + PATIENCE_S
            while (found := states(exporter, service)) != (["running"], ["running"]):
                assert time.monotonic() < deadline, found
            kept_until = time.monotonic() + 5  # longer than an ended series would be
            while time.monotonic() < kept_until:
                found = states(exporter, service)
                assert found == (["running"], ["running"]), found
            stack.close()
            for folder in service.dirs:
                remove_group(folder)
            deadline = time.monotonic() + PATIENCE_S
            while (found := states(exporter, service)) == (["running"], ["running"]) and time.monotonic() < deadline:
                pass
            assert found == (["terminated"], ["running"]), found
            assert exporter.stop() == 0


run_tests([short_jobs, asleep_is_not_over])
