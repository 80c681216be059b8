// SPDX-License-Identifier: Apache-2.0
#include "export/landing_page.h"
#include "fixture.h"
#include "tests/unit/unit.h"

/* The part that is written for this snapshot, which is shown without a script. */
static char *plain_part(struct strbuf *page)
{
	char *plain = strstr(page->data, "<div id=\"plain\">"), *end;

	assert_non_null(plain);
	end = strstr(plain, "<script type=\"module\">");
	assert_non_null(end);
	assert_non_null(strstr(end, "</html>"));
	*end = '\0';
	return plain;
}

static void assert_page(const struct snapshot *snapshot, const char *has, const char *lacks)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;

	const char *plain;

	assert_int_equal(landing_page(snapshot, &page), 0);
	assert_null(strstr(page.data, "http"));
	plain = plain_part(&page);
	assert_non_null(strstr(plain, has));
	assert_non_null(strstr(plain, "href=\"/metrics\""));
	assert_non_null(strstr(plain, "href=\"/healthz\""));
	assert_non_null(strstr(plain, "href=\"/readyz\""));
	if (lacks)
		assert_null(strstr(plain, lacks));
}

static void says_what_there_is(void **state)
{
	struct fixture fixture;

	assert_page(NULL, "Nothing has been read yet", "<table>");
	fixture_node(&fixture);
	assert_page(&fixture.snapshot, "measured", "estimated");
	assert_page(&fixture.snapshot, "19.75 W", NULL);
	assert_page(&fixture.snapshot, "no reading", NULL);
	fixture_release(&fixture);
	fixture_vm(&fixture);
	assert_page(&fixture.snapshot, "estimated", "measured<");
	fixture.zones[0].model_error_w = 4.496;
	assert_page(&fixture.snapshot, " W ± 4.5 W</td>", NULL);
	fixture_release(&fixture);
	fixture_bare(&fixture);
	assert_page(&fixture.snapshot, "No power zone", "<table>");
	fixture_release(&fixture);
}

static void names_stay_text(void **state)
{
	struct fixture fixture;

	fixture_node(&fixture);
	fixture_power(&fixture);
	(void)snprintf(fixture.power.rows[0].command, LEDGER_COMM_MAX, "%s", "<b>\"&'\xff\n");
	(void)snprintf(fixture.power.rows[2].owner, OWNER_TEXT_SIZE, "</td><script>");
	assert_page(&fixture.snapshot, "&lt;b&gt;&quot;&amp;&#39;\xef\xbf\xbd\xef\xbf\xbd", "<b>");
	assert_page(&fixture.snapshot, "&lt;/td&gt;&lt;script&gt;", "<script");
	fixture_release(&fixture);
}

/* Each number of the table that begins with @caption, and the next one before "W". */
static double sum_table(const char *page, const char *caption)
{
	const char *at = strstr(page, caption), *end;
	double sum = 0;

	assert_non_null(at);
	end = strstr(at, "</table>");
	for (at = strstr(at, "class=\"n\">Power"); at && at < end;
	     at = strstr(at + 1, "<td class=\"n\">"))
		sum += strtod(strchr(at, '>') + 1, NULL);
	return sum;
}

static void rows_idle_and_unattributed_make_the_headline(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	struct fixture fixture;

	fixture_node(&fixture);
	fixture_power(&fixture);
	assert_int_equal(landing_page(&fixture.snapshot, &page), 0);
	assert_non_null(strstr(page.data, "<strong class=\"w\">198.0 W</strong>"));
	assert_non_null(strstr(page.data, "package 92.0 · dram 9.0 · rest of psys 97.0<"));
	assert_non_null(strstr(page.data, "processes 171.0 · unattributed 1.0 · idle 26.0<"));
	assert_true(fabs(sum_table(page.data, "Largest processes") - 171) < 0.01);
	assert_true(fabs(sum_table(page.data, "Largest owners") - 171) < 0.01);
	assert_non_null(strstr(page.data, "<td>web in shop/checkout-7d9f</td>"));
	assert_non_null(strstr(page.data, "<td>burner (7)</td><td>shop/checkout-7d9f</td>"));
	fixture_release(&fixture);
}

/* More rows than are shown. */
static void what_is_not_shown_is_among_the_others(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	struct power_row rows[40] = { { 0 } };
	struct fixture fixture;

	fixture_node(&fixture);
	fixture_power(&fixture);
	fixture.power.rows = rows;
	fixture.power.view[LEVEL_CONTAINER].count = 0;
	fixture.power.view[LEVEL_PROCESS].count = 40;
	fixture.power.view[LEVEL_PROCESS].other_uw = 3000000;
	for (uint32_t i = 0; i < 40; i++) {
		rows[i].pid = 100 + i;
		rows[i].power_uw = (40 - i) * 1000000;
	}
	assert_int_equal(landing_page(&fixture.snapshot, &page), 0);
	assert_non_null(strstr(page.data, "31.00 W"));
	assert_non_null(strstr(page.data, "468.0 W")); /* 30 + 29 + … + 1, and 3 */
	fixture_release(&fixture);
}

static void a_new_series_shows_0_for_a_while(void **state)
{
	struct fixture fixture;

	fixture_node(&fixture);
	assert_page(&fixture.snapshot, "Kepler", "shows 0");
	fixture.snapshot.settle_s = 30;
	assert_page(&fixture.snapshot, "a new series shows 0 for the first 30 s", NULL);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_there_is),
		cmocka_unit_test(names_stay_text),
		cmocka_unit_test(rows_idle_and_unattributed_make_the_headline),
		cmocka_unit_test(what_is_not_shown_is_among_the_others),
		cmocka_unit_test(a_new_series_shows_0_for_a_while),
	};

	return unit_run(tests);
}
