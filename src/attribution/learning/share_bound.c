// SPDX-License-Identifier: Apache-2.0
/*
 * Each share is min(limit, learned + level × known), and the level is the one by which they add up
 * to 1: the nearest shares by squared distance over what is known. The level is found by Newton's
 * method. The sum is concave in the level, so each step finds a level that is too low, and more
 * owners at their limits; there are at most as many steps as owners.
 */
#include "attribution/learning/share_bound.h"

#include <math.h>

double share_bound_limit(double known, double odds)
{
	return odds * known / (1 + (odds - 1) * known);
}

/* A level at which those that are below their limits at @level make up for the rest. */
static double next_level(const double *learned, const double *known, const double *limit,
			 size_t count, double level)
{
	double missing = 1, slope = 0;

	for (size_t i = 0; i < count; i++) {
		if (learned[i] + level * known[i] >= limit[i]) {
			missing -= limit[i];
			continue;
		}
		missing -= learned[i];
		slope += known[i];
	}
	return slope > 0 ? missing / slope : level;
}

void share_bound_apply(const double *learned, const double *known, const double *limit,
		       size_t count, double *ret)
{
	double level = 0;

	for (size_t i = 0; i < count; i++) {
		double next = next_level(learned, known, limit, count, level);

		if (!(next > level))
			break;
		level = next;
	}
	for (size_t i = 0; i < count; i++)
		ret[i] = fmin(limit[i], learned[i] + level * known[i]);
}
