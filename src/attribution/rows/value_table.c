// SPDX-License-Identifier: Apache-2.0
/*
 * Rows are stored one after the other; adding a column copies them to new memory with the new
 * layout. Tables that belong together change together or not at all.
 */
#include "attribution/rows/value_table.h"

#include <errno.h>

#include "base/array.h"
#include "base/macro.h"

#define MIN_ROWS 64U

void value_table_init(struct value_table *table, uint32_t columns)
{
	*table = (struct value_table){ .columns = columns };
}

void value_table_release(struct value_table *table)
{
	free(table->values);
	value_table_init(table, table->columns);
}

int value_table_reserve(struct value_table *table, uint32_t rows)
{
	size_t capacity = table->capacity;
	int r = array_reserve((void **)&table->values, &capacity, rows,
			      table->columns * sizeof(*table->values));

	table->capacity = (uint32_t)capacity;
	return r;
}

static int copy_wide(const struct value_table *from, uint32_t rows, struct value_table *to)
{
	uint32_t kept = from->columns, columns = to->columns;
	int r = from->capacity ? value_table_reserve(to, from->capacity) : 0;

	if (r < 0)
		return r;
	for (uint32_t row = 0; row < rows; row++) {
		uint64_t *target = value_table_row(to, row);

		memcpy(target, value_table_row(from, row), kept * sizeof(*target));
		memset(target + kept, 0, (columns - kept) * sizeof(*target));
	}
	return 0;
}

int value_tables_widen(const struct value_table_use *uses, size_t count, uint32_t columns)
{
	struct value_table wide[VALUE_TABLES_MAX];
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		value_table_init(&wide[i], columns);
		if (r == 0)
			r = copy_wide(uses[i].table, uses[i].rows, &wide[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (r == 0) {
			struct value_table narrow = *uses[i].table;

			*uses[i].table = wide[i];
			wide[i] = narrow;
		}
		value_table_release(&wide[i]);
	}
	return r;
}
