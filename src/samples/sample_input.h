/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of many CSV files in one table, up to SAMPLE_ROWS_MAX. Files may be compressed by gzip
 * (RFC 1952, recognised by the first bytes), and may be pipes. Columns are matched by name.
 */
#pragma once

#include "base/diag.h"
#include "samples/row_screen.h"
#include "samples/sample_table.h"

#define SAMPLE_FILES_MAX 1000000U
/* The column with the number of a row's file, for @group_by. */
#define FILE_COLUMN "@file"

struct sample_input {
	char **paths; /* [count], owned */
	size_t count;
	/* A column with texts as values (csv_reader.h), or FILE_COLUMN; "", NULL: none. */
	const char *group_by;
	bool skip_bad; /* malformed rows are counted, not refused */
	/* NULL, or gets a column for each of the table: cells that cannot be true are NAN. */
	struct row_screen *screen;
	uint64_t bad_rows;
};

/*
 * Adds a file, the files *.csv and *.csv.gz of a folder in the order of their names, or the files
 * that the lines of LIST name ("@LIST"). 0, or an error with a diagnosis.
 */
int sample_input_add(struct sample_input *input, const char *path, struct diag *diag);
void sample_input_release(struct sample_input *input);
/*
 * All rows of all files into @ret, without columns that have no number. 0, or an error with a
 * diagnosis, -E2BIG after SAMPLE_ROWS_MAX rows; @ret only on success.
 */
int sample_input_take(struct sample_input *input, struct sample_table *ret, struct diag *diag);
/* The same for one path that sample_input_add() accepts, without options. */
int sample_input_read(const char *path, struct sample_table *ret, struct diag *diag);
