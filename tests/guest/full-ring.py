#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A full ring of ends loses nobody where no process is guarded from BPF: the cases of `activity-limits` at their strict limit."""
import os
import subprocess

from guestlib import case

done = subprocess.run([os.environ['KEPLER_BUILD'] + '/tests/integration/test-activity-limits', 'test_full_ring*'],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280, check=False)
case(done.stdout)
raise SystemExit(done.returncode)
