/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers from the text of a CSV file (RFC 4180). The first line names the columns. A cell
 * that is empty or not a number is NAN.
 *
 * A file of pandas has a first column without a name (its index), and times and names of machines
 * as text. A line with another number of cells than the first one is refused, because its cells
 * cannot be assigned to columns; an empty line is skipped.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "samples/sample_table.h"

struct csv_reader {
	char name[256];               /* of the file, in messages */
	const char *begin, *at, *end; /* of the text; what is read next */
	uint64_t line;                /* the line of @at, from 1 */
	/* The names of the columns in the order of the file; "": a column without a name. */
	char (*names)[SAMPLE_NAME_MAX];
	size_t count;
	/* [count]: the place of a value in a row; SAMPLE_COLUMN_NONE (the default): none. */
	size_t *place;
	/*
	 * A column whose texts are values, too: a hash of each, as a whole number; or NONE. It is
	 * only read if it has a place.
	 */
	size_t text_column;
	/* The line that the last row began in, and its text in that column, possibly cut. */
	uint64_t row_line;
	char text[SAMPLE_NAME_MAX];
	char scratch[SAMPLE_NAME_MAX]; /* a cell without its quotes */
};

/*
 * Reads the line of names from @text, which is borrowed. 0; -EINVAL, -ENOSPC (too many columns) or
 * -ENOMEM, with FILE:LINE and the fault.
 */
int csv_reader_open(struct csv_reader *reader, const char *name, const char *text, size_t size,
		    struct diag *diag);
void csv_reader_close(struct csv_reader *reader);
/* Index of the column, or SAMPLE_COLUMN_NONE. */
size_t csv_reader_find(const struct csv_reader *reader, const char *name);
/*
 * The next row: each column's value to its place in @values. 1; 0 at the end; -EINVAL with
 * FILE:LINE:COLUMN (in bytes, from 1) and the fault: the next call reads the line after it.
 */
int csv_reader_row(struct csv_reader *reader, double *values, struct diag *diag);
