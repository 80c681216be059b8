// SPDX-License-Identifier: Apache-2.0
#include "training/reservoir.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPONENT_MIN (-15)

size_t reservoir_stratum(double load)
{
	int exponent = 0;
	double part = frexp(load, &exponent);
	int stratum = 2 * (exponent - EXPONENT_MIN) + (part >= 0.75);

	if (!(load > 0) || exponent < EXPONENT_MIN)
		return 0;
	return stratum + 1 < RESERVOIR_STRATA ? (size_t)stratum + 1 : RESERVOIR_STRATA - 1;
}

void reservoir_init(struct reservoir *reservoir, size_t columns, uint64_t seed)
{
	*reservoir = (struct reservoir){ .columns = columns, .random = { seed } };
}

static int put(struct reservoir *reservoir, size_t stratum, size_t place, const double *row)
{
	if (!reservoir->rows[stratum])
		reservoir->rows[stratum] =
			calloc(RESERVOIR_ROWS * reservoir->columns, sizeof(double));
	if (!reservoir->rows[stratum])
		return -ENOMEM;
	memcpy(reservoir->rows[stratum] + place * reservoir->columns, row,
	       reservoir->columns * sizeof(double));
	return 0;
}

int reservoir_restore(struct reservoir *reservoir, size_t stratum, const double *row)
{
	int r;

	if (reservoir->count[stratum] == RESERVOIR_ROWS)
		return -ENOSPC;
	r = put(reservoir, stratum, reservoir->count[stratum], row);
	if (r == 0)
		reservoir->count[stratum]++;
	return r;
}

int reservoir_add(struct reservoir *reservoir, double load, const double *row)
{
	size_t stratum = reservoir_stratum(load), place;

	reservoir->seen[stratum]++;
	if (reservoir->count[stratum] < RESERVOIR_ROWS)
		return reservoir_restore(reservoir, stratum, row);
	place = random_below(&reservoir->random, reservoir->seen[stratum]);
	return place < RESERVOIR_ROWS ? put(reservoir, stratum, place, row) : 0;
}

size_t reservoir_count(const struct reservoir *reservoir)
{
	size_t count = 0;

	for (size_t i = 0; i < RESERVOIR_STRATA; i++)
		count += reservoir->count[i];
	return count;
}

void reservoir_release(struct reservoir *reservoir)
{
	for (size_t i = 0; i < RESERVOIR_STRATA; i++)
		free(reservoir->rows[i]);
	*reservoir = (struct reservoir){ .columns = 0 };
}
