/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether published errors follow from their series.
 *
 * They are recomputed as upstream's validator does: samples are paired if their times differ by
 * less than the smaller of both first steps, others are left out; MSE, MAE and MAPE are
 * scikit-learn's, MAPE in % with a divisor of at least 2.2e-16. MAPE is not symmetric, so a
 * published one that only follows with its arguments swapped is recognised.
 */
#pragma once

#include "judging/result.h"

/* A row of a published report; NAN: it has no such number. */
struct published {
	char name[RESULT_NAME_MAX];
	char status[RESULT_NAME_MAX]; /* what it says of itself, or "" */
	double mse, mae;
	double mape; /* % */
};

struct recomputed {
	double mse, mae, mape, swapped_mape; /* the latter two in % */
	size_t pairs, left_out;
	size_t zeros; /* pairs with an actual value of 0 */
};

void published_recompute(const struct series *actual, const struct series *predicted,
			 struct recomputed *ret);
/* Does @published follow from @recomputed, within 1 % and its rounding? */
bool published_follows(const struct published *published, const struct recomputed *recomputed);
/*
 * Sets threshold, error and verdict of @result, which is of the kind RESULT_PUBLISHED. Both series
 * are borrowed. The error is the largest disagreement of a published number, beyond its rounding.
 */
void published_judge(struct result *result, const struct published *published,
		     const struct series *actual, const struct series *predicted);
