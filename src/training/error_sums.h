/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the errors of predictions, row by row: all of a score except its interval. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct validation_score {
	double mae_w;
	double low_w, high_w;    /* its 90 % interval, by a bootstrap over the rows */
	double bias_w;           /* mean of prediction - measured power */
	double mape_percent;     /* over rows with power above 0; NAN without any */
	double weighted_percent; /* sum of errors / sum of power */
	double range_percent;    /* mae_w / range of the power; NAN if that is constant */
	size_t rows;
};

struct error_sums {
	double errors; /* absolute, W */
	double excess; /* predicted - measured, W */
	double ratios, power, low_w, high_w;
	uint64_t rows, positive;
};

void error_sums_init(struct error_sums *ret);
void error_sums_add(struct error_sums *sums, double watts, double predicted);
/* All of @ret except the interval, which is 0. At least one row was added. */
void error_sums_score(const struct error_sums *sums, struct validation_score *ret);
