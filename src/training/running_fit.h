/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line over all rows that ever came, which keeps none of them: their number, means, and the
 * centred sums of products that normal equations are made of. They are updated row by row without
 * the cancellation of plain sums (Welford, "Note on a Method for Calculating Corrected Sums of
 * Squares and Products", Technometrics 4, 1962). Pure, and of fixed size.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"

#define RUNNING_FEATURES_MAX 16

struct running_fit {
	size_t features;
	double rows;
	double mean[RUNNING_FEATURES_MAX], mean_w;
	double products[RUNNING_FEATURES_MAX][RUNNING_FEATURES_MAX]; /* Σ (xi - mean)(xj - mean) */
	double watts[RUNNING_FEATURES_MAX];                          /* Σ (xi - mean)(y - mean) */
	double minimum[RUNNING_FEATURES_MAX], maximum[RUNNING_FEATURES_MAX];
	double minimum_w, maximum_w;
};

/* @features: 1 … RUNNING_FEATURES_MAX. */
void running_fit_init(struct running_fit *fit, size_t features);
/* @x [features] and @watts are finite. */
void running_fit_add(struct running_fit *fit, const double *x, double watts);
/*
 * The line whose weights are not negative, as a component of that name over features of these names
 * (least_squares.h); its error is unknown. 0; -EINVAL with a diagnosis: there are too few rows;
 * -ENOENT, -ENOSYS: no LAPACK; -ENOMEM.
 */
int running_fit_solve(const struct running_fit *fit, const char *component,
		      const char *const *names, struct model_component *ret, struct diag *diag);
