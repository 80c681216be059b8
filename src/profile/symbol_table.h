/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of addresses: which function is at one? Functions come from the kernel's /proc/kallsyms,
 * from the files in which runtimes list what they compiled (/tmp/perf-PID.map), and from the symbol
 * tables of program files. Pure; lines are untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define SYMBOL_TABLE_MAX 2000000U
#define SYMBOL_NAMES_MAX (64U << 20) /* bytes of all names */

struct symbol {
	uint64_t start;
	uint32_t size; /* 0: up to the next symbol */
	uint32_t name; /* where it begins: in `names`, or in a table of the file */
};

struct symbol_table {
	struct symbol *symbols; /* [count], by start once they are sorted */
	size_t count, size;
	struct strbuf names;
	bool is_sorted;
};

void symbol_table_release(struct symbol_table *table);
/* 0; -ENOMEM; or -ENOSPC at the limit. */
int symbol_table_add(struct symbol_table *table, uint64_t start, uint32_t size, uint32_t name);
/*
 * Adds the function of a line "ffffffff81000000 T name	[module]" of /proc/kallsyms. 0; -EINVAL: it
 * is not a function, or its address is hidden (0); -ENOMEM or -ENOSPC.
 */
int symbol_table_add_kallsyms(struct symbol_table *table, const char *line);
/* Adds the function of a line "START SIZE name" of a perf map, in hexadecimal. As above. */
int symbol_table_add_perf_map(struct symbol_table *table, const char *line);
/* The symbol that has @address in it, or NULL. Of several with one start the first added. */
const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t address);
static inline const char *symbol_table_name(const struct symbol_table *table,
					    const struct symbol *symbol)
{
	return table->names.data + symbol->name;
}
