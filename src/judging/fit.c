// SPDX-License-Identifier: Apache-2.0
#include "judging/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"

#define RANGE_LEAST 0.5  /* of the mean magnitude */
#define AT_LIMIT    0.01 /* of the predicted range: as near as this is at the limit */
#define LIMIT_TIME  0.05
#define LIMIT_RANGE 0.2
#define LIMIT_SHAPE 0.5
#define REST_LEAST  8
#define CONSTANT    1e-9 /* a spread below this part of the mean is rounding */

struct line line_through(const struct pairs *pairs)
{
	struct line line = { .correlation = NAN, .scale = NAN, .offset = NAN };
	double actual = 0, predicted = 0, aa = 0, pp = 0, ap = 0;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->items[i];
		line.weight += pair->span_s;
		actual += pair->span_s * pair->actual;
		predicted += pair->span_s * pair->predicted;
	}
	line.mean_actual = actual / line.weight;
	line.mean_predicted = predicted / line.weight;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->items[i];
		double a = pair->actual - line.mean_actual;
		double p = pair->predicted - line.mean_predicted;
		aa += pair->span_s * a * a;
		pp += pair->span_s * p * p;
		ap += pair->span_s * a * p;
	}
	line.sd_actual = sqrt(aa / line.weight);
	line.sd_predicted = sqrt(pp / line.weight);
	if (!(line.sd_actual > CONSTANT * fabs(line.mean_actual)))
		return line;
	line.scale = ap / aa;
	line.offset = line.mean_predicted - line.scale * line.mean_actual;
	if (line.sd_predicted > CONSTANT * fabs(line.mean_predicted))
		line.correlation = fmin(1, ap / sqrt(aa) / sqrt(pp));
	return line;
}

/* The difference of the 99th and the 1st percentile of one side of the pairs; NAN without pairs. */
static int spread_of(const struct pairs *pairs, bool of_actual, double *ret_low, double *ret_high)
{
	*ret_low = *ret_high = NAN;
	if (pairs->count == 0)
		return 0;
	CLEANUP_FREE double *values = calloc(pairs->count, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < pairs->count; i++)
		values[i] = of_actual ? pairs->items[i].actual : pairs->items[i].predicted;
	qsort(values, pairs->count, sizeof(*values), compare_doubles);
	*ret_low = values[pairs->count / 100];
	*ret_high = values[pairs->count - 1 - pairs->count / 100];
	return 0;
}

static double shape_of(const struct line *line, double range)
{
	double r = line->correlation > 0 ? line->correlation : 0;
	return range > 0 ? line->sd_actual * sqrt(1 - r * r) / range : 0;
}

/* Parts the pairs by whether the prediction is within @near of @limit. */
static int part_at(const struct pairs *all, double limit, double near, struct pairs *at,
		   struct pairs *rest)
{
	at->items = calloc(all->count, sizeof(*at->items));
	rest->items = calloc(all->count, sizeof(*rest->items));
	if (!at->items || !rest->items)
		return -ENOMEM;
	for (size_t i = 0; i < all->count; i++) {
		const struct pair *pair = &all->items[i];
		struct pairs *to = fabs(pair->predicted - limit) <= near ? at : rest;
		to->items[to->count++] = *pair;
		to->paired_s += pair->span_s;
	}
	return 0;
}

/* The part of the time that the prediction is at @limit, if that limits it; 0 otherwise. */
static int time_at_limit(const struct pairs *all, const struct fit *fit, double limit, double near,
			 double *ret_part)
{
	CLEANUP(pairs_release) struct pairs at = { 0 };
	CLEANUP(pairs_release) struct pairs rest = { 0 };
	double low = NAN, high = NAN;

	*ret_part = 0;
	int r = part_at(all, limit, near, &at, &rest);
	if (r == 0)
		r = spread_of(&at, true, &low, &high);
	if (r < 0)
		return r;
	double part = at.paired_s / all->paired_s;
	if (part < LIMIT_TIME || rest.count < REST_LEAST || high - low < LIMIT_RANGE * fit->range)
		return 0;
	struct line line = line_through(&rest);
	if (line.correlation > 0 && shape_of(&line, fit->range) <= LIMIT_SHAPE * fit->shape)
		*ret_part = part;
	return 0;
}

static void measure_errors(const struct pairs *pairs, struct fit *fit)
{
	double scale = fit->line.mean_predicted / fit->line.mean_actual;
	double shift = fit->line.mean_predicted - fit->line.mean_actual;
	double plain = 0, scaled = 0, shifted = 0;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->items[i];
		double error = pair->predicted - pair->actual;
		double after = pair->predicted - scale * pair->actual;
		plain += pair->span_s * error * error;
		scaled += pair->span_s * after * after;
		shifted += pair->span_s * (error - shift) * (error - shift);
	}
	fit->rms = sqrt(plain / fit->line.weight);
	fit->rms_scaled = sqrt(scaled / fit->line.weight);
	fit->rms_shifted = sqrt(shifted / fit->line.weight);
}

int fit_pairs(const struct pairs *pairs, struct fit *ret)
{
	double low = NAN, high = NAN, bottom = NAN, top = NAN, part = 0;
	*ret = (struct fit){ .line = line_through(pairs), .top = NAN, .floor = NAN };
	int r = spread_of(pairs, true, &low, &high);
	if (r == 0)
		r = spread_of(pairs, false, &bottom, &top);
	if (r < 0)
		return r;
	ret->low = low;
	ret->spread = high - low;
	ret->range = fmax(ret->spread, RANGE_LEAST * fabs(ret->line.mean_actual));
	ret->shape = shape_of(&ret->line, ret->range);
	measure_errors(pairs, ret);
	double near = AT_LIMIT * (top - bottom);
	if (pairs->count == 0 || !(near > 0))
		return 0;
	r = time_at_limit(pairs, ret, top, near, &ret->saturated);
	if (r == 0 && ret->saturated > 0)
		ret->top = top;
	if (r == 0)
		r = time_at_limit(pairs, ret, bottom, near, &part);
	if (r == 0 && part > 0)
		ret->floor = bottom;
	return r;
}
