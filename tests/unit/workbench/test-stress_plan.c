// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress_plan.h"

#include "tests/unit/unit.h"

static void test_loads(void **state)
{
	static const char *const wrong[] = { "",         "--help", "a b",     "vm;x",
					     "vm;x,y;1", "vm;;",   "a;b;c;d", "vm;x;$(id)" };
	struct stress_load load;
	struct diag diag = { "" };

	assert_int_equal(stress_load_parse("cpu", &load, &diag), 0);
	assert_string_equal(load.name, "cpu");
	assert_int_equal(load.key_count, 0);
	assert_int_equal(stress_load_parse("vm-rw;vm-rw-bytes,vm-rw-ops;4G,10", &load, &diag), 0);
	assert_int_equal(load.key_count, 2);
	assert_string_equal(load.keys[1], "vm-rw-ops");
	assert_string_equal(load.values[0], "4G");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(stress_load_parse(wrong[i], &load, &diag), -EINVAL);
}

static void test_defaults(void **state)
{
	static const uint32_t expected[] = { 1, 2, 4, 8, 16, 24, 32, 40 };
	struct stress_plan plan = { .load_count = 0 };

	stress_plan_default_instances(&plan, 32);
	assert_int_equal(plan.instance_count, ARRAY_SIZE(expected));
	assert_memory_equal(plan.instances, expected, sizeof(expected));
	stress_plan_default_instances(&plan, STRESS_CPUS_MAX);
	assert_int_equal(plan.instance_count, STRESS_INSTANCES_MAX);
	stress_plan_default_frequencies(&plan, 1200000, 3600000);
	assert_int_equal(plan.frequency_count, 3);
	assert_int_equal(plan.frequencies_khz[0], 2000000);
	assert_int_equal(plan.frequencies_khz[2], 3600000);
	stress_plan_default_frequencies(&plan, 800000, 1000000);
	assert_int_equal(plan.frequency_count, 1);
	assert_int_equal(plan.frequencies_khz[0], 1000000);
}

static void test_steps(void **state)
{
	struct stress_plan plan = { .load_count = 2,
				    .frequencies_khz = { 100, 200 },
				    .frequency_count = 2,
				    .instances = { 1, 2, 4 },
				    .instance_count = 3,
				    .step_ms = 20000,
				    .pause_ms = 5000,
				    .idle_ms = 100000 };
	struct stress_step step;

	assert_int_equal(stress_plan_steps(&plan), 12);
	assert_int_equal(stress_plan_ms(&plan), 400000);
	step = stress_plan_step(&plan, 0);
	assert_ptr_equal(step.load, &plan.loads[0]);
	step = stress_plan_step(&plan, 3);
	assert_ptr_equal(step.load, &plan.loads[1]);
	assert_int_equal(step.instances, 2);
	assert_int_equal(step.frequency_khz, 100);
	step = stress_plan_step(&plan, 11);
	assert_int_equal(step.instances, 4);
	assert_int_equal(step.frequency_khz, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_steps),
	};

	return unit_run(tests);
}
