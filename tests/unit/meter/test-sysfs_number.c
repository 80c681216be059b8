// SPDX-License-Identifier: Apache-2.0
#include "meter/sysfs_number.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

static void test_whole_numbers(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(sysfs_number_parse("0\n", 2, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(sysfs_number_parse("18446744073709551615\n", 21, &value), 0);
	assert_true(value == UINT64_MAX);
}

static void test_anything_else(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EBADMSG },     { "12", -EBADMSG },   { "\n", -EINVAL },
		{ "1 2\n", -EINVAL }, { "-1\n", -EINVAL },  { "18446744073709551616\n", -ERANGE },
		{ "+1\n", -EINVAL },  { "0x1\n", -EINVAL }, { "1\n\n", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 77;

		assert_int_equal(
			sysfs_number_parse(cases[i].text, (ssize_t)strlen(cases[i].text), &value),
			cases[i].error);
		assert_int_equal(value, 77);
	}
}

static void test_error_of_the_read_goes_through(void **state)
{
	uint64_t value = 77;

	(void)state;
	assert_int_equal(sysfs_number_parse(NULL, -EIO, &value), -EIO);
	assert_int_equal(value, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_numbers),
		cmocka_unit_test(test_anything_else),
		cmocka_unit_test(test_error_of_the_read_goes_through),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
