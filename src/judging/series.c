// SPDX-License-Identifier: Apache-2.0
#include "judging/series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define GAP_STEPS    2.5  /* a window longer than this many usual ones is across a gap */
#define TIME_MAX_S   1e11 /* 3,000 years; a later time is invalid, and too coarse as a double */
#define VALUE_MAX    1e60 /* no unit makes such values, and their squares would overflow */
#define STEP_SAMPLES 1023 /* windows that the usual step is found from, spread over all */

struct series *series_new(const char *name, const char *unit)
{
	struct series *series = calloc(1, sizeof(*series));
	if (!series)
		return NULL;
	(void)snprintf(series->name, sizeof(series->name), "%s", name);
	(void)snprintf(series->unit, sizeof(series->unit), "%s", unit);
	series->merged = 1;
	series->error = NAN;
	return series;
}

void series_free(struct series *series)
{
	if (!series)
		return;
	free(series->windows);
	free(series);
}

struct series *series_cut(const struct series *series, double start_s, double end_s)
{
	struct series *cut = malloc(sizeof(*cut));
	if (!cut)
		return NULL;
	*cut = *series;
	cut->count = 0;
	cut->size = series->count + 1;
	cut->windows = calloc(cut->size, sizeof(*cut->windows));
	for (size_t i = 0; cut->windows && i < series->count; i++) {
		struct window window = series->windows[i];
		window.start_s = fmax(window.start_s, start_s);
		window.end_s = fmin(window.end_s, end_s);
		if (window.start_s < window.end_s)
			cut->windows[cut->count++] = window;
	}
	if (cut->windows)
		return cut;
	free(cut);
	return NULL;
}

double series_start_s(const struct series *series)
{
	return series->count > 0 ? series->windows[0].start_s : 0;
}

double series_end_s(const struct series *series)
{
	return series->count > 0 ? series->windows[series->count - 1].end_s : 0;
}

double series_step_s(const struct series *series)
{
	double steps[STEP_SAMPLES];
	size_t n = series->count < STEP_SAMPLES ? series->count : STEP_SAMPLES;
	for (size_t i = 0; i < n; i++) {
		const struct window *window = &series->windows[i * series->count / n];
		steps[i] = window->end_s - window->start_s;
	}
	if (n == 0)
		return NAN;
	qsort(steps, n, sizeof(*steps), compare_doubles);
	return steps[n / 2];
}

/* A gauge's window across a gap becomes one usual step long. */
static void cut_gap(const struct series *series, struct window *window, double step_s)
{
	double start_s = window->end_s - step_s;
	bool is_long = window->end_s - window->start_s > GAP_STEPS * step_s;
	if (!series->is_counter && is_long && start_s < window->end_s)
		window->start_s = start_s;
}

static void cut_gaps(struct series *series)
{
	double step_s = series_step_s(series);
	for (size_t i = 0; i < series->count; i++)
		cut_gap(series, &series->windows[i], step_s);
}

static bool is_value(double value)
{
	return fabs(value) < VALUE_MAX;
}

static bool touches(const struct window *a, const struct window *b)
{
	return b->start_s - a->end_s <= 1e-6 * (b->end_s - b->start_s);
}

static struct window join(const struct window *a, const struct window *b)
{
	double a_s = a->end_s - a->start_s, b_s = b->end_s - b->start_s;
	return (struct window){ a->start_s, b->end_s,
				(a->rate * a_s + b->rate * b_s) / (a_s + b_s) };
}

/*
 * Each two neighbours without a gap between them become one, and so will later samples. -ENOSPC
 * where so many gaps are between them that little room is gained.
 */
static int merge_neighbours(struct series *series)
{
	if (series->merged == 1) {
		series->sample_step_s = series_step_s(series);
		cut_gaps(series);
	}
	size_t kept = 0;
	for (size_t i = 0; i < series->count; i++) {
		struct window window = series->windows[i];
		if (i + 1 < series->count && touches(&window, &series->windows[i + 1]))
			window = join(&window, &series->windows[++i]);
		series->windows[kept++] = window;
	}
	series->count = kept;
	series->merged *= 2;
	series->in_last = series->merged;
	return kept > SERIES_WINDOWS_MAX / 4 * 3 ? -ENOSPC : 0;
}

static int append(struct series *series, struct window window)
{
	series->negative += window.rate < 0;
	int r = series->count < SERIES_WINDOWS_MAX ? 0 : merge_neighbours(series);
	if (series->merged > 1) {
		struct window *last = &series->windows[series->count - 1];
		cut_gap(series, &window, series->sample_step_s);
		if (series->in_last < series->merged && touches(last, &window)) {
			*last = join(last, &window);
			series->in_last++;
			return 0;
		}
	}
	if (r == 0)
		r = ARRAY_RESERVE(series->windows, series->size, series->count + 1);
	if (r < 0)
		return r;
	series->windows[series->count++] = window;
	series->in_last = 1;
	return 0;
}

/*
 * Returns true if a sample of @time_s is later than the one before; otherwise counts it as dropped.
 */
static bool follows(struct series *series, double time_s)
{
	series->samples++;
	if (!(fabs(time_s) < TIME_MAX_S)) {
		series->dropped.not_finite++;
		return false;
	}
	if (!series->has_last)
		return true;
	bool is_later = time_s > series->last_s, is_earlier = time_s < series->last_s;
	series->dropped.duplicate += !is_later && !is_earlier;
	series->dropped.out_of_order += is_earlier;
	return is_later;
}

static void remember(struct series *series, double time_s, double value)
{
	series->last_s = time_s;
	series->last_value = value;
	series->has_last = true;
}

int series_add_gauge(struct series *series, double time_s, double value)
{
	if (!follows(series, time_s))
		return 0;
	double start_s = series->last_s;
	bool had_last = series->has_last;
	int r = 0;
	/* The window of the first sample is as long as the second's. */
	if (had_last && series->count == 0 && is_value(series->last_value))
		r = append(series, (struct window){ start_s - (time_s - start_s), start_s,
						    series->last_value });
	remember(series, time_s, value);
	series->dropped.not_finite += !is_value(value);
	if (r < 0 || !had_last || !is_value(value))
		return r;
	return append(series, (struct window){ start_s, time_s, value });
}

int series_add_counter(struct series *series, double time_s, double value)
{
	series->is_counter = true;
	if (!follows(series, time_s))
		return 0;
	struct window window = { .start_s = series->last_s, .end_s = time_s };
	window.rate = (value - series->last_value) / (time_s - series->last_s);
	if (!is_value(value) || (series->has_last && !is_value(window.rate))) {
		series->dropped.not_finite++;
		return 0;
	}
	bool is_first = !series->has_last, is_reset = !is_first && value < series->last_value;
	series->dropped.first += is_first;
	series->dropped.reset += is_reset;
	remember(series, time_s, value);
	series->value_sum += value;
	return is_first || is_reset ? 0 : append(series, window);
}

int series_add_window(struct series *series, double start_s, double end_s, double rate)
{
	series->is_counter = true; /* its length is known, whatever it is */
	series->samples++;
	if (!(fabs(start_s) < TIME_MAX_S) || !(fabs(end_s) < TIME_MAX_S) || !is_value(rate)) {
		series->dropped.not_finite++;
		return 0;
	}
	if (end_s <= start_s || (series->count > 0 && start_s < series_end_s(series))) {
		series->dropped.out_of_order++;
		return 0;
	}
	return append(series, (struct window){ start_s, end_s, rate });
}

void series_finish(struct series *series)
{
	if (series->merged == 1)
		cut_gaps(series);
	double step = series_step_s(series);
	bool has_value = series->has_last && is_value(series->last_value);
	series->dropped.first += has_value && series->count == 0 && !series->is_counter;
	for (size_t i = 0; i < series->count; i++) {
		const struct window *window = &series->windows[i];
		bool is_long = window->end_s - window->start_s > GAP_STEPS * step;
		series->gaps += is_long || (i > 0 && !touches(window - 1, window));
	}
}

/* The first window that ends after @time_s. */
static size_t window_at(const struct series *series, double time_s)
{
	size_t low = 0, high = series->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (series->windows[middle].end_s <= time_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *amount_unit(const char *unit)
{
	return strcmp(unit, "W") == 0 ? "J" : strcmp(unit, "units/s") == 0 ? "units" : unit;
}

struct amount series_amount(const struct series *series, double start_s, double end_s)
{
	struct amount sum = { 0, 0 };
	for (size_t i = window_at(series, start_s); i < series->count; i++) {
		const struct window *window = &series->windows[i];
		if (window->start_s >= end_s)
			break;
		double overlap = fmin(end_s, window->end_s) - fmax(start_s, window->start_s);
		sum.amount += window->rate * overlap;
		sum.covered_s += overlap;
	}
	return sum;
}
