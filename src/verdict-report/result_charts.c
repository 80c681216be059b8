// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/result_charts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text/html.h"
#include "chart/chart.h"
#include "judging/pairing.h"

#define TIME_POINTS   300
#define PAIR_POINTS   400
#define LADDER_PHASES 64
#define COVERED_LEAST 0.5 /* of a point's time; else the line is interrupted */

/* Both series at the same points of time, from the start of the earlier one. */
struct course {
	double time_s[TIME_POINTS], actual[TIME_POINTS], predicted[TIME_POINTS];
	double left[TIME_POINTS]; /* predicted less actual, after the lag */
};

static void add_figure(struct strbuf *out, const char *title, const struct chart *chart)
{
	strbuf_add_str(out, "<figure><h4>");
	html_add_text(out, title, 100);
	strbuf_add_str(out, "</h4>");
	chart_add(out, chart);
	strbuf_add_str(out, "</figure>\n");
}

static double mean_rate(const struct series *series, double start_s, double end_s)
{
	struct amount amount = series_amount(series, start_s, end_s);

	return amount.covered_s < COVERED_LEAST * (end_s - start_s)
		       ? (double)NAN
		       : amount.amount / amount.covered_s;
}

static size_t make_course(const struct result *result, struct course *course)
{
	const struct series *actual = result->actual, *predicted = result->predicted;
	double start_s = fmin(series_start_s(actual), series_start_s(predicted));
	double end_s = fmax(series_end_s(actual), series_end_s(predicted));
	double step_s = fmax(fmax(series_step_s(actual), series_step_s(predicted)),
			     (end_s - start_s) / TIME_POINTS);
	double lag_s = isfinite(result->errors.lag_s) ? result->errors.lag_s : 0;
	size_t count = (size_t)fmin(TIME_POINTS, ceil((end_s - start_s) / step_s - 1e-9));

	for (size_t i = 0; i < count; i++) {
		double from_s = start_s + (double)i * step_s, to_s = from_s + step_s;

		course->time_s[i] = from_s + step_s / 2 - start_s;
		course->actual[i] = mean_rate(actual, from_s, to_s);
		course->predicted[i] = mean_rate(predicted, from_s, to_s);
		course->left[i] =
			mean_rate(predicted, from_s + lag_s, to_s + lag_s) - course->actual[i];
	}
	return count;
}

static void add_course(struct strbuf *out, const struct course *course, size_t count,
		       const char *unit)
{
	const struct chart_series series[] = {
		{ .name = "predicted",
		  .form = CHART_LINE,
		  .x = course->time_s,
		  .y = course->predicted,
		  .count = count },
		{ .name = "actual",
		  .form = CHART_LINE,
		  .is_broad = true,
		  .colour = CHART_MEASURED,
		  .x = course->time_s,
		  .y = course->actual,
		  .count = count },
	};
	const struct chart chart = {
		.title = "Actual and predicted values over time",
		.x_label = "time, s",
		.y_label = unit,
		.series = series,
		.series_count = ARRAY_SIZE(series),
		.from_zero = true,
		.x_as_is = true,
	};

	add_figure(out, "Over time", &chart);
}

static void add_left(struct strbuf *out, const struct course *course, size_t count,
		     const char *unit)
{
	char label[64];
	const struct chart_series series = {
		.name = "difference",
		.form = CHART_LINE,
		.x = course->time_s,
		.y = course->left,
		.count = count,
	};
	const struct chart chart = {
		.title = "Predicted less actual values over time, after the lag",
		.x_label = "time, s",
		.y_label = label,
		.series = &series,
		.series_count = 1,
		.zero_line = true,
		.x_as_is = true,
	};

	(void)snprintf(label, sizeof(label), "predicted − actual, %s", unit);
	add_figure(out, "Differences over time, after the lag", &chart);
}

/* Each pair, and the line scale × actual + offset through them. */
static void draw_pairs(struct strbuf *out, const double *actual, const double *predicted,
		       size_t count, const struct result *result)
{
	double low = actual[0], high = actual[0];
	char x_label[64], y_label[64];

	for (size_t i = 1; i < count; i++) {
		low = fmin(low, actual[i]);
		high = fmax(high, actual[i]);
	}
	const double ends[2] = { low, high };
	const double line[2] = { result->errors.scale * low + result->errors.offset,
				 result->errors.scale * high + result->errors.offset };
	const struct chart_series series[] = {
		{ .name = "fitted line",
		  .form = CHART_LINE,
		  .colour = CHART_MEASURED,
		  .x = ends,
		  .y = line,
		  .count = 2 },
		{ .name = "windows",
		  .form = CHART_POINTS,
		  .x = actual,
		  .y = predicted,
		  .count = count },
	};
	const struct chart chart = {
		.title = "Predicted over actual values; on the dashed line they are equal",
		.x_label = x_label,
		.y_label = y_label,
		.series = series,
		.series_count = ARRAY_SIZE(series),
		.diagonal = true,
		.from_zero = true,
	};

	(void)snprintf(x_label, sizeof(x_label), "actual, %s", result->actual->unit);
	(void)snprintf(y_label, sizeof(y_label), "predicted, %s", result->actual->unit);
	add_figure(out, "Predicted over actual", &chart);
}

static int add_scatter(struct strbuf *out, const struct result *result)
{
	struct pairs pairs = { 0 };
	double lag_s = isfinite(result->errors.lag_s) ? result->errors.lag_s : 0;

	int r = pairs_make(result->actual, result->predicted, lag_s, PAIR_POINTS, &pairs);
	CLEANUP_FREE double *values = r < 0 ? NULL : calloc(2 * pairs.count + 1, sizeof(double));
	if (values && pairs.count > 0) {
		for (size_t i = 0; i < pairs.count; i++) {
			values[i] = pairs.items[i].actual;
			values[pairs.count + i] = pairs.items[i].predicted;
		}
		draw_pairs(out, values, values + pairs.count, pairs.count, result);
	}
	pairs_release(&pairs);
	return values ? 0 : -ENOMEM;
}

/* The signed error of each phase as a bar, over the bounds: without them any error looks large. */
static void add_ladder(struct strbuf *out, const struct result *result)
{
	double edges[LADDER_PHASES], errors[LADDER_PHASES];
	size_t count = result->phase_count < LADDER_PHASES ? result->phase_count : LADDER_PHASES;
	const double bound = 100 * result->threshold.max_error;
	const double ends[2] = { 0.5, (double)count + 0.5 };
	const double high[2] = { bound, bound }, low[2] = { -bound, -bound };
	const struct chart_series series[] = {
		{ .name = "error",
		  .form = CHART_BARS,
		  .x = edges,
		  .y = errors,
		  .count = count,
		  .bar_width = 0.8 },
		{ .name = "bound",
		  .form = CHART_BAND,
		  .colour = CHART_MEASURED,
		  .x = ends,
		  .y = low,
		  .y2 = high,
		  .count = 2 },
	};
	const struct chart chart = {
		.title = "Error of each phase's energy in percent",
		.x_label = "phase",
		.y_label = "error, %",
		.series = series,
		.series_count = isfinite(bound) ? 2 : 1,
		.zero_line = true,
		.x_as_is = true,
		.x_whole = true,
	};

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		edges[i] = (double)i + 0.6; /* phase 1 stands over the 1 of the axis */
		errors[i] = 100 * result->phases[i].error;
	}
	add_figure(out, "Error of each phase's energy", &chart);
}

int result_charts_add(struct strbuf *out, const struct result *result)
{
	CLEANUP_FREE struct course *course = NULL;

	if (!result->actual || !result->predicted || result->actual->count == 0 ||
	    result->predicted->count == 0)
		return 0;
	course = calloc(1, sizeof(*course));
	if (!course)
		return -ENOMEM;
	size_t count = make_course(result, course);
	strbuf_add_str(out, "<div class=\"charts\">\n");
	add_course(out, course, count, result->actual->unit);
	int r = add_scatter(out, result);
	add_left(out, course, count, result->actual->unit);
	add_ladder(out, result);
	strbuf_add_str(out, "</div>\n");
	return r;
}
