// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/zone_checks.h"

#include "tests/unit/unit.h"

/* Two pages of an exporter with a node's zone, of a source. */
static struct exporter *open_exporter(const char *zone, const char *source)
{
	static const struct exporter_options options = { "http://127.0.0.1:1/", 1, NULL };
	struct exporter *exporter = NULL;
	struct diag diag = { "" };

	assert_int_equal(exporter_open(&options, &exporter, &diag), 0);
	for (int i = 0; i < 2; i++) {
		char text[512];
		int len = snprintf(text, sizeof(text),
				   "# TYPE kepler_node_package_joules_total counter\n"
				   "kepler_node_package_joules_total{mode=\"dynamic\"} 1\n"
				   "# TYPE kepler_node_%s_joules_total counter\n"
				   "kepler_node_%s_joules_total{mode=\"idle\",source=\"%s\"} %d\n",
				   zone, zone, source, 5 * i);

		assert_int_equal(exporter_take_page(exporter, i, i, text, (size_t)len), 0);
	}
	return exporter;
}

/* On a machine with a meter of the package. */
static enum verdict verdict_on(const char *zone, const char *source, bool has_other)
{
	struct observation *observation = calloc(1, sizeof(*observation));
	struct exporter *exporter = open_exporter(zone, source);
	struct result_list results = { 0 };

	assert_non_null(observation);
	observation->inventory =
		(struct truth_inventory){ { "package" }, .count = 1, .has_other = has_other };
	assert_int_equal(check_invented_zones(observation, exporter, &results), 0);
	enum verdict verdict = results.items[0]->verdict;
	assert_true(verdict != VERDICT_FAIL || strstr(results.items[0]->reason, zone));
	result_list_release(&results);
	exporter_free(exporter);
	free(observation);
	return verdict;
}

static void zones_without_a_meter_are_questioned(void **state)
{
	assert_int_equal(verdict_on("dram", "", false), VERDICT_FAIL);
	assert_int_equal(verdict_on("dram", "rapl-sysfs", false), VERDICT_FAIL);
	assert_int_equal(verdict_on("dram", "", true), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict_on("dram", "external", false), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict_on("dram", "rapl-msr", false), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict_on("dram", "trained_power_model", false), VERDICT_NOT_APPLICABLE);
	assert_int_equal(verdict_on("platform", "redfish", false), VERDICT_NOT_APPLICABLE);
}

static void numbers_that_stop_fail(void **state)
{
	static const struct check_bounds bounds = { .max_error = 0.05, .max_lag_s = 4 };
	struct truth_zone truth = { .kind = "dram", .series = series_new("dram", "W") };
	struct exporter *exporter = open_exporter("dram", "");
	struct result *result = result_new("node/dram", RESULT_ACCURACY);

	result->threshold.max_error = 0.05;
	assert_int_equal(series_add_window(truth.series, 0, 12, 10), 0);
	assert_false(check_frozen(exporter, &truth, &bounds, result));
	assert_int_equal(series_add_window(truth.series, 12, 20, 10), 0);
	assert_true(check_frozen(exporter, &truth, &bounds, result));
	assert_int_equal(result->verdict, VERDICT_FAIL);
	assert_int_equal(result->cause, CAUSE_FROZEN);
	assert_non_null(strstr(result->reason, "while the machine used 195 J"));
	series_free(truth.series);
	result_free(result);
	exporter_free(exporter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_without_a_meter_are_questioned),
		cmocka_unit_test(numbers_that_stop_fail),
	};
	return unit_run(tests);
}
