// SPDX-License-Identifier: Apache-2.0
/*
 * There is room for one more of everything before anything is taken. Memory that one of the arrays
 * got before another found none is kept for the next try: capacity is what all of them have.
 */
#include "attribution/rows/level_table.h"

#include <errno.h>

#include "base/array.h"
#include "base/macro.h"

#define MIN_ROWS 16U

void level_table_init(struct level_table *table, size_t row_size)
{
	*table = (struct level_table){ .row_size = (uint32_t)row_size, .first_free = INDEX_NONE };
	value_table_init(&table->values, 1);
	value_table_init(&table->deltas, 1);
	row_index_init(&table->index, UINT32_MAX);
}

void level_table_release(struct level_table *table)
{
	free(table->rows);
	free(table->touched);
	free(table->next_free);
	value_table_release(&table->values);
	value_table_release(&table->deltas);
	row_index_release(&table->index);
}

void level_table_begin(struct level_table *table)
{
	for (uint32_t i = 0; i < table->touched_count; i++) {
		struct level_row *row = level_table_at(table, table->touched[i]);

		row->touched = false;
	}
	table->touched_count = 0;
}

static int grow(struct level_table *table)
{
	uint32_t capacity = table->capacity + table->capacity / 2;

	capacity = capacity < MIN_ROWS ? MIN_ROWS : capacity;
	if (ARRAY_RESIZE(table->touched, capacity) < 0 ||
	    ARRAY_RESIZE(table->next_free, capacity) < 0 ||
	    array_resize(&table->rows, capacity, table->row_size) < 0)
		return -ENOMEM;
	table->capacity = capacity;
	return 0;
}

/* The place of the next row, not taken yet. */
static uint32_t find_place(struct level_table *table)
{
	if (table->first_free != INDEX_NONE)
		return table->first_free;
	if ((table->count == table->capacity && grow(table) < 0) ||
	    value_table_reserve(&table->values, table->count + 1) < 0 ||
	    value_table_reserve(&table->deltas, table->count + 1) < 0)
		return INDEX_NONE;
	return table->count;
}

uint32_t level_table_add(struct level_table *table, struct map_key key)
{
	uint32_t place = find_place(table);
	struct level_row row = { .used = true }, *at;

	if (place == INDEX_NONE || row_index_add(&table->index, key, place) < 0)
		return INDEX_NONE;
	at = level_table_at(table, place);
	if (place == table->count) {
		table->count++;
	} else { /* one that left in this interval is on its list */
		table->first_free = table->next_free[place];
		row.touched = at->touched;
		row.line = at->line;
	}
	table->used++;
	row.serial = ++table->last_serial;
	memset(at, 0, table->row_size);
	*at = row;
	value_table_clear(&table->values, place);
	return place;
}

void level_table_remove(struct level_table *table, uint32_t row, struct map_key key)
{
	struct level_row *at = level_table_at(table, row);

	row_index_remove(&table->index, key, row);
	if (at->touched)
		value_table_clear(&table->deltas, at->line);
	at->used = false;
	table->next_free[row] = table->first_free;
	table->first_free = row;
	table->used--;
}
