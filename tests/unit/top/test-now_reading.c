// SPDX-License-Identifier: Apache-2.0
#include "top/now_reading.h"

#include <math.h>

#include "readings.h"

static void an_answer_becomes_a_value(void **state)
{
	struct now_reading reading = { 0 };

	assert_int_equal(now_reading_parse(a_reading, strlen(a_reading), &reading, NULL), 0);
	assert_int_equal(reading.row_count, 5);
	assert_string_equal(reading.node, "host");
	assert_string_equal(reading.level, "process");
	assert_true(fabs(reading.total_watts - 198) < 1e-9);
	assert_true(isnan(reading.error_watts));
	assert_int_equal(reading.part_count, 2);
	assert_true(reading.parts[1].is_rest && !reading.parts[1].is_estimated);
	assert_int_equal(reading.left_out, 3);
	assert_int_equal(reading.rows[0].pid, 7);
	assert_false(reading.rows[3].is_other);
	assert_true(reading.rows[4].is_other);
	now_reading_release(&reading);
}

static void what_is_missing_is_not_0(void **state)
{
	static const char text[] = "{\"time\":1,\"rows\":[{\"pid\":7,\"command\":\"x\"}]}";
	struct now_reading reading = { 0 };

	assert_int_equal(now_reading_parse(text, strlen(text), &reading, NULL), 0);
	assert_true(isnan(reading.total_watts) && isnan(reading.unattributed_watts));
	assert_true(isnan(reading.rows[0].watts) && isnan(reading.rows[0].cpu_percent));
	assert_true(reading.is_complete); /* an older exporter does not say so */
	now_reading_release(&reading);
}

static void a_wrong_answer_leaves_the_reading(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "not JSON" },
		{ "<html>", "not JSON" },
		{ "[]", "no rows" },
		{ "{\"time\":1,\"rows\":{}}", "no rows" },
		{ "{\"rows\":[]}", "no rows" },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
		  "deep" },
	};
	struct now_reading reading = { 0 };

	assert_int_equal(now_reading_parse(a_reading, strlen(a_reading), &reading, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag diag = { "" };

		assert_int_equal(
			now_reading_parse(cases[i].text, strlen(cases[i].text), &reading, &diag),
			-EINVAL);
		assert_non_null(strstr(diag.text, cases[i].why));
		assert_int_equal(reading.row_count, 5);
	}
	now_reading_release(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_becomes_a_value),
		cmocka_unit_test(what_is_missing_is_not_0),
		cmocka_unit_test(a_wrong_answer_leaves_the_reading),
	};

	return unit_run(tests);
}
