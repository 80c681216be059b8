/* SPDX-License-Identifier: Apache-2.0 */
/* A number of each of several runs, and the difference of two such series. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RUNS_MAX 10000

struct run_summary {
	size_t count;
	double mean, median, min, max;
	double deviation; /* of the sample; 0 of a single run */
	/*
	 * Runs that are far from the median, by more than ten times the usual distance: 14.826
	 * times the median absolute deviation (Iglewicz and Hoaglin 1993, and hyperfine).
	 */
	size_t outliers;
	bool first_is_outlier; /* caches were cold: --warmup helps */
};

/* @values [count] are not changed; @count is 1 to RUNS_MAX. 0 or -ENOMEM. */
int run_summary_of(const double *values, size_t count, struct run_summary *ret);

/*
 * Welch's test of two series with unequal variances (Welch 1947): after - before, its 95 %
 * interval, and the probability of a difference of this size if there is none.
 */
struct run_difference {
	double difference, low, high;
	double probability;
};

/*
 * False: a series has fewer than two runs, so the difference is unknown. Two series without any
 * deviation differ for certain (probability 0) or not at all (1).
 */
bool run_difference_of(const struct run_summary *before, const struct run_summary *after,
		       struct run_difference *ret);
/* P(|T| > @t) of Student's t with @degrees of freedom above 0. */
double student_probability(double t, double degrees);
/* The t above 0 with student_probability() = @probability, which is in (0, 1). */
double student_quantile(double probability, double degrees);
