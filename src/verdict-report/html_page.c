// SPDX-License-Identifier: Apache-2.0
/*
 * The results of each exporter are a table of their own: with several in one report, the reader
 * looks for one of them. The overview on top says which of them to look at.
 */
#include "verdict-report/html_page.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/html.h"
#include "chart/page_style.h"
#include "verdict-report/html_details.h"
#include "verdict-report/report_text.h"

#define EXPORTERS_MAX 64 /* further ones are in the last one's table */

/* The order in which results are read, and shown. */
static const enum verdict worst_first[] = { VERDICT_FAIL, VERDICT_INCONCLUSIVE, VERDICT_PASS,
					    VERDICT_NOT_APPLICABLE };
#define VERDICTS (sizeof(worst_first) / sizeof(worst_first[0]))

/* The exporters that have results, in the order of the report; "" is the run itself. */
struct exporters {
	const char *names[EXPORTERS_MAX];
	size_t counts[EXPORTERS_MAX][VERDICTS]; /* by verdict */
	size_t count;
};

static const char own_style[] =
	":root{--pass:#1a7f37;--fail:#b3261e;--open:#8a5a00}"
	"@media(prefers-color-scheme:dark){:root{--pass:#5fd07f;--fail:#ff8a80;--open:#f0c060}}"
	".v{white-space:nowrap;font-weight:600}.v.pass{color:var(--pass)}.v.fail{color:var(--fail)}"
	".v.open{color:var(--open)}.v.none{color:var(--soft)}"
	".v.none{white-space:normal;overflow-wrap:normal}"
	".cause{color:var(--soft);white-space:nowrap}"
	".verdict{font-size:1.7rem;margin:1.2rem 0 .3rem}"
	".lead{font-size:1.1rem;margin:.3rem 0 .8rem}.lead,.reason{overflow-wrap:anywhere}"
	"h3{font-size:1.15rem;margin:2rem 0 .2rem;overflow-wrap:anywhere}"
	"th{white-space:nowrap}h4{font-size:1rem;margin:0 0 "
	".3rem}.of{font-weight:400;color:var(--soft)}"
	".results{width:100%}.results td{vertical-align:top}"
	".results td:first-child{min-width:5.5rem}"
	".results td:nth-child(2){min-width:14rem;overflow-wrap:anywhere}"
	".results td:last-child{width:60%}.overview,.overview td:last-child{width:auto}"
	"a{color:inherit}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.4rem}"
	"dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
	"code{user-select:all;overflow-wrap:anywhere}"
	"@media(max-width:44rem){.results thead{display:none}.results td{display:block;border:0;"
	"padding:.1rem 0;text-align:left;width:auto!important}.results tr{display:block;"
	"padding:.5rem 0;border-bottom:1px solid var(--rule)}.results,.results tbody{display:block}"
	".results td[data-l]{display:inline-block;margin-right:1.2rem}.results td.e{display:none}"
	".results td[data-l]::before{content:attr(data-l) ' ';color:var(--soft)}"
	"dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}svg{font-size:16px}}"
	"@media print{:root{--ink:#000;--soft:#444;--rule:#bbb;--page:#fff;--s0:#1f6fb4;"
	"--s1:#d9661f;--pass:#1a7f37;--fail:#b3261e;--open:#8a5a00}"
	"body{max-width:none;margin:0;font-size:11px}th,td{padding-right:.8rem}"
	"figure,tr,dl{break-inside:avoid}h2,h3{break-after:avoid}"
	".charts{grid-template-columns:1fr 1fr}svg{print-color-adjust:exact}}";

static size_t place_of(struct exporters *exporters, const char *name)
{
	size_t at = 0;

	while (at < exporters->count && strcmp(exporters->names[at], name) != 0)
		at++;
	if (at == EXPORTERS_MAX)
		return at - 1;
	if (at == exporters->count)
		exporters->names[exporters->count++] = name;
	return at;
}

static void find_exporters(struct exporters *ret, const struct result_list *results)
{
	*ret = (struct exporters){ .count = 0 };
	for (size_t i = 0; i < results->count; i++)
		ret->counts[place_of(ret, results->items[i]->exporter)]
			   [results->items[i]->verdict]++;
}

static const char *title_of(const struct exporters *exporters, size_t at)
{
	return *exporters->names[at] ? exporters->names[at] : "The run itself";
}

static void add_head(struct strbuf *out, const struct verdict_report *report)
{
	enum verdict verdict = result_list_verdict(report->results);
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
	strbuf_addf(out, ", %s</p>\n<p class=\"verdict\">", created);
	html_add_verdict(out, verdict);
	strbuf_add_str(out, "</p>\n");
}

/* Why: the result that the verdict follows from, and how many others there are. */
static void add_lead(struct strbuf *out, const struct result_list *results,
		     const struct exporters *exporters)
{
	const struct result *result = report_leading_result(results);

	if (result) {
		strbuf_add_str(out, "<p class=\"lead\"><b>");
		html_add_text(out, result->name, sizeof(result->name));
		strbuf_add_str(out, "</b>");
		if (exporters->count > 1 && result->exporter[0]) {
			strbuf_add_str(out, " of ");
			html_add_text(out, result->exporter, sizeof(result->exporter));
		}
		strbuf_add_str(out, ": ");
		report_text_sentence(out, result->reason);
		strbuf_add_str(out, "</p>\n");
	}
	strbuf_add_str(out, "<p>");
	for (size_t v = 0; v < VERDICTS; v++)
		strbuf_addf(out, "%s%zu %s", v ? " · " : "",
			    result_list_count(results, worst_first[v]),
			    verdict_name(worst_first[v]));
	strbuf_add_str(out, "</p>\n");
}

static enum verdict verdict_of(const struct exporters *exporters, size_t at)
{
	for (size_t v = 0; v + 1 < VERDICTS; v++)
		if (exporters->counts[at][worst_first[v]] > 0)
			return worst_first[v];
	return VERDICT_NOT_APPLICABLE;
}

static void add_overview(struct strbuf *out, const struct exporters *exporters)
{
	if (exporters->count < 2)
		return;
	strbuf_add_str(out, "<table class=\"results overview\"><thead><tr><th>verdict</th>"
			    "<th>exporter</th>");
	for (size_t v = 0; v < VERDICTS; v++)
		strbuf_addf(out, "<th class=\"n\">%s</th>", verdict_name(worst_first[v]));
	strbuf_add_str(out, "</tr></thead><tbody>\n");
	for (size_t at = 0; at < exporters->count; at++) {
		strbuf_add_str(out, "<tr><td>");
		html_add_verdict(out, verdict_of(exporters, at));
		strbuf_addf(out, "</td><td><a href=\"#e%zu\">", at + 1);
		html_add_text(out, title_of(exporters, at), RESULT_NAME_MAX);
		strbuf_add_str(out, "</a></td>");
		for (size_t v = 0; v < VERDICTS; v++)
			strbuf_addf(out, "<td class=\"n\" data-l=\"%s\">%zu</td>",
				    verdict_name(worst_first[v]),
				    exporters->counts[at][worst_first[v]]);
		strbuf_add_str(out, "</tr>\n");
	}
	strbuf_add_str(out, "</tbody></table>\n");
}

/* A cell without a number is of no use on a narrow screen, where cells are below each other. */
static void begin_cell(struct strbuf *out, const char *label, double ratio)
{
	strbuf_addf(out, "<td class=\"n%s\" data-l=\"%s\">", isfinite(ratio) ? "" : " e", label);
}

static void add_row(struct strbuf *out, const struct result *result, size_t index)
{
	const struct threshold *threshold = &result->threshold;
	double truth_error = threshold->truth_error > 0 ? threshold->truth_error : (double)NAN;
	bool has_details = html_has_details(result);

	strbuf_add_str(out, "<tr><td>");
	html_add_verdict(out, result->verdict);
	if (result->cause != CAUSE_NONE)
		strbuf_addf(out, " <span class=\"cause\">(%s)</span>", cause_name(result->cause));
	strbuf_add_str(out, "</td><td>");
	if (has_details)
		strbuf_addf(out, "<a href=\"#r%zu\">", index + 1);
	html_add_text(out, result->name, sizeof(result->name));
	strbuf_addf(out, "%s</td>", has_details ? "</a>" : "");
	begin_cell(out, "error", result->error);
	report_text_percent(out, result->error, false);
	strbuf_add_str(out, "</td>");
	begin_cell(out, "bound", threshold->max_error);
	report_text_bound(out, threshold->max_error);
	strbuf_add_str(out, "</td>");
	begin_cell(out, "truth", truth_error);
	report_text_bound(out, truth_error);
	strbuf_add_str(out, "</td><td class=\"reason\">");
	report_text_sentence(out, result->reason);
	strbuf_add_str(out, "</td></tr>\n");
}

static void add_results(struct strbuf *out, const struct result_list *results,
			struct exporters *exporters, size_t at)
{
	if (exporters->count > 1) {
		strbuf_addf(out, "<h3 id=\"e%zu\">", at + 1);
		html_add_text(out, title_of(exporters, at), RESULT_NAME_MAX);
		strbuf_add_str(out, "</h3>\n");
	}
	strbuf_add_str(out, "<table class=\"results\"><thead><tr><th>verdict</th><th>result</th>"
			    "<th class=\"n\">error</th><th class=\"n\">bound</th>"
			    "<th class=\"n\">truth ±</th><th>reason</th></tr></thead><tbody>\n");
	for (size_t v = 0; v < VERDICTS; v++)
		for (size_t i = 0; i < results->count; i++)
			if (results->items[i]->verdict == worst_first[v] &&
			    place_of(exporters, results->items[i]->exporter) == at)
				add_row(out, results->items[i], i);
	strbuf_add_str(out, "</tbody></table>\n");
}

static int add_details(struct strbuf *out, const struct result_list *results)
{
	size_t charts = 0, without = 0;

	strbuf_add_str(out, "<h2>Details</h2>\n");
	for (size_t v = 0; v < VERDICTS; v++) {
		for (size_t i = 0; i < results->count; i++) {
			const struct result *result = results->items[i];
			bool is_comparison = result->actual && result->predicted;

			if (result->verdict != worst_first[v] || !html_has_details(result))
				continue;
			int r = html_details_add(out, result, i, charts < HTML_PAGE_CHARTS_MAX);
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
	struct strbuf line = STRBUF_INIT;

	strbuf_add_str(out, "<h2>Machine and command</h2>\n<dl>\n");
	for (size_t i = 0; report->machine && i < report->machine->count; i++)
		html_add_fact(out, report->machine->items[i].name, report->machine->items[i].value);
	html_add_fact(out, "command", report->command);
	strbuf_add_str(out, "</dl>\n<h2>A line for a ticket</h2>\n<p><code>");
	report_line_add(&line, report);
	html_add_text(out, line.data ? line.data : "", line.len);
	strbuf_release(&line);
	strbuf_add_str(out, "</code></p>\n");
}

int html_page_add(struct strbuf *out, const struct verdict_report *report)
{
	struct exporters exporters;

	find_exporters(&exporters, report->results);
	add_head(out, report);
	add_lead(out, report->results, &exporters);
	add_overview(out, &exporters);
	strbuf_add_str(out, "<h2>Results</h2>\n");
	for (size_t at = 0; at < exporters.count; at++)
		add_results(out, report->results, &exporters, at);
	int r = add_details(out, report->results);
	add_machine(out, report);
	strbuf_add_str(out, "</main></body></html>\n");
	return r < 0 ? r : strbuf_error(out);
}
