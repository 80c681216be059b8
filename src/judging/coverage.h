/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often is the actual value within the bound that an estimate publishes? Pure.
 *
 * The windows come from the predicted series, so they are the exporter's own intervals. A window
 * counts if the actual and the bound series cover nine tenths of it. It is covered if the actual
 * mean is within predicted ± bound. The truth has an error of its own (series.error): windows where
 * only this error decides are counted separately.
 */
#pragma once

#include "judging/series.h"

struct coverage {
	size_t windows, covered;
	size_t doubtful; /* not covered, but within bound + the error of the truth */
	double bound;    /* its mean, in the unit of the series; NAN without windows */
};

void coverage_measure(const struct series *actual, const struct series *predicted,
		      const struct series *bound, struct coverage *ret);
