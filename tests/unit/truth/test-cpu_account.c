// SPDX-License-Identifier: Apache-2.0
#include "truth/cpu_account.h"

#include "tests/unit/truth/truth_root.h"

static void the_scheduler_has_an_account_of_its_own(void **state)
{
	write_text("schedstat", "version 15\n"
				"timestamp 4295012345\n"
				"cpu0 0 0 100 50 60 30 1500000000 700000000 40\n"
				"domain0 3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n"
				"cpu1 0 0 100 50 60 30 2250000000 800000000 40\n"
				"domain0 3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n");
	assert_float_equal(cpu_account_task_s(root), 3.75, 1e-9);
}

static void a_kernel_may_lack_the_account(void **state)
{
	write_text("schedstat", "version 15\ntimestamp 4295012345\n");
	assert_true(cpu_account_task_s(root) < 0);
	assert_true(cpu_account_task_s("/nonexistent") < 0);
}

static void idle_ticks_are_not_busy(void **state)
{
	write_text("stat", "cpu  100 20 30 5000 400 3 2 7 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
	double ticks = cpu_account_busy_s(root) * (double)sysconf(_SC_CLK_TCK);
	assert_float_equal(ticks, 155, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_scheduler_has_an_account_of_its_own, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_kernel_may_lack_the_account, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(idle_ticks_are_not_busy, make_root, remove_root),
	};
	return unit_run(tests);
}
