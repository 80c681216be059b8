// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/html.h"
#include "chart/chart.h"
#include "chart/page_style.h"
#include "model/feature.h"
#include "report/judged_samples.h"

#define MANY_POINTS  500 /* of a picture: smaller ones */
#define CURVE_POINTS 41
#define CURVE_ROWS   1500 /* of the samples, next to it */

/* Groups of columns. */
#define HELD_OUT "not seen"
#define THESE    "these samples"
#define ERROR_HEADS                                                                                \
	"<th class=\"n\">samples</th><th class=\"n\">MAE</th><th class=\"n\">MAPE</th>"            \
	"<th class=\"n\">MAE of range</th><th class=\"n\">within bound</th>"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>";
static const char own_style[] =
	/* On a narrow screen each component is a list of its errors. */
	"@media(max-width:44rem){.errors thead{display:none}.errors td{display:flex;"
	"justify-content:space-between;padding:.15rem 0;border:0}.errors tr{display:block;"
	"border-bottom:1px solid var(--rule);padding:.4rem 0}"
	".errors td::before{content:attr(data-l);color:var(--soft);margin-right:1rem}"
	".errors,.errors tbody{display:block}}";

static int by_value(const void *a, const void *b)
{
	double left = ((const struct chart_amount *)a)->value;
	double right = ((const struct chart_amount *)b)->value;

	return (left < right) - (left > right);
}

static void add_importance(struct strbuf *out, const struct model_component *component,
			   const double *growth)
{
	struct chart_amount amounts[PREDICTOR_FEATURES_MAX] = { { NULL, 0 } };

	for (size_t f = 0; f < component->feature_count; f++)
		amounts[f] = (struct chart_amount){ .name = component->features[f].name,
						    .value = growth[f] };
	qsort(amounts, component->feature_count, sizeof(*amounts), by_value);
	strbuf_add_str(out,
		       "<figure><h3>Which features matter: error that is added without one</h3>");
	chart_add_amounts(out, "By how much the error grows without a feature", "W", amounts,
			  component->feature_count);
	strbuf_add_str(out, "</figure>\n");
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
		  .colour = CHART_MEASURED,
		  .x = points->order,
		  .y = points->measured,
		  .count = points->count },
		/* A line through thousands of samples would be a field. */
		{ .name = "predicted",
		  .form = points->count > MANY_POINTS ? CHART_POINTS : CHART_LINE,
		  .x = points->order,
		  .y = points->predicted,
		  .count = points->count },
	};
	const struct chart chart = {
		.title = "Measured and predicted power in the order of the samples",
		.x_label = "sample",
		.y_label = "W",
		.series = series,
		.series_count = 2,
		.from_zero = true,
	};

	add_figure(out, "Measured and predicted, in the order of the samples", &chart);
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

/* Residuals by size; the outermost bars contain all larger ones. */
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
		edges[i] = ((double)i - JUDGED_BINS / 2.0) * width;
	add_figure(out, "How large residuals are; the outermost bars have the rest", &chart);
}

/* Power along a load in which all features grow together, and measured power. */
struct load_curve {
	double load[CURVE_POINTS], watts[CURVE_POINTS], low[CURVE_POINTS], high[CURVE_POINTS];
	double *row_load, *row_watts; /* [rows] of the samples */
	size_t rows;
};

static void predict_curve(const struct judged *judged, size_t main, struct load_curve *curve)
{
	double values[PREDICTOR_FEATURES_MAX] = { 0 };

	for (size_t i = 0; i < CURVE_POINTS; i++) {
		double share = (double)i / (CURVE_POINTS - 1);
		struct model_answer answer;

		for (size_t f = 0; f < judged_component(judged)->feature_count; f++)
			values[f] = share * judged->most[f];
		judged_predict(judged, values, &answer);
		curve->load[i] = values[main];
		curve->watts[i] = answer.watts;
		curve->low[i] = fmax(0, answer.watts - answer.bound_w);
		curve->high[i] = answer.watts + answer.bound_w;
	}
}

/* As many samples as can be distinguished. */
static int measure_curve(const struct judged *judged, size_t main, struct load_curve *curve)
{
	size_t features = judged_component(judged)->feature_count;
	size_t step = judged->exchanged / CURVE_ROWS + 1;

	curve->row_load = calloc(judged->exchanged / step + 1, sizeof(double));
	curve->row_watts = calloc(judged->exchanged / step + 1, sizeof(double));
	if (!curve->row_load || !curve->row_watts)
		return -ENOMEM;
	for (size_t row = 0; row < judged->exchanged; row += step) {
		curve->row_load[curve->rows] = judged->values[row * features + main];
		curve->row_watts[curve->rows++] = judged->measured[row];
	}
	return 0;
}

static void curve_release(struct load_curve *curve)
{
	free(curve->row_load);
	free(curve->row_watts);
}

/* The feature that matters most. */
static size_t main_feature(const struct model_component *component, const double *growth)
{
	size_t main = 0;

	for (size_t f = 1; f < component->feature_count; f++)
		main = growth[f] > growth[main] ? f : main;
	return main;
}

static void draw_curve(struct strbuf *out, const struct judged *judged, size_t main,
		       const struct load_curve *curve)
{
	const struct model_component *component = judged_component(judged);
	const struct chart_series series[3] = {
		{ .name = "predicted",
		  .form = CHART_LINE,
		  .x = curve->load,
		  .y = curve->watts,
		  .count = CURVE_POINTS },
		{ .name = "measured",
		  .form = CHART_POINTS,
		  .colour = CHART_MEASURED,
		  .x = curve->row_load,
		  .y = curve->row_watts,
		  .count = curve->rows },
		{ .name = "90 % bound",
		  .form = CHART_BAND,
		  .x = curve->load,
		  .y = curve->low,
		  .y2 = curve->high,
		  .count = CURVE_POINTS },
	};
	const char *feature = component->features[main].name, *unit = feature_unit(feature);
	char label[MODEL_NAME_MAX + 40];
	const struct chart chart = {
		.title = "Power by load: the line is the model's where all features grow together",
		.x_label = label,
		.y_label = "W",
		.series = series,
		.series_count = judged->rows && isfinite(judged->first_bound_w) ? 3 : 2,
		.from_zero = true,
	};

	(void)snprintf(label, sizeof(label), "%s%s%s", feature, *unit ? ", " : "", unit);
	add_figure(out, "Power by load, all features growing together", &chart);
}

static int add_curve(struct strbuf *out, const struct judged *judged, const double *growth)
{
	CLEANUP(curve_release) struct load_curve curve = { .rows = 0 };
	size_t main = main_feature(judged_component(judged), growth);
	int r;

	predict_curve(judged, main, &curve);
	r = measure_curve(judged, main, &curve);
	if (r == 0)
		draw_curve(out, judged, main, &curve);
	return r;
}

static void begin_cell(struct strbuf *out, const char *group, const char *name)
{
	strbuf_addf(out, "<td class=\"n\" data-l=\"%s%s%s\">", group, *group ? ": " : "", name);
}

static void add_cell(struct strbuf *out, const char *group, const char *name, double value,
		     const char *unit)
{
	begin_cell(out, group, name);
	if (isfinite(value))
		strbuf_addf(out, "%.2f %s</td>", value, unit);
	else
		strbuf_add_str(out, "unknown</td>");
}

static void add_count(struct strbuf *out, const char *group, const char *name, size_t count)
{
	begin_cell(out, group, name);
	strbuf_addf(out, "%zu</td>", count);
}

static void add_errors(struct strbuf *out, const char *group, const struct judged_errors *errors,
		       bool has_bound)
{
	add_count(out, group, "samples", errors->rows);
	add_cell(out, group, "MAE", errors->mae_w, "W");
	add_cell(out, group, "MAPE", errors->mape_percent, "%");
	add_cell(out, group, "MAE of range", errors->range_percent, "%");
	add_cell(out, group, "within bound",
		 errors->rows && has_bound ? 100.0 * (double)errors->covered / (double)errors->rows
					   : (double)NAN,
		 "%");
}

/* Errors on unseen samples: the given ones, or else those in the model's file. */
static struct judged_errors unseen_errors(const struct judged *judged)
{
	const struct model_error *error = &judged_component(judged)->error;

	if (judged->held_out.rows)
		return judged->held_out;
	return (struct judged_errors){ .rows = error->rows,
				       .mae_w = error->mae_w,
				       .mape_percent = error->mape_percent,
				       .range_percent = (double)NAN };
}

static void add_row(struct strbuf *out, const struct judged *judged)
{
	const struct model_component *component = judged_component(judged);
	const struct judged_errors unseen = unseen_errors(judged);
	bool has_bound = isfinite(component->error.bound_w);

	strbuf_add_str(out, "<tr><td data-l=\"component\">");
	html_add_text(out, component->name, sizeof(component->name));
	strbuf_add_str(out, "</td>");
	add_errors(out, HELD_OUT, &unseen, has_bound && judged->held_out.rows);
	add_errors(out, THESE, &judged->errors, has_bound);
	add_count(out, THESE, "outside", judged->outside);
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
	strbuf_add_str(out, page_style);
	strbuf_add_str(out, own_style);
	strbuf_add_str(out, "</style><title>Power model ");
	html_add_text(out, model->name, sizeof(model->name));
	strbuf_add_str(out, "</title></head><body><main>\n<h1>Power model ");
	html_add_text(out, model->name, sizeof(model->name));
	strbuf_add_str(out, "</h1>\n");
	add_facts(out, model);
	strbuf_add_str(out, "<h2>Errors</h2>\n<div class=\"wide\"><table class=\"errors\">"
			    "<thead><tr><th></th><th class=\"n\" colspan=\"5\">" HELD_OUT "</th>"
			    "<th class=\"n\" colspan=\"6\">" THESE "</th></tr>"
			    "<tr><th>component</th>" ERROR_HEADS ERROR_HEADS
			    "<th class=\"n\">outside</th></tr></thead><tbody>\n");
}

/* All pictures that compare predictions with measurements. */
static int add_comparison(struct strbuf *out, const struct judged *judged, const double *growth)
{
	CLEANUP(points_release) struct points points = { .count = 0 };
	int r = points_of(judged, &points);

	if (r < 0)
		return r;
	strbuf_addf(out, "</div><h3>%s</h3>\n<div class=\"charts%s\">\n",
		    judged->held_out.rows ? "What was predicted of samples while they were held out"
					  : "What is predicted of these samples",
		    points.count > MANY_POINTS ? " many" : "");
	add_scatter(out, &points);
	add_course(out, &points);
	add_residuals(out, &points);
	add_histogram(out, judged);
	if (judged->exchanged < judged->rows)
		strbuf_addf(out,
			    "<p class=\"note\">Which features matter is measured on %zu of the "
			    "samples.</p>\n",
			    judged->exchanged);
	/* With one feature there is nothing to compare. */
	if (judged_component(judged)->feature_count > 1)
		add_importance(out, judged_component(judged), growth);
	return 0;
}

static int add_component(struct strbuf *out, const struct judged *judged)
{
	double growth[PREDICTOR_FEATURES_MAX] = { 0 };
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
	if (judged_has_power(judged) && judged->rows)
		r = judged_importance(judged, growth);
	if (r == 0)
		r = add_curve(out, judged, growth);
	if (r == 0 && judged_has_power(judged) && judged->rows)
		r = add_comparison(out, judged, growth);
	strbuf_add_str(out, "</div>\n");
	return r;
}

/* Returns true if errors on the samples are far smaller than on held-out rows. */
static void add_notes(struct strbuf *out, const struct judged_samples *all)
{
	bool knows = false, draws_known = false;

	for (size_t c = 0; c < all->count; c++) {
		const struct judged *judged = &all->components[c];
		double unseen_w = unseen_errors(judged).mae_w;

		if (judged->errors.mae_w < unseen_w / 2) {
			knows = true;
			draws_known |= !judged->held_out.rows;
		}
	}
	strbuf_add_str(out,
		       "<p class=\"note\">“Not seen” are errors on samples that the model had not "
		       "seen when it predicted them: they are what to expect elsewhere. MAE is the "
		       "mean absolute error, MAPE the mean error relative to the measured power. "
		       "“Outside” counts samples with a feature beyond the range that the model "
		       "was trained on.</p>\n");
	if (knows)
		strbuf_add_str(out, "<p class=\"note\">The model was probably trained on these "
				    "samples: its errors on them say little.</p>\n");
	if (draws_known)
		strbuf_add_str(out, "<p class=\"note\">The charts below show these samples. "
				    "--held-out of train-from-data writes the predictions that "
				    "show the model’s real errors; give the file to plot.</p>\n");
}

int html_report_add(struct strbuf *out, const struct trained_model *model,
		    const struct sample_table *samples, const struct sample_table *held_out,
		    struct diag *diag)
{
	CLEANUP(judged_samples_release) struct judged_samples all = { .count = 0 };
	int r = judged_samples_read(model, samples, held_out, &all, diag);

	if (r < 0)
		return r;
	add_head(out, model);
	for (size_t c = 0; c < all.count; c++)
		add_row(out, &all.components[c]);
	strbuf_add_str(out, "</tbody></table></div>\n");
	add_notes(out, &all);
	for (size_t c = 0; r == 0 && c < all.count; c++)
		r = add_component(out, &all.components[c]);
	if (r < 0)
		return r;
	strbuf_add_str(out, "</main></body></html>\n");
	return strbuf_error(out);
}
