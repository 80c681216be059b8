// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/checks.h"

#include "tests/unit/unit.h"

#define LENGTH_S 60
#define STEP_S   30
#define WATTS    10

/* Joules of the machine, which draws less from STEP_S on if @is_step. */
static double energy(double time_s, bool is_step)
{
	return WATTS * time_s - (is_step && time_s > STEP_S ? 9 * (time_s - STEP_S) : 0);
}

/*
 * The verdict on an exporter whose page does not change after @until_s. At the moment of a step it
 * is a fifth of a second late.
 */
static enum verdict judge(int until_s, bool is_step)
{
	static const struct exporter_options options = { "http://127.0.0.1:1/", 1, NULL };
	static const struct check_bounds bounds = { 0.05, 0.1, 10 };
	struct observation *observation = calloc(1, sizeof(*observation));
	struct result_list results = { 0 };
	enum verdict verdict = VERDICT_NOT_APPLICABLE;
	struct diag diag = { "" };

	assert_non_null(observation);
	observation->cpus.count = 2;
	plan_make(scenario_find("node"), &observation->cpus, LENGTH_S, &observation->plan);
	observation->phase_count = 2;
	observation->phases[0].phase = (struct phase){ "load", 0, STEP_S };
	observation->phases[1].phase = (struct phase){ "idle", STEP_S, LENGTH_S };
	observation->truth.zone_count = 1;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	observation->truth.zones[0].series = series_new("package", "W");
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= LENGTH_S; i++) {
		char text[256];
		double shown_s = i < until_s ? i : until_s;
		int len = snprintf(
			text, sizeof(text),
			"# TYPE kepler_node_package_joules_total counter\n"
			"kepler_node_package_joules_total{mode=\"dynamic\"} %.3f\n"
			"kepler_exporter_snapshot_timestamp_seconds %d\n",
			energy(is_step && i == STEP_S ? shown_s - 0.2 : shown_s, is_step), i);

		assert_int_equal(series_add_counter(observation->truth.zones[0].series, i,
						    energy(i, is_step)),
				 0);
		assert_int_equal(
			exporter_take_page(observation->exporters[0], i, i, text, (size_t)len), 0);
	}
	exporter_finish(observation->exporters[0]);
	assert_int_equal(check_observation(observation, &bounds, &results), 0);
	for (size_t i = 0; i < results.count; i++)
		if (strcmp(results.items[i]->name, "node/package") == 0)
			verdict = results.items[i]->verdict;
	result_list_release(&results);
	observation_release(observation);
	free(observation);
	return verdict;
}

static void an_exporter_that_stops_does_not_pass(void **state)
{
	assert_int_equal(judge(LENGTH_S, false), VERDICT_PASS);
	assert_int_equal(judge(LENGTH_S * 2 / 3, false), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(LENGTH_S / 4, false), VERDICT_FAIL);
	assert_int_equal(judge(0, false), VERDICT_FAIL);
}

/* Whose energy a change between two readings is cannot be known: it is of neither phase. */
static void a_change_is_of_no_phase(void **state)
{
	assert_int_equal(judge(LENGTH_S, true), VERDICT_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exporter_that_stops_does_not_pass),
		cmocka_unit_test(a_change_is_of_no_phase),
	};
	return unit_run(tests);
}
