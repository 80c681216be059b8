// SPDX-License-Identifier: Apache-2.0
#include "samples/counter_points.h"

#include <math.h>

#define USEC_PER_SEC 1e6

/* The amount between two consecutive points; false if it is unknown. */
static bool increase(const struct counter_points *points, enum points_kind kind, int64_t time_us,
		     double value, double *ret, struct points_faults *faults)
{
	if (kind == POINTS_LEVEL) {
		*ret = value * ((double)(time_us - points->last_us) / USEC_PER_SEC);
		return true;
	}
	*ret = value - points->last;
	if (*ret >= 0)
		return true;
	if (kind == POINTS_SIZE) {
		*ret = 0;
		return true;
	}
	faults->resets++;
	*ret = value;
	return kind == POINTS_COUNTER && value >= 0;
}

bool counter_points_take(struct counter_points *points, enum points_kind kind, int64_t step_us,
			 int64_t time_us, double value, struct points_flow *ret,
			 struct points_faults *faults)
{
	double amount = 0;
	bool known = false;

	if (!isfinite(value)) {
		faults->not_numbers++;
		return false;
	}
	if (points->has_last && time_us <= points->last_us) {
		faults->disorder++;
		return false;
	}
	if (points->has_last && step_us > 0 &&
	    (time_us - points->last_us) / POINTS_GAP_STEPS > step_us)
		faults->gaps++;
	else if (points->has_last)
		known = increase(points, kind, time_us, value, &amount, faults);
	/* 1e308 and its like: sums stay finite. */
	known = known && isfinite(amount);
	if (known)
		*ret = (struct points_flow){ points->last_us, time_us, amount };
	*points = (struct counter_points){ time_us, value, true };
	return known;
}
