// SPDX-License-Identifier: Apache-2.0
/* Idle states of CPUs as sysfs has them: sums by name that begin at 0 and never fall. */
#include "host/cpu_idle.h"

#include "tree.h"

static void put_state(unsigned cpu, unsigned number, const char *name, const char *time_us)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/cpuidle/state%u/name", cpu,
		       number);
	put(path, name);
	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/cpuidle/state%u/time", cpu,
		       number);
	put(path, time_us);
}

static struct cpu_idle *open_tree(const char *sysfs)
{
	struct cpu_idle *idle = NULL;

	assert_int_equal(cpu_idle_open(sysfs, &idle), 0);
	assert_int_equal(cpu_idle_scan(idle), 0);
	return idle;
}

static uint64_t time_of(const struct cpu_idle *idle, const char *name)
{
	size_t count;
	const struct cpu_idle_state *list = cpu_idle_list(idle, &count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].name, name) == 0)
			return list[i].time_us;
	}
	return UINT64_MAX;
}

static void a_tree_without_states_has_none(void **state)
{
	struct cpu_idle *idle = open_tree("/nonexistent");
	size_t count;

	(void)state;
	assert_false(cpu_idle_read(idle));
	(void)cpu_idle_list(idle, &count);
	assert_int_equal(count, 0);
	cpu_idle_close(idle);
}

static void states_are_summed_by_name(void **state)
{
	struct cpu_idle *idle;

	(void)state;
	put("devices/system/cpu/online", "0-1\n");
	put_state(0, 0, "POLL\n", "5\n");
	put_state(0, 1, "C6\n", "1000\n");
	put_state(1, 0, "C6\n", "2000\n"); /* another kind of core */
	idle = open_tree(root);
	assert_true(cpu_idle_read(idle));
	assert_int_equal(time_of(idle, "C6"), 0); /* counting begins */
	put_state(0, 0, "POLL\n", "7\n");
	put_state(0, 1, "C6\n", "1300\n");
	put_state(1, 0, "C6\n", "2500\n");
	assert_true(cpu_idle_read(idle));
	assert_int_equal(time_of(idle, "POLL"), 2);
	assert_int_equal(time_of(idle, "C6"), 800);
	cpu_idle_close(idle);
}

static void sums_never_fall(void **state)
{
	struct cpu_idle *idle;

	(void)state;
	put("devices/system/cpu/online", "0\n");
	put_state(0, 0, "C1\n", "100\n");
	idle = open_tree(root);
	(void)cpu_idle_read(idle);
	put_state(0, 0, "C1\n", "150\n");
	(void)cpu_idle_read(idle);
	put_state(0, 0, "C1\n", "10\n");
	(void)cpu_idle_read(idle);
	assert_int_equal(time_of(idle, "C1"), 50);
	put_state(0, 0, "C1\n", "not a number\n");
	(void)cpu_idle_read(idle);
	put_state(0, 0, "C1\n", "30\n");
	(void)cpu_idle_read(idle);
	assert_int_equal(time_of(idle, "C1"), 70);
	cpu_idle_close(idle);
}

static void cpus_that_come_are_found(void **state)
{
	struct cpu_idle *idle;

	(void)state;
	put("devices/system/cpu/online", "0\n");
	put_state(0, 0, "C1\n", "100\n");
	idle = open_tree(root);
	(void)cpu_idle_read(idle);
	put("devices/system/cpu/online", "0-1\n");
	put_state(1, 0, "C1\n", "900\n");
	assert_int_equal(cpu_idle_scan(idle), 0);
	(void)cpu_idle_read(idle);
	put_state(1, 0, "C1\n", "904\n");
	(void)cpu_idle_read(idle);
	assert_int_equal(time_of(idle, "C1"), 4);
	cpu_idle_close(idle);
}

/* It is a label later. */
static void names_are_printable_and_bounded(void **state)
{
	struct cpu_idle *idle;
	char name[32];
	size_t count;

	(void)state;
	put("devices/system/cpu/online", "0-3\n");
	put_state(0, 0, "a\"b\\c\x01\n", "1\n");
	put_state(0, 1, "a name that is longer than any\n", "1\n");
	for (unsigned number = 0; number < 10; number++) {
		(void)snprintf(name, sizeof(name), "X%u\n", number);
		put_state(1, number, name, "1\n");
		(void)snprintf(name, sizeof(name), "Y%u\n", number);
		put_state(2, number, name, "1\n");
	}
	idle = open_tree(root);
	(void)cpu_idle_read(idle);
	assert_int_equal(time_of(idle, "a_b_c_"), 0);
	assert_int_equal(time_of(idle, "a name that is "), 0);
	(void)cpu_idle_list(idle, &count);
	assert_int_equal(count, CPU_IDLE_STATES_MAX);
	cpu_idle_close(idle);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_tree_without_states_has_none),
		TEST(states_are_summed_by_name),
		TEST(sums_never_fall),
		TEST(cpus_that_come_are_found),
		TEST(names_are_printable_and_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
