// SPDX-License-Identifier: Apache-2.0
#include "trial/load.h"

#include <signal.h>
#include <time.h>

#include "tests/unit/unit.h"

/* Waits until the load has done something, however slow the machine is. */
static void run_until_done(enum load_kind kind, double cpus, struct load_result *ret)
{
	const struct plan_phase phase = { "x", kind, cpus, 1 };
	const struct load_cgroup none = { .count = 0 };
	const struct timespec while_s = { 0, 10000000 };
	struct load load;

	do {
		assert_int_equal(load_start(&phase, &none, &load), 0);
		for (int i = 0; i < 20; i++)
			(void)nanosleep(&while_s, NULL);
		load_stop(&load, 0.2, ret);
	} while (ret->chunks == 0 || (kind == LOAD_SHORT_LIVED && ret->processes == 0));
}

static void work_is_counted(void **state)
{
	struct load_result result;

	run_until_done(LOAD_STEADY, 1, &result);
	assert_true(result.cpu_s > 0);
	assert_true(fabs(result.wanted_s - 0.2) < 1e-9);
	assert_true(result.other_cpu_s <= 0);
	run_until_done(LOAD_SHORT_LIVED, 1, &result);
	assert_true(result.cpu_s > 0);
	run_until_done(LOAD_SHARED, 1, &result);
	assert_true(fabs(result.wanted_s - 0.4) < 1e-9);
}

static void ignore_signal(int number)
{
	(void)number;
}

/* A program that handles SIGTERM itself has workers that inherit its handler. */
static void a_load_ends_before_it_has_begun(void **state)
{
	const struct plan_phase phase = { "x", LOAD_STEADY, 4, 1 };
	const struct sigaction ignore = { .sa_handler = ignore_signal };
	const struct load_cgroup none = { .count = 0 };
	struct load_result result;
	struct sigaction before;
	struct load load;

	assert_int_equal(sigaction(SIGTERM, &ignore, &before), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(load_start(&phase, &none, &load), 0);
		load_stop(&load, 0, &result); /* which waits for the workers */
	}
	assert_int_equal(sigaction(SIGTERM, &before, NULL), 0);
}

static void without_a_load_nothing_runs(void **state)
{
	const struct plan_phase phase = { "x", LOAD_NONE, 0, 1 };
	const struct load_cgroup none = { .count = 0 };
	struct load_result result;
	struct load load;

	assert_int_equal(load_start(&phase, &none, &load), 0);
	assert_int_equal(load.count, 0);
	load_stop(&load, 1, &result);
	assert_int_equal(result.chunks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_counted),
		cmocka_unit_test(a_load_ends_before_it_has_begun),
		cmocka_unit_test(without_a_load_nothing_runs),
	};
	return unit_run(tests);
}
