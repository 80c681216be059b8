// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "export/landing_page.h"
#include "fixture.h"

static void assert_page(const struct snapshot *snapshot, const char *has, const char *lacks)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;

	assert_int_equal(landing_page(snapshot, &page), 0);
	assert_non_null(strstr(page.data, has));
	assert_non_null(strstr(page.data, "href=\"/metrics\""));
	assert_non_null(strstr(page.data, "href=\"/healthz\""));
	assert_non_null(strstr(page.data, "href=\"/readyz\""));
	assert_null(strstr(page.data, "http"));
	if (lacks)
		assert_null(strstr(page.data, lacks));
}

static void says_what_there_is(void **state)
{
	struct fixture fixture;

	(void)state;
	assert_page(NULL, "Nothing has been read yet", "<table>");
	fixture_node(&fixture);
	assert_page(&fixture.snapshot, "measured", "estimated");
	assert_page(&fixture.snapshot, "19.75 W", NULL);
	assert_page(&fixture.snapshot, "no reading", NULL);
	fixture_release(&fixture);
	fixture_vm(&fixture);
	assert_page(&fixture.snapshot, "estimated", "measured<");
	fixture.zones[0].model_error_w = 4.496;
	assert_page(&fixture.snapshot, " W ± 4.50 W</td>", NULL);
	fixture_release(&fixture);
	fixture_bare(&fixture);
	assert_page(&fixture.snapshot, "No power zone", "<table>");
	fixture_release(&fixture);
}

static void names_stay_text(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_node(&fixture);
	for (int i = 0; i < 6; i++)
		(void)snprintf(fixture.labels[LEVEL_PROCESS][i].command, LEDGER_COMM_MAX, "%s",
			       "<b>\"&'\xff\n");
	(void)snprintf(fixture.names[0].name, 128, "</td><script>");
	assert_page(&fixture.snapshot, "&lt;b&gt;&quot;&amp;&#39;\xef\xbf\xbd\xef\xbf\xbd", "<b>");
	assert_page(&fixture.snapshot, "&lt;/td&gt;&lt;script&gt;", "<script");
	fixture_release(&fixture);
}

/* The name of a container alone says little in a cluster. */
static void owners_are_named_with_their_pods(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	static const struct fixture_shape shape = { .zones = 1, .containers = 2, .processes = 2 };
	struct fixture fixture;
	const char *owners, *processes;

	(void)state;
	fixture_make(&fixture, &shape);
	for (uint32_t i = 0; i < shape.containers; i++) {
		fixture.names[i].text.text[LABEL_CONTAINER_NAME] = "web";
		fixture.names[i].text.text[LABEL_NAMESPACE] = "shop";
		fixture.names[i].text.text[LABEL_POD_ID] = i == 0 ? "0b5c" : "";
		fixture.names[i].text.text[LABEL_POD_NAME] = "checkout-7d9f";
	}
	assert_int_equal(landing_page(&fixture.snapshot, &page), 0);
	owners = strstr(page.data, "<caption>Largest owners (");
	assert_non_null(owners);
	assert_non_null(strstr(owners, "<td>web in shop/checkout-7d9f</td>"));
	assert_non_null(strstr(owners, "<td>web</td>")); /* of no pod */
	processes = strstr(owners, "<caption>Largest processes (");
	assert_non_null(processes);
	assert_non_null(strstr(processes, "<th scope=\"col\">Owner</th>"));
	fixture_release(&fixture);
}

static void ranks_by_power(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	static const struct fixture_shape shape = { .zones = 1, .containers = 1, .processes = 40 };
	struct fixture fixture;
	const char *first;

	(void)state;
	fixture_make(&fixture, &shape);
	for (uint32_t i = 0; i < 40; i++)
		((uint64_t *)(uintptr_t)fixture.snapshot.level[LEVEL_PROCESS].deltas)[i * 2] =
			(i * 17 % 40) * 1000000;
	assert_int_equal(landing_page(&fixture.snapshot, &page), 0);
	first = strstr(page.data, "39.00 W");
	assert_non_null(first);
	assert_non_null(strstr(first, "38.00 W"));
	assert_non_null(strstr(page.data, "30.00 W"));
	assert_null(strstr(page.data, "29.00 W"));
	fixture_release(&fixture);
}

/* A meter that was found late has no power yet: until then the estimate ranks. */
static void ranks_by_what_has_power(void **state)
{
	static const struct fixture_shape shape = {
		.zones = 2, .containers = 1, .processes = 2, .by_zone = true
	};
	struct fixture fixture;
	uint64_t *deltas;

	(void)state;
	fixture_make(&fixture, &shape);
	fixture.zones[0].zone.kind = ZONE_PLATFORM;
	fixture.zones[0].zone.quality = QUALITY_ESTIMATED;
	fixture.zones[1].span_ns = 0;
	fixture_follow_zones(&fixture);
	deltas = (uint64_t *)(uintptr_t)fixture.snapshot.level[LEVEL_PROCESS].deltas;
	deltas[0] = 39000000;
	assert_page(&fixture.snapshot, "(platform, dynamic)", "(package");
	assert_page(&fixture.snapshot, "39.00 W", NULL);
	fixture.zones[0].ended = true; /* it is over now, and counts no more */
	fixture.zones[0].span_ns = 0;
	fixture.zones[1].span_ns = 1000000000;
	fixture_follow_zones(&fixture);
	deltas[1] = 17000000;
	assert_page(&fixture.snapshot, "(package, dynamic)", "(platform");
	assert_page(&fixture.snapshot, "17.00 W", "39.00 W");
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_there_is),
		cmocka_unit_test(names_stay_text),
		cmocka_unit_test(owners_are_named_with_their_pods),
		cmocka_unit_test(ranks_by_power),
		cmocka_unit_test(ranks_by_what_has_power),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
