// SPDX-License-Identifier: Apache-2.0
#include "base/text/watts_text.h"

#include "tests/unit/unit.h"

static void assert_watts(double watts, const char *expected)
{
	char text[WATTS_TEXT_MAX];

	watts_text(text, watts);
	assert_string_equal(text, expected);
}

static void assert_bound(double watts, const char *expected)
{
	char text[WATTS_TEXT_MAX];

	watts_bound_text(text, watts);
	assert_string_equal(text, expected);
}

static void power_has_as_many_digits_as_mean_something(void **state)
{
	assert_watts(0, "0.00");
	assert_watts(0.004, "<0.01");
	assert_watts(0.005001, "0.01");
	assert_watts(14.6, "14.60");
	assert_watts(99.99, "99.99");
	assert_watts(99.999, "100.0");
	assert_watts(197.96, "198.0");
	assert_watts((double)NAN, "–");
}

static void a_bound_has_two_digits_and_is_never_0(void **state)
{
	assert_bound(2.24, "2.2");
	assert_bound(0.0234, "0.023");
	assert_bound(0.04, "0.040");
	assert_bound(0.0996, "0.10");
	assert_bound(9.96, "10");
	assert_bound(74.3, "74");
	assert_bound(123, "120");
	assert_bound(0, "0.0000010");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_has_as_many_digits_as_mean_something),
		cmocka_unit_test(a_bound_has_two_digits_and_is_never_0),
	};

	return unit_run(tests);
}
