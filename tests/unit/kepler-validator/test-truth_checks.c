// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/truth_checks.h"

#include "tests/unit/unit.h"

#define LENGTH_S 100

/* A run with one meter that was read every second but for @missing_s at the end of the run. */
static struct observation *observe(const struct truth_meter *meter, int missing_s)
{
	struct observation *observation = calloc(1, sizeof(*observation));

	assert_non_null(observation);
	observation->step_s = 1;
	observation->phase_count = 1;
	observation->phases[0].phase = (struct phase){ "node", 0, LENGTH_S };
	observation->truth.meter_count = 1;
	observation->truth.meters[0] = *meter;
	observation->truth.zone_count = 1;
	memcpy(observation->truth.zones[0].kind, meter->kind, sizeof(meter->kind));
	observation->truth.zones[0].series = series_new(meter->kind, "W");
	observation->cpu = series_new("cpu", "CPUs");
	for (int i = 0; i <= LENGTH_S - missing_s; i++) {
		assert_int_equal(series_add_counter(observation->truth.zones[0].series, i, 10 * i),
				 0);
		assert_int_equal(series_add_window(observation->cpu, i, i + 1, i < 50 ? 0 : 1000),
				 0);
	}
	return observation;
}

/* Returns true if a pass becomes inconclusive, with @word in its reason. */
static void expect(struct observation *observation, const char *word)
{
	struct result_list results = { 0 };
	struct result *result = result_new("node/package", RESULT_ACCURACY);

	assert_int_equal(check_truth(observation, &results), 0);
	result->threshold.max_error = 0.05;
	result_set_verdict(result, VERDICT_PASS, "Right.");
	truth_doubt_apply(&observation->truth.zones[0], result);
	assert_int_equal(result->verdict, word ? VERDICT_INCONCLUSIVE : VERDICT_PASS);
	assert_int_equal(results.count, word != NULL);
	if (word) {
		assert_non_null(strstr(result->reason, word));
		assert_non_null(strstr(result->reason, "By this truth: pass. Right."));
		assert_int_equal(results.items[0]->verdict, VERDICT_INCONCLUSIVE);
		assert_string_equal(results.items[0]->name, "truth/package");
	}
	result_free(result);
	result_list_release(&results);
	observation_release(observation);
	free(observation);
}

static void a_sound_truth_decides(void **state)
{
	static const struct truth_meter sound = { .kind = "package", .joules = 1, .still_s = 2 };

	expect(observe(&sound, 0), NULL);
	expect(observe(&sound, 5), NULL);
}

static void a_truth_that_vanishes_or_stands_still_decides_nothing(void **state)
{
	static const struct truth_meter gone = { .kind = "package", .joules = 1, .failures = 7 },
					still = { .kind = "package",
						  .path = "intel-rapl:0",
						  .joules = 1,
						  .still_s = 20 },
					power = { .kind = "package",
						  .is_power = true,
						  .still_s = 99 };

	expect(observe(&gone, 30), "7 readings failed");
	expect(observe(&still, 0), "stood still for 20 s: intel-rapl:0.");
	expect(observe(&power, 0), "stood still for 99 s");
}

/* NVML reports whether its board draws nothing; other GPUs may stand still, and so may a power. */
static void a_gpu_may_be_off(void **state)
{
	static const struct truth_meter stuck = { .kind = "gpu",
						  .path = "NVML 0",
						  .is_device = true,
						  .joules = 1,
						  .still_s = 20 },
					hwmon = { .kind = "gpu", .joules = 1, .still_s = 20 },
					power = { .kind = "gpu", .is_power = true, .still_s = 99 };
	struct result_list results = { 0 };

	expect(observe(&hwmon, 0), NULL);
	expect(observe(&power, 0), NULL);
	struct observation *observation = observe(&stuck, 0);
	assert_int_equal(check_truth(observation, &results), 0);
	assert_int_equal(results.count, 1);
	assert_string_equal(results.items[0]->reason, "The truth stood still for 20 s: NVML 0.");
	result_list_release(&results);
	observation_release(observation);
	free(observation);
}

/* One of two sockets may be missing; GPUs are found by a search of their own. */
static void a_search_that_stalled_decides_nothing(void **state)
{
	static const struct truth_meter sound = { .kind = "package", .joules = 1, .still_s = 2 };
	struct result_list results = { 0 };

	for (int is_gpus = 0; is_gpus < 2; is_gpus++) {
		struct observation *observation = observe(&sound, 0);
		struct truth *truth = &observation->truth;

		(void)snprintf(is_gpus ? truth->gpu_stalled : truth->stalled, TRUTH_PATH_MAX,
			       "/sys/class/powercap");
		assert_int_equal(check_truth(observation, &results), 0);
		assert_int_equal(results.count, 1);
		assert_string_equal(results.items[0]->name, "truth/search");
		assert_int_equal(results.items[0]->verdict, VERDICT_INCONCLUSIVE);
		assert_non_null(strstr(results.items[0]->reason, "/sys/class/powercap did not"));
		assert_int_equal(truth->zones[0].doubt[0] != 0, !is_gpus);
		result_list_release(&results);
		observation_release(observation);
		free(observation);
	}
}

static void meters_that_were_left_out_are_reported(void **state)
{
	static const struct truth_meter sound = { .kind = "package", .joules = 1 };
	struct observation *observation = observe(&sound, 0);
	struct result_list results = { 0 };

	observation->truth.left_out = 3;
	assert_int_equal(check_truth(observation, &results), 0);
	assert_int_equal(results.count, 1);
	assert_string_equal(results.items[0]->name, "truth/size");
	assert_non_null(strstr(results.items[0]->reason, "3 meters were left out"));
	result_list_release(&results);
	observation_release(observation);
	free(observation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_truth_decides),
		cmocka_unit_test(a_truth_that_vanishes_or_stands_still_decides_nothing),
		cmocka_unit_test(a_gpu_may_be_off),
		cmocka_unit_test(a_search_that_stalled_decides_nothing),
		cmocka_unit_test(meters_that_were_left_out_are_reported),
	};
	return unit_run(tests);
}
