// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_text.h"

#include <math.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

static void percentages_have_one_place(void **state)
{
	static const struct {
		double ratio;
		bool is_signed;
		const char *text;
	} cases[] = {
		{ 0.34, false, "34.0\u00a0%" },
		{ 0.34, true, "+34.0\u00a0%" },
		{ -0.335, true, "\u221233.5\u00a0%" },
		{ -0.0004, true, "0.0\u00a0%" },
		{ 907, false, "over\u00a01,000\u00a0%" },
		{ -907, false, "below\u00a0\u22121,000\u00a0%" },
		{ NAN, false, "–" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		report_text_percent(&out, cases[i].ratio, cases[i].is_signed);
		assert_string_equal(out.data, cases[i].text);
	}
}

static void a_column_has_five_digits(void **state)
{
	assert_int_equal(report_text_places(2039.92), 1);
	assert_int_equal(report_text_places(9.99), 4);
	assert_int_equal(report_text_places(0.001), 4);
	assert_int_equal(report_text_places(123456), 0);
}

static void sentences_keep_numbers_and_units_together(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	report_text_sentence(&out, "short-lived: -3 W (-0.1 to 5 %) in 12 windows <1 s>");
	assert_string_equal(out.data,
			    "short-lived: \u22123\u00a0W (\u22120.1 to 5\u00a0%) in 12 windows "
			    "&lt;1\u00a0s&gt;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentages_have_one_place),
		cmocka_unit_test(a_column_has_five_digits),
		cmocka_unit_test(sentences_keep_numbers_and_units_together),
	};
	return unit_run(tests);
}
