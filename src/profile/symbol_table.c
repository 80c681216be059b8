// SPDX-License-Identifier: Apache-2.0
#include "profile/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/ascii.h"

void symbol_table_release(struct symbol_table *table)
{
	free(table->symbols);
	strbuf_release(&table->names);
	*table = (struct symbol_table){ .count = 0 };
}

int symbol_table_add(struct symbol_table *table, uint64_t start, uint32_t size, uint32_t name)
{
	int r;

	if (table->count >= SYMBOL_TABLE_MAX)
		return -ENOSPC;
	r = ARRAY_RESERVE(table->symbols, table->size, table->count + 1);
	if (r < 0)
		return r;
	table->symbols[table->count++] = (struct symbol){ start, size, name };
	table->is_sorted = false;
	return 0;
}

static int add_named(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
		     size_t len)
{
	size_t at = table->names.len;
	int r;

	if (!len)
		return -EINVAL;
	if (at + len + 1 > SYMBOL_NAMES_MAX)
		return -ENOSPC;
	strbuf_add(&table->names, name, len);
	strbuf_add_char(&table->names, '\0');
	r = strbuf_error(&table->names);
	if (r < 0)
		return r;
	return symbol_table_add(table, start, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
				(uint32_t)at);
}

/* Moves @text behind a hexadecimal number, which may begin with 0x, and the blank after it. */
static bool take_hex(const char **text, uint64_t *ret)
{
	const char *at = *text;
	unsigned digits = 0;
	uint64_t value = 0;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (; ascii_hex_value(*at) >= 0; at++, digits++)
		value = value << 4 | (uint64_t)ascii_hex_value(*at);
	if (!digits || digits > 16 || *at != ' ')
		return false;
	*text = at + 1;
	*ret = value;
	return true;
}

int symbol_table_add_kallsyms(struct symbol_table *table, const char *line)
{
	uint64_t start;
	size_t len;

	if (!take_hex(&line, &start) || !start || !line[0] || !strchr("tTwW", line[0]) ||
	    line[1] != ' ')
		return -EINVAL;
	line += 2;
	len = strcspn(line, "\n");
	/* A module's name follows a tab. */
	for (size_t i = 0; i < len; i++) {
		if (line[i] == '\t')
			len = i;
	}
	return add_named(table, start, 0, line, len);
}

int symbol_table_add_perf_map(struct symbol_table *table, const char *line)
{
	uint64_t start, size;

	if (!take_hex(&line, &start) || !take_hex(&line, &size) || !size)
		return -EINVAL;
	return add_named(table, start, size, line, strcspn(line, "\r\n"));
}

static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void sort(struct symbol_table *table)
{
	size_t kept = 0;

	qsort(table->symbols, table->count, sizeof(*table->symbols), compare_symbols);
	for (size_t i = 0; i < table->count; i++) {
		if (!kept || table->symbols[i].start != table->symbols[kept - 1].start)
			table->symbols[kept++] = table->symbols[i];
	}
	table->count = kept;
	table->is_sorted = true;
}

const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t address)
{
	size_t low = 0, high;
	const struct symbol *found;

	if (!table->count)
		return NULL;
	if (!table->is_sorted)
		sort(table);
	high = table->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &table->symbols[low - 1];
	return found->size && address - found->start >= found->size ? NULL : found;
}
