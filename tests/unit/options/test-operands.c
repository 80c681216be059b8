// SPDX-License-Identifier: Apache-2.0
#include "options/operands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "kepler/config.h"

static void words_may_stand_anywhere(void **state)
{
	static const char *const given[] = {
		"a", "--idle.share=usage", "b", "--idle.mode",        "off",
		"c", "--meter.enabled",    "d", "--no-meter.enabled", "e"
	};
	CLEANUP(operands_release) struct operands operands = { .count = 0 };
	char *argv[ARRAY_SIZE(given)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		argv[i] = (char *)(uintptr_t)given[i];
	assert_int_equal(
		operands_sort(&config_options, NULL, ARRAY_SIZE(given), argv, &operands, NULL), 0);
	assert_int_equal(operands.count, 5);
	assert_string_equal(operands.words[0], "a");
	assert_string_equal(operands.words[4], "e");
	assert_int_equal(operands.flag_count, 5);
	assert_string_equal(operands.flags[2], "off");
	assert_true(operands_have_flag(&operands, "idle.share"));
	assert_true(operands_have_flag(&operands, "idle.mode"));
	assert_false(operands_have_flag(&operands, "idle.shar"));
	assert_false(operands_have_flag(&operands, "idle.watts"));
}

static void nothing_is_nothing(void **state)
{
	char flag[] = "--idle.mode";
	char *argv[] = { flag, NULL };
	CLEANUP(operands_release) struct operands none = { .count = 0 };
	CLEANUP(operands_release) struct operands one = { .count = 0 };

	(void)state;
	assert_int_equal(operands_sort(&config_options, NULL, 0, argv, &none, NULL), 0);
	assert_int_equal(none.count + none.flag_count, 0);
	assert_int_equal(operands_sort(&config_options, NULL, 1, argv, &one, NULL), 0);
	assert_int_equal(one.flag_count, 1); /* without its value: an error of the options */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_may_stand_anywhere),
		cmocka_unit_test(nothing_is_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
