// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "export/prometheus.h"

static void gives_openmetrics_to_those_who_prefer_it(void **state)
{
	static const struct {
		const char *accept;
		enum exposition want;
	} cases[] = {
		{ NULL, EXPOSITION_TEXT },
		{ "", EXPOSITION_TEXT },
		{ "*/*", EXPOSITION_TEXT },
		{ "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", EXPOSITION_TEXT },
		{ "application/openmetrics-text", EXPOSITION_OPENMETRICS },
		{ "Application/OpenMetrics-Text; version=1.0.0; charset=utf-8",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.7",
		  EXPOSITION_TEXT },
		{ "application/openmetrics-text;version=0.0.1", EXPOSITION_TEXT },
		{ "application/openmetrics-text;version=2.0.0;q=1,text/plain;q=0.1",
		  EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=0", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=x", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=0.001", EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text,text/plain", EXPOSITION_TEXT },
		{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;q=0.8",
		  EXPOSITION_TEXT },
		{ ",;,;q=,application/openmetrics-text;;;", EXPOSITION_OPENMETRICS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (prometheus_negotiate(cases[i].accept) != cases[i].want)
			fail_msg("\"%s\"", cases[i].accept ? cases[i].accept : "NULL");
	}
	assert_string_equal(prometheus_content_type(EXPOSITION_TEXT),
			    "text/plain; version=0.0.4; charset=utf-8");
	assert_string_equal(prometheus_content_type(EXPOSITION_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_openmetrics_to_those_who_prefer_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
