// SPDX-License-Identifier: Apache-2.0
#include "base/num.h"
#include "export/text_sink.h"
#include "tests/unit/unit.h"

static void assert_scaled(uint64_t value, unsigned decimals, const char *want)
{
	char text[FORMAT_SCALED_MAX + 1];

	text[format_scaled(text, value, decimals)] = '\0';
	assert_string_equal(text, want);
}

static void puts_the_point_where_it_belongs(void **state)
{
	assert_scaled(0, 0, "0");
	assert_scaled(0, 6, "0");
	assert_scaled(1, 6, "0.000001");
	assert_scaled(1500000, 6, "1.5");
	assert_scaled(1000000, 6, "1");
	assert_scaled(10, 0, "10");
	assert_scaled(1230000, 6, "1.23");
	assert_scaled(70, 9, "0.00000007");
	assert_scaled(99, 1, "9.9");
	assert_scaled(123456789012345ULL, 6, "123456789.012345");
	assert_scaled(999999999, 9, "0.999999999");
	assert_scaled(UINT64_MAX, 6, "18446744073709.551615");
	assert_scaled(UINT64_MAX, 9, "18446744073.709551615");
	assert_scaled(UINT64_MAX, 0, "18446744073709551615");
}

static void a_family_without_samples_leaves_no_trace(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	static const struct family counter = { .type = FAMILY_COUNTER,
					       .unit = "joules",
					       .help = "Help." };
	static const struct label_pair labels[] = { { "a", "1\"" }, { "b", "" } };
	struct point point = { .labels = { labels, 2 },
			       .value = { .integer = 1500000, .decimals = 6 },
			       .created_ms = 1700000000500 };
	struct text_sink text;

	text_sink_init(&text, &out, TEXT_OPENMETRICS_1, true);
	text.sink.family(&text.sink, &counter, "x_package_joules");
	assert_int_equal(out.len, 0);
	text.sink.point(&text.sink, &point);
	point = (struct point){ .value = { .integer = 2 } };
	text.sink.point(&text.sink, &point);
	assert_int_equal(text_sink_finish(&text), 0);
	assert_string_equal(out.data,
			    "# HELP x_package_joules Help.\n# TYPE x_package_joules counter\n"
			    "# UNIT x_package_joules joules\n"
			    "x_package_joules_total{a=\"1\\\"\",b=\"\"} 1.5\n"
			    "x_package_joules_created{a=\"1\\\"\",b=\"\"} 1700000000.5\n"
			    "x_package_joules_total 2\nx_package_joules_created 0\n# EOF\n");
}

static void put_both(struct text_sink *text, const struct family *family, const char *name,
		     const struct point *point)
{
	text->sink.family(&text->sink, family, name);
	text->sink.point(&text->sink, point);
}

/* prometheus.io/docs/specs/om/open_metrics_spec_2_0 */
static void births_stand_in_the_line_in_openmetrics_2(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	static const struct family counter = { .type = FAMILY_COUNTER,
					       .unit = "joules",
					       .help = "With pid=\"\"." };
	static const struct family info = { .type = FAMILY_INFO, .unit = "", .help = "I." };
	static const struct family histogram = { .type = FAMILY_HISTOGRAM,
						 .unit = "seconds",
						 .help = "H." };
	static const double bounds[] = { 0.5, 1, 0 };
	static const uint64_t counts[] = { 2, 0, 0 };
	static const struct label_pair labels[] = { { "a", "1\"" } };
	const struct histogram values = { bounds, counts, 3, 3, 2.25 };
	const struct point point = { .labels = { labels, 1 },
				     .value = { .integer = 1500000, .decimals = 6 },
				     .histogram = &values,
				     .created_ms = 1520430000123 };
	struct text_sink text;

	text_sink_init(&text, &out, TEXT_OPENMETRICS_2, true);
	put_both(&text, &counter, "x_joules", &point);
	put_both(&text, &info, "y", &point);
	put_both(&text, &histogram, "z_seconds", &point);
	assert_int_equal(text_sink_finish(&text), 0);
	assert_string_equal(
		out.data,
		"# TYPE x_joules_total counter\n# UNIT x_joules_total joules\n"
		"# HELP x_joules_total With pid=\\\"\\\".\n"
		"x_joules_total{a=\"1\\\"\"} 1.5 st@1520430000.123\n"
		"# TYPE y_info info\n# HELP y_info I.\ny_info{a=\"1\\\"\"} 1.5\n"
		"# TYPE z_seconds histogram\n# UNIT z_seconds seconds\n# HELP z_seconds H.\n"
		"z_seconds{a=\"1\\\"\"} {count:3,sum:2.25,bucket:[0.5:2,1:2,+Inf:3]} "
		"st@1520430000.123\n# EOF\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_the_point_where_it_belongs),
		cmocka_unit_test(a_family_without_samples_leaves_no_trace),
		cmocka_unit_test(births_stand_in_the_line_in_openmetrics_2),
	};

	return unit_run(tests);
}
