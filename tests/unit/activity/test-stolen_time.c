// SPDX-License-Identifier: Apache-2.0
#include "activity/stolen_time.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define MS NSEC_PER_MSEC

/* Two CPUs, one second: 1200 ms busy, 500 ms idle, 300 ms stolen. */
static const struct machine_time before = {
	.time_ns = 7000 * MS, .busy_ns = 90 * MS, .idle_ns = 40 * MS, .steal_ns = 10 * MS, .cpus = 2
};
static const struct machine_time after = { .time_ns = 8000 * MS,
					   .busy_ns = 1290 * MS,
					   .idle_ns = 540 * MS,
					   .steal_ns = 310 * MS,
					   .cpus = 2 };

static void test_run_time_with_stolen_time_inside(void **state)
{
	assert_int_equal(stolen_time(&before, &after, 1500 * MS), 300 * MS);
	assert_int_equal(stolen_time(&before, &after, 1450 * MS), 250 * MS);
}

static void test_run_time_without_it(void **state)
{
	assert_int_equal(stolen_time(&before, &after, 1200 * MS), 0);
	assert_int_equal(stolen_time(&before, &after, 900 * MS), 0);
}

/* Ticks that miss work show less busy time; what was idle still limits what was run. */
static void test_the_lesser_of_both_accounts(void **state)
{
	struct machine_time missed = after, long_idle = after;

	missed.busy_ns -= 400 * MS;
	assert_int_equal(stolen_time(&before, &missed, 1200 * MS), 0);
	assert_int_equal(stolen_time(&before, &missed, 1350 * MS), 150 * MS);
	long_idle.idle_ns += 200 * MS;
	assert_int_equal(stolen_time(&before, &long_idle, 1250 * MS), 50 * MS);
}

static void test_no_more_than_was_stolen(void **state)
{
	struct machine_time none = after;

	assert_int_equal(stolen_time(&before, &after, 1900 * MS), 300 * MS);
	none.steal_ns = before.steal_ns;
	assert_int_equal(stolen_time(&before, &none, 1900 * MS), 0);
	none.steal_ns -= MS; /* some hypervisors let it go back */
	assert_int_equal(stolen_time(&before, &none, 1900 * MS), 0);
}

static void test_cpus_that_come(void **state)
{
	struct machine_time more = after;

	more.cpus = 3;
	assert_int_equal(stolen_time(&before, &more, 1900 * MS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_time_with_stolen_time_inside),
		cmocka_unit_test(test_run_time_without_it),
		cmocka_unit_test(test_the_lesser_of_both_accounts),
		cmocka_unit_test(test_no_more_than_was_stolen),
		cmocka_unit_test(test_cpus_that_come),
	};

	return unit_run(tests);
}
