/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded sample of all rows that ever came, which keeps rows of each load: a machine that idles
 * all night and works for an hour would be nothing but idle in a plain sample.
 *
 * Rows are divided into strata by their load, two for each power of 2, so that a stratum is the
 * same whatever comes later. In each one every row that came is kept with the same probability
 * (Vitter, "Random Sampling with a Reservoir", ACM TOMS 11, 1985, algorithm R). Pure but for
 * memory, which is reserved when a stratum gets its first row.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "training/random.h"

#define RESERVOIR_STRATA 128
#define RESERVOIR_ROWS   128 /* of a stratum */

struct reservoir {
	size_t columns;
	struct random random;
	double *rows[RESERVOIR_STRATA]; /* RESERVOIR_ROWS × columns; NULL: none */
	uint32_t count[RESERVOIR_STRATA];
	uint64_t seen[RESERVOIR_STRATA];
};

/* Which stratum a load of 0 or more belongs to; all loads below 2⁻¹⁶ are idle. */
size_t reservoir_stratum(double load);
/* @columns: 1 or more. */
void reservoir_init(struct reservoir *reservoir, size_t columns, uint64_t seed);
/* Takes a row, or replaces another by it, or leaves it: 0 or -ENOMEM. */
int reservoir_add(struct reservoir *reservoir, double load, const double *row);
/* Puts a row back that was in it, as long as there is room: 0, -ENOMEM, -ENOSPC. */
int reservoir_restore(struct reservoir *reservoir, size_t stratum, const double *row);
size_t reservoir_count(const struct reservoir *reservoir);
void reservoir_release(struct reservoir *reservoir);
