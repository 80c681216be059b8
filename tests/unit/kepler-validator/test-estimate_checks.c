// SPDX-License-Identifier: Apache-2.0
/* Pages with estimates of known error, and the bound that they publish. */
#include "kepler-validator/checks/estimate_checks.h"

#include "tests/unit/unit.h"

#define LENGTH_S 100
#define WATTS    50

/* If the estimate is 10 W off in @outside of @length_s intervals, with a bound of @bound_w. */
static enum verdict judge(int outside, double bound_w, int length_s, double *ret_error)
{
	static const struct exporter_options options = { .url = "http://127.0.0.1:1/",
							 .timeout_ms = 1 };
	static const struct check_bounds bounds = { .max_coverage_error = 0.05 };
	struct observation *observation = calloc(1, sizeof(*observation));
	CLEANUP(result_list_release) struct result_list results = { 0 };
	struct diag diag = { "" };
	double joules = 0;

	assert_non_null(observation);
	observation->truth.zone_count = 1;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	struct series *truth = series_new("package", "W");
	assert_non_null(truth);
	truth->error = NAN;
	observation->truth.zones[0].series = truth;
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= length_s; i++) {
		char text[512];

		joules += i == 0 ? 0 : WATTS + (i <= outside ? 10 : 0);
		int len = snprintf(
			text, sizeof(text),
			"# TYPE kepler_node_package_joules_total counter\n"
			"kepler_node_package_joules_total{mode=\"dynamic\"} %.6f\n"
			"kepler_node_model_error_watts{zone=\"package\",package=\"0\"} %g\n"
			"kepler_node_model_error_watts{zone=\"package\",package=\"1\"} %g\n",
			joules, bound_w / 2, bound_w / 2);

		assert_int_equal(series_add_counter(truth, i, WATTS * i), 0);
		assert_int_equal(
			exporter_take_page(observation->exporters[0], i, i, text, (size_t)len), 0);
	}
	exporter_finish(observation->exporters[0]);
	const struct checking checking = { observation, observation->exporters[0], &bounds,
					   &results };

	assert_int_equal(check_coverage(&checking), 0);
	assert_int_equal(results.count, 1);
	assert_string_equal(results.items[0]->name, "coverage/package");
	*ret_error = results.items[0]->error;
	enum verdict verdict = results.items[0]->verdict;
	observation_release(observation);
	free(observation);
	return verdict;
}

static void a_bound_holds_as_often_as_it_says(void **state)
{
	double error;

	assert_int_equal(judge(10, 8, LENGTH_S, &error), VERDICT_PASS);
	assert_true(error < 0.02);
	assert_int_equal(judge(30, 8, LENGTH_S, &error), VERDICT_FAIL);
	assert_true(error > 0.15 && error < 0.25);
	/* The packages' bounds are summed. */
	assert_int_equal(judge(30, 12, LENGTH_S, &error), VERDICT_PASS);
}

static void a_few_intervals_decide_nothing(void **state)
{
	double error;

	assert_int_equal(judge(0, 8, 10, &error), VERDICT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bound_holds_as_often_as_it_says),
		cmocka_unit_test(a_few_intervals_decide_nothing),
	};

	return unit_run(tests);
}
