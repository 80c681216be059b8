// SPDX-License-Identifier: Apache-2.0
#include "trial/load_inference.h"

#include <time.h>

#include "tests/unit/unit.h"
#include "trial/load.h"

/* Runs ever longer until a frame has come through, however slow the machine is. */
static void frames_and_the_time_of_each_stage_are_counted(void **state)
{
	const struct plan_phase phase = { .load = &load_inference, .cpus = 2, .length_s = 1 };
	const struct load_cgroup none = { .count = 0 };
	struct timespec length = { 0, 100000000 };
	struct load_result result;
	struct load load;

	do {
		assert_int_equal(load_start(&phase, &none, &load), 0);
		assert_int_equal(load.count, 1);
		(void)nanosleep(&length, NULL);
		load_stop(&load, 1, &result);
		length.tv_sec++;
	} while (result.units == 0 && length.tv_sec < 30);
	assert_true(result.units > 0);
	for (size_t i = 0; i < LOAD_STAGES; i++)
		assert_true(result.stage_cpu_s[i] > 0);
	assert_true(result.cpu_s >= result.stage_cpu_s[1]);
	assert_true(fabs(result.wanted_s - 2) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_and_the_time_of_each_stage_are_counted),
	};
	return unit_run(tests);
}
