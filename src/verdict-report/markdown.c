// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/markdown.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Untrusted text in a cell of a table or a line: what means something to Markdown is escaped. */
static void add_text(struct strbuf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			strbuf_add_char(out, ' ');
			continue;
		}
		if (strchr("\\`*_[]<>|#", *c))
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *c);
	}
}

/* "–" if it is not known. */
static void add_number(struct strbuf *out, int digits, double value)
{
	if (isfinite(value))
		strbuf_addf(out, "%.*g", digits, value);
	else
		strbuf_add_str(out, "–");
}

static void add_row(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_str(out, "| ");
	add_text(out, name);
	strbuf_add_str(out, " | ");
	add_text(out, value);
	strbuf_add_str(out, " |\n");
}

/* With several exporters, "node/package of http://…", as in junit.xml. */
static void add_name(struct strbuf *out, const struct result *result, bool has_several)
{
	add_text(out, result->name);
	if (has_several && result->exporter[0]) {
		strbuf_add_str(out, " of ");
		add_text(out, result->exporter);
	}
}

static void add_machine(struct strbuf *out, const struct verdict_report *report)
{
	strbuf_add_str(out, "## Build Info\n\n| Field | Value |\n|---|---|\n");
	add_row(out, "kepler-validator", report->version);
	add_row(out, "command", report->command);
	if (!report->machine || report->machine->count == 0)
		return;
	strbuf_add_str(out, "\n## Machine Specs\n\n| Field | Value |\n|---|---|\n");
	for (size_t i = 0; i < report->machine->count; i++)
		add_row(out, report->machine->items[i].name, report->machine->items[i].value);
}

static void add_summary(struct strbuf *out, const struct result_list *results)
{
	strbuf_add_str(out,
		       "\n### Summary\n\n| Name | MSE | MAPE % | MAE | Error % | Bound % | Truth % "
		       "| Cause | Pass / Fail |\n|---|---:|---:|---:|---:|---:|---:|---|---|\n");
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = results->items[i];
		bool has_errors = result->has_errors;

		strbuf_add_str(out, "| ");
		add_name(out, result, report_has_several_exporters(results));
		strbuf_add_str(out, " | ");
		add_number(out, 4, has_errors ? result->errors.mse : (double)NAN);
		strbuf_add_str(out, " | ");
		add_number(out, 4, has_errors ? 100 * result->errors.mape : (double)NAN);
		strbuf_add_str(out, " | ");
		add_number(out, 4, has_errors ? result->errors.mae : (double)NAN);
		strbuf_add_str(out, " | ");
		add_number(out, 4, 100 * result->error);
		strbuf_add_str(out, " | ");
		add_number(out, 4, 100 * result->threshold.max_error);
		strbuf_add_str(out, " | ");
		add_number(out, 4,
			   result->threshold.truth_error > 0 ? 100 * result->threshold.truth_error
							     : (double)NAN);
		strbuf_addf(out, " | %s | %s |\n", cause_name(result->cause),
			    verdict_name(result->verdict));
	}
}

static void add_query(struct strbuf *out, const char *label, const struct series *series)
{
	if (!series)
		return;
	strbuf_addf(out, "- %s: ", label);
	add_text(out, series->query[0] ? series->query : series->name);
	strbuf_add_str(out, " (");
	add_text(out, series->source);
	strbuf_add_str(out, ")\n");
}

static void add_phases(struct strbuf *out, const struct result *result)
{
	if (result->phase_count == 0)
		return;
	const char *unit = result->actual ? amount_unit(result->actual->unit) : "";

	strbuf_add_str(out, "\n| Phase | Actual ");
	add_text(out, unit);
	strbuf_add_str(out, " | Predicted ");
	add_text(out, unit);
	strbuf_add_str(out, " | Error % | Verdict |\n|---|---:|---:|---:|---|\n");
	for (size_t i = 0; i < result->phase_count; i++) {
		const struct phase_result *phase = &result->phases[i];

		strbuf_add_str(out, "| ");
		add_text(out, phase->phase.name);
		strbuf_add_str(out, " | ");
		add_number(out, 6, phase->actual);
		strbuf_add_str(out, " | ");
		add_number(out, 6, phase->predicted);
		strbuf_add_str(out, " | ");
		add_number(out, 4, 100 * phase->error);
		strbuf_addf(out, " | %s |\n", verdict_name(phase->verdict));
	}
}

static void add_table(struct strbuf *out, const struct result_table *table)
{
	if (!table)
		return;
	strbuf_add_str(out, "\n|");
	for (size_t i = 0; i < table->column_count; i++)
		strbuf_addf(out, " %s |", table->columns[i]);
	strbuf_add_str(out, "\n|---|");
	for (size_t i = 1; i < table->column_count; i++)
		strbuf_add_str(out, "---:|");
	strbuf_add_str(out, "\n");
	for (size_t row = 0; row < table->row_count; row++) {
		strbuf_add_str(out, "| ");
		add_text(out, table->rows[row].name);
		for (size_t i = 0; i + 1 < table->column_count; i++) {
			strbuf_add_str(out, " | ");
			add_number(out, 4, table->rows[row].cells[i]);
		}
		strbuf_add_str(out, " |\n");
	}
}

static void add_result(struct strbuf *out, const struct result *result, bool has_several)
{
	strbuf_add_str(out, "\n### ");
	add_name(out, result, has_several);
	strbuf_addf(out, "\n\n%s: ", verdict_name(result->verdict));
	add_text(out, result->reason);
	strbuf_add_str(out, "\n\n");
	add_query(out, "Actual", result->actual);
	add_query(out, "Predicted", result->predicted);
	if (result->has_errors) {
		strbuf_add_str(out, "- Energy ratio: ");
		add_number(out, 5, result->errors.energy_ratio);
		strbuf_add_str(out, " (95 % interval ");
		add_number(out, 5, result->errors.ratio_low);
		strbuf_add_str(out, " to ");
		add_number(out, 5, result->errors.ratio_high);
		strbuf_add_str(out, "), scale ");
		add_number(out, 4, result->errors.scale);
		strbuf_add_str(out, ", offset ");
		add_number(out, 4, result->errors.offset);
		strbuf_add_str(out, ", lag ");
		add_number(out, 4, result->errors.lag_s);
		strbuf_add_str(out, " s\n");
	}
	add_phases(out, result);
	add_table(out, result->table);
}

void markdown_add(struct strbuf *out, const struct verdict_report *report)
{
	double start_s, end_s;
	char start[32], end[32];
	struct strbuf line = STRBUF_INIT;

	report_time(report, &start_s, &end_s);
	report_time_text(start_s, start);
	report_time_text(end_s, end);
	strbuf_addf(out, "# Validation report: %s\n\n",
		    verdict_name(result_list_verdict(report->results)));
	report_line_add(&line, report);
	add_text(out, line.data ? line.data : "");
	strbuf_release(&line);
	strbuf_add_str(out, "\n\n");
	add_machine(out, report);
	strbuf_addf(out,
		    "\n## Validation Results\n\n- Started At: %s\n- Ended At: %s\n- Duration: ",
		    start, end);
	add_number(out, 6, end_s - start_s);
	strbuf_add_str(out, " s\n");
	add_summary(out, report->results);
	strbuf_add_str(out, "\n## Details\n");
	for (size_t i = 0; i < report->results->count; i++)
		add_result(out, report->results->items[i],
			   report_has_several_exporters(report->results));
}
