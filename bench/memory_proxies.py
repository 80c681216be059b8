#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory_proxies.py - what stands in for memory traffic where nothing counts it: CPU time, page faults, resident memory?

Runs programs of this machine by themselves, for their CPU time, page faults and largest resident memory, and again under
cachegrind, whose simulated last level of cache (8 MiB, 16 ways) misses as often as the programs move memory. For each pair of
programs with the same CPU time: how far is the part that a weight gives the first from its part of the misses? Takes a minute. The
misses of the kernel, which clears pages, are not simulated.
"""
import itertools
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

CACHE = "8388608,16,64"
STREAM = """#include <stdlib.h>
int main(int c, char **v) { size_t n = atol(v[1]) << 17, s = 0; double *a = calloc(n, 8);
for (int r = 0; r < atoi(v[2]); r++) for (size_t i = 0; i < n; i++) a[i] = a[i] * 0.5 + r;
return a[n / 2] < s; }
"""
CHASE = """#include <stdlib.h>
int main(int c, char **v) { size_t n = atol(v[1]) << 17, p = 0; unsigned long s = 1; size_t *a = malloc(n * 8);
for (size_t i = 0; i < n; i++) a[i] = i;
for (size_t i = n - 1; i; i--) { s = s * 6364136223846793005UL + 1; size_t j = (s >> 33) % i, t = a[i]; a[i] = a[j]; a[j] = t; }
for (long k = 0; k < atol(v[2]) * 1000; k++) p = a[p];
return p == n; }
"""
# A child's largest resident memory includes its parent's before the exec, so the parent is small.
LAUNCHER = """#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int c, char **v) { struct rusage u; int status;
if (fork() == 0) { dup2(open("/dev/null", O_WRONLY), 1); execvp(v[1], v + 1); _exit(127); }
wait4(-1, &status, 0, &u);
printf("%ld %ld %ld", u.ru_utime.tv_usec + u.ru_stime.tv_usec + (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000L, u.ru_minflt,
u.ru_maxrss); return status != 0; }
"""


def programs(folder):
    text = str(folder / "text")
    found = {}
    for name, source in (("stream", STREAM), ("chase", CHASE), ("launch", LAUNCHER)):
        (folder / f"{name}.c").write_text(source)
        subprocess.run(["cc", "-O2", "-o", folder / name, folder / f"{name}.c"], check=True)
    found["64 MiB, in order"] = [folder / "stream", "64", "6"]
    found["1 MiB, in order"] = [folder / "stream", "1", "300"]
    found["128 MiB, at random"] = [folder / "chase", "128", "600"]
    for name, *words in (("gzip", "-9c", text), ("bzip2", "-c", text), ("zstd", "-9", "-q", "-c", text), ("xz", "-1c", text),
                         ("sort", "-S", "200M", text), ("awk", "{for(i=1;i<=NF;i++)n[$i]++} END{print length(n)}", text)):
        if shutil.which(name):
            found[name] = [name, *words]
    return found


def run(folder, words):
    """CPU time, page faults and resident bytes: of the run with the least CPU time of three."""
    runs = []
    for _ in range(3):
        done = subprocess.run([folder / "launch", *map(str, words)], capture_output=True, text=True, check=True)
        microseconds, faults, kibibytes = map(int, done.stdout.split())
        runs.append((max(microseconds, 1000) / 1e6, faults, kibibytes << 10))
    return min(runs)


def misses(words):
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", f"--LL={CACHE}",
                           *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return int(re.search(r"LL misses:\s+([\d,]+)", done.stderr)[1].replace(",", ""))


def errors(rows, weight):
    """Mean and largest, in points, over all pairs."""
    found = []
    for a, b in itertools.combinations(rows, 2):
        total = weight(a) + weight(b)
        found.append(abs((weight(a) / total if total else 0.5) - a["misses"] / (a["misses"] + b["misses"])) * 100)
    return sum(found) / len(found), max(found)


def main():
    for needed in ("valgrind", "cc"):
        if not shutil.which(needed):
            sys.exit(f"needs {needed}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        chance = random.Random(1)
        words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(3000)]
        (folder / "text").write_text("\n".join(" ".join(chance.choices(words, k=10)) for _ in range(20000)) + "\n")
        for title, command in programs(folder).items():
            seconds, faults, resident = run(folder, command)
            rows.append({"misses": misses(command) / seconds, "faults": faults / seconds, "resident": resident})
            print(f"{title:20} {seconds:6.3f} s, {rows[-1]['misses'] / 1e6:7.2f} million misses and "
                  f"{rows[-1]['faults'] / 1e3:6.1f} thousand faults a second, {resident >> 20} MiB", flush=True)
    weights = {"CPU time": lambda row: 1,
               "CPU time × memory": lambda row: row["resident"],
               "page faults": lambda row: row["faults"],
               "page faults, of programs that fault no more": lambda row: 0 if row["resident"] > 2**25 else row["faults"]}
    for title, weight in weights.items():
        mean, most = errors(rows, weight)
        print(f"{title}: {mean:.1f} points in the mean, {most:.0f} at most")


if __name__ == "__main__":
    main()
