// SPDX-License-Identifier: Apache-2.0
#include "snapshot/series.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void series_table_init(struct series_table *table, uint32_t columns)
{
	*table = (struct series_table){ 0 };
	value_table_init(&table->values, columns);
}

void series_table_release(struct series_table *table)
{
	free(table->series);
	value_table_release(&table->values);
	free(table->series_of);
}

int series_table_reserve(struct series_table *table, uint32_t slots)
{
	uint32_t size = table->slots;
	int r = ARRAY_RESERVE(table->series_of, size, slots);

	while (table->slots < size)
		table->series_of[table->slots++] = SERIES_NONE;
	return r;
}

struct series *series_open(struct series_table *table, uint32_t row, struct series_labels *labels,
			   const struct moment *at)
{
	struct series *opened;

	if (ARRAY_RESERVE(table->series, table->capacity, table->count + 1U) < 0 ||
	    (table->values.columns && value_table_reserve(&table->values, table->count + 1) < 0))
		return NULL;
	if (table->values.columns)
		value_table_clear(&table->values, table->count);
	opened = &table->series[table->count];
	*opened = (struct series){ .labels = labels, .age = series_age_born(at), .row = row };
	table->series_of[row] = table->count++;
	return opened;
}

void series_close(struct series_table *table, uint32_t index)
{
	struct series *closing = &table->series[index];
	uint32_t last = --table->count;

	table->series_of[closing->row] = SERIES_NONE;
	if (index == last)
		return;
	*closing = table->series[last];
	table->series_of[closing->row] = index;
	if (table->values.columns)
		memcpy(value_table_row(&table->values, index),
		       value_table_row(&table->values, last),
		       table->values.columns * sizeof(uint64_t));
}
