# SPDX-License-Identifier: Apache-2.0
"""Programs for kepler profile: their C, how they are built, and the command that profiles them."""
import contextlib
import pathlib
import re
import subprocess
import tempfile

from rig import KEPLER, ROOT, Sensors, need_program, rapl_zone

FRAMES = ("-O1", "-fno-omit-frame-pointer")
# cpu(): the process' own CPU time, in seconds. WORK(name, +=): a function that uses so many seconds of it.
CLOCK = r"""
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
#define WORK(name, operator) __attribute__((noinline)) void name(double s) \
{ for (double end = cpu() + s; cpu() < end;) for (unsigned long i = 0; i < 200000; i++) sink operator i; }
"""


def burner(name):
    """A program with one function, for 2 s."""
    return CLOCK + f"WORK({name}, +=)\nint main(void) {{ for (double end = cpu() + 2; cpu() < end;) {name}(0.1); return 0; }}\n"


def build(path, text, flags=FRAMES):
    subprocess.run([need_program("cc"), *flags, "-x", "c", "-o", path, "-"], input=text, text=True, check=True)


@contextlib.contextmanager
def program(name, text, flags=FRAMES):
    """Its path, alone in a directory."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, name)
        build(path, text, flags)
        yield path


def plant():
    return Sensors(rapl_zone("intel-rapl:0", "package-0", 0, busy_watts=12))


def profile(*words, status=0, **kwargs):
    command = [KEPLER, "profile", f"--config.file={ROOT / 'tests/rig/rig.yaml'}", "--host.state-dir=", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **kwargs)
    assert done.returncode == status, (words, done.returncode, done.stdout[-2000:], done.stderr)
    return done


def told_uj(stderr):
    """The energies of the summary, in µJ."""
    return [int(whole + micro) for whole, micro in re.findall(r"(\d+)\.(\d{6}) J", stderr)]
