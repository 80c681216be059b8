#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-commit-msg.py COMMIT_MSG - the titles that the hook accepts and refuses."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HOOK = sys.argv.pop(1)


class CommitMessage(unittest.TestCase):
    def said_of(self, message):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'message')
            file.write_text(message, encoding='utf-8')
            return subprocess.run([HOOK, file], capture_output=True, text=True, check=False).stderr

    def test_accepted(self):
        for message in ('base: follow symlinks\n', 'docs, tests: one word\n\nA body.\n', 'model-server: 0 µJ\n# a comment\n',
                        'a: ' + 'ä' * 69, 'Revert "base: follow"\n', 'fixup! base: follow symlinks\n'):
            self.assertEqual(self.said_of(message), '', message)

    def test_refused(self):
        for message, reason in (('follow symlinks\n', 'area'), ('Base: follow\n', 'area'), ('base:\n', 'area'),
                                ('base:  follow\n', 'area'), ('a: ' + 'ä' * 70, '72'), ('base: follow.\n', 'full stop'),
                                ('base: follow\nA body.\n', 'blank')):
            self.assertIn(reason, self.said_of(message), message)


unittest.main()
