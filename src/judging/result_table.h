/* SPDX-License-Identifier: Apache-2.0 */
/* A table of numbers that belongs to a result, as reports show it: types only. */
#pragma once

#include <stddef.h>

#define RESULT_TABLE_COLUMNS 8
#define RESULT_TABLE_ROWS    16

struct result_table {
	const char *columns[RESULT_TABLE_COLUMNS]; /* the first one is of the rows' names */
	size_t column_count;
	struct {
		char name[64];
		double cells[RESULT_TABLE_COLUMNS - 1]; /* NAN: not known */
	} rows[RESULT_TABLE_ROWS];
	size_t row_count;
};
