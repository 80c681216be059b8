/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of training from many files. Cells that cannot be true are NAN, "not measured"; the screen
 * has their counts.
 */
#pragma once

#include "base/diag.h"
#include "samples/row_screen.h"
#include "samples/sample_input.h"
#include "samples/sample_table.h"

/* The column with the number of a row's file, for --group-by. */
#define FILE_COLUMN "@file"

struct training_input {
	struct sample_input files;
	struct sample_table table;
	struct row_screen screen; /* a column for each of the table's, in the same order */
	const char *group_by;     /* "": none */
};

/* Reads the rows of all files into the table. 0, or an error with a diagnosis. */
int training_input_read(struct training_input *input, struct diag *diag);
void training_input_release(struct training_input *input);
