// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "base/macro.h"
#include "report/chart.h"
#include "report/judged_samples.h"

#define CURVE_POINTS 41

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<style>"
	":root{--ink:#1b1b1b;--soft:#666;--rule:#ddd;--page:#fff;--s0:#1f6fb4;--s1:#d9661f;"
	"--s2:#3a8f5a;--s3:#8a56ac}"
	"@media(prefers-color-scheme:dark){:root{--ink:#eee;--soft:#aaa;--rule:#3a3a3a;"
	"--page:#161616;--s0:#6db3f2;--s1:#f59a5b;--s2:#78c795;--s3:#c39be0}}"
	"body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;"
	"color:var(--ink);background:var(--page)}"
	"h1{margin-bottom:.2rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--rule)}"
	"h3{font-size:1rem;margin:0 0 .3rem}p{max-width:46rem}.note{color:var(--soft)}"
	"table{border-collapse:collapse;margin:1rem 0}"
	"th,td{padding:.2rem 1.4rem .2rem 0;text-align:left;border-bottom:1px solid var(--rule)}"
	"th{font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
	"td{overflow-wrap:anywhere}td.n{white-space:nowrap}.wide{overflow-x:auto}"
	".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(30rem,100%),1fr));"
	"gap:1.5rem 2rem}figure{margin:0}"
	"svg{width:100%;height:auto;font:12px system-ui,sans-serif}"
	"svg text{fill:var(--soft)}.ty{text-anchor:end}.tx{text-anchor:middle}"
	".g{stroke:var(--rule);fill:none}.a{stroke:var(--soft);fill:none}"
	".r{stroke:var(--ink);stroke-dasharray:5 4;fill:none}"
	".p{stroke-width:4.5;stroke-linecap:round;fill:none;opacity:.6}"
	".n{fill:none}svg .n{stroke-width:1.8;stroke-linejoin:round}.k{stroke-width:3;fill:none}"
	".p.s0,svg .n.s0,.k.s0{stroke:var(--s0)}.p.s1,svg .n.s1,.k.s1{stroke:var(--s1)}"
	".p.s2,svg .n.s2,.k.s2{stroke:var(--s2)}.p.s3,svg .n.s3,.k.s3{stroke:var(--s3)}"
	".b.s0,.d.s0{fill:var(--s0)}.b.s1,.d.s1{fill:var(--s1)}.d{opacity:.18;stroke:none}"
	"</style>";

static int by_value(const void *a, const void *b)
{
	double left = ((const struct chart_amount *)a)->value;
	double right = ((const struct chart_amount *)b)->value;

	return (left < right) - (left > right);
}

static int add_importance(struct strbuf *out, const struct judged *judged)
{
	const struct model_component *component = judged_component(judged);
	struct chart_amount amounts[PREDICTOR_FEATURES_MAX];
	double growth[PREDICTOR_FEATURES_MAX];

	if (judged_importance(judged, growth) < 0)
		return -ENOMEM;
	for (size_t f = 0; f < component->feature_count; f++)
		amounts[f] = (struct chart_amount){ .name = component->features[f].name,
						    .value = growth[f] };
	qsort(amounts, component->feature_count, sizeof(*amounts), by_value);
	strbuf_add_str(out,
		       "<figure><h3>Which features matter: error that is added without one</h3>");
	chart_add_amounts(out, "By how much the error grows without a feature", "W", amounts,
			  component->feature_count);
	strbuf_add_str(out, "</figure>\n");
	return 0;
}

/* The rows of a picture as columns of numbers. */
struct points {
	double *order, *measured, *predicted, *left;
	size_t count;
};

static int points_of(const struct judged *judged, struct points *ret)
{
	size_t count = judged->drawn_count;

	*ret = (struct points){ .order = calloc(4 * count + 1, sizeof(double)), .count = count };
	if (!ret->order)
		return -ENOMEM;
	ret->measured = ret->order + count;
	ret->predicted = ret->measured + count;
	ret->left = ret->predicted + count;
	for (size_t i = 0; i < count; i++) {
		const struct drawn_row *row = &judged->drawn[i];

		ret->order[i] = row->order;
		ret->measured[i] = row->measured;
		ret->predicted[i] = row->predicted;
		ret->left[i] = row->predicted - row->measured;
	}
	return 0;
}

static void points_release(struct points *points)
{
	free(points->order);
}

static void add_figure(struct strbuf *out, const char *title, const struct chart *chart)
{
	strbuf_add_str(out, "<figure><h3>");
	html_add_text(out, title, 100);
	strbuf_add_str(out, "</h3>");
	chart_add(out, chart);
	strbuf_add_str(out, "</figure>\n");
}

static void add_scatter(struct strbuf *out, const struct points *points)
{
	const struct chart_series series = { .name = "samples",
					     .form = CHART_POINTS,
					     .x = points->measured,
					     .y = points->predicted,
					     .count = points->count };
	const struct chart chart = {
		.title = "Predicted over measured power; on the dashed line they are equal",
		.x_label = "measured, W",
		.y_label = "predicted, W",
		.series = &series,
		.series_count = 1,
		.diagonal = true,
		.from_zero = true,
	};

	add_figure(out, "Predicted over measured", &chart);
}

static void add_course(struct strbuf *out, const struct points *points)
{
	const struct chart_series series[2] = {
		{ .name = "measured",
		  .form = CHART_POINTS,
		  .x = points->order,
		  .y = points->measured,
		  .count = points->count },
		{ .name = "predicted",
		  .form = CHART_LINE,
		  .x = points->order,
		  .y = points->predicted,
		  .count = points->count },
	};
	const struct chart chart = {
		.title = "Measured and predicted power, sample by sample",
		.x_label = "sample",
		.y_label = "W",
		.series = series,
		.series_count = 2,
		.from_zero = true,
	};

	add_figure(out, "Sample by sample", &chart);
}

static void add_residuals(struct strbuf *out, const struct points *points)
{
	const struct chart_series series = { .name = "samples",
					     .form = CHART_POINTS,
					     .x = points->measured,
					     .y = points->left,
					     .count = points->count };
	const struct chart chart = {
		.title = "What is left over: predicted less measured power",
		.x_label = "measured, W",
		.y_label = "predicted − measured, W",
		.series = &series,
		.series_count = 1,
		.zero_line = true,
	};

	add_figure(out, "Residuals", &chart);
}

/* Residuals by size: all but the largest hundredth on each side, which would hide the rest. */
static void add_histogram(struct strbuf *out, const struct judged *judged)
{
	double edges[JUDGED_BINS], width = judged_bin_width(judged);
	const struct chart_series series = {
		.name = "samples",
		.form = CHART_BARS,
		.x = edges,
		.y = judged->counts,
		.count = JUDGED_BINS,
		.bar_width = width,
	};
	const struct chart chart = {
		.title = "How many samples have which residual",
		.x_label = "predicted − measured, W",
		.y_label = "samples",
		.series = &series,
		.series_count = 1,
	};

	for (size_t i = 0; i < JUDGED_BINS; i++)
		edges[i] = -fmax(4 * judged->mae_w, 1e-6) + (double)i * width;
	add_figure(out, "How large residuals are; the outermost bars have the rest", &chart);
}

/* All features grow together from nothing to the largest load of the samples. */
static void add_curve(struct strbuf *out, const struct judged *judged)
{
	const struct model_component *component = judged_component(judged);
	double load[CURVE_POINTS], watts[CURVE_POINTS], low[CURVE_POINTS], high[CURVE_POINTS];
	double values[PREDICTOR_FEATURES_MAX];
	bool bound = judged->rows && isfinite(judged->first_bound_w);
	const struct chart_series series[2] = {
		{ .name = "predicted",
		  .form = CHART_LINE,
		  .x = load,
		  .y = watts,
		  .count = CURVE_POINTS },
		{ .name = "90 % bound",
		  .form = CHART_BAND,
		  .x = load,
		  .y = low,
		  .y2 = high,
		  .count = CURVE_POINTS },
	};
	const struct chart chart = {
		.title = "Power by load, all features growing together",
		.x_label = "load, % of the largest of the samples",
		.y_label = "W",
		.series = series,
		.series_count = bound ? 2 : 1,
		.from_zero = true,
	};

	for (size_t i = 0; i < CURVE_POINTS; i++) {
		double share = (double)i / (CURVE_POINTS - 1);
		struct model_answer answer;

		for (size_t f = 0; f < component->feature_count; f++)
			values[f] = share * judged->most[f];
		judged_predict(judged, values, &answer);
		load[i] = 100 * share;
		watts[i] = answer.watts;
		low[i] = fmax(0, answer.watts - answer.bound_w);
		high[i] = answer.watts + answer.bound_w;
	}
	add_figure(out, "Power by load", &chart);
}

static void add_cell(struct strbuf *out, double value, const char *unit)
{
	if (isfinite(value))
		strbuf_addf(out, "<td class=\"n\">%.2f %s</td>", value, unit);
	else
		strbuf_add_str(out, "<td class=\"n\">unknown</td>");
}

static void add_row(struct strbuf *out, const struct judged *judged)
{
	const struct model_component *component = judged_component(judged);

	strbuf_add_str(out, "<tr><td>");
	html_add_text(out, component->name, sizeof(component->name));
	strbuf_addf(out, "</td><td class=\"n\">%zu</td>",
		    judged_has_power(judged) ? judged->rows : 0);
	add_cell(out, judged->mae_w, "W");
	add_cell(out, judged->mape_percent, "%");
	add_cell(out, judged->range_percent, "%");
	add_cell(out,
		 judged_has_power(judged) && judged->rows && isfinite(judged->first_bound_w)
			 ? 100.0 * (double)judged->covered / (double)judged->rows
			 : (double)NAN,
		 "%");
	strbuf_addf(out, "<td class=\"n\">%zu</td>", judged->outside);
	add_cell(out, component->error.mae_w, "W");
	add_cell(out, component->error.mape_percent, "%");
	strbuf_add_str(out, "</tr>\n");
}

static void add_fact(struct strbuf *out, const char *name, const char *text)
{
	if (!*text)
		return;
	strbuf_addf(out, "<tr><th scope=\"row\">%s</th><td>", name);
	html_add_text(out, text, 256);
	strbuf_add_str(out, "</td></tr>\n");
}

static void add_facts(struct strbuf *out, const struct trained_model *model)
{
	strbuf_add_str(out, "<table>");
	add_fact(out, "predicts",
		 model->output == MODEL_ABS_POWER ? "power with the idle part (AbsPower)"
						  : "power above idle (DynPower)");
	add_fact(out, "source of the energy", model->source);
	add_fact(out, "feature group", model->feature_group);
	add_fact(out, "processor", model->machine.processor);
	add_fact(out, "trainer", model->origin.trainer);
	add_fact(out, "trained on", model->origin.data);
	add_fact(out, "trained at", model->origin.trained_at);
	add_fact(out, "trained by", model->origin.tool);
	add_fact(out, "licence", model->origin.licence);
	strbuf_add_str(out, "</table>\n");
}

static void add_head(struct strbuf *out, const struct trained_model *model)
{
	strbuf_add_str(out, head);
	strbuf_add_str(out, "<title>Power model ");
	html_add_text(out, model->name, sizeof(model->name));
	strbuf_add_str(out, "</title></head><body><main>\n<h1>Power model ");
	html_add_text(out, model->name, sizeof(model->name));
	strbuf_add_str(out, "</h1>\n");
	add_facts(out, model);
	strbuf_add_str(
		out, "<h2>Errors</h2>\n<div class=\"wide\"><table><thead><tr><th>component</th>"
		     "<th class=\"n\">samples</th><th class=\"n\">MAE</th><th class=\"n\">MAPE</th>"
		     "<th class=\"n\">MAE, of the range</th><th class=\"n\">within the 90 % "
		     "bound</th><th class=\"n\">outside</th><th class=\"n\">held out: MAE</th>"
		     "<th class=\"n\">held out: MAPE</th></tr></thead><tbody>\n");
}

/* All pictures that compare what is predicted with what was measured. */
static int add_comparison(struct strbuf *out, const struct judged *judged)
{
	CLEANUP(points_release) struct points points = { .count = 0 };
	int r = points_of(judged, &points);

	if (r < 0)
		return r;
	add_scatter(out, &points);
	add_course(out, &points);
	add_residuals(out, &points);
	add_histogram(out, judged);
	if (judged->exchanged < judged->rows)
		strbuf_addf(out,
			    "<p class=\"note\">Which features matter is measured on %zu of the "
			    "samples.</p>\n",
			    judged->exchanged);
	return add_importance(out, judged);
}

static int add_component(struct strbuf *out, const struct judged *judged)
{
	int r = 0;

	strbuf_add_str(out, "<h2>");
	html_add_text(out, judged_component(judged)->name, sizeof(judged_component(judged)->name));
	strbuf_add_str(out, "</h2>\n");
	if (judged->left_out)
		strbuf_addf(out,
			    "<p class=\"note\">%zu samples lack a feature or the power, and "
			    "are left out.</p>\n",
			    judged->left_out);
	strbuf_add_str(out, "<div class=\"charts\">\n");
	add_curve(out, judged);
	if (judged_has_power(judged) && judged->rows)
		r = add_comparison(out, judged);
	strbuf_add_str(out, "</div>\n");
	return r;
}

int html_report_add(struct strbuf *out, const struct trained_model *model,
		    const struct sample_source *samples, struct diag *diag)
{
	CLEANUP(judged_samples_release) struct judged_samples all = { .count = 0 };
	int r = judged_samples_read(model, samples, &all, diag);

	if (r < 0)
		return r;
	add_head(out, model);
	for (size_t c = 0; c < all.count; c++)
		add_row(out, &all.components[c]);
	strbuf_add_str(
		out,
		"</tbody></table></div>\n<p class=\"note\">MAE is the mean absolute error, MAPE "
		"the same in percent of what was measured. “Outside” counts samples with a "
		"feature beyond what the model was trained on. The last two columns are "
		"the model’s own errors on samples that it had not seen; where it was "
		"trained on these samples, only they count.</p>\n");
	for (size_t c = 0; r == 0 && c < all.count; c++)
		r = add_component(out, &all.components[c]);
	if (r < 0)
		return r;
	strbuf_add_str(out, "</main></body></html>\n");
	return strbuf_error(out);
}
