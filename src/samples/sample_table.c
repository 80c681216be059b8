// SPDX-License-Identifier: Apache-2.0
/*
 * All columns have room for the same number of rows. When it grows, each column is moved by itself,
 * and the size is set last: a failure in between leaves a table that is as it was.
 */
#include "samples/sample_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define ROWS_FIRST 64U

int sample_table_add_column(struct sample_table *table, const char *name, size_t *ret)
{
	size_t count = table->column_count;
	double *column;

	if (count == SAMPLE_COLUMNS_MAX || strlen(name) >= SAMPLE_NAME_MAX)
		return -ENOSPC;
	if (sample_table_find(table, name) != SAMPLE_COLUMN_NONE)
		return -EEXIST;
	if (ARRAY_RESIZE(table->names, count + 1) < 0 ||
	    ARRAY_RESIZE(table->columns, count + 1) < 0)
		return -ENOMEM;
	column = calloc(table->size ? table->size : 1, sizeof(*column));
	if (!column)
		return -ENOMEM;
	for (size_t row = 0; row < table->rows; row++)
		column[row] = (double)NAN;
	memcpy(table->names[count], name, strlen(name) + 1);
	table->columns[count] = column;
	table->column_count = count + 1;
	*ret = count;
	return 0;
}

size_t sample_table_find(const struct sample_table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (strcmp(table->names[i], name) == 0)
			return i;
	}
	return SAMPLE_COLUMN_NONE;
}

static int grow(struct sample_table *table)
{
	size_t size = table->size ? table->size + table->size / 2 : ROWS_FIRST;

	if (size > UINT32_MAX)
		return -ENOMEM;
	for (size_t i = 0; i < table->column_count; i++) {
		if (ARRAY_RESIZE(table->columns[i], size) < 0)
			return -ENOMEM;
	}
	table->size = size;
	return 0;
}

int sample_table_add_row(struct sample_table *table)
{
	if (table->rows == table->size && grow(table) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i][table->rows] = (double)NAN;
	table->rows++;
	return 0;
}

static bool has_number(const struct sample_table *table, size_t column)
{
	for (size_t row = 0; row < table->rows; row++) {
		if (isfinite(table->columns[column][row]))
			return true;
	}
	return false;
}

void sample_table_drop_text(struct sample_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (!has_number(table, i)) {
			free(table->columns[i]);
			continue;
		}
		table->columns[kept] = table->columns[i];
		memmove(table->names[kept], table->names[i], sizeof(table->names[i]));
		kept++;
	}
	table->column_count = kept;
}

void sample_table_get_row(const struct sample_table *table, size_t row, double *ret)
{
	for (size_t i = 0; i < table->column_count; i++)
		ret[i] = table->columns[i][row];
}

void sample_table_get_names(const struct sample_table *table, const char **ret)
{
	for (size_t i = 0; i < table->column_count; i++)
		ret[i] = table->names[i];
}

void sample_table_release(struct sample_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		free(table->columns[i]);
	free(table->columns);
	free(table->names);
	*table = (struct sample_table){ 0 };
}
