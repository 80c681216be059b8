// SPDX-License-Identifier: Apache-2.0
#include "host/kernel_version.h"

#include "tests/unit/unit.h"

static void reads_what_distributions_write(void **state)
{
	static const struct {
		const char *release;
		unsigned major, minor;
	} cases[] = {
		{ "6.1.0-56-amd64", 6, 1 },         { "5.10", 5, 10 }, { "7.0-rc1", 7, 0 },
		{ "5.14.0-427.el9.x86_64", 5, 14 }, { "6", 6, 0 },     { "", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_version version = kernel_version_parse(cases[i].release);

		assert_int_equal(version.major, cases[i].major);
		assert_int_equal(version.minor, cases[i].minor);
	}
	assert_true(kernel_version_read().major >= 4);
}

static void orders_by_major_then_minor(void **state)
{
	const struct kernel_version version = { 5, 10 };

	assert_true(kernel_version_is_before(version, 5, 11));
	assert_true(kernel_version_is_before(version, 6, 0));
	assert_false(kernel_version_is_before(version, 5, 10));
	assert_false(kernel_version_is_before(version, 4, 19));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_distributions_write),
		cmocka_unit_test(orders_by_major_then_minor),
	};

	return unit_run(tests);
}
