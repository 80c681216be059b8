#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A full ring of ends loses none where no process is guarded from BPF: the cases of `activity-limits` at their strict limit."""
import os
import re
import subprocess

from guestlib import case

CASES = ('test_full_ring_keeps_cgroups_of_the_young', 'test_full_ring_reports_the_rest_of_the_old')

done = subprocess.run([os.environ['KEPLER_BUILD'] + '/tests/integration/test-activity-limits', '--strict', 'test_full_ring*'],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280, check=False)
case(done.stdout)
assert done.returncode == 0, done.returncode
for name in CASES:
    assert re.search(rf'^ok \d+ - {name}$', done.stdout, re.MULTILINE), f'{name} did not run'
assert 'SKIP' not in done.stdout and 'not possible here' not in done.stdout
