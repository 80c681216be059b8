// SPDX-License-Identifier: Apache-2.0
#include "meter/passthrough/passthrough_cpu.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/num.h"
#include "fake_tree.h"
#include "tests/unit/unit.h"

#define MINUTE_NS (60 * NSEC_PER_SEC)
#define S         1000000ULL /* in µs */

static double deviation(const struct passthrough_cpu *cpu)
{
	return passthrough_cpu_deviation(cpu->compared_host_us, cpu->compared_own_us);
}

static bool is_known(const struct passthrough_cpu *cpu)
{
	return !isnan(deviation(cpu));
}

static void times_are_compared_over_a_minute(void **state)
{
	struct passthrough_cpu cpu = { 0 };

	(void)state;
	passthrough_cpu_compare(&cpu, NSEC_PER_SEC, 100 * S, 700 * S);
	assert_false(is_known(&cpu));
	passthrough_cpu_compare(&cpu, NSEC_PER_SEC + MINUTE_NS - 1, 190 * S, 740 * S);
	assert_false(is_known(&cpu));
	passthrough_cpu_compare(&cpu, NSEC_PER_SEC + MINUTE_NS, 133 * S, 730 * S);
	assert_true(fabs(deviation(&cpu) - 0.1) < 1e-9);
	passthrough_cpu_compare(&cpu, NSEC_PER_SEC + 2 * MINUTE_NS, 157 * S, 760 * S);
	assert_true(fabs(deviation(&cpu) + 0.2) < 1e-9);
}

static void an_idle_machine_is_not_judged(void **state)
{
	struct passthrough_cpu cpu = { 0 };

	(void)state;
	passthrough_cpu_compare(&cpu, 0, 0, 0);
	passthrough_cpu_compare(&cpu, MINUTE_NS, 10 * S, 10 * S);
	assert_true(is_known(&cpu));
	passthrough_cpu_compare(&cpu, 2 * MINUTE_NS, 14 * S, 12 * S);
	assert_false(is_known(&cpu));
}

static void busy_time_has_no_steal(void **state)
{
	struct fake_tree tree;
	char path[320];
	uint64_t own_us = 0;
	FILE *file;

	(void)state;
	tree_make(&tree);
	assert_int_equal(passthrough_own_cpu(tree.sysfs, &own_us), -ENOENT);
	(void)snprintf(path, sizeof(path), "%s/stat", tree.sysfs);
	file = fopen(path, "we");
	assert_non_null(file);
	(void)fputs("cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1\n", file);
	(void)fclose(file);
	assert_int_equal(passthrough_own_cpu(tree.sysfs, &own_us), 0);
	assert_int_equal(own_us, 7600321ULL * (S / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_int_equal(truncate(path, 6), 0);
	assert_int_equal(passthrough_own_cpu(tree.sysfs, &own_us), -EBADMSG);
	tree_remove(&tree);
}

static void work_has_energy(void **state)
{
	struct passthrough_empty empty = { 0 };

	(void)state;
	assert_false(passthrough_is_empty(&empty, false, 100 * S));
	assert_false(passthrough_is_empty(&empty, false, 130 * S - 1));
	assert_true(passthrough_is_empty(&empty, false, 130 * S));
	assert_false(passthrough_is_empty(&empty, true, 131 * S));
	assert_false(passthrough_is_empty(&empty, true, 999 * S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_compared_over_a_minute),
		cmocka_unit_test(an_idle_machine_is_not_judged),
		cmocka_unit_test(busy_time_has_no_steal),
		cmocka_unit_test(work_has_energy),
	};

	return unit_run(tests);
}
