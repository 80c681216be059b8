// SPDX-License-Identifier: Apache-2.0
#include "modelling/training_report.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"

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

static void add_number(const char *key, double value, struct strbuf *out)
{
	char text[FORMAT_DOUBLE_MAX];

	strbuf_addf(out, ",\"%s\":", key);
	if (isfinite(value))
		strbuf_add(out, text, format_double(text, value));
	else
		strbuf_add_str(out, "null");
}

static void add_text(const char *key, const char *text, struct strbuf *out)
{
	strbuf_addf(out, "\"%s\":\"", key);
	strbuf_add_json(out, text);
	strbuf_add_char(out, '"');
}

void report_add_object(const char *component, const char *name,
		       const struct training_result *result, struct strbuf *out)
{
	const struct validation_score *score = &result->score;

	strbuf_add_char(out, '{');
	add_text("component", component, out);
	strbuf_add_char(out, ',');
	add_text("model", name, out);
	if (result->failure.text[0]) {
		strbuf_add_char(out, ',');
		add_text("failure", result->failure.text, out);
	} else {
		add_number("mae_w", score->mae_w, out);
		add_number("mae_low_w", score->low_w, out);
		add_number("mae_high_w", score->high_w, out);
		add_number("bias_w", score->bias_w, out);
		add_number("mape_percent", score->mape_percent, out);
		add_number("of_power_percent", score->weighted_percent, out);
		add_number("of_range_percent", score->range_percent, out);
		add_number("bound_w", result->bound.bound_w, out);
		add_number("bound_ratio", result->bound.bound_ratio, out);
		add_number("within_bound", result->coverage, out);
		strbuf_addf(out, ",\"rows\":%zu", score->rows);
	}
	strbuf_add_char(out, '}');
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
	strbuf_add_char(out, '{');
	add_text("trainer",
		 report->chosen < request->trainer_count ? request->trainers[report->chosen]->name
							 : "",
		 out);
	strbuf_add_str(out, ",\"results\":[");
	for (size_t c = 0; c < request->component_count; c++) {
		for (size_t t = 0; t < request->trainer_count; t++) {
			if (c + t)
				strbuf_add_char(out, ',');
			report_add_object(request->components[c], request->trainers[t]->name,
					  &report->results[t][c], out);
		}
	}
	strbuf_add_str(out, "]}\n");
}
