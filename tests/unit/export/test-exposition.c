// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/num.h"
#include "export/exposition.h"

static void assert_scaled(uint64_t value, unsigned decimals, const char *want)
{
	char text[FORMAT_SCALED_MAX + 1];

	text[format_scaled(text, value, decimals)] = '\0';
	assert_string_equal(text, want);
}

static void puts_the_point_where_it_belongs(void **state)
{
	(void)state;
	assert_scaled(0, 0, "0");
	assert_scaled(0, 6, "0");
	assert_scaled(1, 6, "0.000001");
	assert_scaled(1500000, 6, "1.5");
	assert_scaled(1000000, 6, "1");
	assert_scaled(10, 0, "10");
	assert_scaled(123456789012345ULL, 6, "123456789.012345");
	assert_scaled(999999999, 9, "0.999999999");
	assert_scaled(UINT64_MAX, 6, "18446744073709.551615");
	assert_scaled(UINT64_MAX, 9, "18446744073.709551615");
	assert_scaled(UINT64_MAX, 0, "18446744073709551615");
}

static void emit_nothing(struct render *render, const struct metric *metric)
{
	(void)render;
	(void)metric;
}

static void a_family_without_samples_leaves_no_trace(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	static const struct metric counter = {
		"x_<zone>_joules", METRIC_COUNTER, "joules", SCHEMA_BOTH, "",
		"Help.",           emit_nothing,   0
	};
	struct exposition_writer w = { .out = &out,
				       .exposition = EXPOSITION_OPENMETRICS,
				       .created = true };

	(void)state;
	family_begin(&w, &counter, "package");
	assert_int_equal(out.len, 0);
	sample_begin(&w);
	sample_label(&w, "a", "1\"");
	sample_label(&w, "b", "");
	sample_end(&w, 1500000, 6, 1700000000500);
	sample_begin(&w);
	sample_end(&w, 2, 0, 0);
	assert_string_equal(out.data,
			    "# HELP x_package_joules Help.\n# TYPE x_package_joules counter\n"
			    "# UNIT x_package_joules joules\n"
			    "x_package_joules_total{a=\"1\\\"\",b=\"\"} 1.5\n"
			    "x_package_joules_created{a=\"1\\\"\",b=\"\"} 1700000000.5\n"
			    "x_package_joules_total 2\nx_package_joules_created 0\n");
}

static void a_zone_name_cannot_break_a_name(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	static const struct metric gauge = {
		"x_<zone>_watts", METRIC_GAUGE, "watts", SCHEMA_BOTH, "", "Help.", emit_nothing, 0
	};
	struct exposition_writer w = { .out = &out };
	char longer[200];

	(void)state;
	memset(longer, 'z', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	family_begin(&w, &gauge, "a b{\"");
	assert_string_equal(w.family, "x_a_b___watts");
	family_begin(&w, &gauge, longer);
	assert_int_equal(strlen(w.family), FAMILY_NAME_MAX - 1);
	assert_string_equal(w.family + FAMILY_NAME_MAX - 1 - 7, "z_watts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_the_point_where_it_belongs),
		cmocka_unit_test(a_family_without_samples_leaves_no_trace),
		cmocka_unit_test(a_zone_name_cannot_break_a_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
