// SPDX-License-Identifier: Apache-2.0
#include "judging/lag.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/macro.h"
#include "judging/fit.h"
#include "judging/pairing.h"

#define PAIRS_MOST    4096
#define PAIRS_LEAST   16
#define SHIFTS_MOST   200 /* to each side */
#define LEFT_MOST     0.5
#define GAIN_LEAST    0.001
#define CORRELATES_AT 0.5
#define STEADY_MOST   0.01 /* standard deviation, of the mean: nothing to see a lag by */

/* The error that a shift leaves: 1 − r², or 1 where they do not go up and down together. */
static int variance_left(const struct series *actual, const struct series *predicted, double lag_s,
			 double *ret)
{
	CLEANUP(pairs_release) struct pairs pairs = { 0 };
	int r = pairs_make(actual, predicted, lag_s, PAIRS_MOST, &pairs);
	if (r < 0)
		return r;
	struct line line = line_through(&pairs);
	double correlation = line.correlation;
	bool is_steady = line.sd_actual < STEADY_MOST * fabs(line.mean_actual);
	*ret = pairs.count < PAIRS_LEAST || is_steady || isnan(correlation) ||
			       correlation < CORRELATES_AT
		       ? 1
		       : 1 - correlation * correlation;
	return 0;
}

/*
 * The vertex of the parabola through (−1, a), (0, b), (1, c), where b is the lowest of the three.
 */
static double vertex(double a, double b, double c)
{
	double curvature = a - 2 * b + c;
	return curvature > 0 ? (a - c) / (2 * curvature) : 0;
}

static bool is_lowest_here(const double *left, int count, int i)
{
	return (i == 0 || left[i] <= left[i - 1]) && (i == count - 1 || left[i] <= left[i + 1]);
}

/* Does the shift @best leave distinctly less than @left_there? */
static bool is_distinct(const double *left, int best, double left_there)
{
	return left[best] <= LEFT_MOST * left_there - GAIN_LEAST;
}

/*
 * The least that a lag within half a step of the lowest point @i may leave. At a load with edges,
 * the rest grows in proportion to the distance from the lag, so between two steps it may be lower
 * by half of the larger rise next to it.
 */
static double least_around(const double *left, int count, int i)
{
	double before = i > 0 ? left[i - 1] - left[i] : 0;
	double after = i < count - 1 ? left[i + 1] - left[i] : 0;

	return fmax(0, left[i] - fmax(before, after) / 2);
}

/* The nearest to 0 of the lowest points that are not distinctly worse than the best one. */
static int nearest_of_best(const double *left, int shifts, int best)
{
	int count = 2 * shifts + 1;

	for (int distance = 0; distance < abs(best - shifts); distance++) {
		const int both[] = { shifts - distance, shifts + distance };

		for (size_t side = 0; side < ARRAY_SIZE(both); side++) {
			int i = both[side];

			if (is_lowest_here(left, count, i) &&
			    !is_distinct(left, best, least_around(left, count, i)))
				return i;
		}
	}
	return best;
}

int lag_find(const struct series *actual, const struct series *predicted, double most_s,
	     double *ret_lag_s)
{
	double left[2 * SHIFTS_MOST + 1] = { 0 };
	double step_s = fmin(series_step_s(actual), series_step_s(predicted));
	*ret_lag_s = NAN;
	if (actual->count < PAIRS_LEAST || predicted->count < PAIRS_LEAST)
		return 0;
	/* Half of the series is left to compare. */
	most_s = fmin(most_s, (series_end_s(actual) - series_start_s(actual)) / 2);
	int shifts = (int)fmin(SHIFTS_MOST, fmax(2, ceil(most_s / step_s)));
	step_s = fmax(step_s, most_s / SHIFTS_MOST);
	int best = shifts;
	for (int i = 0; i <= 2 * shifts; i++) {
		int r = variance_left(actual, predicted, (i - shifts) * step_s, &left[i]);
		if (r < 0)
			return r;
	}
	for (int i = 0; i <= 2 * shifts; i++)
		if (left[i] < left[best])
			best = i;
	if (left[best] >= 1)
		return 0;
	*ret_lag_s = 0;
	if (!is_distinct(left, best, left[shifts]))
		return 0;
	best = nearest_of_best(left, shifts, best);
	double part = best > 0 && best < 2 * shifts
			      ? vertex(left[best - 1], left[best], left[best + 1])
			      : 0;
	*ret_lag_s = (best - shifts + part) * step_s;
	return 0;
}
