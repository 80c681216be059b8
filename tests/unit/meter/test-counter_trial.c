// SPDX-License-Identifier: Apache-2.0
#include "meter/remote/counter_trial.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define PERIOD_NS (10 * NSEC_PER_SEC)
#define POWER_UW  300000000ULL

/* After how many readings a counter with steps of @step_uj is fine enough; 0: not in a thousand. */
static unsigned readings_until_fine(uint64_t step_uj)
{
	struct counter_trial trial = { 0 };

	for (unsigned i = 1; i <= 1000; i++) {
		uint64_t energy_uj = i * POWER_UW * (PERIOD_NS / NSEC_PER_SEC);

		if (counter_trial_take(&trial, i * PERIOD_NS, energy_uj / step_uj * step_uj,
				       POWER_UW))
			return i;
	}
	return 0;
}

static void a_fine_counter_is_taken(void **state)
{
	assert_int_equal(readings_until_fine(1), COUNTER_TRIAL_READINGS + 1);
	assert_int_equal(readings_until_fine(36 * UJ_PER_J), COUNTER_TRIAL_READINGS + 1);
}

/* A thousandth, and a tenth, of a kilowatt hour: 12 s and 20 min of 300 W. */
static void a_coarse_counter_is_not(void **state)
{
	assert_int_equal(readings_until_fine(3600 * UJ_PER_J), 0);
	assert_int_equal(readings_until_fine(360000 * UJ_PER_J), 0);
}

static void a_counter_that_falls_or_runs_begins_again(void **state)
{
	struct counter_trial trial = { 0 };
	uint64_t energy_uj = 1000000 * UJ_PER_J, step_uj = 3000 * UJ_PER_J;
	uint64_t time_ns = PERIOD_NS;

	for (unsigned i = 0; i < COUNTER_TRIAL_READINGS; i++, time_ns += PERIOD_NS)
		assert_false(counter_trial_take(&trial, time_ns, energy_uj += step_uj, POWER_UW));
	assert_int_equal(trial.agreed, COUNTER_TRIAL_READINGS - 1);
	assert_false(counter_trial_take(&trial, time_ns, energy_uj = 5, POWER_UW));
	assert_int_equal(trial.agreed, 0);
	assert_false(
		counter_trial_take(&trial, time_ns += PERIOD_NS, energy_uj += step_uj, POWER_UW));
	assert_int_equal(trial.agreed, 1);
	assert_false(counter_trial_take(&trial, time_ns += PERIOD_NS, energy_uj += 2 * step_uj,
					POWER_UW));
	assert_int_equal(trial.agreed, 0);
}

/* Nothing flows, and so nothing is known of the counter. */
static void without_power_nothing_agrees(void **state)
{
	struct counter_trial trial = { 0 };

	for (unsigned i = 1; i < 100; i++)
		assert_false(counter_trial_take(&trial, i * PERIOD_NS, 7, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fine_counter_is_taken),
		cmocka_unit_test(a_coarse_counter_is_not),
		cmocka_unit_test(a_counter_that_falls_or_runs_begins_again),
		cmocka_unit_test(without_power_nothing_agrees),
	};

	return unit_run(tests);
}
