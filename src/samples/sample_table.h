/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: what a machine did and how much power its parts drew, row by row, as power models are
 * trained on it. Columns have names; a row is one step of one owner (a node, or a container).
 * Values are rates: features in their unit per second, power in W. NAN is "not measured", which is
 * not 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define SAMPLE_COLUMNS_MAX 256
#define SAMPLE_NAME_MAX    96
#define SAMPLE_ROWS_MAX    1000000U /* limit of rows read from files */

struct sample_table {
	char (*names)[SAMPLE_NAME_MAX]; /* of columns */
	double **columns;               /* each has rows values */
	size_t column_count;
	size_t rows;
	size_t size; /* rows that there is room for */
};

#define SAMPLE_COLUMN_NONE SIZE_MAX

/* Adds a column, all NAN; its index, or -ENOMEM, -ENOSPC, -EEXIST. */
int sample_table_add_column(struct sample_table *table, const char *name, size_t *ret);
/* Index of the column, or SAMPLE_COLUMN_NONE. */
size_t sample_table_find(const struct sample_table *table, const char *name);
/* Adds a row, all NAN: 0 or -ENOMEM. Its index is rows - 1. */
int sample_table_add_row(struct sample_table *table);
/* Leaves out columns without a number. */
void sample_table_drop_text(struct sample_table *table);
/* The values of a row, by column, into @ret [column_count]. */
void sample_table_get_row(const struct sample_table *table, size_t row, double *ret);
/* The names of columns, borrowed, into @ret [column_count]. */
void sample_table_get_names(const struct sample_table *table, const char **ret);
void sample_table_release(struct sample_table *table);

/* CSV that reads back as the same values; NAN is an empty cell. 0 or -ENOMEM. */
int sample_table_write_csv(const struct sample_table *table, struct strbuf *out);
/* The same line by line; @out notes errors. */
void sample_csv_add_names(const char *const *names, size_t count, struct strbuf *out);
void sample_csv_add_row(const double *values, size_t count, struct strbuf *out);
/* A cell; a value that is not finite is empty. */
void sample_csv_add_number(double value, struct strbuf *out);
