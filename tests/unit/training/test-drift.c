// SPDX-License-Identifier: Apache-2.0
#include "training/drift.h"

#include "tests/unit/unit.h"

/* The block with which the alarm begins; 0: none of @most. */
static unsigned blocks_to_alarm(double ratio, unsigned most)
{
	struct drift drift;

	drift_init(&drift);
	for (unsigned i = 1; i <= most; i++) {
		if (drift_take(&drift, 2 * ratio, 2))
			return i;
	}
	return 0;
}

static void test_larger_errors_are_noticed_sooner(void **state)
{
	assert_int_equal(blocks_to_alarm(1, 1000), 0);
	assert_int_equal(blocks_to_alarm(1.4, 1000), 0);
	assert_int_equal(blocks_to_alarm(2, 1000), 5);
	assert_int_equal(blocks_to_alarm(3, 1000), 2);
	assert_int_equal(blocks_to_alarm(1000, 1000), 2);
}

static void test_one_wild_block_is_not_a_drift(void **state)
{
	struct drift drift;

	drift_init(&drift);
	for (int i = 0; i < 100; i++)
		assert_false(drift_take(&drift, i % 5 ? 1 : 100, 1));
	assert_false(drift.alarm);
}

static void test_the_alarm_ends_when_the_model_fits_again(void **state)
{
	struct drift drift;

	drift_init(&drift);
	while (!drift_take(&drift, 3, 1))
		;
	assert_int_equal(drift.run, 2);
	assert_false(drift_take(&drift, 3, 1)); /* it has begun before */
	assert_true(drift.alarm);
	for (int i = 0; i < 20; i++)
		assert_false(drift_take(&drift, 0.5, 1));
	assert_false(drift.alarm);
	assert_int_equal(drift.run, 0);
	assert_true(fabs(drift.ratio - 0.5) < 1e-12);
}

static void test_what_is_not_stated_is_unknown(void **state)
{
	struct drift drift;

	drift_init(&drift);
	assert_true(isnan(drift.ratio));
	assert_false(drift_take(&drift, 3, (double)NAN));
	assert_false(drift_take(&drift, (double)NAN, 1));
	assert_false(drift_take(&drift, 3, 0));
	assert_true(isnan(drift.ratio));
	assert_int_equal(drift.blocks, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_larger_errors_are_noticed_sooner),
		cmocka_unit_test(test_one_wild_block_is_not_a_drift),
		cmocka_unit_test(test_the_alarm_ends_when_the_model_fits_again),
		cmocka_unit_test(test_what_is_not_stated_is_unknown),
	};

	return unit_run(tests);
}
