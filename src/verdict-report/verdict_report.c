// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/verdict_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void widen(const struct series *series, double *start_s, double *end_s)
{
	if (!series || series->count == 0)
		return;
	*start_s = fmin(*start_s, series_start_s(series)); /* fmin() and fmax() pass over NAN */
	*end_s = fmax(*end_s, series_end_s(series));
}

void report_time(const struct verdict_report *report, double *ret_start_s, double *ret_end_s)
{
	*ret_start_s = *ret_end_s = NAN;
	for (size_t i = 0; i < report->results->count; i++) {
		widen(report->results->items[i]->actual, ret_start_s, ret_end_s);
		widen(report->results->items[i]->predicted, ret_start_s, ret_end_s);
	}
}

bool report_has_several_exporters(const struct result_list *results)
{
	const char *first = NULL;

	for (size_t i = 0; i < results->count; i++) {
		const char *exporter = results->items[i]->exporter;

		if (first && *exporter && strcmp(first, exporter) != 0)
			return true;
		if (*exporter)
			first = exporter;
	}
	return false;
}

/* How much a result says about why. */
static int weight_of(const struct result *result)
{
	return result->has_errors ? 1 + (result->cause != CAUSE_NONE) : 0;
}

const struct result *report_leading_result(const struct result_list *results)
{
	enum verdict verdict = result_list_verdict(results);
	const struct result *leading = NULL;

	for (size_t i = 0; i < results->count; i++)
		if (results->items[i]->verdict == verdict &&
		    (!leading || weight_of(results->items[i]) > weight_of(leading)))
			leading = results->items[i];
	return leading;
}

static void add_machine_fact(struct strbuf *out, const struct machine_facts *machine,
			     const char *name)
{
	for (size_t i = 0; machine && i < machine->count; i++)
		if (strcmp(machine->items[i].name, name) == 0) {
			strbuf_add_str(out, ", ");
			strbuf_add_json(out, machine->items[i].value);
		}
}

void report_line_add(struct strbuf *out, const struct verdict_report *report)
{
	const struct result_list *results = report->results;
	const struct result *leading = report_leading_result(results);
	char created[32];

	report_time_text((double)report->created, created);
	strbuf_addf(out,
		    "kepler-validator %s: %s (%zu pass, %zu fail, %zu inconclusive, %zu not "
		    "applicable)",
		    report->version, verdict_name(result_list_verdict(results)),
		    result_list_count(results, VERDICT_PASS),
		    result_list_count(results, VERDICT_FAIL),
		    result_list_count(results, VERDICT_INCONCLUSIVE),
		    result_list_count(results, VERDICT_NOT_APPLICABLE));
	add_machine_fact(out, report->machine, "processor");
	add_machine_fact(out, report->machine, "kernel");
	strbuf_addf(out, ", %s", created);
	if (!leading)
		return;
	strbuf_addf(out, ". %s", leading->name);
	if (leading->exporter[0])
		strbuf_addf(out, " of %s", leading->exporter);
	strbuf_addf(out, ": %s", leading->reason);
}

void report_series_file(size_t index, const char *which, char *buf)
{
	(void)snprintf(buf, REPORT_FILE_MAX, "series/%03zu-%s.csv.gz", index + 1, which);
}

bool report_owns_series_file(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits >= 3 && (strcmp(name + digits, "-actual.csv.gz") == 0 ||
			       strcmp(name + digits, "-predicted.csv.gz") == 0);
}

void report_time_text(double time_s, char *buf)
{
	time_t seconds;
	struct tm parts;

	buf[0] = '\0';
	if (!(time_s >= 0) || time_s > 253402300799.0) /* the year 9999 */
		return;
	seconds = (time_t)time_s;
	if (gmtime_r(&seconds, &parts))
		(void)strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
