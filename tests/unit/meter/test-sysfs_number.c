// SPDX-License-Identifier: Apache-2.0
#include "meter/sysfs_number.h"

#include "tests/unit/unit.h"

static void test_whole_numbers(void **state)
{
	uint64_t value;

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

	return unit_run(tests);
}
