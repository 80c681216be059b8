/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The series of one level: which rows of the ledger are shown, under which labels, since when.
 *
 * They are packed, so that a picture copies them in a run: a closed one is replaced by the last.
 * What a process shows is what it used since its series was opened, counted here; any other level
 * shows the ledger's values, and has none of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/rows/value_table.h"
#include "snapshot/retention.h"
#include "snapshot/snapshot.h"

#define SERIES_NONE UINT32_MAX

struct series {
	struct series_labels *labels;
	struct series_age age;
	uint64_t ended_ns;   /* of a process that has ended: when its value changed last */
	uint32_t row;        /* of the ledger */
	uint16_t retires_to; /* number of a namespace; not of a process */
	bool ended;          /* of a process, as of the last interval that touched it */
	bool merging;        /* scratch: goes in this interval */
};

struct series_table {
	struct series *series; /* [capacity] */
	uint32_t count;
	uint32_t capacity;
	struct value_table values; /* [count], or of no columns: the ledger's are shown */
	uint32_t *series_of;       /* [slots] by row of the ledger, or SERIES_NONE */
	uint32_t slots;
	uint64_t merged; /* that went early because of a limit, so far */
};

/* @columns: 0 where the ledger's values are shown. */
void series_table_init(struct series_table *table, uint32_t columns);
void series_table_release(struct series_table *table);
/* Room for rows of the ledger below @slots. 0 or -ENOMEM. */
int series_table_reserve(struct series_table *table, uint32_t slots);
/*
 * Opens the series of a row that has none; values are 0. NULL without memory. Pointers are valid
 * until the next one is opened or closed.
 */
struct series *series_open(struct series_table *table, uint32_t row, struct series_labels *labels,
			   const struct moment *at);
/* Takes series number @index away; the last one has its number then. */
void series_close(struct series_table *table, uint32_t index);

/* Its number, or SERIES_NONE. */
static inline uint32_t series_index(const struct series_table *table, uint32_t row)
{
	return row < table->slots ? table->series_of[row] : SERIES_NONE;
}

static inline struct series *series_find(const struct series_table *table, uint32_t row)
{
	uint32_t index = series_index(table, row);

	return index == SERIES_NONE ? NULL : &table->series[index];
}
