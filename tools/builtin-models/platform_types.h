/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data that the platform model is fitted to: types of machines with the same facts, and their
 * measured power at levels of load, as in results of SPECpower_ssj2008
 * (docs/design/platform-power-model.md).
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "model/platform_power.h"

#define PLATFORM_GROUP_MAX 64

struct platform_row {
	double load; /* CPU time; once the types are finished, 0..1 of that at full load */
	double watts;
};

struct platform_type {
	unsigned number;            /* of the table */
	struct machine_facts facts; /* all known, but maybe not the design power */
	/* All types with the same text have the same CPU model. */
	char group[PLATFORM_GROUP_MAX];
	struct platform_row *rows; /* [row_count], by rising load */
	size_t row_count, row_size;
	/* Below: once the types are finished. */
	double results;            /* of the benchmark that the rows are of, at least 1 */
	double ln_w[POWER_LEVELS]; /* means; of a level without rows what the others make likely */
};

struct platform_types {
	struct platform_type *types; /* [count]; once they are finished, by number */
	size_t count, size;
	size_t row_count; /* of all */
};

/* One row of the table; all but the time are above 0. */
struct platform_measurement {
	unsigned type;
	const char *processor; /* "intel_xeon_e5_2660v2" */
	double cores, sockets, memory_gib, frequency_mhz;
	double cpu_time_ms, watts;
};

/*
 * Adds a row; the first row of a type sets the machine's facts. 0, -ENOMEM, or -EINVAL with a
 * diagnosis (the year of the processor is not known).
 */
int platform_types_add(struct platform_types *types, const struct platform_measurement *row,
		       struct diag *diag);
/*
 * Sorts the types and their rows, and finds their levels. 0, or -EINVAL with a diagnosis: there is
 * no type, one has fewer than two loads, or a level has no row of any type.
 */
int platform_types_finish(struct platform_types *types, struct diag *diag);
void platform_types_release(struct platform_types *types);
