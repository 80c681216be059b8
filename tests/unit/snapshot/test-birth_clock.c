// SPDX-License-Identifier: Apache-2.0
/* The birth that is shown when the clock is set. */
#include "snapshot/birth_clock.h"

#include "tests/unit/unit.h"

#define NOW_MS 1790000000000

static void test_boots_in_1970(void **state)
{
	struct birth_clock clock = { 0 };

	assert_int_equal(birth_clock_follow(&clock, 30000, 5000), -25000);
	assert_int_equal(birth_clock_follow(&clock, 31000, NOW_MS + 31000), NOW_MS);
}

static void test_set_back(void **state)
{
	struct birth_clock clock = { 0 };

	assert_int_equal(birth_clock_follow(&clock, 1000, NOW_MS + 1000), NOW_MS);
	assert_int_equal(birth_clock_follow(&clock, 2000, NOW_MS + 2000 - 3600000),
			 NOW_MS - 3600000);
}

/* A clock that was set back by less than a second: no birth is in the future. */
static void test_never_in_the_future(void **state)
{
	assert_int_equal(birth_time_ms(1000, NOW_MS, NOW_MS + 5000), NOW_MS + 1000);
	assert_int_equal(birth_time_ms(1000, NOW_MS, NOW_MS + 400), NOW_MS + 400);
}

/* Up to a second a birth stays where it is; further on it follows, however slow that comes. */
static void test_stays_within_a_second(void **state)
{
	struct birth_clock clock = { 0 };

	assert_int_equal(birth_clock_follow(&clock, 0, NOW_MS), NOW_MS);
	assert_int_equal(birth_clock_follow(&clock, 1000, NOW_MS + 2000), NOW_MS);
	assert_int_equal(birth_clock_follow(&clock, 2000, NOW_MS + 1000), NOW_MS);
	assert_int_equal(birth_clock_follow(&clock, 3000, NOW_MS + 4001), NOW_MS + 1001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boots_in_1970),
		cmocka_unit_test(test_set_back),
		cmocka_unit_test(test_never_in_the_future),
		cmocka_unit_test(test_stays_within_a_second),
	};

	return unit_run(tests);
}
