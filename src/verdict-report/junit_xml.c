// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/junit_xml.h"

#include <inttypes.h>

#include "base/text/html.h"

/* The element within a test case; NULL: none, it has passed. */
static const char *const elements[] = {
	[VERDICT_PASS] = NULL,
	[VERDICT_FAIL] = "failure",
	[VERDICT_INCONCLUSIVE] = "error",
	[VERDICT_NOT_APPLICABLE] = "skipped",
};

static void add_case(struct strbuf *out, const struct result *result)
{
	const char *element = elements[result->verdict];

	strbuf_addf(out, "    <testcase classname=\"kepler-validator.%s\" name=\"",
		    result_kind_name(result->kind));
	html_add_text(out, result->name, sizeof(result->name));
	if (result->exporter[0]) {
		strbuf_add_str(out, " of ");
		html_add_text(out, result->exporter, sizeof(result->exporter));
	}
	if (!element) {
		strbuf_add_str(out, "\"/>\n");
		return;
	}
	strbuf_addf(out, "\">\n      <%s message=\"", element);
	html_add_text(out, result->reason, sizeof(result->reason));
	/* The schema of JUnit has no type for a skipped case. */
	if (result->verdict != VERDICT_NOT_APPLICABLE)
		strbuf_addf(out, "\" type=\"%s", cause_name(result->cause));
	strbuf_add_str(out, "\"/>\n    </testcase>\n");
}

void junit_xml_add(struct strbuf *out, const struct verdict_report *report)
{
	const struct result_list *results = report->results;
	size_t failures = result_list_count(results, VERDICT_FAIL);
	size_t errors = result_list_count(results, VERDICT_INCONCLUSIVE);
	size_t skipped = result_list_count(results, VERDICT_NOT_APPLICABLE);
	char created[32];

	report_time_text((double)report->created, created);
	created[created[0] ? 19 : 0] = '\0'; /* the schema's time has no zone */
	strbuf_add_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	strbuf_addf(out,
		    "<testsuites>\n  <testsuite name=\"kepler-validator\" tests=\"%zu\" "
		    "failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" timestamp=\"%s\">\n",
		    results->count, failures, errors, skipped, created);
	for (size_t i = 0; i < results->count; i++)
		add_case(out, results->items[i]);
	strbuf_add_str(out, "  </testsuite>\n</testsuites>\n");
}
