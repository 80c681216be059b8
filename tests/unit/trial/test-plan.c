// SPDX-License-Identifier: Apache-2.0
#include "trial/plan.h"

#include <string.h>

#include "tests/unit/unit.h"
#include "trial/load_arithmetic.h"
#include "trial/load_memory.h"

static bool is_installed = true;

static bool has_program(const char *name)
{
	return is_installed;
}

/* The CPUs of these bits. */
static void add_cpus(unsigned bits, cpu_set_t *ret)
{
	for (unsigned cpu = 0; cpu < 8; cpu++)
		if (bits & 1U << cpu)
			CPU_SET(cpu, ret);
}

/* Two sockets of two cores with two threads each, if there are eight CPUs; else one socket. */
static struct host_cpus host_of(unsigned cpus)
{
	struct host_cpus host = { .count = cpus, .has_program = has_program };

	for (unsigned cpu = 0; cpu < cpus; cpu++)
		CPU_SET(cpu, &host.places[PLACE_ANYWHERE]);
	if (cpus == 8) {
		add_cpus(0xf, &host.places[PLACE_FIRST_SOCKET]);
		add_cpus(0xf0, &host.places[PLACE_SECOND_SOCKET]);
		add_cpus(3, &host.places[PLACE_ONE_CORE]);
		add_cpus(5, &host.places[PLACE_TWO_CORES]);
	}
	return host;
}

static void make(const char *scenario, const struct host_cpus *host, double duration_s,
		 struct plan *ret)
{
	assert_non_null(scenario_find(scenario));
	plan_make(scenario_find(scenario), host, duration_s, ret);
}

static void loads_are_bracketed(void **state)
{
	const struct host_cpus host = host_of(8);
	struct plan plan;

	make("quick", &host, 100, &plan);
	assert_int_equal(plan.count, 5);
	assert_true(fabs(plan_length_s(&plan) - 100) < 1e-9);
	assert_true(fabs(plan.phases[1].cpus - 4) < 1e-9);
	assert_string_equal(plan.phases[0].name, "before");
	assert_string_equal(plan.phases[2].name, "before short-lived");
	assert_string_equal(plan.phases[4].name, "after");
	for (size_t i = 0; i < plan.count; i++)
		assert_int_equal(plan_is_bracket(&plan, i), i % 2);
}

static void a_ladder_has_steps(void **state)
{
	const struct host_cpus host = host_of(4);
	struct plan plan;

	make("ladder", &host, 90, &plan);
	assert_int_equal(plan.count, 9);
	assert_true(fabs(plan.phases[4].cpus - 4) < 1e-9);
	assert_true(fabs(plan.phases[7].cpus - 1) < 1e-9);
	for (size_t i = 0; i < plan.count; i++)
		assert_false(plan_is_bracket(&plan, i));
}

/* The loads of a scenario that follow each other. */
static size_t steps_of(const char *scenario)
{
	return strcmp(scenario, "full") == 0     ? 4
	       : strcmp(scenario, "ladder") == 0 ? 7
	       : strcmp(scenario, "redis") == 0  ? 5
						 : 0;
}

static void all_scenarios_but_ladders_bracket_each_load(void **state)
{
	const struct host_cpus host = host_of(8);
	struct plan plan;

	for (const struct scenario *scenario = scenarios; scenario->name; scenario++) {
		size_t steps = 0;

		plan_make(scenario, &host, 2400, &plan);
		assert_true(plan.count > 0);
		assert_int_equal(plan.left_out_count, 0);
		assert_true(fabs(plan_length_s(&plan) - 2400) < 1e-6);
		for (size_t i = 0; i < plan.count; i++)
			if (plan.phases[i].load && !plan_is_bracket(&plan, i))
				steps++;
		assert_int_equal(steps, steps_of(scenario->name));
	}
	assert_null(scenario_find("none"));
}

static void processes_are_as_many_as_fit(void **state)
{
	const struct host_cpus one = host_of(1), two = host_of(2);
	struct plan plan;

	make("quick", &two, 180, &plan);
	assert_string_equal(plan.phases[3].name, "short-lived");
	assert_true(fabs(plan.phases[3].cpus - 2) < 1e-9);
	assert_int_equal(plan.phases[3].processes, 3000);
	make("short-lived", &two, 180, &plan);
	assert_true(fabs(plan.phases[1].cpus - 2) < 1e-9);
	assert_int_equal(plan.phases[1].processes, 3000);
	make("short-lived", &one, 30, &plan);
	assert_true(fabs(plan.phases[1].cpus - 1) < 1e-9);
	assert_int_equal(plan.phases[1].processes, 500);
	make("churn", &one, 30, &plan);
	assert_int_equal(plan.phases[1].processes, 0);
	make("node", &one, 30, &plan);
	assert_int_equal(plan.count, 1);
	assert_null(plan.phases[0].load);
}

static void places_that_the_machine_lacks_are_left_out(void **state)
{
	const struct host_cpus small = host_of(2), large = host_of(8);
	struct plan plan;

	make("smt", &small, 30, &plan);
	assert_int_equal(plan.count, 0);
	assert_int_equal(plan.left_out_count, 1);
	assert_non_null(strstr(plan.left_out[0].reason, "no core with two CPUs"));
	make("full", &small, 2400, &plan);
	assert_int_equal(plan.left_out_count, 2);
	assert_string_equal(plan.left_out[1].scenario->name, "sockets");
	assert_string_equal(plan.phases[plan.count - 1].name, "after");
	make("sockets", &large, 30, &plan);
	assert_int_equal(plan.count, 5);
	assert_true(fabs(plan.phases[1].cpus - 4) < 1e-9);
	assert_true(CPU_ISSET(7, plan.phases[3].pinned));
	assert_false(CPU_ISSET(3, plan.phases[3].pinned));
}

/* Each load has a phase without a load at its own frequency on both sides. */
static void frequencies_do_not_mix(void **state)
{
	const struct host_cpus can = host_of(4);
	struct host_cpus cannot = can;
	struct plan plan;

	make("frequency", &can, 90, &plan);
	assert_true(plan.limits_frequency);
	assert_int_equal(plan.count, 9);
	for (size_t i = 1; i < 9; i += 3) {
		assert_true(plan_is_bracket(&plan, i));
		assert_true(fabs(plan.phases[i - 1].max_frequency - plan.phases[i].max_frequency) <
			    1e-9);
		assert_true(fabs(plan.phases[i + 1].max_frequency - plan.phases[i].max_frequency) <
			    1e-9);
	}
	assert_string_equal(plan.phases[2].name, "after 40 % of the frequency");
	assert_string_equal(plan.phases[3].name, "before 70 % of the frequency");
	cannot.frequency_obstacle = "It has none.";
	make("frequency", &cannot, 90, &plan);
	assert_int_equal(plan.count, 0);
	assert_false(plan.limits_frequency);
	assert_string_equal(plan.left_out[0].reason, "It has none.");
}

static void without_its_program_a_load_is_left_out(void **state)
{
	const struct host_cpus host = host_of(4);
	struct plan plan;

	is_installed = false;
	make("stress-ng", &host, 90, &plan);
	is_installed = true;
	assert_int_equal(plan.count, 0);
	assert_non_null(strstr(plan.left_out[0].reason, "not installed"));
	make("stress-ng", &host, 90, &plan);
	assert_int_equal(plan.count, 17);
}

static void a_load_next_to_another_is_found_alone(void **state)
{
	const struct host_cpus host = host_of(4);
	struct plan plan;

	make("memory-bound", &host, 90, &plan);
	assert_int_equal(plan_find_alone(&plan, 5, &load_steady), 1);
	assert_int_equal(plan_find_alone(&plan, 5, &load_memory), 3);
	assert_int_equal(plan_find_alone(&plan, 5, &load_alternating), plan.count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_bracketed),
		cmocka_unit_test(a_ladder_has_steps),
		cmocka_unit_test(all_scenarios_but_ladders_bracket_each_load),
		cmocka_unit_test(processes_are_as_many_as_fit),
		cmocka_unit_test(places_that_the_machine_lacks_are_left_out),
		cmocka_unit_test(frequencies_do_not_mix),
		cmocka_unit_test(without_its_program_a_load_is_left_out),
		cmocka_unit_test(a_load_next_to_another_is_found_alone),
	};
	return unit_run(tests);
}
