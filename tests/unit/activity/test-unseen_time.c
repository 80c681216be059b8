// SPDX-License-Identifier: Apache-2.0
/*
 * A machine that is made up: work that is seen, work that is not, and the account that ticks make
 * of both. What is found to be unseen is compared with what was.
 */
#include "activity/unseen_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/num.h"
#include "tests/unit/property.h"

#define TICK_NS   (4 * NSEC_PER_MSEC)
#define CUT_NS    (10 * NSEC_PER_MSEC)
#define CPUS      2U
#define SECOND_NS NSEC_PER_SEC

struct plant {
	struct unseen_time unseen;
	struct machine_time exact; /* not cut yet */
	uint64_t seen_ns, hidden_ns, found_ns;
	uint64_t chance;
};

static uint64_t cut(uint64_t ns)
{
	return ns - ns % CUT_NS;
}

static void told(struct plant *plant, uint64_t seen_ns)
{
	struct machine_time now = plant->exact;

	now.busy_ns = cut(now.busy_ns);
	now.idle_ns = cut(now.idle_ns);
	plant->seen_ns += seen_ns;
	plant->found_ns += unseen_time_add(&plant->unseen, &now, seen_ns);
}

static void begin(struct plant *plant)
{
	*plant = (struct plant){ .exact = { .time_ns = 100 * SECOND_NS,
					    .boottime_ns = 500 * SECOND_NS,
					    .busy_ns = 12345678901,
					    .idle_ns = 98765432109,
					    .cpus = CPUS } };
	unseen_time_init(&plant->unseen, TICK_NS);
	told(plant, 0);
}

static void pass_time(struct plant *plant, uint64_t ns)
{
	plant->exact.time_ns += ns;
	plant->exact.boottime_ns += ns;
}

/* A second in which so much was run, counted exactly. */
static void second(struct plant *plant, uint64_t seen_ns, uint64_t hidden_ns)
{
	pass_time(plant, SECOND_NS);
	plant->exact.busy_ns += seen_ns + hidden_ns;
	plant->exact.idle_ns += CPUS * SECOND_NS - seen_ns - hidden_ns;
	plant->hidden_ns += hidden_ns;
	told(plant, seen_ns);
}

static void test_what_is_seen_is_not_unseen(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 1000; i++)
		second(&plant, (uint64_t)i % 3 * SECOND_NS, 0);
	assert_int_equal(plant.found_ns, 0);
}

static void test_what_is_hidden_is_found(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 600; i++)
		second(&plant, SECOND_NS / 100, SECOND_NS);
	assert_true(plant.found_ns <= plant.hidden_ns);
	assert_true(plant.found_ns >= plant.hidden_ns * 98 / 100);
	/* It was not given out twice: nothing is owed when it ends. */
	plant.hidden_ns = plant.found_ns = 0;
	for (int i = 0; i < 600; i++)
		second(&plant, SECOND_NS / 100, 0);
	assert_int_equal(plant.found_ns, 0);
}

static void test_the_first_second_tells_most(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	second(&plant, 0, SECOND_NS);
	assert_true(plant.found_ns > SECOND_NS / 2);
}

/* What is decided by chance: many numbers of which none is of interest by itself. */
static uint64_t below(struct plant *plant, uint64_t bound)
{
	plant->chance ^= plant->chance << 13;
	plant->chance ^= plant->chance >> 7;
	plant->chance ^= plant->chance << 17;
	return plant->chance % bound;
}

/*
 * A second of which each tick counts all or nothing, by what it finds; idle time is made of ticks
 * as well where they do not stop in idle. In the part @run_ns of each tick there is work.
 */
static void sampled_second(struct plant *plant, uint64_t run_ns, uint64_t hidden_ns,
			   bool idle_exact)
{
	const uint64_t ticks = CPUS * SECOND_NS / TICK_NS;
	uint64_t found = 0;

	for (uint64_t i = 0; i < ticks; i++)
		found += below(plant, TICK_NS) < run_ns + hidden_ns;
	pass_time(plant, SECOND_NS);
	plant->exact.busy_ns += found * TICK_NS;
	plant->exact.idle_ns +=
		CPUS * SECOND_NS - (idle_exact ? ticks * (run_ns + hidden_ns) : found * TICK_NS);
	plant->hidden_ns += ticks * hidden_ns;
	told(plant, ticks * run_ns);
}

static void begin_by_chance(struct plant *plant, struct property_source *source)
{
	begin(plant);
	plant->chance = draw_below(source, UINT64_MAX - 1) + 1;
}

static const char *sampling_is_not_unseen(struct property_source *source, void *userdata)
{
	uint64_t run_ns = draw_below(source, TICK_NS + 1);
	bool idle_exact = draw_chance(source, 2);
	struct plant plant;

	(void)userdata;
	begin_by_chance(&plant, source);
	for (int i = 0; i < 600; i++) {
		if (i % 50 == 0)
			run_ns = below(&plant, TICK_NS + 1);
		sampled_second(&plant, run_ns, 0, idle_exact);
		if (plant.found_ns)
			return "sampling made time that was not seen";
	}
	return NULL;
}

static void test_sampling_is_not_unseen(void **state)
{
	(void)state;
	assert_true(property_check("sampling", sampling_is_not_unseen, NULL, 50));
}

static const char *a_little_is_found(struct property_source *source, void *userdata)
{
	uint64_t run_ns = TICK_NS / 4, hidden_ns = TICK_NS / 20;
	struct plant plant;

	(void)userdata;
	begin_by_chance(&plant, source);
	for (int i = 0; i < 1200; i++)
		sampled_second(&plant, run_ns, hidden_ns, false);
	if (plant.found_ns > plant.hidden_ns)
		return "more was found than hidden";
	return plant.found_ns < plant.hidden_ns * 8 / 10 ? "too little was found" : NULL;
}

static void test_a_little_is_found_in_time(void **state)
{
	(void)state;
	assert_true(property_check("a little", a_little_is_found, NULL, 20));
}

static void test_work_in_step_with_ticks_is_not_unseen(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 600; i++) {
		pass_time(&plant, SECOND_NS);
		plant.exact.busy_ns += SECOND_NS; /* each tick of a CPU finds it */
		plant.exact.idle_ns += CPUS * SECOND_NS - SECOND_NS / 8;
		told(&plant, SECOND_NS / 8);
	}
	assert_int_equal(plant.found_ns, 0);
}

static void test_work_that_ticks_miss_hides_nothing_later(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 3600; i++) {
		pass_time(&plant, SECOND_NS);
		plant.exact.idle_ns += CPUS * SECOND_NS - SECOND_NS / 4;
		told(&plant, SECOND_NS / 4);
	}
	assert_int_equal(plant.found_ns, 0);
	for (int i = 0; i < 10; i++)
		second(&plant, 0, SECOND_NS);
	assert_true(plant.found_ns > 8 * SECOND_NS);
}

static void test_differences_cancel(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 600; i++) {
		pass_time(&plant, SECOND_NS);
		plant.exact.busy_ns += SECOND_NS;
		plant.exact.idle_ns += SECOND_NS;
		/* What ended is told an interval late. */
		told(&plant, i % 2 ? SECOND_NS + SECOND_NS / 20 : SECOND_NS - SECOND_NS / 20);
	}
	assert_int_equal(plant.found_ns, 0);
}

static void test_steal_and_waiting_are_not_busy(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 100; i++) {
		pass_time(&plant, SECOND_NS);
		plant.exact.steal_ns += SECOND_NS;
		plant.exact.idle_ns += SECOND_NS;
		told(&plant, 0);
	}
	assert_int_equal(plant.found_ns, 0);
}

static void test_an_account_that_stands_still_is_none(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	for (int i = 0; i < 10; i++) {
		pass_time(&plant, SECOND_NS / 10);
		told(&plant, 0);
	}
	assert_true(plant.unseen.is_static);
	assert_int_equal(plant.found_ns, 0);
	for (int i = 0; i < 10; i++) {
		pass_time(&plant, SECOND_NS);
		told(&plant, SECOND_NS);
	}
	second(&plant, 0, SECOND_NS); /* it moves again */
	assert_false(plant.unseen.is_static);
	second(&plant, 0, SECOND_NS);
	assert_true(plant.found_ns > SECOND_NS);
}

static void test_sleep_hotplug_and_a_step_back_say_nothing(void **state)
{
	struct plant plant;

	(void)state;
	begin(&plant);
	plant.exact.boottime_ns += 3600 * SECOND_NS;
	second(&plant, 0, SECOND_NS);
	plant.exact.cpus = 1;
	plant.exact.busy_ns += 50 * SECOND_NS;
	second(&plant, 0, 0);
	plant.exact.cpus = CPUS;
	plant.exact.busy_ns += 50 * SECOND_NS;
	second(&plant, 0, 0);
	plant.exact.busy_ns -= 60 * SECOND_NS;
	second(&plant, 0, 0);
	assert_int_equal(plant.found_ns, 0);
	plant.exact.idle_ns -= 60 * SECOND_NS; /* idle time may go back where a CPU came again */
	second(&plant, 0, 0);
	assert_int_equal(plant.found_ns, 0);
	second(&plant, 0, SECOND_NS);
	assert_true(plant.found_ns > SECOND_NS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_seen_is_not_unseen),
		cmocka_unit_test(test_what_is_hidden_is_found),
		cmocka_unit_test(test_the_first_second_tells_most),
		cmocka_unit_test(test_sampling_is_not_unseen),
		cmocka_unit_test(test_a_little_is_found_in_time),
		cmocka_unit_test(test_work_in_step_with_ticks_is_not_unseen),
		cmocka_unit_test(test_work_that_ticks_miss_hides_nothing_later),
		cmocka_unit_test(test_differences_cancel),
		cmocka_unit_test(test_steal_and_waiting_are_not_busy),
		cmocka_unit_test(test_an_account_that_stands_still_is_none),
		cmocka_unit_test(test_sleep_hotplug_and_a_step_back_say_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
