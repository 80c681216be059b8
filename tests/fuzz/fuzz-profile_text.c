// SPDX-License-Identifier: Apache-2.0
/*
 * Any file as an earlier profile, and as lists of functions: what was read is written and read
 * again with the same energy, and each function found has the address in it.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/folded.h"
#include "profile/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_profile(const char *text, size_t size)
{
	struct strbuf out = STRBUF_INIT;
	struct profile first, second;

	if (profile_init(&first, 1000) < 0 || profile_init(&second, 1000) < 0)
		abort();
	if (folded_read(&first, RUN_NOW, text, size, NULL) == 0) {
		folded_write(&first, &out);
		if (out.len && folded_read(&second, RUN_NOW, out.data, out.len, NULL) < 0)
			abort();
		if (profile_sum_uj(&first, RUN_NOW) != profile_sum_uj(&second, RUN_NOW))
			abort();
	}
	strbuf_release(&out);
	profile_release(&first);
	profile_release(&second);
}

static void read_symbols(char *text, int (*add)(struct symbol_table *table, const char *line))
{
	struct symbol_table table = { .count = 0 };
	uint64_t starts[8];
	size_t count = 0;

	for (char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (add(&table, line) == 0 && count < sizeof(starts) / sizeof(*starts))
			starts[count++] = table.symbols[table.count - 1].start;
	}
	while (count) {
		const struct symbol *found = symbol_table_find(&table, starts[--count]);

		if (!found || found->start != starts[count] ||
		    memchr(symbol_table_name(&table, found), '\n', 1))
			abort();
	}
	symbol_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	read_profile(text, size);
	read_symbols(text, symbol_table_add_kallsyms);
	read_symbols(text, symbol_table_add_perf_map);
	free(text);
	return 0;
}
