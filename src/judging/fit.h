/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How predicted values depend on actual ones: predicted = scale × actual + offset, by least squares
 * weighted with the length of each window, and what such a line leaves.
 *
 * Range: the actual series' 99th percentile less its 1st, and at least half of its mean magnitude,
 * since at a steady load the two meters differ by noise only, which has no shape.
 * Shape: the root mean square of the actual values around a line through the predicted ones, as a
 * ratio of the range: sd(actual) × √(1 − r²) / range. With r ≤ 0 or a constant prediction it is
 * sd(actual) / range. Neither a scale nor an offset changes it.
 * Limit: a value that the prediction has (within 1 % of its range) in at least 5 % of the time
 * while the actual values differ by more than 20 % of their range, and without which the shape is
 * at most half. At the top it is saturation, at the bottom a floor.
 */
#pragma once

#include <stdbool.h>

#include "judging/pairing.h"

struct line {
	double weight;
	double mean_actual, mean_predicted;
	double sd_actual, sd_predicted;
	double correlation;   /* NAN: one of them is constant */
	double scale, offset; /* NAN: the actual values are constant */
};

struct fit {
	struct line line;
	double low, spread; /* of the actual values: 1st percentile, and from it to the 99th */
	double range;
	double shape;
	double saturated; /* part of the time at the top limit, if there is one; else 0 */
	double top;       /* the limit; NAN: none */
	double floor;     /* the same at the bottom; NAN: none */
	/* Root mean squares of the errors that one correction leaves. */
	double rms, rms_scaled, rms_shifted;
};

/* 0 or -ENOMEM. All NAN without pairs. */
int fit_pairs(const struct pairs *pairs, struct fit *ret);
struct line line_through(const struct pairs *pairs);
