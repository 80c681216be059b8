#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-check-text.py CHECK_TEXT - the phrases that the tool finds in texts and comments, and those that it leaves alone."""
import importlib.machinery
import importlib.util
import sys
import unittest

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader('check_text', sys.argv.pop(1))
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_text', LOADER))
LOADER.exec_module(TOOL)

BAD = ('It is independent of what is measured.', 'It is read. What is lost is counted.',
       'A board whose UUID is none is left out.', 'This is no number.', 'The counter tells its range.', 'So is said above.',
       'It is read beside RAPL.', 'It begins anew.', 'Likewise for dram.', 'Racks and the like are left out.',
       'Zones, of which one is charged.', 'Its error is that of the model.', 'The rows behind the last are free.',
       'They are read apart.', 'The node bears it.', 'Nobody reads it.', 'A process who ends.', 'It wants a restart.',
       'It is thrown away.', 'Its counter has gone round.', 'Where there is a meter, it is read.',
       'One is enough, two suffice.', 'It is dearer.', 'It follows thence.', 'All rows but for the last.',
       'RAPL goes before hwmon.', 'No machine was at hand.', 'It shall end.', 'It depends on\nthat of the model.')
GOOD = ('It reports what is missing.', 'What is a zone? A part of the node.', 'There is no number, and there is none.',
        'It is no longer read.', 'Two sockets can be told apart.', 'The readings are 3 s apart.', 'Of course it is read.',
        'inside, or beside. With beside, totals add it.', '`that of the model`', 'It was "thrown away".')


class CheckText(unittest.TestCase):
    def found(self, text, name='a.md'):
        return list(TOOL.phrases(name, text))

    def test_documents(self):
        for text in BAD:
            self.assertEqual(len(self.found(text)), 1, text)
        for text in GOOD:
            self.assertEqual(self.found(text), [], text)

    def test_the_line_and_the_advice(self):
        self.assertEqual(self.found('# Of which\n\n    of which\n\nIt begins\nanew.\n'), ['a.md:6: "anew": write "again"'])

    def test_generated_tables_and_code(self):
        self.assertEqual(self.found('<!-- a b -->\n| likewise |\n<!-- end of a b -->\n```\nanew\n```\n'), [])

    def test_comments(self):
        self.assertEqual(self.found('int anew;\n/* It begins\n * anew. */\n', 'a.c'), ['a.c:3: "anew": write "again"'])
        self.assertEqual(self.found('anew=1 # anew\necho anew\n', 'a.sh'), ['a.sh:1: "anew": write "again"'])
        comments = '/* Of a zone. */\n/* Whether it counts. */\n/* Whether it counts; or NULL. */\n/* What it has. */\n'
        self.assertEqual(len(self.found(comments + '/* What is it? */\n', 'a.h')), 4)

    def test_the_files_that_are_read(self):
        names = ('docs/a.md', 'src/a/README.md', 'src/net/a.c', 'bpf/a.c', 'deploy/a', 'tests/unit/a.c', 'docs/STYLE.md')
        self.assertEqual([name for name in names if TOOL.is_read(name)], list(names[:6]))


unittest.main()
