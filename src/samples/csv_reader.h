/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers from CSV (RFC 4180) of any length, in a buffer of fixed size. The first line
 * names the columns. A cell that is empty, or that is no number, is NAN.
 *
 * Files of pandas are the usual ones: a first column without a name (its index), times and names
 * of machines as text. A line with another number of cells than the first one is refused, because
 * its cells cannot be assigned to columns; an empty line is skipped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "samples/sample_table.h"

#define CSV_BUFFER_SIZE (1U << 20) /* the most bytes of a line, too */

/* The next bytes, up to @size, into @buf: their count, 0 at the end, or -errno with a diagnosis. */
typedef ssize_t csv_fill(void *context, char *buf, size_t size, struct diag *diag);

struct csv_reader {
	char name[256]; /* of the file, in messages */
	const char *at, *end;
	bool is_last;  /* nothing follows @end */
	uint64_t line; /* that @at is in, from 1 */
	csv_fill *fill;
	void *context;
	char *buffer; /* owned; NULL: all of the text was there in the beginning */
	/* Columns: their names in the order of the file, "" for none. */
	char (*names)[SAMPLE_NAME_MAX];
	size_t count;
	/* [count]: where a value goes in a row; SAMPLE_COLUMN_NONE: nowhere (default). */
	size_t *place;
	/*
	 * A column of which text is a value, too: a hash of it, as a whole number; or NONE. It is
	 * only read where it has a place.
	 */
	size_t text_column;
	/* Of the last row: the line that it began in, and the text of that column, or what fits. */
	uint64_t row_line;
	char text[SAMPLE_NAME_MAX];
	char scratch[SAMPLE_NAME_MAX]; /* a cell without its quotes */
};

/*
 * Reads the line of names: from @text, or where that is NULL from @fill. 0; -EINVAL, -ENOSPC (too
 * many columns), -ENOMEM or what @fill returned, with FILE:LINE: what is wrong.
 */
int csv_reader_open(struct csv_reader *reader, const char *name, const char *text, size_t size,
		    csv_fill *fill, void *context, struct diag *diag);
void csv_reader_close(struct csv_reader *reader);
/* Index of the column, or SAMPLE_COLUMN_NONE. */
size_t csv_reader_find(const struct csv_reader *reader, const char *name);
/*
 * The next row: each column's value to its place in @values. 1; 0 at the end; -EINVAL with
 * FILE:LINE:COLUMN (in bytes, from 1) of what is wrong: the next call goes on with the line behind;
 * or another error, after which there is no next one.
 */
int csv_reader_row(struct csv_reader *reader, double *values, struct diag *diag);
