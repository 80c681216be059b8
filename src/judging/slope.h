/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the scale of a prediction wrong although its energy is right? An opposite offset hides it in
 * the sum over any phase in which the power varies.
 *
 * The scale is between the slope of the predicted over the actual values, which noise of the actual
 * values lowers, and the inverse slope of the actual over the predicted values, which noise of the
 * predicted values raises (Frisch, "Statistical confluence analysis", 1934). Each end has a margin
 * of two standard errors, the ratio of the deviations × √((1 − r²) / (√n − 2)): n pairs count as √n
 * independent ones, because neighbouring windows err alike.
 *
 * A wrong scale matters as far as the power varies: its error between the 1st and the 99th
 * percentile of the actual values is (scale − 1) × their difference, as a ratio of the range.
 */
#pragma once

#include <stdbool.h>

#include "judging/fit.h"
#include "judging/result.h"

/* The interval of that error; infinite if nothing is known of it. */
struct slope {
	double low, high;
};

struct slope slope_of(const struct fit *fit, size_t pairs);
/* Sets the verdict "fail" if the whole interval is beyond the threshold. False: it is not. */
bool slope_judge(const struct fit *fit, const struct slope *slope, struct result *result);
