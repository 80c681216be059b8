// SPDX-License-Identifier: Apache-2.0
/* Counts from context switches: they are added up once, with the kernel's own arithmetic. */
#include <stddef.h>

#include "thread_records.h"

#include "bpf/kepler_work.h"
#include "host/cpu_sockets.h"

#define CYCLES SIGNAL_CPU_CYCLES

static const struct kepler_work work = {
	.counted_ns = 1000,
	.paired_ns = 400,
	.counters = { 3000, 2000, 5000, 7 },
	.place_ns = { 250, 750 },
};

static struct thread_table *table_with(uint32_t signals, const struct cpu_sockets *sockets)
{
	struct thread_table *table;

	assert_int_equal(thread_table_new(64, &table), 0);
	thread_table_tell_sockets(table, sockets);
	thread_table_tell_signals(table, signals);
	thread_table_begin(table, true, START);
	(void)finish(table);
	thread_table_begin(table, false, START);
	return table;
}

static uint32_t all_signals(void)
{
	return (SIGNAL_BIT(SIGNAL_CACHE_MISSES) << 1) - 1;
}

static void test_a_record_s_work_is_its_process_s(void **state)
{
	struct thread_table *table = table_with(all_signals(), NULL);
	const struct kepler_thread a = thread(TASK_A, 10, 10, 1000);
	const struct kepler_thread b = young(thread(TASK_B, 10, 11, 500));
	struct activity activity;

	(void)state;
	thread_table_living(table, &a, &work, 1);
	thread_table_ended(table, &b, &work);
	activity = finish(table);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.signals, all_signals());
	assert_int_equal(activity.signal[SIGNAL_COUNTED_TIME][0], 2000);
	assert_int_equal(activity.signal[SIGNAL_PAIRED_TIME][0], 800);
	assert_int_equal(activity.signal[CYCLES][0], 6000);
	assert_int_equal(activity.signal[SIGNAL_CACHE_MISSES][0], 14);
	assert_int_equal(thread_table_work_lost_ns(table), 0);

	thread_table_begin(table, false, START);
	thread_table_living(table, &a, NULL, 1); /* reported once */
	activity = finish(table);
	assert_int_equal(activity.count, 0);
	thread_table_free(table);
}

static void test_only_what_is_counted_is_known(void **state)
{
	struct thread_table *table =
		table_with(SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(CYCLES), NULL);
	const struct kepler_thread a = thread(TASK_A, 10, 10, 1000);
	struct activity activity;

	(void)state;
	thread_table_living(table, &a, &work, 1);
	activity = finish(table);
	assert_null(activity.signal[SIGNAL_PAIRED_TIME]);
	assert_null(activity.signal[SIGNAL_INSTRUCTIONS]);
	assert_int_equal(activity.signal[CYCLES][0], 3000);
	thread_table_free(table);
}

static void test_without_switches_there_are_no_signals(void **state)
{
	struct thread_table *table = table_with(0, NULL);
	const struct kepler_thread a = thread(TASK_A, 10, 10, 1000);
	struct activity activity;

	(void)state;
	thread_table_living(table, &a, NULL, 1);
	activity = finish(table);
	assert_int_equal(activity.signals, 0);
	assert_null(activity.signal[SIGNAL_COUNTED_TIME]);
	assert_int_equal(activity.samples[0].cpu_ns, 1000);
	thread_table_free(table);
}

/* Another thread's sample has nothing of it, also in a row that another process had. */
static void test_rows_are_used_again_without_their_work(void **state)
{
	struct thread_table *table = table_with(all_signals(), NULL);
	const struct kepler_thread a = young(thread(TASK_A, 10, 10, 1000));
	const struct kepler_thread b = thread(TASK_B, 20, 20, 500);
	struct activity activity;

	(void)state;
	thread_table_ended(table, &a, &work);
	(void)finish(table);
	thread_table_begin(table, false, START);
	thread_table_living(table, &b, NULL, 1);
	activity = finish(table);
	assert_int_equal(activity.count, 1);
	assert_int_equal(activity.signal[SIGNAL_COUNTED_TIME][0], 0);
	thread_table_free(table);
}

/* By the sockets that it was counted in, to the nanosecond; without that, by its last CPU. */
static void test_run_time_is_spread_over_sockets(void **state)
{
	uint8_t of_cpu[] = { 0, 0, 1, 1 };
	const struct cpu_sockets sockets = { .count = 2, .cpu_count = 4, .of_cpu = of_cpu };
	struct thread_table *table = table_with(SIGNAL_BIT(SIGNAL_COUNTED_TIME), &sockets);
	const struct kepler_thread a = thread(TASK_A, 10, 10, 1003);
	const struct kepler_thread b = thread(TASK_B, 20, 20, 500);
	const struct kepler_work nowhere = { .counted_ns = 500 };
	struct activity activity;
	const uint64_t *of_a, *of_b;

	(void)state;
	thread_table_living(table, &a, &work, 1);
	thread_table_living(table, &b, &nowhere, 1);
	activity = finish(table);
	assert_int_equal(activity.count, 2);
	of_a = activity.socket_ns + (activity.samples[0].key.pid == 10 ? 0 : 2);
	of_b = activity.socket_ns + (activity.samples[0].key.pid == 10 ? 2 : 0);
	assert_int_equal(of_a[0], 250);
	assert_int_equal(of_a[1], 753);
	assert_int_equal(of_b[0], 0);
	assert_int_equal(of_b[1], 500); /* CPU 3 */
	thread_table_free(table);
}

static void test_work_without_a_process_is_counted_as_lost(void **state)
{
	struct thread_table *table;
	const struct kepler_thread one = thread(TASK_A, 10, 10, 1000);
	const struct kepler_thread two = thread(TASK_B, 20, 20, 1000);

	(void)state;
	assert_int_equal(thread_table_new(1, &table), 0);
	thread_table_tell_signals(table, all_signals());
	thread_table_begin(table, true, START);
	thread_table_living(table, &one, &work, 1);
	(void)finish(table);
	assert_int_equal(thread_table_work_lost_ns(table), 0);
	thread_table_begin(table, false, START);
	thread_table_living(table, &two, &work, 1);
	(void)finish(table);
	assert_int_equal(thread_table_work_lost_ns(table), 1000);
	thread_table_free(table);
}

/* ---- arithmetic of the kernel side ---- */

static uint64_t difference(uint64_t count, uint64_t enabled_ns, uint64_t running_ns)
{
	const struct kepler_counter_value before = { 100, 50, 50 };
	const struct kepler_counter_value now = { 100 + count, 50 + enabled_ns, 50 + running_ns };
	struct kepler_counter_duty duty = { 0 };

	return kepler_counter_difference(&before, &now, &duty);
}

static void test_a_shared_counter_is_extrapolated(void **state)
{
	(void)state;
	assert_int_equal(difference(1000, 500, 500), 1000);
	assert_int_equal(difference(1000, 500, 250), 2000);
	assert_int_equal(difference(999, 300, 100), 2997);
	assert_int_equal(difference(1000, 500, 0), 0);
	assert_int_equal(difference(0, 500, 250), 0);
	/* 5 GHz for an hour, with a fifth of the counter */
	assert_in_range(difference(3600000000000, 3600000000000, 720000000000), 17999900000000,
			18000100000000);
	/* the largest slice without a coarser scale */
	assert_int_equal(difference(1ULL << 34, (1ULL << 32) - 1, (1ULL << 31)), (1ULL << 35) - 8);
}

static void test_an_event_that_was_opened_again_counts_nothing(void **state)
{
	const struct kepler_counter_value before = { 1000, 500, 500 };
	const struct kepler_counter_value less = { 10, 600, 600 }, younger = { 2000, 20, 20 };

	struct kepler_counter_duty duty = { 0 };

	(void)state;
	assert_int_equal(kepler_counter_difference(&before, &less, &duty), 0);
	assert_int_equal(kepler_counter_difference(&before, &younger, &duty), 0);
	assert_int_equal(duty.enabled_ns, 0);
}

/*
 * Slices of 1 ms, which two threads have in turn, and an event that has the counter for 4 of 12 ms.
 * Each thread counts 1,000 a slice.
 */
static void test_short_slices_are_extrapolated_by_the_turns(void **state)
{
	struct kepler_counter_value before = { 0 }, now = { 0 };
	struct kepler_counter_duty duty = { 0 };
	uint64_t counted[2] = { 0 };

	(void)state;
	for (unsigned slice = 0; slice < 12000; slice++) {
		bool has_counter = slice % 12 < 4;

		now.enabled_ns += 1000000;
		now.running_ns += has_counter ? 1000000 : 0;
		now.count += has_counter ? 1000 : 0;
		counted[slice & 1] += kepler_counter_difference(&before, &now, &duty);
		before = now;
	}
	assert_in_range(counted[0], 5900000, 6100000);
	assert_in_range(counted[1], 5900000, 6100000);
	assert_true(duty.enabled_ns < KEPLER_DUTY_NS);
}

/* An event that has its counter for itself again is soon not extrapolated any more. */
static void test_turns_of_long_ago_do_not_count(void **state)
{
	struct kepler_counter_value before = { 0 }, now = { 0 };
	struct kepler_counter_duty duty = { .enabled_ns = 200000000, .running_ns = 50000000 };
	uint64_t last = 0;

	(void)state;
	for (unsigned slice = 0; slice < 3000; slice++) {
		now.enabled_ns += 1000000;
		now.running_ns += 1000000;
		now.count += 1000;
		last = kepler_counter_difference(&before, &now, &duty);
		before = now;
	}
	assert_in_range(last, 1000, 1001);
}

static void test_idle_time_is_one_word(void **state)
{
	(void)state;
	assert_int_equal(kepler_idle_ns_at(300, 5000), 300);         /* busy */
	assert_int_equal(kepler_idle_ns_at(300 - 4000, 5000), 1300); /* idle since 4,000 */
	assert_int_equal(kepler_idle_ns_at(-4000, 4000), 0);
}

/* Looks of a CPU whose clock is a tick late; the sibling is idle since 4,000. */
static void test_idle_time_does_not_go_back(void **state)
{
	const int64_t idle = 300 - 4000;
	const int64_t before_ns = 300;
	int64_t late_ns = kepler_idle_ns_since(before_ns, idle, 3500);

	(void)state;
	assert_int_equal(late_ns, 300);
	assert_int_equal(kepler_idle_ns_since(late_ns, idle, 5000), 1300);
	/* another sibling, which was idle for less */
	assert_int_equal(kepler_idle_ns_since(5000000000, 300, 5000), 300);
}

static void test_a_slice_is_paired_while_the_sibling_is_busy(void **state)
{
	(void)state;
	assert_int_equal(kepler_paired_ns(1000, 300, 300), 1000);
	assert_int_equal(kepler_paired_ns(1000, 300, 700), 600);
	assert_int_equal(kepler_paired_ns(1000, 300, 1300), 0);
	assert_int_equal(kepler_paired_ns(1000, 300, 1305), 0); /* clocks differ */
	assert_int_equal(kepler_paired_ns(1000, 300, 298), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_record_s_work_is_its_process_s),
		cmocka_unit_test(test_only_what_is_counted_is_known),
		cmocka_unit_test(test_without_switches_there_are_no_signals),
		cmocka_unit_test(test_rows_are_used_again_without_their_work),
		cmocka_unit_test(test_run_time_is_spread_over_sockets),
		cmocka_unit_test(test_work_without_a_process_is_counted_as_lost),
		cmocka_unit_test(test_a_shared_counter_is_extrapolated),
		cmocka_unit_test(test_an_event_that_was_opened_again_counts_nothing),
		cmocka_unit_test(test_short_slices_are_extrapolated_by_the_turns),
		cmocka_unit_test(test_turns_of_long_ago_do_not_count),
		cmocka_unit_test(test_idle_time_is_one_word),
		cmocka_unit_test(test_idle_time_does_not_go_back),
		cmocka_unit_test(test_a_slice_is_paired_while_the_sibling_is_busy),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
