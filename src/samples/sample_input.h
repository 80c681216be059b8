/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of many files of samples, one after the other, up to a limit. Files are CSV, also compressed
 * by gzip, and may be pipes (packed_file.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "samples/csv_reader.h"
#include "samples/packed_file.h"

#define SAMPLE_FILES_MAX 1000000U

struct sample_input {
	char **paths; /* [count], owned */
	size_t count;
	size_t opened;           /* the current one is paths[opened - 1] */
	const char *text_column; /* csv_reader's; "" none */
	bool skip_bad;           /* rows that cannot be read are counted, not refused */
	struct packed_file *file;
	struct csv_reader reader;
	bool is_open;
	uint64_t rows, bad_rows;
};

/*
 * Adds a file; of a folder its files *.csv and *.csv.gz in the order of their names; of
 * "@LIST" the files that the lines of LIST name. 0, or an error with a diagnosis.
 */
int sample_input_add(struct sample_input *input, const char *path, struct diag *diag);
void sample_input_release(struct sample_input *input);

enum { SAMPLE_INPUT_END, SAMPLE_INPUT_ROW, SAMPLE_INPUT_FILE };

/*
 * SAMPLE_INPUT_FILE: another file was opened; the caller sets the places of reader's columns.
 * SAMPLE_INPUT_ROW: a row, into @values. Or an error with a diagnosis; -E2BIG after
 * SAMPLE_ROWS_MAX rows.
 */
int sample_input_next(struct sample_input *input, double *values, struct diag *diag);
/*
 * Of a file that was opened, each column with a name gets its place in a row: that of the column of
 * @names with that name, which is added where there is none. 0, -ENOSPC or -ENOMEM with a
 * diagnosis.
 */
int sample_input_place(struct sample_input *input, struct sample_table *names, struct diag *diag);
/* Adds the row that was read, @values, to the table in which its columns have their places. */
int sample_input_add_row(const struct sample_input *input, const double *values,
			 struct sample_table *table, struct diag *diag);
/*
 * All rows of @path, which sample_input_add() takes, into @ret, without columns that have no
 * number. 0, or an error with a diagnosis; @ret only on success.
 */
int sample_input_read(const char *path, struct sample_table *ret, struct diag *diag);
