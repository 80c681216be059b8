/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one level: processes, owners, or one kind of groups of owners. A row has what its
 * level knows of it, one 64-bit counter a column, and what was added to each in this interval.
 *
 * Rows are 0..count-1, with holes that are used again, the newest first. They are found by a key
 * that several may share (row_index.h). A row that belongs to one of another level has that one's
 * number and is counted there as a member; what has members stays.
 *
 * Deltas are packed by order of touch: a row that was not touched has none. Their memory is
 * reserved when a row is added, so that touching cannot fail. Pure; a call costs the same whatever
 * the number of rows, but for growth, which is by half.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/rows/row_index.h"
#include "attribution/rows/value_table.h"

#define LEVEL_LINE_BITS 29

/* The head of each row: only 16 bytes, because there is one for each process. */
struct level_row {
	uint64_t serial;  /* unique in its table for the life of the program */
	uint32_t members; /* rows that belong to it, ended ones that are kept included */
	uint32_t line : LEVEL_LINE_BITS; /* of its deltas, while it is touched */
	bool used : 1;                   /* false: a hole */
	bool touched : 1;                /* added, charged or changed in this interval */
	bool ended : 1;                  /* of a process; any other has ended without members */
};

struct level_table {
	void *rows;                /* [capacity] of row_size bytes; each begins with a level_row */
	uint32_t *touched;         /* [capacity], by order of touch */
	uint32_t *next_free;       /* [capacity]; of a hole: the one that was there before */
	struct value_table values; /* [count] */
	struct value_table deltas; /* [touched_count] */
	struct row_index index;
	uint64_t last_serial;
	uint32_t row_size;
	uint32_t capacity;
	uint32_t count; /* in use or once used */
	uint32_t used;
	uint32_t first_free;
	uint32_t touched_count;
};

void level_table_init(struct level_table *table, size_t row_size);
void level_table_release(struct level_table *table);
/* Starts an interval: nothing is touched. */
void level_table_begin(struct level_table *table);
/*
 * A new row under @key, all 0 except for its level_row. It is not touched, unless it takes the
 * place of one that was. INDEX_NONE without memory (nothing changed).
 */
uint32_t level_table_add(struct level_table *table, struct map_key key);
/* Frees a row without members, with its counters. @key: as when it was added. */
void level_table_remove(struct level_table *table, uint32_t row, struct map_key key);

/* Valid until the next row is added. */
static inline void *level_table_at(const struct level_table *table, uint32_t row)
{
	return (char *)table->rows + (size_t)row * table->row_size;
}

static inline uint64_t *level_table_values(const struct level_table *table, uint32_t row)
{
	return value_table_row(&table->values, row);
}

/* The deltas of a touched row, else NULL. */
static inline uint64_t *level_table_deltas(const struct level_table *table, uint32_t row)
{
	const struct level_row *at = level_table_at(table, row);

	return at->touched ? value_table_row(&table->deltas, at->line) : NULL;
}

/* Puts the row on this interval's list, with deltas of 0, unless it is there. */
static inline void level_table_touch(struct level_table *table, uint32_t row)
{
	struct level_row *at = level_table_at(table, row);

	if (at->touched)
		return;
	at->touched = true;
	at->line = table->touched_count & ((1U << LEVEL_LINE_BITS) - 1);
	table->touched[table->touched_count] = row;
	value_table_clear(&table->deltas, table->touched_count++);
}

/* Adds to one counter. */
static inline void level_table_charge(struct level_table *table, uint32_t row, uint32_t column,
				      uint64_t amount)
{
	const struct level_row *at = level_table_at(table, row);

	level_table_touch(table, row);
	value_table_row(&table->values, row)[column] += amount;
	value_table_row(&table->deltas, at->line)[column] += amount;
}
