// SPDX-License-Identifier: Apache-2.0
/*
 * Processors with cores of several kinds: which PMU a generic event is opened for on which CPU. The
 * trees are simulated; events that this machine does not have fail to open, which does not matter.
 */
#include "activity/counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/host/tree.h"

#define DEVICES "bus/event_source/devices/"

static const char *const none[COUNTER_USES] = { "none", "none", "none", "none" };
static const struct counter_event cycles = { true, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES };
static const struct counter_event misses = { true, PERF_TYPE_HW_CACHE, 0x10002 };
static const struct counter_event raw = { true, PERF_TYPE_RAW, 0x53003c };

static void put_pmu(const char *name, const char *type, const char *cpus)
{
	char path[96];

	(void)snprintf(path, sizeof(path), DEVICES "%s/type", name);
	put(path, type);
	(void)snprintf(path, sizeof(path), DEVICES "%s/cpus", name);
	put(path, cpus);
}

static struct counters *find(void)
{
	struct counters *counters = NULL;
	char why[256];

	assert_int_equal(counters_find(root, none, NULL, 0, &counters, why, sizeof(why)), 0);
	assert_int_equal(counters_mask(counters), 0);
	assert_string_equal(why, "");
	return counters;
}

static void cores_of_one_kind_have_generic_events(void **state)
{
	struct counters *counters = find();

	(void)state;
	assert_int_equal(counters_config(counters, &cycles, 0), PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(counters_config(counters, &misses, 7), 0x10002);
	counters_free(counters);
}

/* Performance cores with two threads, efficient cores, and two of low power. */
static void each_kind_has_its_pmu(void **state)
{
	struct counters *counters;

	(void)state;
	put_pmu("cpu_core", "4\n", "0-3\n");
	put_pmu("cpu_atom", "10\n", "4-7,9\n");
	put_pmu("cpu_lowpower", "11\n", "8\n");
	counters = find();
	assert_int_equal(counters_config(counters, &cycles, 0), 4ULL << 32);
	assert_int_equal(counters_config(counters, &cycles, 3), 4ULL << 32);
	assert_int_equal(counters_config(counters, &cycles, 4), 10ULL << 32);
	assert_int_equal(counters_config(counters, &misses, 9), 10ULL << 32 | 0x10002);
	assert_int_equal(counters_config(counters, &misses, 8), 11ULL << 32 | 0x10002);
	/* The kernel decides; no kind is given. */
	assert_int_equal(counters_config(counters, &cycles, 12), PERF_COUNT_HW_CPU_CYCLES);
	/* It is of a PMU already. */
	assert_int_equal(counters_config(counters, &raw, 4), 0x53003c);
	counters_free(counters);
}

static void a_folder_that_is_not_a_pmu_has_no_kind(void **state)
{
	struct counters *counters;

	(void)state;
	put_pmu("cpu_core", "none\n", "0-3\n");
	put_pmu("cpu_atom", "10\n", "x\n");
	put_pmu("cpu_lowpower", "4294967296\n", "4\n");
	counters = find();
	for (unsigned cpu = 0; cpu < 5; cpu++)
		assert_int_equal(counters_config(counters, &cycles, cpu), 0);
	counters_free(counters);
}

static void an_event_is_counted_if_one_kind_has_it(void **state)
{
	static const char *const names[COUNTER_USES] = { "1:0x1", "none", "1:0xffff", "none" };
	static const unsigned cpus[] = { 0 };
	struct counters *counters = NULL;
	char why[256];

	(void)state;
	assert_int_equal(counters_find(root, names, cpus, 1, &counters, why, sizeof(why)), 0);
	/* task-clock opens nearly everywhere; no kernel has that software event. */
	assert_int_equal(counters_mask(counters) & ~1U, 0);
	assert_non_null(strstr(why, "instructions (1:0xffff)"));
	counters_free(counters);
}

/*
 * No machine has a PMU of the type that CPU 0 has here, so its cycles fail to open. The PMU "msr"
 * has the number of software events, and task-clock opens nearly everywhere.
 */
/* A software event, which a kernel has on every processor, but not under qemu-user. */
static bool has_events(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_TASK_CLOCK };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

static void cycles_have_a_stand_in(void **state)
{
	static const char *const automatic[COUNTER_USES] = { "auto", "auto", "auto", "none" };
	static const char *const named[COUNTER_USES] = { "cycles", "none", "none", "none" };
	static const unsigned cpus[] = { 0 };
	struct counters *counters = NULL;
	char why[256];

	(void)state;
	if (!has_events()) {
		print_message("# not possible here: events of perf may not be opened\n");
		return;
	}
	put_pmu("cpu_core", "4000000\n", "0\n");
	put(DEVICES "msr/type", "1\n");
	put(DEVICES "msr/events/aperf", "config=1\n");
	assert_int_equal(counters_find(root, automatic, cpus, 1, &counters, why, sizeof(why)), 0);
	assert_int_equal(counters_mask(counters), 1U << COUNTER_CYCLES);
	assert_non_null(strstr(why, "ref-cycles, instructions: "));
	counters_free(counters);
	/* An event that is named is counted itself, or not at all. */
	assert_int_equal(counters_find(root, named, cpus, 1, &counters, why, sizeof(why)), 0);
	assert_int_equal(counters_mask(counters), 0);
	assert_non_null(strstr(why, "cycles (cycles): "));
	counters_free(counters);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(cores_of_one_kind_have_generic_events),
		TEST(each_kind_has_its_pmu),
		TEST(a_folder_that_is_not_a_pmu_has_no_kind),
		TEST(an_event_is_counted_if_one_kind_has_it),
		TEST(cycles_have_a_stand_in),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
