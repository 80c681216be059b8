// SPDX-License-Identifier: Apache-2.0
#include "service/schedule.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define S NSEC_PER_SEC

static void intervals_are_due_at_multiples(void **state)
{
	struct schedule schedule;

	schedule_start(&schedule, 100 * S, 2 * S);
	assert_false(schedule_is_due(&schedule, 102 * S - 1));
	assert_int_equal(schedule_wait_ns(&schedule, 101 * S), S);
	assert_true(schedule_is_due(&schedule, 102 * S));
	assert_int_equal(schedule_wait_ns(&schedule, 103 * S), 0);
	assert_int_equal(schedule_advance(&schedule, 103 * S), 0);
	assert_int_equal(schedule.next_ns, 104 * S);
}

static void those_wholly_missed_are_counted(void **state)
{
	struct schedule schedule;

	schedule_start(&schedule, 0, 2 * S);
	assert_int_equal(schedule_advance(&schedule, 9 * S), 3);
	assert_int_equal(schedule.next_ns, 10 * S);
}

static void a_reload_a_second_delays_nothing(void **state)
{
	struct schedule schedule;
	unsigned runs = 0, missed = 0;

	schedule_start(&schedule, 0, 2 * S);
	for (uint64_t now_ns = S; now_ns <= 20 * S; now_ns += S) {
		schedule_set_interval(&schedule, now_ns, 2 * S);
		if (schedule_is_due(&schedule, now_ns)) {
			missed += (unsigned)schedule_advance(&schedule, now_ns);
			runs++;
		}
	}
	assert_int_equal(runs, 10);
	assert_int_equal(missed, 0);
}

static void changing_to_and_fro_delays_nothing(void **state)
{
	struct schedule schedule;
	unsigned runs = 0;

	schedule_start(&schedule, 0, 2 * S);
	for (uint64_t now_ns = S; now_ns <= 20 * S; now_ns += S) {
		schedule_set_interval(&schedule, now_ns, (2 + now_ns / S % 2) * S);
		if (schedule_is_due(&schedule, now_ns)) {
			(void)schedule_advance(&schedule, now_ns);
			runs++;
		}
	}
	assert_true(runs >= 6); /* 20 s at 3 s */
}

static void a_shorter_interval_counts_from_now(void **state)
{
	struct schedule schedule;

	schedule_start(&schedule, 0, 3600 * S);
	schedule_set_interval(&schedule, 10 * S, S);
	assert_int_equal(schedule.next_ns, 11 * S);
	schedule_set_interval(&schedule, 10 * S, 3600 * S);
	assert_int_equal(schedule.next_ns, 11 * S); /* what is due stays due */
	assert_int_equal(schedule_advance(&schedule, 11 * S), 0);
	assert_int_equal(schedule.next_ns, 3611 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_due_at_multiples),
		cmocka_unit_test(those_wholly_missed_are_counted),
		cmocka_unit_test(a_reload_a_second_delays_nothing),
		cmocka_unit_test(changing_to_and_fro_delays_nothing),
		cmocka_unit_test(a_shorter_interval_counts_from_now),
	};

	return unit_run(tests);
}
