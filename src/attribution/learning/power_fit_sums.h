/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normal equations of power on work: sums over weighted intervals that are forgotten exponentially,
 * and the lines that they determine. Terms are the features (power_fit_work.h) and, as the last,
 * the base, which is 1 in each interval. Coefficients are in J per unit of the feature, the base's
 * in W, and none is negative. Solving takes sums of a weight above 0. Where the power is known that
 * is there without work, @idle_w is the base; negative: it is found with the others.
 */
#pragma once

#include "attribution/learning/power_fit_work.h"

#define POWER_FIT_BASE  POWER_FIT_FEATURES
#define POWER_FIT_TERMS (POWER_FIT_FEATURES + 1)
#define POWER_FIT_PAIRS (POWER_FIT_TERMS * (POWER_FIT_TERMS + 1) / 2)

/* One interval as the regression sees it. */
struct power_fit_reading {
	double x[POWER_FIT_TERMS]; /* amounts per second, and 1 */
	double power_w;
	double span_s;
	double weight; /* in s */
};

struct power_fit_sums {
	double xx[POWER_FIT_PAIRS]; /* lower triangle by rows; the last is the weight */
	double xy[POWER_FIT_TERMS];
	double yy;
};

double power_fit_product(const double *a, const double *b, size_t count);

void power_fit_sums_forget(struct power_fit_sums *sums, double keep);
void power_fit_sums_read(struct power_fit_sums *sums, const struct power_fit_reading *reading);
void power_fit_sums_add(struct power_fit_sums *sums, const struct power_fit_sums *other);
/* Seconds of readings. */
double power_fit_sums_weight(const struct power_fit_sums *sums);

/*
 * The line of power over Σ unit × amount, as coefficients: the coefficients of features are in the
 * proportions of @unit.
 */
void power_fit_solve_ratio(const struct power_fit_sums *sums, double idle_w,
			   const double unit[POWER_FIT_FEATURES], double ret[POWER_FIT_TERMS]);
/*
 * The least squares that are drawn towards @prior: ridge regression (A. E. Hoerl, R. W. Kennard,
 * Technometrics 12, 1970) with the width of a prior. A coefficient is thought to be off @prior by
 * the mean power over its mean amount at most, readings have noise of @noise_w2, and a @strength-th
 * part of them is independent. The base is not drawn. @coefficient is where the search
 * begins, and stays when sums are not finite.
 */
void power_fit_solve_drawn(const struct power_fit_sums *sums, double idle_w,
			   const double prior[POWER_FIT_TERMS], double strength, double noise_w2,
			   double coefficient[POWER_FIT_TERMS]);
/*
 * The energy of a paired cycle over the energy of a cycle alone, at the mean frequency. It includes
 * all the work that such a cycle does, so counters of that work are left out. 0: it is not known.
 */
double power_fit_solve_smt_factor(const struct power_fit_sums *sums, double idle_w);

/* Variance of the power, of what coefficients leave of it, and of what features explain. */
double power_fit_variance_w2(const struct power_fit_sums *sums);
double power_fit_left_w2(const struct power_fit_sums *sums, const double *coefficient);
double power_fit_explained_w2(const struct power_fit_sums *sums, const double *coefficient);
