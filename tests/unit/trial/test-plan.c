// SPDX-License-Identifier: Apache-2.0
#include "trial/plan.h"

#include "tests/unit/unit.h"

static void loads_are_bracketed(void **state)
{
	struct plan plan;

	plan_make(SCENARIO_QUICK, 8, 100, &plan);
	assert_int_equal(plan.count, 5);
	assert_true(fabs(plan_length_s(&plan) - 100) < 1e-9);
	assert_true(fabs(plan.phases[1].cpus - 4) < 1e-9);
	for (size_t i = 0; i < plan.count; i++)
		assert_int_equal(plan_is_bracket(&plan, i), i % 2);
}

static void a_ladder_has_steps(void **state)
{
	struct plan plan;

	plan_make(SCENARIO_LADDER, 4, 90, &plan);
	assert_int_equal(plan.count, 9);
	assert_true(fabs(plan.phases[4].cpus - 4) < 1e-9);
	assert_true(fabs(plan.phases[7].cpus - 1) < 1e-9);
	for (size_t i = 0; i < plan.count; i++)
		assert_false(plan_is_bracket(&plan, i));
}

static void the_full_plan_brackets_each_load_but_the_ladder(void **state)
{
	struct plan plan;

	plan_make(SCENARIO_FULL, 4, 2400, &plan);
	assert_int_equal(plan.count, 14);
	assert_true(fabs(plan_length_s(&plan) - 2400) < 1e-6);
	for (size_t i = 0; i < plan.count; i++)
		assert_int_equal(plan_is_bracket(&plan, i),
				 i > 4 && plan.phases[i].load != LOAD_NONE);
}

static void small_machines_get_a_whole_cpu_of_processes(void **state)
{
	struct plan plan;

	plan_make(SCENARIO_SHORT_LIVED, 1, 30, &plan);
	assert_true(fabs(plan.phases[1].cpus - 1) < 1e-9);
	plan_make(SCENARIO_NODE, 1, 30, &plan);
	assert_int_equal(plan.count, 1);
	assert_int_equal(plan.phases[0].load, LOAD_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_bracketed),
		cmocka_unit_test(a_ladder_has_steps),
		cmocka_unit_test(the_full_plan_brackets_each_load_but_the_ladder),
		cmocka_unit_test(small_machines_get_a_whole_cpu_of_processes),
	};
	return unit_run(tests);
}
