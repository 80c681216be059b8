// SPDX-License-Identifier: Apache-2.0
#include "judging/reading_times.h"

#include <math.h>

#define LAGS_MOST 32 /* to each side of the lag that was found */
#define LAG_STEP  4  /* of them in a time error; half of one may be missed, so times have it more */
#define ROUNDING  1e-6 /* of all energy */

/* The energy of the actual series up to a time that only grows. */
struct cursor {
	const struct series *series;
	size_t at;
	double before; /* energy before the window @at */
	size_t gaps;   /* before it */
};

struct range {
	double low, high;
};

static bool touch(const struct window *a, const struct window *b)
{
	return b->start_s - a->end_s <= 1e-6 * (b->end_s - b->start_s);
}

/* How far the energy inside a window may be from a straight line. */
static double blur_of(const struct series *series, size_t at)
{
	const struct window *window = &series->windows[at];
	double low = window->rate, high = low;

	for (size_t i = at > 0 ? at - 1 : 0; i <= at + 1 && i < series->count; i++) {
		low = fmin(low, series->windows[i].rate);
		high = fmax(high, series->windows[i].rate);
	}
	return (window->end_s - window->start_s) / 4 * (high - low);
}

/* False: nothing is known of @time_s. */
static bool advance(struct cursor *cursor, double time_s, struct range *ret)
{
	const struct series *series = cursor->series;

	while (cursor->at < series->count && series->windows[cursor->at].end_s < time_s) {
		const struct window *window = &series->windows[cursor->at++];

		cursor->before += window->rate * (window->end_s - window->start_s);
		cursor->gaps += cursor->at < series->count && !touch(window, window + 1);
	}
	if (cursor->at == series->count || series->windows[cursor->at].start_s > time_s)
		return false;
	const struct window *window = &series->windows[cursor->at];
	double energy = cursor->before + window->rate * (time_s - window->start_s);
	double whole = window->rate * (window->end_s - window->start_s);
	double blur = blur_of(series, cursor->at);

	ret->low = fmax(energy - blur, fmin(cursor->before, energy));
	ret->high = fmin(energy + blur, fmax(cursor->before + whole, energy));
	return true;
}

/* The bounds that the readings of the present stretch set for later ones. */
struct stretches {
	struct cursor early, late;
	double time_error_s, lag_s, most, small_rate;
	double least_over, least_under;
	double excess; /* the most energy that nothing explains, of any stretch */
};

static void begin_stretch(struct stretches *all)
{
	all->least_over = all->least_under = INFINITY;
}

static void take_reading(struct stretches *all, double time_s, double predicted)
{
	double at_s = time_s - all->lag_s, m = all->most, floor = m * all->small_rate * time_s;
	size_t gaps = all->late.gaps;
	struct range early, late;
	bool has_early = advance(&all->early, at_s - all->time_error_s, &early);
	bool has_late = advance(&all->late, at_s + all->time_error_s, &late);

	if (all->late.gaps != gaps)
		begin_stretch(all);
	if (!has_early || !has_late || all->early.gaps != all->late.gaps)
		return;
	double over = predicted - (1 + m) * late.high - floor;
	double under = (1 - m) * early.low - predicted - floor;

	all->excess = fmax(all->excess, fmax(over - all->least_over, under - all->least_under));
	all->least_over = fmin(all->least_over, predicted - (1 + m) * early.low - floor);
	all->least_under = fmin(all->least_under, (1 - m) * late.high - predicted - floor);
}

/* Both ends of the predicted series were cut, and are no readings. */
static double find_excess(const struct result *result, struct stretches all)
{
	const struct series *predicted = result->predicted;
	double energy = 0;

	begin_stretch(&all);
	for (size_t i = 0; i + 1 < predicted->count; i++) {
		const struct window *window = &predicted->windows[i];

		energy += window->rate * (window->end_s - window->start_s);
		take_reading(&all, window->end_s, energy);
		if (!touch(window, window + 1)) {
			begin_stretch(&all);
			take_reading(&all, window[1].start_s, energy);
		}
	}
	return all.excess;
}

bool reading_times_explain(const struct result *result, double lag_s, double most,
			   double small_rate)
{
	double step_s = result->time_error_s / LAG_STEP;
	struct stretches all = {
		.early.series = result->actual,
		.late.series = result->actual,
		.time_error_s = result->time_error_s + step_s / 2,
		.most = most,
		.small_rate = small_rate,
	};
	double start_s = series_start_s(result->actual), end_s = series_end_s(result->actual);
	double least = ROUNDING * fabs(series_amount(result->actual, start_s, end_s).amount);

	for (int i = 0; i <= 2 * LAGS_MOST; i++) {
		/* 0, 1, −1, 2, … */
		int steps = i % 2 ? (i + 1) / 2 : -i / 2;

		all.lag_s = (isnan(lag_s) ? 0 : lag_s) + steps * step_s;
		if (find_excess(result, all) <= least)
			return true;
	}
	return false;
}

double reading_times_energy(const struct result *result, double time_s)
{
	const struct series *actual = result->actual;
	double early_s = time_s - result->time_error_s, late_s = time_s + result->time_error_s;
	double most = 0;

	for (size_t i = 0; i < actual->count && result->time_error_s > 0; i++)
		if (actual->windows[i].start_s <= late_s && actual->windows[i].end_s >= early_s)
			most = fmax(most, actual->windows[i].rate);
	return result->time_error_s * most;
}
