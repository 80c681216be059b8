// SPDX-License-Identifier: Apache-2.0
#include "snapshot/retired.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void retired_table_init(struct retired_table *table, uint32_t columns)
{
	*table = (struct retired_table){ 0 };
	value_table_init(&table->values, columns);
}

void retired_table_release(struct retired_table *table)
{
	free(table->rows);
	value_table_release(&table->values);
}

int retired_table_reserve(struct retired_table *table, uint32_t count)
{
	if (count <= table->count)
		return 0;
	if (value_table_reserve(&table->values, count) < 0 ||
	    ARRAY_RESERVE(table->rows, table->capacity, count) < 0)
		return -ENOMEM;
	for (; table->count < count; table->count++) {
		table->rows[table->count] = (struct retired_row){ 0 };
		value_table_clear(&table->values, table->count);
	}
	return 0;
}

void retired_add(struct retired_table *table, uint32_t row, const uint64_t *values,
		 int64_t boottime_ms)
{
	struct retired_row *taking = &table->rows[row];

	if (!taking->is_shown) {
		taking->is_shown = true;
		taking->born_ms = boottime_ms;
		table->shown++;
	}
	values_add(value_table_row(&table->values, row), values, table->values.columns);
}

void retired_clear(struct retired_table *table, uint32_t row)
{
	table->shown -= table->rows[row].is_shown;
	table->rows[row] = (struct retired_row){ 0 };
	value_table_clear(&table->values, row);
}
