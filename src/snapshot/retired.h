/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retired rows: where the values go that are no longer shown by a series of their own. A row is
 * shown from the first value on that it takes; it is a counter, and stays while its labels do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/rows/value_table.h"
#include "snapshot/snapshot.h"

struct retired_row {
	struct series_labels *labels; /* the user's */
	int64_t born_ms;              /* CLOCK_BOOTTIME */
	bool is_shown;
};

struct retired_table {
	struct retired_row *rows; /* [count] */
	struct value_table values;
	uint32_t count;
	uint32_t capacity;
	uint32_t shown;
};

void retired_table_init(struct retired_table *table, uint32_t columns);
void retired_table_release(struct retired_table *table);
/* Makes all rows below @count, empty ones without labels. 0 or -ENOMEM. */
int retired_table_reserve(struct retired_table *table, uint32_t count);
void retired_add(struct retired_table *table, uint32_t row, const uint64_t *values,
		 int64_t boottime_ms);
/* Back to an empty row without labels. */
void retired_clear(struct retired_table *table, uint32_t row);
