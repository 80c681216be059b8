// SPDX-License-Identifier: Apache-2.0
/* Bytes of groups over the samples of a pass, to the byte. */
#include "activity/memory_traffic.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define MB 1000000ULL

static const uint32_t pids[] = { 100, 101, 200 };
/* The default group, one with processes 100 and 101, one with 200. */
static struct resctrl_group groups[] = { { 7 * MB, 0, 0 }, { 10 * MB, 0, 2 }, { 5 * MB, 2, 1 } };
static const struct resctrl_reading reading = { groups, 3, pids, 3, 1, true };

static struct activity_sample ran(uint32_t pid, uint64_t cgroup_id, uint64_t cpu_ns)
{
	return (struct activity_sample){ .key = { .pid = pid },
					 .cgroup_id = cgroup_id,
					 .cpu_ns = cpu_ns };
}

static struct memory_traffic *new_traffic(void)
{
	struct memory_traffic *traffic = NULL;

	assert_int_equal(memory_traffic_new(&traffic), 0);
	return traffic;
}

static void a_group_s_bytes_are_its_processes(void **state)
{
	const struct activity_sample samples[] = { ran(100, 1, 3000), ran(200, 2, 9000),
						   ran(300, 3, 1000), ran(101, 1, 1000),
						   ran(301, 0, 6000) };
	struct activity activity = { .samples = samples, .count = ARRAY_SIZE(samples) };
	const uint64_t expected[] = { 7500000, 5000000, 1000000, 2500000, 6000000 };
	struct memory_traffic *traffic = new_traffic();

	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.signals, SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC));
	for (size_t i = 0; i < activity.count; i++)
		assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][i], expected[i]);
	assert_int_equal(activity.unknown_signal[SIGNAL_MEMORY_TRAFFIC], 0);
	memory_traffic_free(traffic);
}

static void cache_misses_take_precedence_over_time(void **state)
{
	const struct activity_sample samples[] = { ran(100, 1, 3000), ran(101, 1, 1000) };
	const uint64_t misses[] = { 1, 4 };
	struct activity activity = { .samples = samples,
				     .count = 2,
				     .signals = SIGNAL_BIT(SIGNAL_CACHE_MISSES),
				     .signal = { [SIGNAL_CACHE_MISSES] = misses } };
	struct memory_traffic *traffic = new_traffic();

	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 2 * MB);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][1], 8 * MB);
	/* Nothing else ran: it is known of the machine alone. */
	assert_int_equal(activity.unknown_signal[SIGNAL_MEMORY_TRAFFIC], 12 * MB);
	memory_traffic_free(traffic);
}

/* Forked since the list was read; but not where its cgroup has processes of two groups. */
static void a_child_is_in_the_group_of_its_cgroup(void **state)
{
	const struct activity_sample first[] = { ran(102, 1, 1000), ran(100, 1, 1000) };
	const struct activity_sample second[] = { ran(103, 1, 1000), ran(300, 9, 1000) };
	const struct activity_sample third[] = { ran(200, 1, 1000), ran(104, 1, 1000) };
	struct activity activity = { .samples = first, .count = 2 };
	struct memory_traffic *traffic = new_traffic();

	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 5 * MB);
	activity = (struct activity){ .samples = second, .count = 2 };
	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 10 * MB);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][1], 12 * MB);
	activity = (struct activity){ .samples = third, .count = 2 };
	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 5 * MB);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][1], 17 * MB);
	memory_traffic_free(traffic);
}

static void another_scan_forgets_what_was(void **state)
{
	struct resctrl_reading later = reading;
	const struct activity_sample samples[] = { ran(100, 1, 1000) };
	struct activity activity = { .samples = samples, .count = 1 };
	struct memory_traffic *traffic = new_traffic();

	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 10 * MB);
	later.scans = 2;
	later.group_count = 1;
	activity = (struct activity){ .samples = samples, .count = 1 };
	memory_traffic_add(traffic, &later, &activity);
	assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 7 * MB);
	memory_traffic_free(traffic);
}

static void an_unknown_amount_adds_no_signal(void **state)
{
	struct resctrl_reading unknown = reading;
	struct activity activity = { 0 };
	struct memory_traffic *traffic = new_traffic();

	unknown.is_known = false;
	memory_traffic_add(traffic, &unknown, &activity);
	assert_int_equal(activity.signals, 0);
	memory_traffic_add(traffic, &reading, &activity);
	assert_int_equal(activity.unknown_signal[SIGNAL_MEMORY_TRAFFIC], 22 * MB);
	memory_traffic_free(traffic);
}

static void a_reading_that_is_late_is_as_the_last(void **state)
{
	const struct activity_sample samples[] = { ran(100, 1, 1000), ran(300, 9, 1000) };
	struct resctrl_reading unknown = reading;
	struct memory_traffic *traffic = new_traffic();

	for (int pass = 0; pass <= MEMORY_TRAFFIC_REPEATS + 1; pass++) {
		struct activity activity = { .samples = samples, .count = 2 };

		memory_traffic_add(traffic, pass ? NULL : &reading, &activity);
		assert_int_equal(activity.signals != 0, pass <= MEMORY_TRAFFIC_REPEATS);
		if (activity.signals)
			assert_int_equal(activity.signal[SIGNAL_MEMORY_TRAFFIC][0], 10 * MB);
	}
	/* A value that is known to be unknown is not repeated. */
	unknown.is_known = false;
	for (int pass = 0; pass < 3; pass++) {
		struct activity activity = { .samples = samples, .count = 2 };

		memory_traffic_add(traffic,
				   pass == 0   ? &reading
				   : pass == 1 ? &unknown
					       : NULL,
				   &activity);
		assert_int_equal(activity.signals != 0, pass == 0);
	}
	memory_traffic_free(traffic);
}

static const char *the_parts_are_the_whole(struct property_source *source, void *userdata)
{
	struct activity_sample samples[32];
	struct activity activity = { .samples = samples, .count = draw_below(source, 33) };
	struct memory_traffic *traffic = new_traffic();
	uint64_t sum = 0, whole = 0;

	(void)userdata;
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		groups[g].bytes = draw_below(source, 1000000000);
		whole += groups[g].bytes;
	}
	for (size_t i = 0; i < activity.count; i++)
		samples[i] = ran((uint32_t)(100 * draw_below(source, 4)), draw_below(source, 3),
				 draw_below(source, 5) * 777);
	memory_traffic_add(traffic, &reading, &activity);
	for (size_t i = 0; i < activity.count; i++)
		sum += activity.signal[SIGNAL_MEMORY_TRAFFIC][i];
	sum += activity.unknown_signal[SIGNAL_MEMORY_TRAFFIC];
	memory_traffic_free(traffic);
	return sum == whole ? NULL : "the parts do not sum to the whole";
}

/* Last, for it changes the groups. */
static void parts_add_up(void **state)
{
	assert_true(property_check("parts", the_parts_are_the_whole, NULL, 3000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_s_bytes_are_its_processes),
		cmocka_unit_test(cache_misses_take_precedence_over_time),
		cmocka_unit_test(a_child_is_in_the_group_of_its_cgroup),
		cmocka_unit_test(another_scan_forgets_what_was),
		cmocka_unit_test(an_unknown_amount_adds_no_signal),
		cmocka_unit_test(a_reading_that_is_late_is_as_the_last),
		cmocka_unit_test(parts_add_up),
	};

	return unit_run(tests);
}
