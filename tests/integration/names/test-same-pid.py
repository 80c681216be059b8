#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R22: another process under the same pid inherits no energy. With KEPLER_LONG_TESTS one pid is used 100,000 times.

It runs by itself: pids are handed out again meanwhile that other tests wait to see the end of.
"""
import os
import pathlib
import resource
import sys
import time

from rig import Exporter, Sensors, Service, balanced, rapl_zone, run_tests

LONG = bool(os.environ.get("KEPLER_LONG_TESTS"))
# Names of containers are not awaited, whatever runtimes this machine has.
EACH = ["--runtimes.enabled=false", "--metrics.process.min-joules=0", "--metrics.settle=0s", "--monitor.interval=1s"]
LIVES, LOOPS = (100000, 20000) if LONG else (400, 200000)
MISSES_MAX = 20  # something else lives under the pid: another is taken


def use_pid_again(count):
    """Runs processes until `count` had one pid; prints how many had, what all used, the longest life in ms, and the pid."""
    last_pid = pathlib.Path("/proc/sys/kernel/ns_last_pid")
    wanted, hits, misses, longest = 0, 0, 0, 0.0
    for number in range(20 * count):  # others take pids, too, while the machine is busy
        if hits == count:
            break
        if wanted:
            last_pid.write_text(str(wanted - 1))
        pid = os.fork()
        if pid == 0:
            pathlib.Path("/proc/self/comm").write_text(f"reused-{number % 3}")
            for _ in range(LOOPS):
                pass
            os._exit(0)
        _, _, life = os.wait4(pid, 0)
        longest = max(longest, life.ru_utime + life.ru_stime)
        misses = misses + 1 if pid != wanted else 0
        if not wanted or misses == MISSES_MAX:
            wanted, hits, misses = pid, 0, 0
        hits += pid == wanted
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(hits, sum(u.ru_utime + u.ru_stime for u in used), longest * 1e3, wanted, flush=True)


def same_pid():
    """R22: one pid is used again many times within an interval: no process inherits energy, and the sum is right."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 45)) as sensors, Service("kepler-test-reuse.service") as service, \
            Exporter(f"--host.sysfs={sensors.mount}", *EACH) as exporter:
        exporter.intervals(2)
        process = service.run(sys.executable, __file__, "use_pid_again", str(LIVES))
        while process.poll() is None:
            balanced(exporter.scrape())
            time.sleep(0.5)
        hits, seconds, longest, pid = process.communicate()[0].split()
        metrics = service.told(exporter)
        # Another process of a busy machine may get the pid as well.
        lives = [float(value) for _, value in
                 metrics.select("kepler_process_bpf_cpu_time_ms_total", pid=pid, container_id=service.name)]
        print(f"  {hits} of {LIVES} got pid {pid}; {len(lives)} of them have series, the longest ran {max(lives):.1f} ms, "
              f"truth {float(longest):.1f} ms")
        assert int(hits) > LIVES / 2, "the kernel does not let pids be chosen"
        ran = service.cpu_seconds(metrics)
        print(f"  CPU of all of them, s: {ran:.3f}, truth {seconds} by wait4 (without the ends) to {service.ran_s():.3f}")
        assert float(seconds) * 0.99 <= ran <= service.ran_s() * 1.005
        assert max(lives) <= float(longest) * 1.1 + 1, "none ran so long: it inherited"
        assert exporter.stop() == 0


if sys.argv[1:2] == ["use_pid_again"]:
    use_pid_again(int(sys.argv[2]))
else:
    run_tests([same_pid])
