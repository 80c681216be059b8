// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/html_page.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text/html.h"
#include "chart/page_style.h"
#include "verdict-report/result_charts.h"

/* The order in which results are read, and shown. */
static const enum verdict worst_first[] = { VERDICT_FAIL, VERDICT_INCONCLUSIVE, VERDICT_PASS,
					    VERDICT_NOT_APPLICABLE };

/* Verdicts differ by sign and word, not by colour alone. */
static const struct {
	const char *class, *sign;
} looks[] = {
	[VERDICT_PASS] = { "pass", "✓" },
	[VERDICT_FAIL] = { "fail", "✗" },
	[VERDICT_INCONCLUSIVE] = { "open", "?" },
	[VERDICT_NOT_APPLICABLE] = { "none", "–" },
};

static const char own_style[] =
	":root{--pass:#1a7f37;--fail:#b3261e;--open:#8a5a00}"
	"@media(prefers-color-scheme:dark){:root{--pass:#5fd07f;--fail:#ff8a80;--open:#f0c060}}"
	".v{white-space:nowrap;font-weight:600}.v.pass{color:var(--pass)}.v.fail{color:var(--fail)}"
	".v.open{color:var(--open)}.v.none{color:var(--soft)}"
	".verdict{font-size:1.5rem;border-left:.4rem solid currentColor;padding:.1rem 0 .1rem "
	".8rem}"
	"h3{font-size:1.15rem;margin:2rem 0 .2rem}h4{font-size:1rem;margin:0 0 .3rem}"
	".results td:nth-child(2){min-width:10rem}"
	"a{color:inherit}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.4rem}"
	"dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
	"@media(max-width:44rem){.results thead{display:none}.results td{display:block;border:0;"
	"padding:.1rem 0;text-align:left}.results tr{display:block;padding:.5rem 0;"
	"border-bottom:1px solid var(--rule)}.results,.results tbody{display:block}"
	".results td[data-l]::before{content:attr(data-l) ' ';color:var(--soft)}"
	"dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}"
	"@media print{:root{--ink:#000;--soft:#444;--rule:#bbb;--page:#fff;--s0:#1f6fb4;"
	"--s1:#d9661f;--pass:#1a7f37;--fail:#b3261e;--open:#8a5a00}body{max-width:none;margin:0}"
	"figure,tr{break-inside:avoid}h3{break-after:avoid}"
	".charts{grid-template-columns:1fr 1fr}}";

static void add_verdict(struct strbuf *out, enum verdict verdict, const char *more_class)
{
	strbuf_addf(out, "<span class=\"v %s%s\">%s %s</span>", looks[verdict].class, more_class,
		    looks[verdict].sign, verdict_name(verdict));
}

/* A ratio in percent, with its sign; nothing if it is not known. */
static void add_percent(struct strbuf *out, double ratio, bool is_signed)
{
	if (!isfinite(ratio))
		strbuf_add_str(out, "–");
	else if (fabs(ratio) < 1000)
		strbuf_addf(out, is_signed ? "%+.2f %%" : "%.3g %%", 100 * ratio);
	else
		strbuf_addf(out, "%.2g %%", 100 * ratio);
}

static void add_head(struct strbuf *out, const struct verdict_report *report)
{
	const struct result_list *results = report->results;
	enum verdict verdict = result_list_verdict(results);
	char created[32];

	report_time_text((double)report->created, created);
	strbuf_add_str(out,
		       "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		       "<meta name=\"color-scheme\" content=\"light dark\"><style>");
	strbuf_add_str(out, page_style);
	strbuf_add_str(out, own_style);
	strbuf_addf(out,
		    "</style><title>%s: validation report</title></head><body><main>\n"
		    "<h1>Validation report</h1>\n<p class=\"note\">kepler-validator ",
		    verdict_name(verdict));
	html_add_text(out, report->version, RESULT_NAME_MAX);
	strbuf_addf(out, ", %s</p>\n<p class=\"verdict v %s\">%s %s</p>\n<p>", created,
		    looks[verdict].class, looks[verdict].sign, verdict_name(verdict));
	for (size_t i = 0; i < sizeof(worst_first) / sizeof(worst_first[0]); i++)
		strbuf_addf(out, "%s%zu %s", i ? " · " : "",
			    result_list_count(results, worst_first[i]),
			    verdict_name(worst_first[i]));
	strbuf_add_str(out, "</p>\n");
}

static void add_cell(struct strbuf *out, const char *label, double ratio, bool is_signed)
{
	strbuf_addf(out, "<td class=\"n\" data-l=\"%s\">", label);
	add_percent(out, ratio, is_signed);
	strbuf_add_str(out, "</td>");
}

static void add_row(struct strbuf *out, const struct result *result, size_t index)
{
	strbuf_add_str(out, "<tr><td>");
	add_verdict(out, result->verdict, "");
	strbuf_addf(out, "</td><td><a href=\"#r%zu\">", index + 1);
	html_add_text(out, result->name, sizeof(result->name));
	strbuf_addf(out, "</a></td><td>%s</td>",
		    result->cause == CAUSE_NONE ? "" : cause_name(result->cause));
	add_cell(out, "error", result->error, false);
	add_cell(out, "bound", result->threshold.max_error, false);
	add_cell(out, "truth",
		 result->threshold.truth_error > 0 ? result->threshold.truth_error : (double)NAN,
		 false);
	strbuf_add_str(out, "<td>");
	html_add_text(out, result->reason, sizeof(result->reason));
	strbuf_add_str(out, "</td></tr>\n");
}

static void add_table(struct strbuf *out, const struct result_list *results)
{
	strbuf_add_str(out, "<h2>Results</h2>\n<table class=\"results\"><thead><tr><th>verdict</th>"
			    "<th>name</th><th>cause</th><th class=\"n\">error</th>"
			    "<th class=\"n\">bound</th><th class=\"n\">own error of the truth</th>"
			    "<th>reason</th></tr></thead><tbody>\n");
	for (size_t v = 0; v < sizeof(worst_first) / sizeof(worst_first[0]); v++)
		for (size_t i = 0; i < results->count; i++)
			if (results->items[i]->verdict == worst_first[v])
				add_row(out, results->items[i], i);
	strbuf_add_str(out, "</tbody></table>\n");
}

static void add_fact(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_str(out, "<dt>");
	html_add_text(out, name, RESULT_NAME_MAX);
	strbuf_add_str(out, "</dt><dd>");
	html_add_text(out, value, SERIES_TEXT_MAX);
	strbuf_add_str(out, "</dd>\n");
}

__attribute__((format(printf, 3, 4))) static void
add_number_fact(struct strbuf *out, const char *name, const char *format, ...)
{
	va_list args;
	char value[128];

	va_start(args, format);
	(void)vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	add_fact(out, name, value);
}

static void add_series_fact(struct strbuf *out, const char *name, const struct series *series,
			    size_t index, const char *which)
{
	char file[REPORT_FILE_MAX];

	if (!series)
		return;
	report_series_file(index, which, file);
	strbuf_addf(out, "<dt>%s</dt><dd>", name);
	html_add_text(out, series->query[0] ? series->query : series->name, SERIES_TEXT_MAX);
	strbuf_add_str(out, ", ");
	html_add_text(out, series->source, SERIES_TEXT_MAX);
	strbuf_addf(out, " (<a href=\"%s\">CSV</a>)</dd>\n", file);
}

static void add_facts(struct strbuf *out, const struct result *result, size_t index)
{
	const struct errors *errors = &result->errors;

	strbuf_add_str(out, "<dl>\n");
	if (result->exporter[0])
		add_fact(out, "exporter", result->exporter);
	add_series_fact(out, "actual", result->actual, index, "actual");
	add_series_fact(out, "predicted", result->predicted, index, "predicted");
	if (result->has_errors && errors->pairs > 0) {
		const char *unit = result->actual ? result->actual->unit : "";

		add_number_fact(out, "energy ratio", "%.5g (95 %% interval %.5g to %.5g)",
				errors->energy_ratio, errors->ratio_low, errors->ratio_high);
		add_number_fact(out, "lag", "%+.1f s (bound ±%g s)", errors->lag_s,
				result->threshold.max_lag_s);
		add_number_fact(out, "scale, offset", "%.4g, %+.4g %s", errors->scale,
				errors->offset, unit);
		add_number_fact(out, "shape", "%.2f %% of the range of %.4g %s",
				100 * errors->shape, errors->range, unit);
		add_number_fact(out, "errors", "MAE %.4g %s, bias %+.4g %s, median APE %.2f %%",
				errors->mae, unit, errors->bias, unit, 100 * errors->median_ape);
		add_number_fact(out, "for comparison", "R² %.4f, MSE %.4g, MAPE %.4g %%",
				errors->r2, errors->mse, 100 * errors->mape);
		add_number_fact(out, "paired", "%zu windows, %.6g s", errors->pairs,
				errors->paired_s);
	}
	strbuf_add_str(out, "</dl>\n");
}

static void add_phases(struct strbuf *out, const struct result *result)
{
	if (result->phase_count == 0)
		return;
	const char *unit = result->actual ? amount_unit(result->actual->unit) : "";

	strbuf_add_str(out, "<div class=\"wide\"><table><thead><tr><th class=\"n\">no.</th>"
			    "<th>phase</th><th class=\"n\">actual, ");
	html_add_text(out, unit, SERIES_TEXT_MAX);
	strbuf_add_str(out, "</th><th class=\"n\">predicted, ");
	html_add_text(out, unit, SERIES_TEXT_MAX);
	strbuf_add_str(out,
		       "</th><th class=\"n\">error</th><th>verdict</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < result->phase_count; i++) {
		const struct phase_result *phase = &result->phases[i];

		strbuf_addf(out, "<tr><td class=\"n\">%zu</td><td>", i + 1);
		html_add_text(out, phase->phase.name, sizeof(phase->phase.name));
		if (isfinite(phase->actual) && isfinite(phase->predicted))
			strbuf_addf(out, "</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td>",
				    phase->actual, phase->predicted);
		else
			strbuf_add_str(out, "</td><td class=\"n\">–</td><td class=\"n\">–</td>");
		add_cell(out, "error", phase->error, true);
		strbuf_add_str(out, "<td>");
		add_verdict(out, phase->verdict, "");
		strbuf_add_str(out, "</td></tr>\n");
	}
	strbuf_add_str(out, "</tbody></table></div>\n");
}

static void add_numbers(struct strbuf *out, const struct result_table *table)
{
	if (!table)
		return;
	strbuf_add_str(out, "<div class=\"wide\"><table><thead><tr>");
	for (size_t i = 0; i < table->column_count; i++)
		strbuf_addf(out, "<th%s>%s</th>", i > 0 ? " class=\"n\"" : "", table->columns[i]);
	strbuf_add_str(out, "</tr></thead><tbody>\n");
	for (size_t row = 0; row < table->row_count; row++) {
		strbuf_add_str(out, "<tr><td>");
		html_add_text(out, table->rows[row].name, sizeof(table->rows[row].name));
		strbuf_add_str(out, "</td>");
		for (size_t i = 0; i + 1 < table->column_count; i++) {
			double cell = table->rows[row].cells[i];

			if (isfinite(cell))
				strbuf_addf(out, "<td class=\"n\">%.4g</td>", cell);
			else
				strbuf_add_str(out, "<td class=\"n\">–</td>");
		}
		strbuf_add_str(out, "</tr>\n");
	}
	strbuf_add_str(out, "</tbody></table></div>\n");
}

static int add_result(struct strbuf *out, const struct result *result, size_t index,
		      bool has_charts)
{
	strbuf_addf(out, "<section><h3 id=\"r%zu\">", index + 1);
	html_add_text(out, result->name, sizeof(result->name));
	strbuf_add_str(out, "</h3>\n<p>");
	add_verdict(out, result->verdict, "");
	strbuf_add_str(out, " ");
	html_add_text(out, result->reason, sizeof(result->reason));
	strbuf_add_str(out, "</p>\n");
	add_facts(out, result, index);
	int r = has_charts ? result_charts_add(out, result) : 0;
	add_phases(out, result);
	add_numbers(out, result->table);
	strbuf_add_str(out, "</section>\n");
	return r;
}

static int add_details(struct strbuf *out, const struct result_list *results)
{
	size_t charts = 0, without = 0;

	strbuf_add_str(out, "<h2>Details</h2>\n");
	for (size_t v = 0; v < sizeof(worst_first) / sizeof(worst_first[0]); v++) {
		for (size_t i = 0; i < results->count; i++) {
			const struct result *result = results->items[i];
			bool is_comparison = result->actual && result->predicted;

			if (result->verdict != worst_first[v])
				continue;
			int r = add_result(out, result, i, charts < HTML_PAGE_CHARTS_MAX);
			if (r < 0)
				return r;
			without += is_comparison && charts == HTML_PAGE_CHARTS_MAX;
			charts += is_comparison && charts < HTML_PAGE_CHARTS_MAX;
		}
	}
	if (without > 0)
		strbuf_addf(out,
			    "<p class=\"note\">%zu further comparisons have no pictures here; "
			    "their series are in the folder series.</p>\n",
			    without);
	return 0;
}

static void add_machine(struct strbuf *out, const struct verdict_report *report)
{
	strbuf_add_str(out, "<h2>Machine and command</h2>\n<dl>\n");
	for (size_t i = 0; report->machine && i < report->machine->count; i++)
		add_fact(out, report->machine->items[i].name, report->machine->items[i].value);
	add_fact(out, "command", report->command);
	strbuf_add_str(out, "</dl>\n");
}

int html_page_add(struct strbuf *out, const struct verdict_report *report)
{
	add_head(out, report);
	add_table(out, report->results);
	int r = add_details(out, report->results);
	add_machine(out, report);
	strbuf_add_str(out, "</main></body></html>\n");
	return r < 0 ? r : strbuf_error(out);
}
