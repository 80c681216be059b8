/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separates the dynamic power of a machine: finds its idle power, and makes rows without it. Pure.
 *
 * Idle power is taken from the rows with next to no load. If the machine was never idle, a line is
 * fitted to the lower half of the load, and idle power is its value at no load.
 */
#pragma once

#include <stddef.h>

#include "samples/sample_table.h"

#define ISOLATION_COLUMNS_MAX 80
#define ISOLATION_IDLE_SHARE  0.01 /* of the highest load: below it a row is idle */
#define ISOLATION_IDLE_ROWS   5    /* that are needed */

enum isolation_way { ISOLATION_MINIMUM, ISOLATION_IDLE_ROWS_FOUND, ISOLATION_INTERCEPT };

struct isolated_power {
	size_t column; /* NAME_power of the rows */
	double idle_w; /* never more than the lowest power of the rows */
	enum isolation_way way;
};

/*
 * Idle power of each column of power: the lowest measured one, or, with the name of a column of
 * load in @load, by the load; a column without a number has none. Returns how many have one.
 */
size_t isolation_find(const struct sample_table *table, const char *load,
		      struct isolated_power ret[static ISOLATION_COLUMNS_MAX]);
/* The column that shows load best: CPU time, else cycles, …; NULL: none. */
const char *isolation_load(const struct sample_table *table);
/* @watts without @idle_w; what would be negative is 0, and NAN stays. */
double isolation_dynamic_w(double watts, double idle_w);
/* Takes @watts off a column, as isolation_dynamic_w(). */
void isolation_subtract(struct sample_table *table, size_t column, double watts);
