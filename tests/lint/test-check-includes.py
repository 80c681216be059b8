#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-check-includes.py CHECK_INCLUDES - what the tool says of small trees, each with one property of interest."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
TABLE = '| folder | question | may use |\n|---|---|---|\n| `bpf/` | ? | nothing |\n| `src/room/` | ? | nothing of ours |\n'
A_C, A_H = '#include "room/a.h"\n', 'int a(int x);\n'
B_C, B_H = '#include "room/b.h"\n', 'int b(int x);\n'


class CheckIncludes(unittest.TestCase):
    def said_of(self, files):
        """The tool's output and exit status for a room with @files, {name: text}."""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for folder in ('docs', 'bpf', 'src/room'):
                (root / folder).mkdir(parents=True)
            (root / 'docs/ARCHITECTURE.md').write_text(TABLE, encoding='utf-8')
            for file, text in files.items():
                (root / 'src/room' / file).parent.mkdir(exist_ok=True)
                (root / 'src/room' / file).write_text(text, encoding='utf-8')
            result = subprocess.run([TOOL, name], capture_output=True, text=True, check=False)
        return result.stdout, result.returncode

    def assert_clean(self, files):
        self.assertEqual(self.said_of(files), (f'{len(files)} files keep to the rooms\n', 0))

    def assert_circle(self, files, way):
        said, status = self.said_of(files)
        self.assertIn(f'files use each other in a circle: {way}', said)
        self.assertEqual((said.count('\n'), status), (1, 1))

    def test_one_way(self):
        self.assert_clean({'a.c': A_C + '#include "room/b.h"\nint a(int x)\n{\n\treturn b(x);\n}\n', 'a.h': A_H,
                           'b.c': B_C + 'int b(int x)\n{\n\treturn x;\n}\n', 'b.h': B_H})

    def test_includes(self):
        self.assert_circle({'a.c': A_C + '#include "room/b.h"\n', 'a.h': A_H, 'b.c': B_C + '#include "room/a.h"\n', 'b.h': B_H},
                           'a.c -> b.c -> a.c')

    def test_a_header_on_the_way(self):
        self.assert_circle({'a.c': A_C + '#include "room/b.h"\n', 'a.h': A_H, 'b.c': B_C, 'b.h': '#include "room/c.h"\n',
                            'c.c': '#include "room/c.h"\n#include "room/a.h"\n', 'c.h': ''}, 'a.c -> b.c -> c.c -> a.c')

    def test_a_function_that_another_header_declares(self):
        self.assert_circle({'a.c': A_C + 'int a(int x)\n{\n\treturn b(x);\n}\n', 'a.h': A_H + B_H,
                            'b.c': '#include "room/a.h"\n\nint b(int x)\n{\n\treturn x;\n}\n'}, 'a.c -> b.c -> a.c')

    def test_a_function_in_a_table(self):
        self.assert_circle({'a.c': A_C + 'struct row { int (*call)(int); } rows[] = {\n\t{ b },\n};\n', 'a.h': A_H + B_H,
                            'b.c': '#include "room/a.h"\n\nint b(int x)\n{\n\treturn x;\n}\n'}, 'a.c -> b.c -> a.c')

    def test_a_variable(self):
        self.assert_circle({'a.c': A_C + 'int a(int x)\n{\n\treturn x + limit;\n}\n', 'a.h': A_H + 'extern const int limit;\n',
                            'b.c': '#include "room/a.h"\n\nconst int limit = 3;\n'}, 'a.c -> b.c -> a.c')

    def test_a_declaration_is_no_use(self):
        self.assert_clean({'a.c': A_C + 'int a(int x)\n{\n\treturn x;\n}\n', 'a.h': A_H + B_H,
                           'b.c': '#include "room/a.h"\n\nint b(int x)\n{\n\treturn a(x);\n}\n'})

    def test_a_comment_a_string_and_a_member_are_no_use(self):
        self.assert_clean({'a.c': A_C + '/* b(1) */\nint a(struct b *x)\n{\n\tlog("b(1)");\n\treturn x->b + x->y.b;\n}\n',
                           'a.h': B_H, 'b.c': '#include "room/a.h"\n\nint b(int x)\n{\n\treturn a(x);\n}\n'})

    def test_types_of_a_sub_module(self):
        self.assert_clean({'a.c': A_C + '#include "room/a_parts.h"\nint a(int x)\n{\n\treturn b(x);\n}\n', 'a.h': A_H,
                           'a_parts.h': '#include "room/a.h"\n' + B_H,
                           'b.c': '#include "room/a_parts.h"\n\nint b(int x)\n{\n\treturn x;\n}\n'})

    def test_headers_without_code(self):
        self.assert_circle({'a.h': '#include "room/b.h"\n', 'b.h': '#include "room/a.h"\n'}, 'a.h -> b.h -> a.h')

    def test_a_folder_of_the_room(self):
        self.assert_clean({'a.c': A_C + '#include "room/part/b.h"\nint a(int x)\n{\n\treturn b(x);\n}\n', 'a.h': A_H,
                           'part/b.c': '#include "room/part/b.h"\nint b(int x)\n{\n\treturn x;\n}\n', 'part/b.h': B_H})

    def test_a_folder_includes_its_own_header_first(self):
        said, status = self.said_of({'a.h': A_H, 'part/b.c': '#include "room/a.h"\n#include "room/part/b.h"\n', 'part/b.h': B_H})
        self.assertIn('src/room/part/b.c: its first include is not its own header, room/part/b.h', said)
        self.assertEqual(status, 1)

    def test_a_folder_keeps_to_the_room(self):
        said, status = self.said_of({'part/b.h': '#include "bpf/records.h"\n'})
        self.assertIn('src/room/part/b.h:1: room includes bpf/records.h; it may use nothing', said)
        self.assertEqual(status, 1)

    def test_a_circle_through_a_folder(self):
        self.assert_circle({'a.c': A_C + '#include "room/part/b.h"\n', 'a.h': A_H,
                            'part/b.c': '#include "room/part/b.h"\n#include "room/a.h"\n', 'part/b.h': B_H},
                           'a.c -> part/b.c -> a.c')


unittest.main()
