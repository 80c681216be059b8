/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of samples that are read as often as needed, in bounded memory. As long as they fit they are
 * kept; otherwise their files are read again each time, which gives the same values in the same
 * order. So what is made of rows, pass by pass, does not depend on how many there are.
 *
 * Columns are those that have a name and at least one number, in the order in which the files, one
 * after the other, first name them. A row of a file that lacks a column has NAN there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "samples/sample_table.h"

#define SAMPLE_SOURCE_MEMORY (16U << 20) /* bytes of rows that are kept, usually */

struct sample_source {
	const struct sample_table *table; /* the rows; NULL: they are read from the files */
	const char *names[SAMPLE_COLUMNS_MAX];
	size_t column_count;
	uint64_t rows;
	char *path;                /* owned; NULL: the table is borrowed */
	struct sample_table owned; /* what names are borrowed from */
};

/*
 * Reads all rows once, and keeps them if that takes no more than @memory bytes. @path as
 * sample_input_add() takes it; rows that are not kept must be in files, not in pipes. 0; -ENOTSUP
 * where they are not, or another error with a diagnosis.
 */
int sample_source_open(struct sample_source *ret, const char *path, size_t memory,
		       struct diag *diag);
/* Of rows that are in memory already; @table is borrowed. */
void sample_source_of_table(struct sample_source *ret, const struct sample_table *table);
/* Index of the column, or SAMPLE_COLUMN_NONE. */
size_t sample_source_find(const struct sample_source *source, const char *name);

/* A row: @values [column_count]. Negative ends the reading, and is its result. */
typedef int sample_row_fn(void *userdata, const double *values, struct diag *diag);
/* All rows, in order. 0, what @fn returned, or an error with a diagnosis. */
int sample_source_each(const struct sample_source *source, sample_row_fn *fn, void *userdata,
		       struct diag *diag);
void sample_source_close(struct sample_source *source);
