// SPDX-License-Identifier: Apache-2.0
#include "meter/counter_wrap.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define RANGE_UJ     262143328850ULL /* a package of 2^-14 J */
#define MAX_POWER_UW 2000000000ULL

/* A read that takes no time, on a machine that never slept. */
#define at(time_ns) ((struct reading_time){ time_ns, time_ns, time_ns })

static int take_of(struct energy_counter *counter, uint64_t raw_uj, uint64_t range_uj,
		   uint32_t generation, uint64_t time_ns)
{
	struct raw_reading reading = { raw_uj, range_uj, generation };
	struct reading_time when = { time_ns, time_ns, time_ns };

	return energy_counter_advance(counter, &reading, &when, MAX_POWER_UW);
}

static int take(struct energy_counter *counter, uint64_t raw_uj, uint64_t time_s)
{
	return take_of(counter, raw_uj, RANGE_UJ, 1, time_s * NSEC_PER_SEC);
}

static void test_first_reading_is_baseline(void **state)
{
	struct energy_counter counter = { 0 };

	assert_int_equal(take(&counter, 123456789, 1), 0);
	assert_int_equal(counter.energy_uj, 0);
	assert_int_equal(take(&counter, 123456799, 2), 0);
	assert_int_equal(counter.energy_uj, 10);
}

static void test_wrap_counts_the_value_zero(void **state)
{
	struct energy_counter counter = { 0 };

	take(&counter, RANGE_UJ, 1); /* the last value before 0 */
	take(&counter, 0, 2);
	assert_int_equal(counter.energy_uj, 1);
	assert_int_equal(counter.wraps, 1);
	assert_int_equal(counter.dropped, 0);
}

static void test_reset_is_dropped_once(void **state)
{
	struct energy_counter counter = { 0 };

	take(&counter, 100000000000, 1);
	take(&counter, 100050000000, 2);
	assert_false(counter.restarted);
	take(&counter, 0, 3); /* as a wrap: 162 kW */
	assert_true(counter.restarted);
	assert_int_equal(counter.energy_uj, 50000000);
	assert_int_equal(counter.dropped, 1);
	take(&counter, 50000000, 4);
	assert_false(counter.restarted);
	assert_int_equal(counter.energy_uj, 100000000);
	assert_int_equal(counter.dropped, 1);
	assert_int_equal(counter.wraps, 0);
}

static void test_jump_forward_and_back_are_dropped(void **state)
{
	struct energy_counter counter = { 0 };

	take(&counter, 1000, 1);
	take(&counter, 200000000000, 2);
	take(&counter, 200000000500, 3);
	take(&counter, 100000000000, 4);
	take(&counter, 100000000500, 5);
	assert_int_equal(counter.energy_uj, 1000);
	assert_int_equal(counter.dropped, 2);
}

static void test_gap_is_judged_over_its_real_length(void **state)
{
	struct energy_counter counter = { 0 };

	take(&counter, 0, 0);
	take(&counter, 20000000000, 11); /* 20 kJ in 11 s: 1.8 kW */
	assert_int_equal(counter.energy_uj, 20000000000);
	take(&counter, 60000000000, 22); /* 40 kJ in 11 s: 3.6 kW */
	assert_int_equal(counter.energy_uj, 20000000000);
	assert_int_equal(counter.dropped, 1);
}

static void test_limit_is_max_power_over_elapsed_and_slack(void **state)
{
	uint64_t limit_uj = 2000000000ULL * 11 / 10; /* 1.1 s at 2 kW */

	for (uint64_t over = 0; over <= 1; over++) {
		struct energy_counter counter = { 0 };

		take(&counter, 0, 1);
		take(&counter, limit_uj + over, 2);
		assert_int_equal(counter.dropped, over);
	}
}

static void test_value_outside_its_range_is_refused(void **state)
{
	struct energy_counter counter = { 0 };

	take(&counter, 1000, 1);
	assert_int_equal(take(&counter, RANGE_UJ + 1, 2), -ERANGE);
	assert_int_equal(counter.dropped, 1);
	take(&counter, 3000, 3); /* continuous with the last good one */
	assert_int_equal(counter.energy_uj, 2000);
}

static void test_new_generation_or_range_is_a_new_baseline(void **state)
{
	struct energy_counter counter = { 0 };

	take_of(&counter, 1000, RANGE_UJ, 1, 1000);
	take_of(&counter, 2000, RANGE_UJ, 1, 2000);
	take_of(&counter, 500000, RANGE_UJ, 2, 3000);
	assert_true(counter.restarted);
	assert_int_equal(counter.energy_uj, 1000);
	take_of(&counter, 500010, 65712999613, 2, 4000);
	assert_int_equal(counter.energy_uj, 1000);
	take_of(&counter, 500020, 65712999613, 2, 5000);
	assert_int_equal(counter.energy_uj, 1010);
	assert_int_equal(counter.dropped, 0);
}

static void test_clock_that_stands_still_does_not_divide(void **state)
{
	struct energy_counter counter = { 0 };

	take(&counter, 1000, 5);
	take(&counter, 2000, 5);
	take(&counter, 3000, 4);
	assert_int_equal(counter.energy_uj, 2000);
}

static void test_full_64_bit_range(void **state)
{
	struct energy_counter counter = { 0 };

	take_of(&counter, UINT64_MAX - 1, UINT64_MAX, 1, NSEC_PER_SEC);
	take_of(&counter, 1, UINT64_MAX, 1, 2 * NSEC_PER_SEC);
	assert_int_equal(counter.energy_uj, 3);
	assert_int_equal(counter.wraps, 1);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * R1: the law is a random walk of true energy; the raw value is the truth mod (range + 1). Not one
 * µJ may differ.
 */
static void check_wraps(uint64_t seed, uint64_t range_uj, uint64_t wraps)
{
	uint64_t random = seed, time_ns = 1, base_uj = next_random(&random) % (range_uj + 1);
	uint64_t max_power_uw = range_uj / 100; /* a turn in 100 s: the slack is a thousandth */
	struct raw_reading reading = { base_uj, range_uj, 1 };
	unsigned __int128 truth_uj = 0;
	struct energy_counter counter = { 0 };

	assert_int_equal(energy_counter_advance(&counter, &reading, &at(time_ns), max_power_uw), 0);
	while (counter.wraps < wraps) {
		uint64_t step_uj =
			next_random(&random) % (range_uj / 10 * 9); /* < 90 % of a turn */

		time_ns += (uint64_t)((unsigned __int128)step_uj * NSEC_PER_SEC / max_power_uw) + 1;
		truth_uj += step_uj;
		reading.value = (uint64_t)((truth_uj + base_uj) % (range_uj + 1));
		assert_int_equal(
			energy_counter_advance(&counter, &reading, &at(time_ns), max_power_uw), 0);
		if (counter.energy_uj != truth_uj)
			fail_msg("seed %#lx range %lu: %lu µJ instead of %lu", seed, range_uj,
				 counter.energy_uj, (uint64_t)truth_uj);
	}
	assert_int_equal(counter.dropped, 0);
}

static void test_exact_over_thousands_of_wraps(void **state)
{
	static const uint64_t ranges[] = { RANGE_UJ, 65712999613, 65532610987, 9999999,
					   4294967295 };

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		check_wraps(0x9e3779b97f4a7c15 + i, ranges[i], 2000);
}

/*
 * 280 W on a counter of 65.7 kJ, as AMD's servers have it: it turns in 234 s. At 2 kW, the most
 * that is thought possible, in 33 s: what is read later than that cannot be known.
 */
static void test_a_turn_that_may_have_gone_unseen_is_refused(void **state)
{
	const uint64_t range_uj = 65712999613, power_uw = 280000000;

	for (uint64_t seconds = 1; seconds <= 1000; seconds++) {
		struct energy_counter counter = { 0 };
		uint64_t truth_uj = power_uw * seconds;
		/* Without, and with another turn. */
		bool certain = truth_uj <= range_uj &&
			       truth_uj + range_uj + 1 > MAX_POWER_UW * seconds + MAX_POWER_UW / 10;

		take_of(&counter, 0, range_uj, 1, NSEC_PER_SEC);
		take_of(&counter, truth_uj % (range_uj + 1), range_uj, 1,
			(seconds + 1) * NSEC_PER_SEC);
		assert_int_equal(counter.energy_uj, certain ? truth_uj : 0);
		assert_int_equal(counter.refused, !certain);
		assert_int_equal(counter.restarted, !certain);
		assert_int_equal(counter.dropped, !certain);
		if (seconds <= 32)
			assert_true(certain);
		if (seconds >= 39)
			assert_false(certain);
	}
}

static void test_asleep_a_counter_may_turn_too(void **state)
{
	const struct raw_reading before = { 1000, RANGE_UJ, 1 }, after = { 2000, RANGE_UJ, 1 };

	for (uint64_t asleep_s = 100; asleep_s <= 1000; asleep_s += 900) {
		const struct reading_time when[] = {
			{ NSEC_PER_SEC, NSEC_PER_SEC, 5 * NSEC_PER_SEC },
			{ 2 * NSEC_PER_SEC, 2 * NSEC_PER_SEC, (6 + asleep_s) * NSEC_PER_SEC },
		};
		struct energy_counter counter = { 0 };

		energy_counter_advance(&counter, &before, &when[0], MAX_POWER_UW);
		energy_counter_advance(&counter, &after, &when[1], MAX_POWER_UW);
		assert_int_equal(counter.refused, asleep_s == 1000);
		assert_int_equal(counter.energy_uj, asleep_s == 1000 ? 0 : 1000);
	}
}

/* The value of a read that took 2 s may be of its begin. */
static void test_slow_reads_count_with_their_whole_length(void **state)
{
	const struct raw_reading values[] = { { 0, RANGE_UJ, 1 }, { 5000000000, RANGE_UJ, 1 } };
	const struct reading_time slow = { NSEC_PER_SEC, 3 * NSEC_PER_SEC, 3 * NSEC_PER_SEC };
	const struct reading_time next = at(4 * NSEC_PER_SEC);
	struct energy_counter counter = { 0 };

	energy_counter_advance(&counter, &values[0], &slow, MAX_POWER_UW);
	energy_counter_advance(&counter, &values[1], &next, MAX_POWER_UW);
	assert_int_equal(counter.energy_uj, 5000000000); /* 5 kJ in up to 3 s */
}

static void test_refusals_in_a_row_are_reported(void **state)
{
	struct energy_counter counter = { 0 };

	for (uint64_t second = 1; second <= 5; second++) { /* 3 kW */
		take(&counter, second * 3000000000, second);
		assert_int_equal(counter.refusals, second - 1);
		assert_int_equal(counter.refused, second > 1);
	}
	take(&counter, 15000000001, 6);
	assert_int_equal(counter.refusals, 0);
	assert_false(counter.refused);
	assert_int_equal(counter.energy_uj, 1);
}

static void test_period_is_half_a_turn(void **state)
{
	struct energy_counter counter = { 0 };

	assert_int_equal(energy_counter_period_ns(&counter, MAX_POWER_UW), UINT64_MAX);
	take_of(&counter, 0, 65712999613, 1, 1);
	assert_int_equal(energy_counter_period_ns(&counter, MAX_POWER_UW), 16428249903);
	take_of(&counter, 0, 1000000, 1, 2);
	assert_int_equal(energy_counter_period_ns(&counter, MAX_POWER_UW), COUNTER_PERIOD_MIN_NS);
	take_of(&counter, 0, UINT64_MAX, 1, 3);
	assert_int_equal(energy_counter_period_ns(&counter, 1), UINT64_MAX);
}

/* A long counter that is fed from a short one has the period of that, and no shorter range. */
static void test_period_of_a_counter_that_is_fed(void **state)
{
	struct raw_reading reading = { .range_uj = UINT64_MAX, .unread_max_uj = 65536000000 };
	struct energy_counter counter = { 0 };
	struct reading_time when = { NSEC_PER_SEC, NSEC_PER_SEC, NSEC_PER_SEC };

	assert_int_equal(energy_counter_advance(&counter, &reading, &when, MAX_POWER_UW), 0);
	assert_int_equal(energy_counter_period_ns(&counter, MAX_POWER_UW), 16384000000);
	reading.value = 1000000000;
	when = (struct reading_time){ 3600 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC,
				      3600 * NSEC_PER_SEC };
	assert_int_equal(energy_counter_advance(&counter, &reading, &when, MAX_POWER_UW), 0);
	assert_false(counter.refused);
	assert_int_equal(counter.energy_uj, 1000000000);
	reading.range_uj = 1000000;
	reading.value = 0;
	assert_int_equal(energy_counter_advance(&counter, &reading, &when, MAX_POWER_UW), 0);
	assert_int_equal(energy_counter_period_ns(&counter, MAX_POWER_UW), COUNTER_PERIOD_MIN_NS);
}

/* Whatever the raw values do: the energy never falls and never implies more than the limit. */
static void test_never_falls_nor_spikes_on_random_input(void **state)
{
	uint64_t random = 42;

	for (unsigned run = 0; run < 200; run++) {
		struct energy_counter counter = { 0 };

		for (uint64_t second = 1; second < 200; second++) {
			uint64_t before_uj = counter.energy_uj;

			(void)take(&counter, next_random(&random) % (RANGE_UJ * 11 / 10), second);
			assert_true(counter.energy_uj >= before_uj);
			assert_true(counter.energy_uj - before_uj <=
				    MAX_POWER_UW * second + MAX_POWER_UW / 10);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_reading_is_baseline),
		cmocka_unit_test(test_wrap_counts_the_value_zero),
		cmocka_unit_test(test_reset_is_dropped_once),
		cmocka_unit_test(test_jump_forward_and_back_are_dropped),
		cmocka_unit_test(test_gap_is_judged_over_its_real_length),
		cmocka_unit_test(test_limit_is_max_power_over_elapsed_and_slack),
		cmocka_unit_test(test_value_outside_its_range_is_refused),
		cmocka_unit_test(test_new_generation_or_range_is_a_new_baseline),
		cmocka_unit_test(test_clock_that_stands_still_does_not_divide),
		cmocka_unit_test(test_full_64_bit_range),
		cmocka_unit_test(test_exact_over_thousands_of_wraps),
		cmocka_unit_test(test_a_turn_that_may_have_gone_unseen_is_refused),
		cmocka_unit_test(test_asleep_a_counter_may_turn_too),
		cmocka_unit_test(test_slow_reads_count_with_their_whole_length),
		cmocka_unit_test(test_refusals_in_a_row_are_reported),
		cmocka_unit_test(test_period_is_half_a_turn),
		cmocka_unit_test(test_period_of_a_counter_that_is_fed),
		cmocka_unit_test(test_never_falls_nor_spikes_on_random_input),
	};

	return unit_run(tests);
}
