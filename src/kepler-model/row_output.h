/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of any number on their way to a file or to standard output, in a buffer of about a
 * megabyte. A file is replaced when all rows are there, and not at all where that fails.
 */
#pragma once

#include "base/diag.h"
#include "base/file.h"
#include "base/strbuf.h"

struct row_output {
	const char *path;   /* borrowed; "-": standard output */
	struct strbuf text; /* what is not written yet; the caller adds to it */
	struct file_replacement file;
};

/* 0, or -errno with a diagnosis. */
int row_output_open(struct row_output *ret, const char *path, struct diag *diag);
/* After each row: writes the text when there is enough of it. 0, or -errno with a diagnosis. */
int row_output_flush(struct row_output *output, struct diag *diag);
/* Writes the rest; then the file has its name. 0, or -errno with a diagnosis. */
int row_output_finish(struct row_output *output, struct diag *diag);
/* Removes a file that was not finished. */
void row_output_close(struct row_output *output);
