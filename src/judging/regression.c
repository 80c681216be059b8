// SPDX-License-Identifier: Apache-2.0
#include "judging/regression.h"

#include <errno.h>
#include <math.h>

#include "judging/interval.h"
#include "judging/pairing.h"

#define COVERED_LEAST 0.95

struct sums {
	double actual, earlier, later;
};

/* Each pair of both predictions becomes one of |actual| and the difference of both errors. */
static struct sums make_differences(const struct series *actual, struct pairs *pairs)
{
	struct sums sums = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < pairs->count; i++) {
		struct pair pair = pairs->items[i];
		struct amount amount =
			series_amount(actual, pair.start_s, pair.start_s + pair.span_s);

		if (amount.covered_s < COVERED_LEAST * pair.span_s)
			continue;
		double truth = amount.amount / amount.covered_s;
		double earlier = fabs(pair.actual - truth), later = fabs(pair.predicted - truth);

		sums.actual += pair.span_s * fabs(truth);
		sums.earlier += pair.span_s * earlier;
		sums.later += pair.span_s * later;
		pair.actual = fabs(truth);
		pair.predicted = later - earlier;
		pairs->items[kept++] = pair;
	}
	pairs->count = kept;
	return sums;
}

int regression_measure(const struct series *actual, const struct series *earlier,
		       const struct series *later, struct regression *ret)
{
	struct pairs pairs = { 0 };

	*ret = (struct regression){ 0 };
	int r = pairs_make(earlier, later, 0, SERIES_WINDOWS_MAX, &pairs);
	if (r == 0) {
		struct sums sums = make_differences(actual, &pairs);

		ret->windows = pairs.count;
		ret->earlier_error = sums.earlier / sums.actual;
		ret->later_error = sums.later / sums.actual;
		ret->change = ret->later_error - ret->earlier_error;
		r = ratio_interval(pairs.items, pairs.count, &ret->low, &ret->high);
	}
	pairs_release(&pairs);
	return r;
}
