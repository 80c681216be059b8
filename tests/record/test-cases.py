#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-cases.py - replays the library of cases (write_cases.py) in each way of sharing, and compares with what is expected.

The expected text is tests/record/NAME.golden; with TEST_UPDATE_GOLDEN=1 it is written anew, for a look at the difference. The
recordings are written by Python, uncompressed and compressed, so this is also a test that both speak one format.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import write_cases  # noqa: E402

BUILD = pathlib.Path(os.environ.get('KEPLER_BUILD', HERE.parents[1] / 'build-check'))
WAYS = (('--by=process',), ('--by=container', '--idle.share=usage', '--diff'), ('--by=container', '--idle.share=equal', '--diff'),
        ('--by=container', '--idle.share=size', '--diff'), ('--by=pod', '--format=csv'), ('--by=namespace', '--format=json'))


def replay(file, way):
    environment = {key: value for key, value in os.environ.items() if not key.startswith('KEPLER_')}
    done = subprocess.run([BUILD / 'kepler', 'replay', file, *way], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0 and not done.stderr, (file, way, done.stderr)
    return f'$ kepler replay {file.name} {" ".join(way)}\n{done.stdout}\n'


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        write_cases.main_in(pathlib.Path(folder))
        for case in write_cases.CASES:
            file = pathlib.Path(folder, f'{case.__name__}.krec')
            got = ''.join(replay(file, way) for way in WAYS)
            golden = HERE / f'{case.__name__}.golden'
            if os.environ.get('TEST_UPDATE_GOLDEN'):
                golden.write_text(got, encoding='utf-8')
            want = golden.read_text(encoding='utf-8') if golden.exists() else ''
            print(f'{case.__name__}: {"ok" if got == want else "differs"}')
            if got != want:
                failed = True
                print(''.join(difflib.unified_diff(want.splitlines(True), got.splitlines(True), golden.name, 'now')))
    sys.exit(failed)


main()
