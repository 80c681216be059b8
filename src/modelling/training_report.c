// SPDX-License-Identifier: Apache-2.0
#include "modelling/training_report.h"

#include <math.h>
#include <stdio.h>

#include "base/macro.h"
#include "repository/model_json.h"

#define NAME_WIDTH 32

void report_add_head(struct strbuf *out)
{
	strbuf_addf(out, "%-10s %-*s %8s  %-17s %8s %8s %9s %9s %8s %7s\n", "COMPONENT", NAME_WIDTH,
		    "MODEL", "MAE W", "90 % INTERVAL", "BIAS W", "MAPE %", "OF POWER", "OF RANGE",
		    "WITHIN", "ROWS");
}

static void add_percent(double value, int width, struct strbuf *out)
{
	if (isfinite(value))
		strbuf_addf(out, " %*.2f", width, value);
	else
		strbuf_addf(out, " %*s", width, "-");
}

void report_add_line(const char *component, const char *name, const struct training_result *result,
		     struct strbuf *out)
{
	const struct validation_score *score = &result->score;
	char interval[64];

	if (result->failure.text[0]) {
		strbuf_addf(out, "%-10s %-*s %s\n", component, NAME_WIDTH, name,
			    result->failure.text);
		return;
	}
	(void)snprintf(interval, sizeof(interval), "%.2f to %.2f", score->low_w, score->high_w);
	strbuf_addf(out, "%-10s %-*s %8.2f  %-17s %+8.2f", component, NAME_WIDTH, name,
		    score->mae_w, interval, score->bias_w);
	add_percent(score->mape_percent, 8, out);
	add_percent(score->weighted_percent, 9, out);
	add_percent(score->range_percent, 9, out);
	add_percent(100 * result->coverage, 8, out);
	strbuf_addf(out, " %7zu\n", score->rows);
}

/* null if it is not known. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_object(const char *component, const char *name, const struct training_result *result)
{
	const struct validation_score *score = &result->score;

	if (result->failure.text[0])
		return json_pack("{s:s, s:s, s:s}", "component", component, "model", name,
				 "failure", result->failure.text);
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}",
			 "component", component, "model", name, "mae_w", number(score->mae_w),
			 "mae_low_w", number(score->low_w), "mae_high_w", number(score->high_w),
			 "bias_w", number(score->bias_w), "mape_percent",
			 number(score->mape_percent), "of_power_percent",
			 number(score->weighted_percent), "of_range_percent",
			 number(score->range_percent), "bound_w", number(result->bound.bound_w),
			 "bound_ratio", number(result->bound.bound_ratio), "within_bound",
			 number(result->coverage), "rows", (json_int_t)score->rows);
}

void report_add_training(const struct training_request *request,
			 const struct training_report *report, struct strbuf *out)
{
	size_t chosen = report->chosen;

	report_add_head(out);
	for (size_t c = 0; c < request->component_count; c++) {
		for (size_t t = 0; t < request->trainer_count; t++)
			report_add_line(request->components[c], request->trainers[t]->name,
					&report->results[t][c], out);
	}
	for (size_t t = 0; t < request->trainer_count; t++) {
		if (report->unusable[t].text[0])
			strbuf_addf(out, "%s is not used: %s\n", request->trainers[t]->name,
				    report->unusable[t].text);
	}
	if (chosen == request->trainer_count)
		return;
	strbuf_addf(out, "%s makes the model. Nine of ten of its predictions are within",
		    request->trainers[chosen]->name);
	for (size_t c = 0; c < request->component_count; c++) {
		const struct error_bound *bound = &report->results[chosen][c].bound;

		strbuf_addf(out, "%s %.2f W", c ? "," : "", bound->bound_w);
		if (bound->bound_ratio > 0)
			strbuf_addf(out, " or %.0f %%", 100 * bound->bound_ratio);
		strbuf_addf(out, " of %s", request->components[c]);
	}
	strbuf_add_str(out, ".\n");
}

void report_add_training_json(const struct training_request *request,
			      const struct training_report *report, struct strbuf *out)
{
	CLEANUP(model_json_release) json_t *json = json_object();
	bool is_chosen = report->chosen < request->trainer_count;
	json_t *results = json_array();

	for (size_t c = 0; c < request->component_count; c++) {
		for (size_t t = 0; t < request->trainer_count; t++)
			(void)json_array_append_new(results,
						    report_object(request->components[c],
								  request->trainers[t]->name,
								  &report->results[t][c]));
	}
	(void)json_object_set_new(
		json, "trainer",
		json_string(is_chosen ? request->trainers[report->chosen]->name : ""));
	(void)json_object_set_new(json, "results", results);
	(void)model_json_dump(json, out); /* @out notes a failure */
}
