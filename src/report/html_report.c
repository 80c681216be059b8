// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "base/macro.h"
#include "report/chart.h"

/* A picture has no more points than can be told apart. */
#define POINTS_MAX   4000
#define CURVE_POINTS 41
#define BINS         31

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

/* One component on the samples. Rows are those that have all features and the power. */
struct judged {
	const struct trained_model *model;
	size_t component;
	struct model_columns columns; /* of the samples' */
	double *values;               /* rows × features, in the features' order */
	double *measured;             /* W; NULL: the samples have none */
	double *predicted;
	double *bound;
	double *order; /* 0, 1, …: the samples' number */
	size_t rows;
	size_t left_out;
	size_t covered; /* measured lies within the bound */
	size_t outside;
	double mae_w, mape_percent, range_percent;
};

static const struct model_component *component_of(const struct judged *judged)
{
	return &judged->model->components[judged->component];
}

static void judged_release(struct judged *judged)
{
	free(judged->values);
	free(judged->measured);
	free(judged->predicted);
	free(judged->bound);
	free(judged->order);
}

static int judged_allocate(struct judged *judged, size_t rows, bool has_power)
{
	size_t features = component_of(judged)->feature_count;

	judged->values = calloc(rows * features + 1, sizeof(*judged->values));
	judged->predicted = calloc(rows + 1, sizeof(*judged->predicted));
	judged->bound = calloc(rows + 1, sizeof(*judged->bound));
	judged->order = calloc(rows + 1, sizeof(*judged->order));
	if (has_power)
		judged->measured = calloc(rows + 1, sizeof(*judged->measured));
	return judged->values && judged->predicted && judged->bound && judged->order &&
			       (judged->measured || !has_power)
		       ? 0
		       : -ENOMEM;
}

static void take_rows(struct judged *judged, const struct sample_table *samples, size_t power)
{
	size_t features = component_of(judged)->feature_count;

	for (size_t row = 0; row < samples->rows; row++) {
		double *values = judged->values + judged->rows * features;
		double watts = power == SAMPLE_COLUMN_NONE ? 0 : samples->columns[power][row];
		bool whole = isfinite(watts);

		for (size_t f = 0; f < features; f++) {
			values[f] = samples->columns[judged->columns.column[f]][row];
			whole &= isfinite(values[f]) != 0;
		}
		if (!whole) {
			judged->left_out++;
			continue;
		}
		if (judged->measured)
			judged->measured[judged->rows] = watts;
		judged->order[judged->rows] = (double)row;
		judged->rows++;
	}
}

/* The features of a component are columns 0, 1, … of its own rows. */
static void own_columns(struct model_columns *ret)
{
	for (size_t f = 0; f < PREDICTOR_FEATURES_MAX; f++)
		ret->column[f] = f;
}

static void predict(const struct judged *judged, const double *values, struct model_answer *ret)
{
	struct model_columns columns;

	own_columns(&columns);
	trained_model_predict(judged->model, judged->component, &columns, values, ret);
}

static void predict_rows(struct judged *judged)
{
	size_t features = component_of(judged)->feature_count, positive = 0;
	double absolute = 0, relative = 0, low = INFINITY, high = -INFINITY;

	for (size_t row = 0; row < judged->rows; row++) {
		struct model_answer answer;
		double error;

		predict(judged, judged->values + row * features, &answer);
		judged->predicted[row] = answer.watts;
		judged->bound[row] = answer.bound_w;
		judged->outside += answer.outside;
		if (!judged->measured)
			continue;
		error = fabs(answer.watts - judged->measured[row]);
		judged->covered += error <= answer.bound_w;
		absolute += error;
		low = fmin(low, judged->measured[row]);
		high = fmax(high, judged->measured[row]);
		if (judged->measured[row] > 0) {
			relative += error / judged->measured[row];
			positive++;
		}
	}
	judged->mae_w =
		judged->measured && judged->rows ? absolute / (double)judged->rows : (double)NAN;
	judged->mape_percent =
		judged->measured && positive ? 100 * relative / (double)positive : (double)NAN;
	judged->range_percent = high > low ? 100 * judged->mae_w / (high - low) : (double)NAN;
}

static int judge(struct judged *judged, const struct sample_table *samples, size_t power,
		 struct diag *diag)
{
	const char *names[SAMPLE_COLUMNS_MAX];
	int r;

	for (size_t i = 0; i < samples->column_count; i++)
		names[i] = samples->names[i];
	r = trained_model_bind(judged->model, judged->component, names, samples->column_count,
			       &judged->columns, diag);
	if (r == 0)
		r = judged_allocate(judged, samples->rows, power != SAMPLE_COLUMN_NONE);
	if (r < 0)
		return r;
	take_rows(judged, samples, power);
	predict_rows(judged);
	return 0;
}

/* The same sequence in each run, on each machine (xorshift64). */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Mean absolute error with feature @f exchanged among the rows. */
static double error_without(const struct judged *judged, size_t f, const size_t *exchanged)
{
	size_t features = component_of(judged)->feature_count;
	double row_values[PREDICTOR_FEATURES_MAX], sum = 0;

	for (size_t row = 0; row < judged->rows; row++) {
		struct model_answer answer;

		memcpy(row_values, judged->values + row * features, features * sizeof(*row_values));
		row_values[f] = judged->values[exchanged[row] * features + f];
		predict(judged, row_values, &answer);
		sum += fabs(answer.watts - judged->measured[row]);
	}
	return sum / (double)judged->rows;
}

static size_t *exchange(size_t rows)
{
	size_t *order = calloc(rows + 1, sizeof(*order));
	uint64_t state = 0x9e3779b97f4a7c15;

	for (size_t i = 0; order && i < rows; i++)
		order[i] = i;
	for (size_t i = rows; order && i > 1; i--) {
		size_t other = next_random(&state) % i;
		size_t kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
	return order;
}

static int by_value(const void *a, const void *b)
{
	double left = ((const struct chart_amount *)a)->value;
	double right = ((const struct chart_amount *)b)->value;

	return (left < right) - (left > right);
}

static int add_importance(struct strbuf *out, const struct judged *judged)
{
	const struct model_component *component = component_of(judged);
	struct chart_amount amounts[PREDICTOR_FEATURES_MAX];
	CLEANUP_FREE size_t *exchanged = exchange(judged->rows);

	if (!exchanged)
		return -ENOMEM;
	for (size_t f = 0; f < component->feature_count; f++) {
		amounts[f].name = component->features[f].name;
		amounts[f].value = fmax(0, error_without(judged, f, exchanged) - judged->mae_w);
	}
	qsort(amounts, component->feature_count, sizeof(*amounts), by_value);
	strbuf_add_str(out,
		       "<figure><h3>Which features matter: error that is added without one</h3>");
	chart_add_amounts(out, "By how much the error grows without a feature", "W", amounts,
			  component->feature_count);
	strbuf_add_str(out, "</figure>\n");
	return 0;
}

/* Every n-th row, so that a picture stays small. */
struct thinned {
	double *x, *y;
	size_t count;
};

static int thin(const double *x, const double *y, size_t rows, struct thinned *ret)
{
	size_t step = rows / POINTS_MAX + 1;

	*ret = (struct thinned){ calloc(rows / step + 1, sizeof(double)),
				 calloc(rows / step + 1, sizeof(double)), 0 };
	if (!ret->x || !ret->y)
		return -ENOMEM;
	for (size_t row = 0; row < rows; row += step) {
		ret->x[ret->count] = x[row];
		ret->y[ret->count++] = y[row];
	}
	return 0;
}

static void thinned_release(struct thinned *thinned)
{
	free(thinned->x);
	free(thinned->y);
}

static void add_figure(struct strbuf *out, const char *title, const struct chart *chart)
{
	strbuf_add_str(out, "<figure><h3>");
	html_add_text(out, title, 100);
	strbuf_add_str(out, "</h3>");
	chart_add(out, chart);
	strbuf_add_str(out, "</figure>\n");
}

static int add_scatter(struct strbuf *out, const struct judged *judged)
{
	CLEANUP(thinned_release) struct thinned points = { 0 };
	struct chart_series series = { .name = "samples", .form = CHART_POINTS };
	const struct chart chart = {
		.title = "Predicted over measured power; on the dashed line they are equal",
		.x_label = "measured, W",
		.y_label = "predicted, W",
		.series = &series,
		.series_count = 1,
		.diagonal = true,
		.from_zero = true,
	};

	if (thin(judged->measured, judged->predicted, judged->rows, &points) < 0)
		return -ENOMEM;
	series.x = points.x;
	series.y = points.y;
	series.count = points.count;
	add_figure(out, "Predicted over measured", &chart);
	return 0;
}

static int add_course(struct strbuf *out, const struct judged *judged)
{
	CLEANUP(thinned_release) struct thinned measured = { 0 }, predicted = { 0 };
	struct chart_series series[2] = {
		{ .name = "measured", .form = CHART_POINTS },
		{ .name = "predicted", .form = CHART_LINE },
	};
	const struct chart chart = {
		.title = "Measured and predicted power, sample by sample",
		.x_label = "sample",
		.y_label = "W",
		.series = series,
		.series_count = 2,
		.from_zero = true,
	};

	if (thin(judged->order, judged->measured, judged->rows, &measured) < 0 ||
	    thin(judged->order, judged->predicted, judged->rows, &predicted) < 0)
		return -ENOMEM;
	series[0].x = measured.x;
	series[0].y = measured.y;
	series[0].count = measured.count;
	series[1].x = predicted.x;
	series[1].y = predicted.y;
	series[1].count = predicted.count;
	add_figure(out, "Sample by sample", &chart);
	return 0;
}

static int add_residuals(struct strbuf *out, const struct judged *judged)
{
	CLEANUP(thinned_release) struct thinned points = { 0 };
	CLEANUP_FREE double *left = calloc(judged->rows + 1, sizeof(*left));
	struct chart_series series = { .name = "samples", .form = CHART_POINTS };
	const struct chart chart = {
		.title = "What is left over: predicted less measured power",
		.x_label = "measured, W",
		.y_label = "predicted − measured, W",
		.series = &series,
		.series_count = 1,
		.zero_line = true,
	};

	if (!left)
		return -ENOMEM;
	for (size_t row = 0; row < judged->rows; row++)
		left[row] = judged->predicted[row] - judged->measured[row];
	if (thin(judged->measured, left, judged->rows, &points) < 0)
		return -ENOMEM;
	series.x = points.x;
	series.y = points.y;
	series.count = points.count;
	add_figure(out, "Residuals", &chart);
	return 0;
}

/* Residuals by size: all but the largest hundredth on each side, which would hide the rest. */
static void add_histogram(struct strbuf *out, const struct judged *judged)
{
	double edges[BINS], counts[BINS] = { 0 };
	double most = fmax(4 * judged->mae_w, 1e-6), width = 2 * most / BINS;
	const struct chart_series series = {
		.name = "samples",
		.form = CHART_BARS,
		.x = edges,
		.y = counts,
		.count = BINS,
		.bar_width = width,
	};
	const struct chart chart = {
		.title = "How many samples have which residual",
		.x_label = "predicted − measured, W",
		.y_label = "samples",
		.series = &series,
		.series_count = 1,
	};

	for (size_t i = 0; i < BINS; i++)
		edges[i] = -most + (double)i * width;
	for (size_t row = 0; row < judged->rows; row++) {
		double at = (judged->predicted[row] - judged->measured[row] + most) / width;

		counts[(size_t)fmin(fmax(at, 0), BINS - 1)]++;
	}
	add_figure(out, "How large residuals are; the outermost bars have the rest", &chart);
}

/* All features grow together from nothing to the largest load of the samples. */
static void add_curve(struct strbuf *out, const struct judged *judged)
{
	const struct model_component *component = component_of(judged);
	double load[CURVE_POINTS], watts[CURVE_POINTS], low[CURVE_POINTS], high[CURVE_POINTS];
	double most[PREDICTOR_FEATURES_MAX] = { 0 }, values[PREDICTOR_FEATURES_MAX];
	bool bound = judged->rows && isfinite(judged->bound[0]);
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

	for (size_t row = 0; row < judged->rows; row++) {
		for (size_t f = 0; f < component->feature_count; f++)
			most[f] = fmax(most[f], judged->values[row * component->feature_count + f]);
	}
	for (size_t i = 0; i < CURVE_POINTS; i++) {
		double share = (double)i / (CURVE_POINTS - 1);
		struct model_answer answer;

		for (size_t f = 0; f < component->feature_count; f++)
			values[f] = share * most[f];
		predict(judged, values, &answer);
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
	const struct model_component *component = component_of(judged);

	strbuf_add_str(out, "<tr><td>");
	html_add_text(out, component->name, sizeof(component->name));
	strbuf_addf(out, "</td><td class=\"n\">%zu</td>", judged->measured ? judged->rows : 0);
	add_cell(out, judged->mae_w, "W");
	add_cell(out, judged->mape_percent, "%");
	add_cell(out, judged->range_percent, "%");
	add_cell(out,
		 judged->measured && judged->rows && isfinite(judged->bound[0])
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
		out, "<h2>Errors</h2>\n<table><thead><tr><th>component</th>"
		     "<th class=\"n\">samples</th><th class=\"n\">MAE</th><th class=\"n\">MAPE</th>"
		     "<th class=\"n\">MAE, of the range</th><th class=\"n\">within the 90 % "
		     "bound</th><th class=\"n\">outside</th><th class=\"n\">held out: MAE</th>"
		     "<th class=\"n\">held out: MAPE</th></tr></thead><tbody>\n");
}

static int add_component(struct strbuf *out, const struct judged *judged)
{
	int r = 0;

	strbuf_add_str(out, "<h2>");
	html_add_text(out, component_of(judged)->name, sizeof(component_of(judged)->name));
	strbuf_add_str(out, "</h2>\n");
	if (judged->left_out)
		strbuf_addf(out,
			    "<p class=\"note\">%zu samples lack a feature or the power, and "
			    "are left out.</p>\n",
			    judged->left_out);
	strbuf_add_str(out, "<div class=\"charts\">\n");
	add_curve(out, judged);
	if (judged->measured && judged->rows) {
		r = add_scatter(out, judged);
		r = r < 0 ? r : add_course(out, judged);
		r = r < 0 ? r : add_residuals(out, judged);
		if (r == 0) {
			add_histogram(out, judged);
			r = add_importance(out, judged);
		}
	}
	strbuf_add_str(out, "</div>\n");
	return r;
}

static void all_release(struct judged (*judged)[MODEL_COMPONENTS_MAX])
{
	for (size_t c = 0; c < MODEL_COMPONENTS_MAX; c++)
		judged_release(&(*judged)[c]);
}

int html_report_add(struct strbuf *out, const struct trained_model *model,
		    const struct sample_table *samples, const size_t *power_columns,
		    struct diag *diag)
{
	CLEANUP(all_release) struct judged judged[MODEL_COMPONENTS_MAX] = { 0 };

	for (size_t c = 0; c < model->component_count; c++) {
		int r;

		judged[c].model = model;
		judged[c].component = c;
		r = judge(&judged[c], samples, power_columns[c], diag);
		if (r < 0)
			return r;
	}
	add_head(out, model);
	for (size_t c = 0; c < model->component_count; c++)
		add_row(out, &judged[c]);
	strbuf_add_str(out,
		       "</tbody></table>\n<p class=\"note\">“Outside” counts samples with a "
		       "feature beyond what the model was trained on. The last two columns are "
		       "the model’s own errors on samples that it had not seen; where it was "
		       "trained on these samples, only they count.</p>\n");
	for (size_t c = 0; c < model->component_count; c++) {
		int r = add_component(out, &judged[c]);

		if (r < 0)
			return r;
	}
	strbuf_add_str(out, "</main></body></html>\n");
	return strbuf_error(out);
}
