// SPDX-License-Identifier: Apache-2.0
#include "activity/machine_time.h"

#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define TICK_NS 10000000ULL

/* With guest time: it is in user and nice already. */
static const char text[] = "cpu  1000 200 30 40000 500 6 7 80 900 100\n"
			   "cpu0 500 100 15 20000 250 3 3 40 450 50\n"
			   "cpu3 500 100 15 20000 250 3 4 40 450 50\n"
			   "intr 12345 0 0\n"
			   "ctxt 1\n";

static int parse(const char *from, struct machine_time *ret)
{
	return machine_time_parse(from, strlen(from), TICK_NS, ret);
}

static void test_the_first_lines(void **state)
{
	struct machine_time time = { 0 };

	assert_int_equal(parse(text, &time), 0);
	assert_int_equal(time.busy_ns, (1000 + 200 + 30 + 6 + 7) * TICK_NS);
	assert_int_equal(time.idle_ns, (40000 + 500) * TICK_NS);
	assert_int_equal(time.steal_ns, 80 * TICK_NS);
	assert_int_equal(time.cpus, 2);
}

static void test_other_texts(void **state)
{
	struct machine_time time = { .cpus = 7 };

	assert_int_equal(parse("", &time), -EINVAL);
	assert_int_equal(parse("cpu", &time), -EINVAL);
	assert_int_equal(parse("cpu  1 2 3\n", &time), -EINVAL);
	assert_int_equal(parse("cpu  1 2 3 4 5 6 7 -8\ncpu0 1\nintr\n", &time), -EINVAL);
	assert_int_equal(parse("cpu  1 2 3 4 5 6 7 99999999999999999999\ncpu0 1\nintr\n", &time),
			 -EINVAL);
	assert_int_equal(parse("cpu  1 2 3 4 5 6 7 8\nintr 1\n", &time), -EINVAL);
	assert_int_equal(time.cpus, 7);
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		int r = machine_time_parse(text, len, TICK_NS, &time);

		assert_true(r == 0 || r == -EINVAL || r == -EMSGSIZE);
		assert_true(r < 0 || time.cpus == 2);
	}
}

static void test_more_cpus_than_fit_at_first(void **state)
{
	char dir[] = "/tmp/kepler-stat-XXXXXX", path[64];
	struct machine_clock *clock = NULL;
	struct machine_time time;
	FILE *file;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(machine_clock_open(dir, &clock), -ENOENT);
	(void)snprintf(path, sizeof(path), "%s/stat", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fprintf(file, "cpu  1 2 3 4 5 6 7 8 9 10\n");
	for (int i = 0; i < 1000; i++)
		(void)fprintf(file, "cpu%d 123456 123456 123456 123456 5 6 7 8 9 10\n", i);
	(void)fprintf(file, "intr 1\n");
	assert_int_equal(fclose(file), 0);
	assert_int_equal(machine_clock_open(dir, &clock), 0);
	assert_int_equal(machine_clock_read(clock, &time), 0);
	assert_int_equal(time.cpus, 1000);
	assert_int_equal(truncate(path, 5000), 0);
	assert_int_equal(machine_clock_read(clock, &time), -EINVAL);
	machine_clock_close(clock);
	assert_int_equal(remove_tree(dir), 0);
}

static void test_the_one_that_runs_this(void **state)
{
	struct machine_clock *clock = NULL;
	struct machine_time before, after;
	struct timespec wait = { .tv_nsec = 50000000 };

	assert_int_equal(machine_clock_open("/proc", &clock), 0);
	assert_int_equal(machine_clock_read(clock, &before), 0);
	(void)nanosleep(&wait, NULL);
	assert_int_equal(machine_clock_read(clock, &after), 0);
	assert_int_equal(after.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(after.time_ns - before.time_ns >= 50 * NSEC_PER_MSEC);
	assert_true(after.busy_ns >= before.busy_ns);
	machine_clock_close(clock);
	machine_clock_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_lines),
		cmocka_unit_test(test_other_texts),
		cmocka_unit_test(test_more_cpus_than_fit_at_first),
		cmocka_unit_test(test_the_one_that_runs_this),
	};

	return unit_run(tests);
}
