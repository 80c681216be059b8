/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of a CSV text (RFC 4180), one after the other, and the lines that they are in. Lines
 * end with LF or CRLF, an empty line has no cells, and a byte order mark is no part of the first
 * cell.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define CSV_CELL_MAX 96

enum csv_end { CSV_END_CELL, CSV_END_LINE, CSV_END_TEXT };

struct csv_cells {
	const char *name, *at, *end;
	size_t line; /* that the cell begins in, from 1 */
	size_t next_line;
	char cell[CSV_CELL_MAX]; /* terminated; \1 stands for a byte 0 */
	bool is_long;            /* the cell is cut */
	enum csv_end cell_end;   /* what follows the cell */
	struct diag *diag;
};

/* All is borrowed; @name is that of the file, in diagnoses. */
void csv_cells_start(struct csv_cells *csv, const char *name, const char *text, size_t size,
		     struct diag *diag);
/* Goes behind empty lines; false at the end of the text. */
bool csv_cells_find_line(struct csv_cells *csv);
/* The next cell: 0, or -EINVAL with a diagnosis. */
int csv_cells_read(struct csv_cells *csv);
/* Sets the diagnosis to "FILE:LINE: @what", with the line of the cell; returns @err. */
int csv_cells_refuse(const struct csv_cells *csv, int err, const char *what);
