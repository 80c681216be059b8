// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_answer.h"

#include "base/macro.h"
#include "tests/unit/unit.h"

#define NOON 1796040000 /* 2026-11-30T12:00:00Z */

static void path_leads_to_a_number_or_a_text_that_is_one(void **state)
{
	static const struct {
		const char *text, *path;
		double value;
	} answers[] = {
		{ "{\"zone\":\"DE\",\"carbonIntensity\":302}", "carbonIntensity", 302 },
		{ "{\"data\":[{\"point_time\":\"x\",\"value\":870.5}],\"meta\":{}}", "data.0.value",
		  870.5 },
		{ "{\"data\":{\"result\":[{\"metric\":{},\"value\":[1796040000,\"0.31\"]}]}}",
		  "data.result.0.value.1", 0.31 },
		{ "[-0.02]", "0", -0.02 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		double value = 0;
		struct diag diag = { "" };

		if (rate_answer_json(answers[i].text, strlen(answers[i].text), answers[i].path,
				     &value, &diag) < 0)
			fail_msg("%s: %s", answers[i].path, diag.text);
		assert_true(fabs(value - (answers[i].value)) < 1e-12);
	}
}

static void other_values_are_refused(void **state)
{
	static const struct {
		const char *text, *path, *words;
	} faults[] = {
		{ "", "a", "not JSON" },
		{ "{\"a\":1", "a", "not JSON" },
		{ "{\"a\":null}", "a", "no number at a" },
		{ "{\"a\":\"\"}", "a", "no number at a" },
		{ "{\"a\":\"NaN\"}", "a", "no number at a" },
		{ "{\"a\":true}", "a", "no number at a" },
		{ "{\"a\":[]}", "a.0", "nothing at 0 of a.0" },
		{ "{\"a\":[1]}", "a.1", "nothing at 1" },
		{ "{\"a\":[1]}", "a.-1", "nothing at -1" },
		{ "{\"a\":[1]}", "a.99999999999999999999", "nothing at" },
		{ "{\"data\":{\"result\":[]}}", "data.result.0.value.1", "nothing at 0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct diag diag = { "" };
		double value;

		assert_int_equal(rate_answer_json(faults[i].text, strlen(faults[i].text),
						  faults[i].path, &value, &diag),
				 -EINVAL);
		if (!strstr(diag.text, faults[i].words))
			fail_msg("%s: %s", faults[i].text, diag.text);
	}
}

/* A parser takes many times the size of its text, and recurses. */
static void long_and_deep_answers_are_refused(void **state)
{
	char text[RATE_ANSWER_MAX + 2];
	struct diag diag = { "" };
	double value;

	memset(text, ' ', sizeof(text));
	memcpy(text, "{\"a\":5}", 7);
	assert_int_equal(rate_answer_json(text, RATE_ANSWER_MAX, "a", &value, &diag), 0);
	assert_int_equal(rate_answer_json(text, RATE_ANSWER_MAX + 1, "a", &value, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "65537 bytes"));
	memset(text, '[', 1000);
	memset(text + 1000, ']', 1000);
	assert_int_equal(rate_answer_json(text, 2000, "0", &value, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "deep"));
}

static void paths_are_checked(void **state)
{
	static const char *const faults[] = { "", ".", ".a", "a..b", "a." };

	assert_int_equal(rate_path_check("a.0.b", NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		if (rate_path_check(faults[i], NULL) != -EINVAL)
			fail_msg("\"%s\" is taken", faults[i]);
	}
}

static void token_is_a_text(void **state)
{
	char *token = NULL;

	assert_int_equal(rate_answer_text("{\"token\":\"abc\"}", 15, "token", &token, NULL), 0);
	assert_string_equal(token, "abc");
	free(token);
	assert_int_equal(rate_answer_text("{\"token\":1234}", 14, "token", &token, NULL), -EINVAL);
}

static void file_is_a_number_or_a_table(void **state)
{
	static const char table[] =
		"time,g\n# a forecast\n2026-11-30T11:00:00Z,300\n\n"
		"2026-11-30T13:00:00+01:00, 310.5\r\n2026-11-30T12:00:01Z,320\n";
	struct rate_reading reading;

	assert_int_equal(rate_answer_file(" 0.31\n", NOON, &reading, NULL), 0);
	assert_true(fabs(reading.value - (0.31)) < 1e-12);
	assert_true(reading.since_s == INT64_MIN);
	assert_int_equal(rate_answer_file(table, NOON, &reading, NULL), 0);
	assert_true(fabs(reading.value - (310.5)) < 1e-12);
	assert_int_equal(reading.since_s, NOON);
	assert_int_equal(rate_answer_file(table, NOON + 1, &reading, NULL), 0);
	assert_true(fabs(reading.value - (320)) < 1e-12);
	assert_int_equal(rate_answer_file(table, NOON - 3601, &reading, NULL), -ENODATA);
	assert_int_equal(rate_answer_file("", NOON, &reading, NULL), -ENODATA);
}

static void faults_of_a_file_have_their_line(void **state)
{
	static const struct {
		const char *text, *words;
	} faults[] = {
		{ "0.3 EUR", "line 1" },
		{ "1\n2\n", "line 2" },
		{ "1\n2026-11-30T11:00:00Z,2\n", "line 2" },
		{ "2026-11-30T11:00:00Z,2\n3\n", "line 2" },
		{ "2026-11-30T11:00:00Z,2\n2026-11-30T10:00:00Z,2\n", "line 2: is earlier" },
		{ "2026-11-30T11:00:00,2\n", "line 1" },
		{ "2026-11-30T11:00:00+1:00,2\n", "line 1" },
		{ "2026-11-30,2\n", "line 1" },
		{ "2026-11-30T11:00:00Z,\n", "line 1" },
		{ "0.0000000000000000000000000000000000000000000000000000000000000001", "line 1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct diag diag = { "" };
		struct rate_reading reading;

		if (rate_answer_file(faults[i].text, NOON, &reading, &diag) != -EINVAL)
			fail_msg("%s is taken", faults[i].text);
		if (!strstr(diag.text, faults[i].words))
			fail_msg("%s: %s", faults[i].text, diag.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_leads_to_a_number_or_a_text_that_is_one),
		cmocka_unit_test(other_values_are_refused),
		cmocka_unit_test(long_and_deep_answers_are_refused),
		cmocka_unit_test(paths_are_checked),
		cmocka_unit_test(token_is_a_text),
		cmocka_unit_test(file_is_a_number_or_a_table),
		cmocka_unit_test(faults_of_a_file_have_their_line),
	};

	return unit_run(tests);
}
