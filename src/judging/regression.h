/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is one prediction farther from the actual values than another one of the same time? Pure.
 *
 * Both are compared window by window of the coarser of the two, so that what disturbs both alike
 * is in neither's favour: change = Σ(|later − actual| − |earlier − actual|) / Σ|actual|, with the
 * 95 % interval of judging/interval.h over these paired differences.
 */
#pragma once

#include "judging/series.h"

struct regression {
	size_t windows;                    /* in which all three series have values */
	double earlier_error, later_error; /* Σ|error| / Σ|actual|, ratios; NAN without windows */
	double change, low, high; /* > 0: the later one is worse; low, high: NAN with too few */
};

/* 0 or -ENOMEM. */
int regression_measure(const struct series *actual, const struct series *earlier,
		       const struct series *later, struct regression *ret);
