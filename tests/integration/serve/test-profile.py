#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler profile: which functions used the joules of a command, a process and the machine."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import uuid
from xml.etree import ElementTree

from browser import Browser
from fake_kubernetes import NODE, FakeKubernetes, make_pod, pod_id
from kube_pods import pod_cgroup, runs_in
from profile_rig import CLOCK, build, plant, profile, program, told_uj
from rig import KEPLER, ROOT, Sensors, Service, need_program, rapl_zone, run_tests

SECONDS = 30 if os.environ.get("KEPLER_LONG_TESTS") else 12
# Two functions that use CPU time as 3 to 1, by the process' own clock.
PROGRAM = CLOCK + r"""
WORK(large, +=)
WORK(small, ^=)
int main(int argc, char **argv)
{
	for (double end = atof(argv[1]); cpu() < end;) { large(0.075); small(0.025); }
	return 7;
}
"""

# Functions that the compiler puts into their callers: hottest into hot, and hot into outer.
INLINED = CLOCK + r"""
static inline __attribute__((always_inline)) void hottest(void) { for (unsigned long i = 0; i < 200000; i++) sink += i; }
static inline __attribute__((always_inline)) void hot(void) { hottest(); }
__attribute__((noinline)) void outer(double s) { for (double end = cpu() + s; cpu() < end;) hot(); }
int main(int argc, char **argv) { for (double end = cpu() + atof(argv[1]); cpu() < end;) outer(0.1); return 7; }
"""

# A function of arithmetic and one of page faults, in turns of a millisecond. Faults stand in for cache misses, which virtual
# machines without counters cannot count: the kernel counts and samples them in the same way.
MISSES = "#define _GNU_SOURCE" + CLOCK + r"""
#include <sys/mman.h>
#define PAGES 64
__attribute__((noinline)) void arithmetic(void)
{ for (double end = cpu() + 0.001; cpu() < end;) for (unsigned long i = 0; i < 20000; i++) sink += i; }
__attribute__((noinline)) void missing(volatile char *pages)
{
	madvise((void *)pages, PAGES * 4096, MADV_DONTNEED);
	for (int i = 0; i < PAGES; i++) pages[i * 4096] = 1;
}
int main(int argc, char **argv)
{
	volatile char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (double end = cpu() + atof(argv[1]); cpu() < end;) { arithmetic(); missing(pages); }
	return 7;
}
"""

# A function that a runtime has compiled: code in memory without a file, named in /tmp/perf-PID.map.
RUNTIME = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void turn(volatile unsigned long *n) { for (unsigned long i = 0; i < 1000000; i++) *n += i; }
int main(void)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	void (*code)(volatile unsigned long *) = mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	volatile unsigned long n = 0;
	memcpy((void *)code, (void *)turn, 256);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	fprintf(map, "%lx 100 compiled;turn\n", (unsigned long)code);
	fclose(map);
	for (;;) code(&n);
}
"""


def stacks(text):
    """The folded profile as (frames, µJ)."""
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in text.splitlines()]


def energy_of(name, found):
    return sum(uj for frames, uj in found if name in frames)


def functions_have_the_energy_of_their_time():
    with plant() as sensors, program("three-to-one", PROGRAM) as path:
        out = path.parent / "out.folded"
        done = profile(f"--host.sysfs={sensors.mount}", "--frequency=999", f"--output={out}", "--", path, str(SECONDS), status=7)
        found = stacks(out.read_text())
    ratio = energy_of("large", found) / energy_of("small", found)
    print(f"  {energy_of('large', found)} µJ to {energy_of('small', found)} µJ: {ratio:.3f}")
    assert abs(ratio - 3) < 0.2, ratio
    assert "(measured)" in done.stderr and {frames[0] for frames, _ in found} == {"three-to-one"}, (done.stderr, found)
    assert sum(uj for _, uj in found) == told_uj(done.stderr)[0], done.stderr
    assert any(frames[-3:] == ["main", "large"] or frames[-2:] == ["main", "large"] for frames, _ in found), found


def three_functions_have_their_shares():
    """Each within 4 % of its share of the CPU time, by the program's own clock, after 30 s."""
    text = PROGRAM.replace("WORK(small, ^=)", "WORK(small, ^=)\nWORK(medium, -=)").replace(
        "large(0.075); small(0.025);", "large(0.05); medium(0.03); small(0.02);")
    shares = {"large": 0.5, "medium": 0.3, "small": 0.2}
    with plant() as sensors, program("three-to-one", text) as path:
        out = path.parent / "out.folded"
        profile(f"--host.sysfs={sensors.mount}", "--frequency=999", f"--output={out}", "--", path, "30", status=7)
        found = stacks(out.read_text())
    total = sum(energy_of(name, found) for name in shares)
    errors = {name: energy_of(name, found) / total / share - 1 for name, share in shares.items()}
    print("  " + ", ".join(f"{name} {error:+.2%}" for name, error in errors.items()))
    assert all(abs(error) <= 0.04 for error in errors.values()), errors


def misses_have_the_energy_where_misses_are_charged():
    """By the rule of cache misses the function that misses has the joules; by time, the function that computes has them."""
    counted = ["--counters.switches=true", "--counters.cache-misses=page-faults"]
    parts = {}
    with plant() as sensors, program("misses", MISSES) as path:
        out = path.parent / "out.folded"
        for rule in ("cpu-time", "cache-misses"):
            done = profile(f"--host.sysfs={sensors.mount}", *counted, f"--attribution.package={rule}", f"--output={out}", "--",
                           path, "4", status=7)
            found = stacks(out.read_text())
            assert sum(uj for _, uj in found) == told_uj(done.stderr)[0] > 0, done.stderr
            parts[rule] = energy_of("missing", found) / sum(uj for _, uj in found)
            print(f"  {rule}: {parts[rule]:.1%} in the function of misses; {done.stderr.splitlines()[0]}")
    assert parts["cpu-time"] < 0.5 and parts["cache-misses"] > 0.95, parts


def the_machine_adds_up():
    with plant() as sensors, program("three-to-one", PROGRAM) as path:
        burner = subprocess.Popen([path, "1000"])
        try:
            done = profile(f"--host.sysfs={sensors.mount}", "--all", "--duration=3s")
            of_one = profile(f"--host.sysfs={sensors.mount}", f"--pid={burner.pid}", "--duration=2s")
        finally:
            burner.kill()
            burner.wait()
        with plant() as sensors:
            earlier = path.parent / "earlier"
            earlier.write_text("three-to-one;gone 17\n")
            compared = profile(f"--host.sysfs={sensors.mount}", f"--diff={earlier}", "--all", "--duration=1s").stdout
    assert "three-to-one;gone 17 0\n" in compared and all(line.split()[-2].isdigit() for line in compared.splitlines()), compared
    total, node = told_uj(done.stderr)[:2]
    assert total == node == sum(uj for _, uj in stacks(done.stdout)), done.stderr
    assert energy_of("large", stacks(done.stdout)) > 0, done.stdout
    assert {frames[0] for frames, _ in stacks(of_one.stdout)} == {"three-to-one"}, of_one.stdout


def a_containers_processes_alone():
    """One program in a cgroup of its own, and another one elsewhere, which the profile of the cgroup leaves out."""
    name = "kepler-test-profile.service"
    with plant() as sensors, program("three-to-one", PROGRAM) as path, Service(name) as service, contextlib.ExitStack() as ended:
        other = path.with_name("other")
        os.link(path, other)
        for burner in (service.run(path, "1000"), subprocess.Popen([other, "1000"])):
            ended.callback(burner.wait)
            ended.callback(burner.kill)
        done = profile(f"--host.sysfs={sensors.mount}", f"--container={name}", "--duration=3s")
        found = stacks(done.stdout)
        assert {frames[0] for frames, _ in found} == {"three-to-one"} and energy_of("large", found) > 0, found
        assert sum(uj for _, uj in found) == told_uj(done.stderr)[0] < told_uj(done.stderr)[1], done.stderr
        missing = profile(f"--host.sysfs={sensors.mount}", "--container=no-such-container", "--duration=1s", status=1)
        assert "kepler: no process of container no-such-container ran\n" in missing.stderr, missing.stderr


def a_pods_processes_alone():
    """Two pods with a program each, in cgroups as a kubelet makes them: by its name in its namespace, and by its id."""
    fake = FakeKubernetes(token="")
    pods = [fake.put(make_pod(name, uid=str(uuid.uuid4()))) for name in ("wanted", "other")]
    cgroups = [pod_cgroup(pod["metadata"]["uid"], pod_id(pod)) for pod in pods]
    with plant() as sensors, program("three-to-one", PROGRAM) as path, contextlib.ExitStack() as ended, \
            tempfile.TemporaryDirectory() as directory:
        ended.callback(fake.down)
        other = path.with_name("other")
        os.link(path, other)
        for cgroup, runs in zip(cgroups, (path, other)):
            ended.enter_context(runs_in(cgroup, runs, "1000"))
        kubeconfig = pathlib.Path(directory, "kubeconfig")
        kubeconfig.write_text(f'current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n'
                              f'clusters: [{{name: c, cluster: {{server: "{fake.url}"}}}}]\nusers: [{{name: u, user: {{}}}}]\n')
        names = [f"--kube.kubeconfig={kubeconfig}", f"--kube.node-name={NODE}"]
        for wanted in ("prod/wanted", "wanted", pods[0]["metadata"]["uid"][:13]):
            done = profile(f"--host.sysfs={sensors.mount}", *names, f"--pod={wanted}", "--duration=2s")
            found = stacks(done.stdout)
            print(f"  {wanted}: {done.stderr.splitlines()[0]}")
            assert {frames[0] for frames, _ in found} == {"three-to-one"} and energy_of("large", found) > 0, (wanted, found)
            assert sum(uj for _, uj in found) == told_uj(done.stderr)[0] < told_uj(done.stderr)[1], done.stderr
        missing = profile(f"--host.sysfs={sensors.mount}", *names, "--pod=prox/wanted", "--duration=2s", status=1)
        assert "kepler: no process of pod prox/wanted ran\n" in missing.stderr, missing.stderr


def stacks_without_callers_are_counted():
    """By a message, with the program and what helps; one with frame pointers or unwind tables gets none, and has its callers."""
    text = PROGRAM.replace("static double cpu", "__attribute__((noinline)) static double cpu")
    no_tables = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
    with plant() as sensors, tempfile.TemporaryDirectory() as directory:
        for flags, is_broken in ((["-fomit-frame-pointer"], False), (["-fomit-frame-pointer", *no_tables], True),
                                 (["-fno-omit-frame-pointer", *no_tables], False)):
            path = pathlib.Path(directory, "looper")
            build(path, text, ("-O2", *flags))
            done = profile(f"--host.sysfs={sensors.mount}", f"--output={directory}/out.folded", "--", path, "3", status=7)
            found = stacks(pathlib.Path(directory, "out.folded").read_text())
            told = re.search(r"kepler: (\d+) % of the user stacks lack callers, most of them in looper; programs built with "
                             r"-fno-omit-frame-pointer have whole stacks", done.stderr)
            called = sum(uj for frames, uj in found if "main" in frames[:-1] and ("large" in frames or "small" in frames))
            print(f"  {flags}: {told[0] if told else 'whole'}; {called / sum(uj for _, uj in found):.1%} below main")
            assert bool(told) == is_broken, (flags, done.stderr)
            assert not told or int(told[1]) > 50, done.stderr
            assert is_broken or called > 0.8 * sum(uj for _, uj in found), found
        build(path, text, ("-O2", "-fomit-frame-pointer", *no_tables))
        profile(f"--host.sysfs={sensors.mount}", f"--output={directory}/out.html", "--", path, "2", status=7)
        assert "lack callers" in pathlib.Path(directory, "out.html").read_text(), "the page does not say what the message says"


def inlined_functions_are_frames():
    """In each format, if the program has debugging information; the functions around them are as without it."""
    with plant() as sensors, program("inlined", INLINED, ("-O2", "-g")) as path:
        outs = [path.with_name(f"out.{ending}") for ending in ("folded", "json", "html")]
        for out in outs:
            profile(f"--host.sysfs={sensors.mount}", "--frequency=499", f"--output={out}", "--", path, "2", status=7)
        found = stacks(outs[0].read_text())
        inside = sum(uj for frames, uj in found if frames[-3:] == ["outer", "hot_[i]", "hottest_[i]"])
        print(f"  {inside / sum(uj for _, uj in found):.1%} in the innermost function")
        assert inside > 0.5 * sum(uj for _, uj in found), found
        assert not any("hot" in frames or "hottest" in frames for frames, _ in found), found
        speedscope = json.loads(outs[1].read_text())
        names = [frame["name"] for frame in speedscope["shared"]["frames"]]
        called = [[names[frame] for frame in stack][-3:] for stack in speedscope["profiles"][0]["samples"]]
        assert ["outer", "hot", "hottest"] in called, called
        assert '["hottest",4]' in outs[2].read_text()
        subprocess.run([need_program("strip"), "--strip-debug", path], check=True)
        profile(f"--host.sysfs={sensors.mount}", f"--output={outs[0]}", "--", path, "1", status=7)
        found = stacks(outs[0].read_text())
        assert energy_of("outer", found) > 0 == energy_of("hot_[i]", found), found


def functions_that_a_runtime_compiled_have_names():
    with plant() as sensors, program("runtime", RUNTIME) as path, subprocess.Popen([path]) as runtime:
        lines = pathlib.Path(f"/tmp/perf-{runtime.pid}.map")
        try:
            found = stacks(profile(f"--host.sysfs={sensors.mount}", f"--pid={runtime.pid}", "--duration=3s").stdout)
        finally:
            runtime.kill()
            lines.unlink(missing_ok=True)
    # The semicolon would separate frames.
    assert energy_of("compiled:turn_[j]", found) > 0.9 * sum(uj for _, uj in found) > 0, found


def the_page_is_a_flame_graph():
    """Without --output a command's profile is a page; a real browser draws it, and asks for nothing else."""
    with plant() as sensors, program("three-to-one", PROGRAM) as path, tempfile.TemporaryDirectory() as directory:
        done = profile(f"--host.sysfs={sensors.mount}", "--", path, "3", status=7, cwd=directory)
        page = pathlib.Path(directory, "kepler-profile.html")
        with Browser() as browser:
            browser.open(page.as_uri())
            assert browser.run("nodes[0].sum") == told_uj(done.stderr)[0], done.stderr
            assert browser.run("document.title") == f"Energy of {path} 3"
            assert browser.wait("[...graph.children].some((frame) => frame.textContent === 'large')")
            browser.run("byId('search').value = 'LARGE'; byId('search').oninput()")
            assert "1 found: " in browser.wait("byId('found').textContent")
            browser.run("[...graph.children].find((frame) => frame.textContent === 'large').click()")
            assert browser.wait("location.hash.includes('search=large') && byId('detail').textContent.startsWith('large ')")
            # The callers stay above it; its own functions fill the width.
            assert browser.run("graph.querySelectorAll('.above').length") >= 2
            browser.press("Escape")
            assert browser.wait("zoomed.id === 0 && document.activeElement.textContent === 'all'")
            browser.press("ArrowDown")
            assert browser.wait("document.activeElement.textContent") == "three-to-one"
            assert browser.requests == [page.as_uri()] and not browser.logged, (browser.requests, browser.logged)


def the_picture_is_a_flame_graph():
    """One file of SVG: the frames are there without a script; in a browser it zooms, searches, and keeps both in its address."""
    with plant() as sensors, program("three-to-one", PROGRAM) as path, tempfile.TemporaryDirectory() as directory:
        picture = pathlib.Path(directory, "out.svg")
        profile(f"--host.sysfs={sensors.mount}", f"--output={picture}", "--", path, "3", status=7)
        titles = [title.text for title in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}title")]
        assert titles[0] == f"Energy of {path} 3" and any(title.startswith("large: ") for title in titles), titles
        with Browser() as browser:
            browser.open(f"{picture.as_uri()}#search=LARGE")
            assert re.fullmatch(r"large: 1 found, [67]\d\.\d %", browser.wait("byId('found').textContent"))
            browser.run("frames.find((frame) => frame.name === 'large').group.onclick()")
            assert browser.wait("location.hash.includes('at=') && byId('detail').textContent.startsWith('large: ')")
            assert browser.run("+zoomed.rect.getAttribute('width')") == 1200
            assert browser.run("document.querySelectorAll('.above').length") >= 2
            browser.press("ArrowUp")
            assert browser.wait("document.activeElement.querySelector('title').textContent.startsWith('main: ')")
            browser.press("Escape")
            assert browser.wait("zoomed.id === 0 && byId('found').textContent === ''") is True
            assert len(browser.requests) == 1 and not browser.logged, (browser.requests, browser.logged)


def what_is_wrong_is_reported():
    assert "No such file" in profile("--", "/no/such/program", status=127).stderr
    assert "Permission denied" in profile("--", "/etc/passwd", status=126).stderr
    assert "there is no process" in profile("--pid=4194304", status=1).stderr
    assert "usage: kepler profile" in profile(status=2).stderr
    assert "usage: kepler profile" in profile("--all", "--pid=1", status=2).stderr
    with tempfile.TemporaryDirectory() as directory:
        out = f"--output={directory}/out"
        profile(out, "--", "sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)
        pathlib.Path(directory, "bad").write_text("a;b 1\nno number\n")
        assert f"{directory}/bad:2: must be a stack" in profile(f"--diff={directory}/bad", "--all", status=1).stderr
        told = profile("--output=/no/such/folder/out", "--", "true", status=1).stderr
        assert "kepler: /no/such/folder/out: No such file or directory\n" in told, told


run_tests([functions_have_the_energy_of_their_time, misses_have_the_energy_where_misses_are_charged, the_machine_adds_up,
           a_containers_processes_alone,
           a_pods_processes_alone, stacks_without_callers_are_counted,
           inlined_functions_are_frames,
           functions_that_a_runtime_compiled_have_names, the_page_is_a_flame_graph, the_picture_is_a_flame_graph,
           what_is_wrong_is_reported] +
          ([three_functions_have_their_shares] if os.environ.get("KEPLER_LONG_TESTS") else []))
