// SPDX-License-Identifier: Apache-2.0
#include "engine/loop_steps.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define MS NSEC_PER_MSEC

struct bench {
	struct snapshot_self self;
	struct heartbeat heartbeat;
	struct loop_steps steps;
};

static void set_up(struct bench *bench)
{
	*bench = (struct bench){ 0 };
	heartbeat_init(&bench->heartbeat, 0, NSEC_PER_SEC);
	loop_steps_init(&bench->steps, &bench->self, &bench->heartbeat);
}

static void each_step_ends_the_one_before(void **state)
{
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_METERS, 1000 * MS);
	loop_steps_enter(&bench.steps, STEP_ACTIVITY, 1005 * MS);
	loop_steps_enter(&bench.steps, STEP_NONE, 31005 * MS);
	loop_steps_enter(&bench.steps, STEP_METERS, 32000 * MS);
	assert_int_equal(bench.self.steps[STEP_METERS].count, 1);
	assert_int_equal(bench.self.steps[STEP_METERS].bucket_counts[1], 1);
	assert_true(bench.self.steps[STEP_METERS].sum_s > 0.00499);
	assert_true(bench.self.steps[STEP_METERS].sum_s < 0.00501);
	/* Half a minute is above the last bound: only the count and the sum have it. */
	assert_int_equal(bench.self.steps[STEP_ACTIVITY].count, 1);
	assert_true(bench.self.steps[STEP_ACTIVITY].sum_s > 29.9);
	for (int i = 0; i < SNAPSHOT_STEP_BUCKETS; i++)
		assert_int_equal(bench.self.steps[STEP_ACTIVITY].bucket_counts[i], 0);
	for (int step = 0; step < STEP_COUNT; step++)
		assert_true(step == STEP_METERS || step == STEP_ACTIVITY ||
			    bench.self.steps[step].count == 0);
}

static void others_see_the_step_under_way(void **state)
{
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_METERS, MS);
	assert_string_equal(heartbeat_look(&bench.heartbeat, MS).doing, "meters");
	assert_string_equal(bench.self.steps[STEP_METERS].name, "meters");
	loop_steps_enter(&bench.steps, STEP_NONE, 2 * MS);
	assert_string_equal(heartbeat_look(&bench.heartbeat, MS).doing, "waiting");
}

static void a_bound_is_inclusive(void **state)
{
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_SELF, 0);
	loop_steps_enter(&bench.steps, STEP_NONE, 1 * MS);
	assert_int_equal(bench.self.steps[STEP_SELF].bucket_counts[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_ends_the_one_before),
		cmocka_unit_test(others_see_the_step_under_way),
		cmocka_unit_test(a_bound_is_inclusive),
	};

	return unit_run(tests);
}
