/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds impossible values in rows, so that no model is trained on them.
 *
 * A cell that is not a number, is negative, or is more than the machine can reach is left out, and
 * counted with the place of the first one. The limits of power are the zones'
 * (zone_kind_info), per socket; a count of time is limited by the machine's logical CPUs,
 * cycles by CPUs of SCREEN_CLOCK_HZ. Columns that are neither a known feature nor the power of a
 * component have no limits: only a caller that asks for them has them checked.
 *
 * A few impossible cells are faults of their rows. If they are more than SCREEN_TOLERATED of a
 * column, its unit is probably wrong, and the column is refused. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/sample_table.h"

#define SCREEN_TOLERATED   0.10 /* of a column's cells */
#define SCREEN_CLOCK_HZ    1e10
#define SCREEN_CPUS_MAX    8192 /* if the machine's number is unknown; Linux' limit */
#define SCREEN_SOCKETS_MAX 2    /* if their number is unknown; --machine.chips sets it */

enum cell_fault { CELL_IS_NO_NUMBER, CELL_IS_NEGATIVE, CELL_IS_ABOVE, CELL_FAULT_COUNT };

struct screen_machine {
	uint32_t cpus, sockets; /* 0: not known */
};

struct screened_column {
	char name[SAMPLE_NAME_MAX];
	double most; /* INFINITY: no limit, and it may be negative */
	bool is_power;
	uint64_t cells;
	uint64_t faults[CELL_FAULT_COUNT];
	/* The first fault. */
	char file[256];
	uint64_t line;
	double value;
	double lowest, highest; /* of the cells that are kept */
};

struct row_screen {
	struct screen_machine machine;
	struct screened_column *columns; /* [count], in the order in which they were added */
	size_t count;
};

/* Adds the column: 0 or -ENOMEM. Its index is count - 1. */
int row_screen_add(struct row_screen *screen, const char *name);
void row_screen_release(struct row_screen *screen);
/* @value of column @index, or NAN if it is impossible. */
double row_screen_cell(struct row_screen *screen, size_t index, double value, const char *file,
		       uint64_t line);
/* Index of the column, or SAMPLE_COLUMN_NONE. */
size_t row_screen_index(const struct row_screen *screen, const char *name);
/* Returns true if the cells that are kept, at least two, have one value. */
bool screened_column_is_constant(const struct screened_column *column);
/* Returns true if too many cells are negative or above the limit. */
bool screened_column_is_impossible(const struct screened_column *column);
/* 0; -EINVAL with a diagnosis if it is impossible, or no cell is a number. */
int screened_column_check(const struct screened_column *column, struct diag *diag);
/* Adds a line about cells that were left out, if there are any. */
void screened_column_describe(const struct screened_column *column, struct strbuf *out);
