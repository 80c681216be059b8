// SPDX-License-Identifier: Apache-2.0
/* Rows lie one after the other; adding a column lays them out anew, from the old memory into new. */
#include "attribution/value_table.h"

#include <errno.h>

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
	uint32_t capacity = table->capacity < MIN_ROWS ? MIN_ROWS : table->capacity;
	uint64_t *values;

	if (rows <= table->capacity)
		return 0;
	while (capacity < rows)
		capacity = capacity > UINT32_MAX / 3 * 2 ? UINT32_MAX : capacity + capacity / 2;
	values = reallocarray(table->values, capacity, table->columns * sizeof(*values));
	if (!values)
		return -ENOMEM;
	table->values = values;
	table->capacity = capacity;
	return 0;
}

int value_table_widen(const struct value_table *from, uint32_t rows, uint32_t columns,
		      struct value_table *ret)
{
	struct value_table wide = { .columns = columns };
	uint32_t kept = from->columns - 1;
	int r = from->capacity ? value_table_reserve(&wide, from->capacity) : 0;

	if (r < 0)
		return r;
	for (uint32_t row = 0; row < rows; row++) {
		const uint64_t *source = value_table_row(from, row);
		uint64_t *to = value_table_row(&wide, row);

		memcpy(to, source, kept * sizeof(*to));
		memset(to + kept, 0, (columns - 1 - kept) * sizeof(*to));
		to[columns - 1] = source[kept];
	}
	*ret = wide;
	return 0;
}
