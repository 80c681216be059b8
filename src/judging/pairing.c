// SPDX-License-Identifier: Apache-2.0
#include "judging/pairing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define COVERED_LEAST 0.95

void pairs_release(struct pairs *pairs)
{
	free(pairs->items);
	*pairs = (struct pairs){ 0 };
}

static double covered_s(const struct series *series, double start_s, double end_s)
{
	return end_s > start_s ? series_amount(series, start_s, end_s).covered_s : 0;
}

/* One window of the base series with the mean of the other in it; false: it is not covered. */
static bool pair_of(const struct window *window, const struct series *other, double shift_s,
		    double *ret_rate)
{
	struct amount amount =
		series_amount(other, window->start_s + shift_s, window->end_s + shift_s);
	if (amount.covered_s < COVERED_LEAST * (window->end_s - window->start_s))
		return false;
	*ret_rate = amount.amount / amount.covered_s;
	return true;
}

int pairs_make(const struct series *actual, const struct series *predicted, double lag_s,
	       size_t most, struct pairs *ret)
{
	*ret = (struct pairs){ 0 };
	if (actual->count == 0 || predicted->count == 0)
		return 0;
	bool by_actual = series_step_s(actual) >= series_step_s(predicted);
	const struct series *base = by_actual ? actual : predicted;
	const struct series *other = by_actual ? predicted : actual;
	double shift_s = by_actual ? lag_s : -lag_s;
	size_t stride = (base->count - 1) / most + 1;
	ret->items = calloc(base->count / stride + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < base->count; i += stride) {
		const struct window *window = &base->windows[i];
		double rate;
		if (!pair_of(window, other, shift_s, &rate))
			continue;
		struct pair *pair = &ret->items[ret->count++];
		pair->start_s = by_actual ? window->start_s : window->start_s - lag_s;
		pair->span_s = window->end_s - window->start_s;
		pair->actual = by_actual ? window->rate : rate;
		pair->predicted = by_actual ? rate : window->rate;
		ret->paired_s += pair->span_s;
	}
	double start_s = series_start_s(actual), end_s = series_end_s(actual);
	double actual_s = covered_s(actual, start_s, end_s);
	double predicted_s = covered_s(predicted, start_s + lag_s, end_s + lag_s);
	ret->unpaired_actual_s = fmax(0, actual_s - ret->paired_s);
	ret->unpaired_predicted_s = fmax(0, predicted_s - ret->paired_s);
	return 0;
}
