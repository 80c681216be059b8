// SPDX-License-Identifier: Apache-2.0
#include "judging/coverage.h"

#include <math.h>

#define COVERED_LEAST 0.9

/* NAN: less than nine tenths of the time are covered. */
static double mean_rate(const struct series *series, const struct window *window)
{
	struct amount amount = series_amount(series, window->start_s, window->end_s);

	return amount.covered_s >= COVERED_LEAST * (window->end_s - window->start_s)
		       ? amount.amount / amount.covered_s
		       : (double)NAN;
}

void coverage_measure(const struct series *actual, const struct series *predicted,
		      const struct series *bound, struct coverage *ret)
{
	double sum = 0;

	*ret = (struct coverage){ .bound = NAN };
	for (size_t i = 0; i < predicted->count; i++) {
		const struct window *window = &predicted->windows[i];
		double truth = mean_rate(actual, window), most = mean_rate(bound, window);
		double error = fabs(window->rate - truth);
		double own = isnan(actual->error) ? 0 : actual->error * fabs(truth);

		if (isnan(truth) || isnan(most))
			continue;
		ret->windows++;
		ret->covered += error <= most;
		ret->doubtful += error > most && error <= most + own;
		sum += most;
	}
	if (ret->windows > 0)
		ret->bound = sum / (double)ret->windows;
}
