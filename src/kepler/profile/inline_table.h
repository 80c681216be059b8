/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a compiler has put into others, by the debugging information (DWARF) of a
 * program or library, read by libdw. The content of the file is untrusted. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kepler/profile/program_file.h"

#define INLINED_MAX 15U

struct inline_table;

/*
 * Takes @fd over, and needs it no more. 0; -ENOSYS: there is no libdw; -ENOENT: the file has no
 * debugging information, or too much; -ENOMEM.
 */
int inline_table_open(int fd, struct inline_table **ret);
void inline_table_close(struct inline_table *table); /* NULL is fine */
/*
 * The functions that are inlined at @address, as the file counts addresses, the outermost first and
 * without the function that contains them: their names, demangled. Returns their number; of more
 * than INLINED_MAX the innermost are left out.
 */
size_t inline_table_find(struct inline_table *table, uint64_t address,
			 char ret[static INLINED_MAX][PROGRAM_NAME_MAX]);
