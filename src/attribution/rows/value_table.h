/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of 64-bit counters, all of the same number of columns, in one piece of memory.
 *
 * Rows are numbered 0..rows-1. Memory grows by half; it is only touched where rows are written, so
 * that room which is reserved ahead costs no resident page.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct value_table {
	uint64_t *values; /* [capacity][columns] */
	uint32_t columns; /* > 0 */
	uint32_t capacity;
};

void value_table_init(struct value_table *table, uint32_t columns);
void value_table_release(struct value_table *table);
/* Room for @rows rows; new ones are not initialised. 0 or -ENOMEM (nothing changed). */
int value_table_reserve(struct value_table *table, uint32_t rows);
struct value_table_use {
	struct value_table *table;
	uint32_t rows; /* in use */
};

/*
 * Gives all of @uses [count] (at most VALUE_TABLES_MAX) @columns columns, not fewer than they have:
 * new ones are the last, and 0. 0 or -ENOMEM (nothing changed).
 */
#define VALUE_TABLES_MAX 12
int value_tables_widen(const struct value_table_use *uses, size_t count, uint32_t columns);

static inline uint64_t *value_table_row(const struct value_table *table, uint32_t row)
{
	return table->values + (size_t)row * table->columns;
}

static inline void value_table_clear(const struct value_table *table, uint32_t row)
{
	memset(value_table_row(table, row), 0, table->columns * sizeof(uint64_t));
}

/* to[i] += from[i] */
static inline void values_add(uint64_t *to, const uint64_t *from, uint32_t columns)
{
	for (uint32_t i = 0; i < columns; i++)
		to[i] += from[i];
}

/* to[i] = from[i] - to[i] */
static inline void values_subtract_from(uint64_t *to, const uint64_t *from, uint32_t columns)
{
	for (uint32_t i = 0; i < columns; i++)
		to[i] = from[i] - to[i];
}

/* to[i] -= from[i] */
static inline void values_subtract(uint64_t *to, const uint64_t *from, uint32_t columns)
{
	for (uint32_t i = 0; i < columns; i++)
		to[i] -= from[i];
}
