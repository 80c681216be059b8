// SPDX-License-Identifier: Apache-2.0
#include "trial/load.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/unit.h"
#include "trial/load_arithmetic.h"
#include "trial/load_memory.h"
#include "trial/load_processes.h"

/* Waits until the load has done something, however slow the machine is. */
static void run_until_done(struct plan_phase phase, struct load_result *ret)
{
	const struct load_cgroup none = { .count = 0 };
	const struct timespec while_s = { 0, 10000000 };
	struct load load;

	do {
		assert_int_equal(load_start(&phase, &none, &load), 0);
		/* On a busy machine, workers may not do a unit of work in the first while. */
		for (double slept_s = 0; slept_s < fmax(phase.length_s, 0.2); slept_s += 0.01)
			(void)nanosleep(&while_s, NULL);
		load_stop(&load, phase.length_s, ret);
		phase.length_s *= 2;
	} while (ret->units == 0 || ret->processes < phase.processes);
}

static void work_is_counted(void **state)
{
	const struct load_kind *const kinds[] = { &load_steady, &load_alternating, &load_memory,
						  &load_short_lived };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct load_result result;

		run_until_done((struct plan_phase){ .load = kinds[i], .cpus = 1, .length_s = 0.2 },
			       &result);
		assert_true(result.cpu_s > 0);
		assert_true(result.other_cpu_s <= 0);
		assert_true(result.wanted_s > 0);
	}
}

static void what_a_load_wants_is_known(void **state)
{
	const struct plan_phase phase = {
		.load = &load_steady, .neighbour = &load_alternating, .cpus = 1, .length_s = 1
	};
	const struct load_cgroup none = { .count = 0 };
	struct load_result result;
	struct load load;

	assert_int_equal(load_start(&phase, &none, &load), 0);
	load_stop(&load, 10, &result);
	assert_true(fabs(result.wanted_s - 15) < 1e-9);
}

static void as_many_processes_run_as_are_wanted(void **state)
{
	struct load_result result;

	run_until_done(
		(struct plan_phase){
			.load = &load_short_lived, .cpus = 2, .processes = 7, .length_s = 0.1 },
		&result);
	assert_int_equal(result.processes, 7);
	assert_true(result.cpu_s >= 7 * 0.009);
}

static void ignore_signal(int number)
{
	(void)number;
}

/* A program that handles SIGTERM itself has workers that inherit its handler. */
static void a_load_ends_before_it_has_begun(void **state)
{
	const struct plan_phase phase = { .load = &load_steady, .cpus = 4, .length_s = 1 };
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
	const struct plan_phase phase = { .length_s = 1 };
	const struct load_cgroup none = { .count = 0 };
	struct load_result result;
	struct load load;

	assert_int_equal(load_start(&phase, &none, &load), 0);
	assert_int_equal(load.count, 0);
	load_stop(&load, 1, &result);
	assert_int_equal(result.units, 0);
}

/* Where a worker may not be, it does not run elsewhere. */
static void a_worker_is_pinned_or_does_not_run(void **state)
{
	const struct load_cgroup none = { .count = 0 };
	struct load_result result;
	cpu_set_t allowed, other;
	struct load load;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	struct plan_phase phase = {
		.load = &load_steady, .cpus = 1, .pinned = &allowed, .length_s = 0.2
	};
	run_until_done(phase, &result);
	CPU_ZERO(&other);
	CPU_SET(CPU_SETSIZE - 1, &other);
	phase.pinned = &other;
	assert_int_equal(load_start(&phase, &none, &load), 0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)load.pids[0], &info, WEXITED | WNOWAIT), 0);
	load_stop(&load, 0.2, &result);
	assert_int_equal(result.units, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_counted),
		cmocka_unit_test(what_a_load_wants_is_known),
		cmocka_unit_test(as_many_processes_run_as_are_wanted),
		cmocka_unit_test(a_load_ends_before_it_has_begun),
		cmocka_unit_test(without_a_load_nothing_runs),
		cmocka_unit_test(a_worker_is_pinned_or_does_not_run),
	};
	return unit_run(tests);
}
