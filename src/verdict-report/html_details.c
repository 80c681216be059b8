// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/html_details.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text/html.h"
#include "verdict-report/report_text.h"
#include "verdict-report/result_charts.h"
#include "verdict-report/verdict_report.h"

/* Verdicts differ by sign and word, not by colour alone. */
static const struct {
	const char *class, *sign;
} looks[] = {
	[VERDICT_PASS] = { "pass", "✓" },
	[VERDICT_FAIL] = { "fail", "✗" },
	[VERDICT_INCONCLUSIVE] = { "open", "?" },
	[VERDICT_NOT_APPLICABLE] = { "none", "–" },
};

void html_add_verdict(struct strbuf *out, enum verdict verdict)
{
	strbuf_addf(out, "<span class=\"v %s\">%s %s</span>", looks[verdict].class,
		    looks[verdict].sign, verdict_name(verdict));
}

void html_add_fact(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_str(out, "<dt>");
	html_add_text(out, name, RESULT_NAME_MAX);
	strbuf_add_str(out, "</dt><dd>");
	html_add_text(out, value, SERIES_TEXT_MAX);
	strbuf_add_str(out, "</dd>\n");
}

bool html_has_details(const struct result *result)
{
	return result->actual || result->predicted || result->table || result->phase_count > 0 ||
	       (result->has_errors && result->errors.pairs > 0);
}

__attribute__((format(printf, 3, 4))) static void
add_number_fact(struct strbuf *out, const char *name, const char *format, ...)
{
	va_list args;
	char value[128];

	va_start(args, format);
	(void)vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	strbuf_addf(out, "<dt>%s</dt><dd>", name);
	report_text_sentence(out, value);
	strbuf_add_str(out, "</dd>\n");
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

static void add_error_facts(struct strbuf *out, const struct result *result)
{
	const struct errors *errors = &result->errors;
	const char *unit = result->actual ? result->actual->unit : "";

	add_number_fact(out, "energy ratio", "%.4f (95 %% interval %.4f to %.4f)",
			errors->energy_ratio, errors->ratio_low, errors->ratio_high);
	if (isfinite(errors->lag_s))
		add_number_fact(out, "lag", "%+.1f s (bound ±%g s)", errors->lag_s,
				result->threshold.max_lag_s);
	else
		html_add_fact(out, "lag", "not known: nothing changes that could be late");
	if (isfinite(errors->scale))
		add_number_fact(out, "scale, offset", "%.4g, %+.4g %s", errors->scale,
				errors->offset, unit);
	add_number_fact(out, "shape", "%.1f %% of the range of %.4g %s remain", 100 * errors->shape,
			errors->range, unit);
	add_number_fact(out, "mean error", "%+.4g %s, absolute %.4g %s; median %.1f %%",
			errors->bias, unit, errors->mae, unit, 100 * errors->median_ape);
	add_number_fact(out, "for comparison", "R² %.4g, MSE %.4g, MAPE %.4g %%", errors->r2,
			errors->mse, 100 * errors->mape);
	add_number_fact(out, "compared", "%zu windows, %.0f s", errors->pairs, errors->paired_s);
}

static void add_facts(struct strbuf *out, const struct result *result, size_t index)
{
	strbuf_add_str(out, "<dl>\n");
	add_series_fact(out, "actual", result->actual, index, "actual");
	add_series_fact(out, "predicted", result->predicted, index, "predicted");
	if (result->has_errors && result->errors.pairs > 0)
		add_error_facts(out, result);
	strbuf_add_str(out, "</dl>\n");
}

static void add_amount(struct strbuf *out, double amount, int places)
{
	strbuf_add_str(out, "<td class=\"n\">");
	report_text_number(out, amount, places);
	strbuf_add_str(out, "</td>");
}

static void add_phase(struct strbuf *out, const struct phase_result *phase, size_t number,
		      int places)
{
	bool is_covered = isfinite(phase->actual) && isfinite(phase->predicted);

	strbuf_addf(out, "<tr><td class=\"n\">%zu</td><td>", number);
	html_add_text(out, phase->phase.name, sizeof(phase->phase.name));
	strbuf_add_str(out, "</td>");
	add_amount(out, is_covered ? phase->actual : (double)NAN, places);
	add_amount(out, is_covered ? phase->predicted : (double)NAN, places);
	strbuf_add_str(out, "<td class=\"n\">");
	report_text_percent(out, phase->error, true);
	strbuf_add_str(out, "</td><td>");
	html_add_verdict(out, phase->verdict);
	strbuf_add_str(out, "</td></tr>\n");
}

static void add_phases(struct strbuf *out, const struct result *result)
{
	const char *unit = result->actual ? amount_unit(result->actual->unit) : "";
	double largest = 0;

	if (result->phase_count == 0)
		return;
	for (size_t i = 0; i < result->phase_count; i++) /* fmax() passes over NAN */
		largest = fmax(largest, fmax(fabs(result->phases[i].actual),
					     fabs(result->phases[i].predicted)));
	strbuf_add_str(out, "<div class=\"wide\"><table><thead><tr><th class=\"n\">no.</th>"
			    "<th>phase</th><th class=\"n\">actual, ");
	html_add_text(out, unit, SERIES_TEXT_MAX);
	strbuf_add_str(out, "</th><th class=\"n\">predicted, ");
	html_add_text(out, unit, SERIES_TEXT_MAX);
	strbuf_add_str(out,
		       "</th><th class=\"n\">error</th><th>verdict</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < result->phase_count; i++)
		add_phase(out, &result->phases[i], i + 1, report_text_places(largest));
	strbuf_add_str(out, "</tbody></table></div>\n");
}

static void add_table(struct strbuf *out, const struct result_table *table)
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

int html_details_add(struct strbuf *out, const struct result *result, size_t index, bool has_charts)
{
	strbuf_addf(out, "<section><h3 id=\"r%zu\">", index + 1);
	html_add_text(out, result->name, sizeof(result->name));
	if (result->exporter[0]) {
		strbuf_add_str(out, " <span class=\"of\">");
		html_add_text(out, result->exporter, sizeof(result->exporter));
		strbuf_add_str(out, "</span>");
	}
	strbuf_add_str(out, "</h3>\n<p>");
	html_add_verdict(out, result->verdict);
	strbuf_add_str(out, " ");
	report_text_sentence(out, result->reason);
	strbuf_add_str(out, "</p>\n");
	add_facts(out, result, index);
	int r = has_charts ? result_charts_add(out, result) : 0;
	add_phases(out, result);
	add_table(out, result->table);
	strbuf_add_str(out, "</section>\n");
	return r;
}
