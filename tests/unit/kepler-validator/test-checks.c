// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks.h"

#include "tests/unit/unit.h"

#define LENGTH_S 60
#define WATTS    10

/* The verdict on an exporter whose page does not change after @until_s. */
static enum verdict judge(int until_s)
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
	observation->phase_count = 1;
	observation->phases[0].phase = (struct phase){ "node", 0, LENGTH_S };
	observation->truth.zone_count = 1;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	observation->truth.zones[0].series = series_new("package", "W");
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= LENGTH_S; i++) {
		char text[256];
		int shown = i < until_s ? i : until_s;
		int len = snprintf(text, sizeof(text),
				   "# TYPE kepler_node_package_joules_total counter\n"
				   "kepler_node_package_joules_total{mode=\"dynamic\"} %d\n",
				   WATTS * shown);

		assert_int_equal(
			series_add_counter(observation->truth.zones[0].series, i, WATTS * i), 0);
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
	assert_int_equal(judge(LENGTH_S), VERDICT_PASS);
	assert_int_equal(judge(LENGTH_S * 2 / 3), VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(LENGTH_S / 4), VERDICT_FAIL);
	assert_int_equal(judge(0), VERDICT_FAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exporter_that_stops_does_not_pass),
	};
	return unit_run(tests);
}
