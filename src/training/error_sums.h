/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of predictions, added up row by row: all that is said of them but for the interval of the
 * mean, in memory that does not grow with the rows. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct validation_score {
	double mae_w;
	double low_w, high_w;    /* its 90 % interval, by a bootstrap over the rows */
	double bias_w;           /* mean of what is predicted less what was measured */
	double mape_percent;     /* of rows with power above 0; NAN: none has */
	double weighted_percent; /* all errors together, of all power */
	double range_percent;    /* the first, of the range of the power; NAN: it is constant */
	size_t rows;
};

struct error_sums {
	double errors, squares; /* absolute, W; their squares */
	double excess;          /* predicted less measured, W */
	double ratios, power, low_w, high_w;
	uint64_t rows, positive;
};

/* @ret: of no row. */
void error_sums_init(struct error_sums *ret);
void error_sums_add(struct error_sums *sums, double watts, double predicted);
/* All of @ret but the interval, which is 0; of 1 row or more. */
void error_sums_score(const struct error_sums *sums, struct validation_score *ret);
/*
 * The 90 % interval of the mean error of very many rows, whose mean is normally distributed: what a
 * bootstrap over the rows comes to as they become more.
 */
void error_sums_interval(const struct error_sums *sums, double *ret_low_w, double *ret_high_w);
