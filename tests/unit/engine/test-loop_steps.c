// SPDX-License-Identifier: Apache-2.0
#include "engine/loop_steps.h"

#include <math.h>

#include "base/num.h"
#include "tests/unit/unit.h"

#define MS NSEC_PER_MSEC

struct bench {
	struct heartbeat heartbeat;
	struct loop_steps steps;
};

static void set_up(struct bench *bench)
{
	*bench = (struct bench){ 0 };
	heartbeat_init(&bench->heartbeat, 0, NSEC_PER_SEC);
	loop_steps_init(&bench->steps, NSEC_PER_SEC, &bench->heartbeat);
}

static void each_step_ends_the_one_before(void **state)
{
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_METERS, 1000 * MS);
	loop_steps_enter(&bench.steps, STEP_ACTIVITY, 1005 * MS);
	loop_steps_enter(&bench.steps, STEP_NONE, 31005 * MS);
	loop_steps_enter(&bench.steps, STEP_METERS, 32000 * MS);
	assert_int_equal(bench.steps.steps[STEP_METERS].count, 1);
	assert_int_equal(bench.steps.steps[STEP_METERS].counts[1], 1);
	assert_true(bench.steps.steps[STEP_METERS].sum > 0.00499);
	assert_true(bench.steps.steps[STEP_METERS].sum < 0.00501);
	/* Half a minute is above the last bound: only the count and the sum have it. */
	assert_int_equal(bench.steps.steps[STEP_ACTIVITY].count, 1);
	assert_true(bench.steps.steps[STEP_ACTIVITY].sum > 29.9);
	for (int i = 0; i < HEALTH_BUCKETS_MAX; i++)
		assert_int_equal(bench.steps.steps[STEP_ACTIVITY].counts[i], 0);
	for (int step = 0; step < STEP_COUNT; step++)
		assert_true(step == STEP_METERS || step == STEP_ACTIVITY ||
			    bench.steps.steps[step].count == 0);
}

static void others_see_the_step_under_way(void **state)
{
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_METERS, MS);
	assert_string_equal(heartbeat_look(&bench.heartbeat, MS).doing, "meters");
	loop_steps_enter(&bench.steps, STEP_NONE, 2 * MS);
	assert_string_equal(heartbeat_look(&bench.heartbeat, MS).doing, "waiting");
}

static void a_bound_is_inclusive(void **state)
{
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_SELF, 0);
	loop_steps_enter(&bench.steps, STEP_NONE, 1 * MS);
	assert_int_equal(bench.steps.steps[STEP_SELF].counts[0], 1);
}

/* A step that was never taken has no series. */
static void the_health_names_the_steps_that_were_taken(void **state)
{
	struct loop_health health = { 0 };
	struct bench bench;

	set_up(&bench);
	loop_steps_enter(&bench.steps, STEP_SELF, 0);
	loop_steps_enter(&bench.steps, STEP_ACTIVITY, 1 * MS);
	loop_steps_enter(&bench.steps, STEP_NONE, 3 * MS);
	loop_steps_add_interval(&bench.steps, 3 * MS);
	assert_true(loop_health_part.fill(&bench.steps, &health));
	assert_int_equal(health.step_count, 2);
	assert_string_equal(health.steps[0].name, "self");
	assert_string_equal(health.steps[1].name, "activity");
	assert_int_equal(health.steps[1].seconds.counts[1], 1);
	assert_int_equal(health.intervals.counts[5], 1); /* up to 5 ms */
	assert_true(fabs(health.intervals.sum - 0.003) < 1e-9);
	assert_true(fabs(health.interval_s - 1) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_ends_the_one_before),
		cmocka_unit_test(others_see_the_step_under_way),
		cmocka_unit_test(a_bound_is_inclusive),
		cmocka_unit_test(the_health_names_the_steps_that_were_taken),
	};

	return unit_run(tests);
}
