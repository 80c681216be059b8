// SPDX-License-Identifier: Apache-2.0
#include "units/unit_page.h"

#include "tests/unit/unit.h"

static const struct unit_rule rule = {
	.metric = "requests_total",
	.matches = { { .label = "code", .value = "500", .is_not = true } },
	.match_count = 1,
};

static const char page_text[] = "# HELP requests_total Requests.\n"
				"# TYPE requests_total counter\n"
				"requests_total{code=\"200\",path=\"/\"} 7\n"
				"requests_total{code=\"500\"} 100\n"
				"requests_total_sum 3\n"
				"requests_total_created{code=\"200\"} 1.7e9\n"
				"requests_totals 9\n"
				"other{broken 5 # {x=\"y\"}\n"
				"requests_total{code=\"404\"} 2 1796040000000\n"
				"requests_total 0.5";

/* The page in pieces of @piece bytes. */
static int read_page(const char *text, size_t len, size_t piece, struct unit_series *series,
		     struct diag *diag)
{
	CLEANUP(unit_page_release) struct unit_page page = { .rule = NULL };
	int r = 0;

	unit_page_begin(&page, &rule);
	unit_series_begin(series);
	for (size_t at = 0; at < len && r == 0; at += piece)
		r = unit_page_add(&page, text + at, piece < len - at ? piece : len - at);
	return r == 0 ? unit_page_end(&page, series, diag) : r;
}

static void test_counter_is_found_in_any_pieces(void **state)
{
	for (size_t piece = 1; piece <= sizeof(page_text); piece++) {
		CLEANUP(unit_series_release) struct unit_series series = { .count = 0 };
		struct diag diag = { "" };

		assert_int_equal(read_page(page_text, strlen(page_text), piece, &series, &diag), 0);
		assert_int_equal(series.count, 3);
		assert_int_equal(series.increase_micro, 9500000);
	}
}

static void assert_fault(const char *text, int error, const char *says)
{
	CLEANUP(unit_series_release) struct unit_series series = { .count = 0 };
	struct diag diag = { "" };

	assert_int_equal(read_page(text, strlen(text), 7, &series, &diag), error);
	if (!strstr(diag.text, says))
		print_error("%s: %s\n", text, diag.text);
	assert_non_null(strstr(diag.text, says));
}

static void test_faults(void **state)
{
	assert_fault("", -ENODATA, "no series requests_total");
	assert_fault("<html>\n", -ENODATA, "no series requests_total");
	assert_fault("requests_total{code=\"200\"} -1\n", -ERANGE, "is no counter's");
	assert_fault("requests_total{code=\"200\"} NaN\n", -ERANGE, "is no counter's");
	assert_fault("requests_total 1\nrequests_total 1\n", -EEXIST, "two values");
	assert_fault("requests_total{code=200} 1\n", -EPROTO, "line 1");
	assert_fault("requests_total\n", -ENODATA, "no series");
}

static void test_long_lines(void **state)
{
	size_t len = UNIT_LINE_MAX * 2;
	CLEANUP_FREE char *text = malloc(len + 64);
	CLEANUP(unit_series_release) struct unit_series series = { .count = 0 };

	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text + len, "\nrequests_total 1\n", 18);
	for (size_t piece = 1; piece < 4 * len; piece *= 3) /* of others: any length */
		assert_int_equal(read_page(text, len + 17, piece, &series, NULL), 0);
	memcpy(text, "requests_total{a=\"", 18);
	for (size_t piece = 1; piece < 4 * len; piece *= 3)
		assert_int_equal(read_page(text, len + 17, piece, &series, NULL), -EMSGSIZE);
}

static void test_many_lines(void **state)
{
	CLEANUP(unit_series_release) struct unit_series series = { .count = 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < 20000; i++)
		strbuf_addf(&text, "requests_total{path=\"/%u\"} 1\n", i);
	assert_int_equal(read_page(text.data, text.len, 4096, &series, NULL), -EMSGSIZE);
	strbuf_reset(&text);
	for (unsigned i = 0; i <= UNIT_SERIES_MAX; i++)
		strbuf_addf(&text, "requests_total{path=\"/%u\"} 1\n", i);
	assert_int_equal(read_page(text.data, text.len, 4096, &series, NULL), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_is_found_in_any_pieces),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_many_lines),
	};

	return unit_run(tests);
}
