// SPDX-License-Identifier: Apache-2.0
#include "training/error_sums.h"

#include <math.h>

void error_sums_init(struct error_sums *ret)
{
	*ret = (struct error_sums){ .low_w = (double)INFINITY, .high_w = -(double)INFINITY };
}

void error_sums_add(struct error_sums *sums, double watts, double predicted)
{
	double error = fabs(predicted - watts);

	sums->errors += error;
	sums->excess += predicted - watts;
	sums->power += watts;
	sums->low_w = fmin(sums->low_w, watts);
	sums->high_w = fmax(sums->high_w, watts);
	sums->rows++;
	if (watts > 0) {
		sums->ratios += error / watts;
		sums->positive++;
	}
}

void error_sums_score(const struct error_sums *sums, struct validation_score *ret)
{
	double rows = (double)sums->rows, range = sums->high_w - sums->low_w;
	double mae_w = sums->errors / rows;

	*ret = (struct validation_score){ .mae_w = mae_w, .rows = (size_t)sums->rows };
	ret->bias_w = sums->excess / rows;
	ret->mape_percent =
		sums->positive ? 100 * sums->ratios / (double)sums->positive : (double)NAN;
	ret->weighted_percent = sums->power > 0 ? 100 * mae_w * rows / sums->power : (double)NAN;
	ret->range_percent = range > 0 ? 100 * mae_w / range : (double)NAN;
}
