#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kepler profile --format=speedscope in the real speedscope (npm install -g speedscope): it imports the file in a browser.

Needs speedscope in the PATH, and chromium."""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from browser import Browser
from rig import KEPLER, ROOT, Sensors, need_program, rapl_zone, run_tests

COMMAND = shutil.which("speedscope")
if not COMMAND:
    print("speedscope is not installed: npm install -g speedscope")
    sys.exit(77)
RELEASE = pathlib.Path(COMMAND).resolve().parents[1] / "dist/release"
PROGRAM = r"""
#include <time.h>
static volatile unsigned long sink;
static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
__attribute__((noinline)) void burn_it(double s)
{ for (double end = cpu() + s; cpu() < end;) for (unsigned long i = 0; i < 200000; i++) sink += i; }
int main(void) { for (double end = cpu() + 2; cpu() < end;) burn_it(0.1); return 0; }
"""


def speedscope_imports_it():
    """It shows the name of the profile, and a table of its functions with the sums of the file."""
    with Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=12)) as sensors, tempfile.TemporaryDirectory() as directory:
        program, out, script = (pathlib.Path(directory, name) for name in ("burner", "out.json", "out.js"))
        subprocess.run([need_program("cc"), "-O1", "-x", "c", "-o", program, "-"], input=PROGRAM, text=True, check=True)
        subprocess.run([KEPLER, "profile", f"--config.file={ROOT / 'tests/rig/rig.yaml'}", "--host.state-dir=",
                        f"--host.sysfs={sensors.mount}", f"--output={out}", "--", program], check=True, timeout=120)
        data = json.loads(out.read_text())
        names = [frame["name"] for frame in data["shared"]["frames"]]
        profile = data["profiles"][0]
        burnt = sum(weight for stack, weight in zip(profile["samples"], profile["weights"])
                    if "burn_it" in (names[frame] for frame in stack))
        assert burnt > 0 and profile["endValue"] == sum(profile["weights"]), profile
        encoded = base64.b64encode(out.read_bytes()).decode()
        script.write_text(f"speedscope.loadFileFromBase64('out.json', '{encoded}')")
        with Browser() as browser:
            browser.open(f"{(RELEASE / 'index.html').as_uri()}#localProfilePath={script}&view=sandwich")
            text = browser.wait("document.body.innerText.includes('burn_it') && document.body.innerText")
            assert str(program) in browser.run("document.title"), browser.run("document.title")
    row = re.search(r"([\d,]+) \([^)]*\)\s+[\d,]+ \([^)]*\)\s+burn_it\n", text)
    print(f"  {row and row[0]!r}; {burnt} µJ of {profile['endValue']} in the file")
    assert row and int(row[1].replace(",", "")) == burnt, text[:2000]


run_tests([speedscope_imports_it])
