// SPDX-License-Identifier: Apache-2.0
/* Features of one party by hand, with each signal that may be missing. */
#include "attribution/learning/power_fit_work.h"

#include "tests/unit/unit.h"

#define TIME    SIGNAL_BIT(SIGNAL_COUNTED_TIME)
#define PAIRED  SIGNAL_BIT(SIGNAL_PAIRED_TIME)
#define CYCLES  SIGNAL_BIT(SIGNAL_CPU_CYCLES)
#define MISSES  SIGNAL_BIT(SIGNAL_CACHE_MISSES)
#define TRAFFIC SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC)

/* Two seconds at 3 GHz, half a second of them paired. */
static const uint64_t amounts[SIGNAL_COUNT] = {
	[SIGNAL_COUNTED_TIME] = 2000000000,  [SIGNAL_PAIRED_TIME] = 500000000,
	[SIGNAL_CPU_CYCLES] = 6000000000,    [SIGNAL_REF_CYCLES] = 4000000000,
	[SIGNAL_INSTRUCTIONS] = 9000000000,  [SIGNAL_CACHE_MISSES] = 20000000,
	[SIGNAL_MEMORY_TRAFFIC] = 300000000, [SIGNAL_NET_BYTES] = 77,
};

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static bool has_amounts(const struct power_fit_work *work,
			const double expected[POWER_FIT_FEATURES])
{
	for (size_t i = 0; i < POWER_FIT_FEATURES; i++)
		if (!is_near(work->amount[i], expected[i]))
			return false;
	return true;
}

static void test_all_signals(void **state)
{
	const double expected[POWER_FIT_FEATURES] = { 4.5, 1.5, 9, 40.5, 13.5, 81, 0.3 };
	struct power_fit_work work;

	power_fit_work_of(amounts, UINT32_MAX, &work);
	assert_true(has_amounts(&work, expected));
	assert_true(is_near(work.time_s, 2));
}

static void test_time_stands_in_for_cycles(void **state)
{
	const double expected[POWER_FIT_FEATURES] = { 1.5, 0.5 };
	struct power_fit_work work;

	power_fit_work_of(amounts, TIME | PAIRED, &work);
	assert_true(has_amounts(&work, expected));
}

static void test_misses_stand_in_for_traffic(void **state)
{
	const double expected[POWER_FIT_FEATURES] = { 6, 0, 0, 54, 0, 0, 0.02 };
	struct power_fit_work work;

	power_fit_work_of(amounts, TIME | CYCLES | MISSES, &work);
	assert_true(has_amounts(&work, expected));
}

static void test_nothing_without_counted_time(void **state)
{
	const uint64_t none[SIGNAL_COUNT] = { [SIGNAL_CPU_CYCLES] = 5 };
	const double expected[POWER_FIT_FEATURES] = { 0 };
	struct power_fit_work work;

	power_fit_work_of(amounts, CYCLES | PAIRED, &work);
	assert_true(has_amounts(&work, expected));
	power_fit_work_of(none, UINT32_MAX, &work);
	assert_true(has_amounts(&work, expected));
}

/* Clocks are read one after the other: a part can exceed its whole. */
static void test_paired_time_is_at_most_all(void **state)
{
	const uint64_t more[SIGNAL_COUNT] = {
		[SIGNAL_COUNTED_TIME] = 1000000000, [SIGNAL_PAIRED_TIME] = 1200000000
	};
	struct power_fit_work work;

	power_fit_work_of(more, TIME | PAIRED, &work);
	assert_true(is_near(work.amount[POWER_FIT_ALONE], 0));
	assert_true(is_near(work.amount[POWER_FIT_PAIRED], 1));
}

static void test_a_sum_has_all_its_parts(void **state)
{
	const double expected[POWER_FIT_FEATURES] = { 9, 3, 18, 81, 27, 162, 0.6 };
	struct power_fit_work work, sum = { 0 };

	power_fit_work_of(amounts, UINT32_MAX, &work);
	power_fit_work_add(&sum, &work);
	power_fit_work_add(&sum, &work);
	assert_true(has_amounts(&sum, expected));
	assert_true(is_near(sum.time_s, 4));
	assert_true(is_near(sum.time2_s2, 8)); /* of two parties, not of one with 4 s */
}

/* One second with two parties: one ran for 0.5 s and the other for 1.5 s, on several CPUs. */
static void test_the_time_awake_is_shared_by_run_time(void **state)
{
	struct power_fit_work a = { .time_s = 0.5 }, b = { .time_s = 1.5 };
	double ratio = power_fit_work_awake_ratio(2, 1);

	power_fit_work_set_awake(&a, ratio);
	power_fit_work_set_awake(&b, ratio);
	assert_true(is_near(a.amount[POWER_FIT_AWAKE], 0.25));
	assert_true(is_near(b.amount[POWER_FIT_AWAKE], 0.75));
	ratio = power_fit_work_awake_ratio(0.5, 1); /* alone in it: no longer than it ran */
	power_fit_work_set_awake(&a, ratio);
	assert_true(is_near(a.amount[POWER_FIT_AWAKE], 0.5));
	assert_true(is_near(power_fit_work_awake_ratio(0, 1), 1));
	assert_true(is_near(power_fit_work_awake_ratio(2, 0), 1));
}

static void test_which_signals_matter(void **state)
{
	assert_int_equal(power_fit_work_signals(CYCLES | MISSES), 0);
	assert_int_equal(power_fit_work_signals(TIME | MISSES), TIME | MISSES);
	assert_int_equal(power_fit_work_signals(TIME | MISSES | TRAFFIC), TIME | TRAFFIC);
	assert_int_equal(power_fit_work_signals(TIME | SIGNAL_BIT(SIGNAL_NET_BYTES) |
						SIGNAL_BIT(SIGNAL_REF_CYCLES)),
			 TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_signals),
		cmocka_unit_test(test_time_stands_in_for_cycles),
		cmocka_unit_test(test_misses_stand_in_for_traffic),
		cmocka_unit_test(test_nothing_without_counted_time),
		cmocka_unit_test(test_paired_time_is_at_most_all),
		cmocka_unit_test(test_a_sum_has_all_its_parts),
		cmocka_unit_test(test_the_time_awake_is_shared_by_run_time),
		cmocka_unit_test(test_which_signals_matter),
	};

	return unit_run(tests);
}
