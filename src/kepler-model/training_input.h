/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of training from many files: in memory as long as they fit, and otherwise through a file on
 * disk, with the columns that are trained on. What these are is decided by the first rows. Cells
 * that cannot be true are NAN, "not measured"; the screen has their counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/map.h"
#include "samples/row_screen.h"
#include "samples/sample_input.h"
#include "samples/sample_spool.h"
#include "samples/sample_table.h"
#include "training/streamed_rows.h"
#include "training/training_request.h"

/* The column with the number of a row's file, for --group-by. */
#define FILE_COLUMN "@file"

struct training_input {
	struct sample_input files;
	struct sample_table table; /* the rows, or where they are streamed only its names */
	struct row_screen screen;  /* a column for each of the table's, in the same order */
	bool is_streamed;
	struct sample_spool spool;
	const char *names[SAMPLE_COLUMNS_MAX + 1]; /* of the spool, borrowed from the table */
	size_t column_count;
	size_t screened[SAMPLE_COLUMNS_MAX + 1]; /* [column_count]: their columns in the screen */
	struct streamed_table streamed;
	const char *group_by; /* "": none */
	size_t memory;        /* bytes */
	struct map groups;    /* the bits of a value → its number */
	/* Is called from time to time, or NULL. */
	void (*progress)(void *context);
	void *context;
};

/*
 * Reads rows of files into the table, until they end or do not fit in memory: then is_streamed is
 * set, and training_input_stream() is to be called. 0, or an error with a diagnosis.
 */
int training_input_read(struct training_input *input, struct diag *diag);
/* Moves the rows to a file in @folder, and reads the rest there. */
int training_input_stream(struct training_input *input, const struct training_request *request,
			  const char *folder, struct diag *diag);
void training_input_release(struct training_input *input);
