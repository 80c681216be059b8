#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What "running" and "terminated" say in today's names, of real processes.

Short jobs, scraped as seldom as a cluster is: the sum of increase() is the same in both schemas, and nothing is lost. What
sleeps since before the exporter began is running, beyond the time that ended series are kept; one whose cgroup goes is terminated.
"""
import contextlib
import subprocess
import time

from containers import remove_group
from rig import Exporter, Sensors, Service, balanced, rapl_zone, run_tests

# A tenth of production: scraped each 1.5 s, held back for as long, jobs of 0.6 to 2 s.
SCRAPE_S = 1.5
OPTIONS = ["--metrics.schema=both", "--monitor.interval=200ms", f"--metrics.settle={SCRAPE_S:.1f}s",
           "--metrics.process.min-joules=0"]
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


def short_jobs():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, \
            Exporter(f"--host.sysfs={sensors.mount}", "--metrics.keep=60s", *OPTIONS) as exporter:
        exporter.intervals(2)
        counted = {family: Increase() for family in FAMILIES}
        begin, scrapes = time.monotonic(), 0
        jobs = [Job(begin + number * 0.7, begin + number * 0.7 + life) for number, life in enumerate(JOBS_S)]
        while not all([job.advance(time.monotonic()) for job in jobs]):
            if time.monotonic() >= begin + scrapes * SCRAPE_S:
                scrapes += 1
                take_all(balanced(exporter.scrape()), counted)
            time.sleep(0.01)
        for _ in range(3):
            time.sleep(SCRAPE_S)
            metrics = balanced(exporter.intervals(2))
            take_all(metrics, counted)
        truth = sum(value for labels, value in metrics.select("kepler_process_package_joules_total", mode="dynamic")
                    if labels["command"] == "yes")
        classic, current = (counter.total for counter in counted.values())
        print(f"  {len(jobs)} jobs used {truth} J; increase() has {classic} J in classic names, {current} J in today's")
        assert truth > 0 and classic == current == truth
        assert exporter.stop() == 0


def states(exporter, service):
    metrics = balanced(exporter.intervals(2))
    return ([labels["state"] for labels, _ in metrics.select("kepler_container_cpu_watts", container_name=service.name)],
            [labels["state"] for labels, _ in metrics.select("kepler_container_cpu_joules_total", container_name=service.name)])


def asleep_is_not_over():
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, Service("kepler-test-asleep.service") as service, \
            contextlib.ExitStack() as stack:
        sleeper = service.run("sleep", "1000")
        stack.callback(sleeper.wait)
        stack.callback(sleeper.kill)
        time.sleep(0.5)  # it has begun to sleep before the exporter looks
        with Exporter(f"--host.sysfs={sensors.mount}", "--metrics.keep=2s", *OPTIONS) as exporter:
            deadline = time.monotonic() + 10  # on a machine that is busy, both come some intervals late
            while (found := states(exporter, service)) != (["running"], ["running"]):
                assert time.monotonic() < deadline, found
            time.sleep(SCRAPE_S + 3)
            found = states(exporter, service)
            assert found == (["running"], ["running"]), found
            stack.close()
            for folder in service.dirs:
                remove_group(folder)
            deadline = time.monotonic() + 20
            while (found := states(exporter, service)) == (["running"], ["running"]) and time.monotonic() < deadline:
                pass
            assert found == (["terminated"], ["running"]), found
            assert exporter.stop() == 0


run_tests([short_jobs, asleep_is_not_over])
