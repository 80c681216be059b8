// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/replica_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

#define PHASE_S 40
#define PHASES  7

struct scene {
	struct observation observation;
	struct result_list results;
};

static bool has_program(const char *name)
{
	return true;
}

static void take_page(struct exporter *exporter, double time_s, double joules)
{
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "# TYPE kepler_node_package_joules_total counter\n"
			   "kepler_node_package_joules_total{mode=\"dynamic\"} %f\n",
			   joules);

	assert_int_equal(exporter_take_page(exporter, time_s, time_s, text, (size_t)len), 0);
}

/* The exporter charges @factor of what each replica adds, and is 5 s late with everything. */
static struct scene *make_scene(const double *watts, double factor)
{
	static const struct exporter_options options = { .url = "http://127.0.0.1:1/",
							 .timeout_ms = 1 };
	struct scene *scene = calloc(1, sizeof(*scene));
	struct observation *observation = &scene->observation;
	struct diag diag = { "" };
	double joules = 0;

	observation->cpus.has_program = has_program;
	plan_make(scenario_find("redis"), &observation->cpus, PHASES * PHASE_S, &observation->plan);
	assert_int_equal(observation->plan.count, PHASES);
	observation->truth.zone_count = 1;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	observation->truth.zones[0].series = series_new("package", "W");
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	take_page(observation->exporters[0], 0, 1);
	take_page(observation->exporters[0], 1, 2);
	observation->exporters[0]->zones[0].sums[ENERGY_CONTAINER].mine_rows = 1;
	for (int i = 0; i < PHASES; i++) {
		struct observed_phase *phase = &observation->phases[i];
		double load_w = factor * 0.07 * observation->plan.phases[i].replicas;

		phase->phase.start_s = i * PHASE_S;
		phase->settled_s = (i + 0.25) * PHASE_S;
		phase->phase.end_s = (i + 1) * PHASE_S;
		assert_int_equal(series_add_window(observation->truth.zones[0].series, i * PHASE_S,
						   (i + 1) * PHASE_S, watts[i]),
				 0);
		phase->settled[0].levels[ENERGY_CONTAINER][0] = joules + load_w * PHASE_S / 8;
		phase->settled[0].page_s = phase->settled_s - 5;
		joules += load_w * PHASE_S;
		phase[1].charges[0].levels[ENERGY_CONTAINER][0] = joules - load_w * 5;
		phase[1].charges[0].page_s = phase->phase.end_s - 5;
	}
	observation->phase_count = PHASES;
	return scene;
}

static void free_scene(struct scene **scene)
{
	result_list_release(&(*scene)->results);
	observation_release(&(*scene)->observation);
	free(*scene);
}

static const struct result *judge(struct scene *scene)
{
	const struct check_bounds bounds = { 0.05, 0.1, 10 };

	assert_int_equal(check_replicas(&scene->observation, 0, &bounds, &scene->results), 0);
	assert_int_equal(scene->results.count, 1);
	assert_string_equal(scene->results.items[0]->name, "replicas/package");
	return scene->results.items[0];
}

static const double even[] = { 3.315, 3.385, 3.455, 3.525, 3.455, 3.385, 3.315 };

static void each_replica_has_its_step(void **state)
{
	CLEANUP(free_scene) struct scene *scene = make_scene(even, 1.02);
	const struct result *result = judge(scene);

	assert_int_equal(result->verdict, VERDICT_PASS);
	assert_true(fabs(result->error - 0.02) < 1e-6);
	assert_non_null(result->table);
	assert_int_equal(result->table->row_count, 4);
	assert_string_equal(result->table->columns[6], "ratio");
	assert_string_equal(result->table->rows[3].name, "3");
	assert_true(fabs(result->table->rows[3].cells[0] - 3.525) < 1e-6);
	assert_true(fabs(result->table->rows[2].cells[1] - 0.07) < 1e-6);
	assert_true(fabs(result->table->rows[2].cells[3] - 1.02 * 0.07) < 1e-6);
	assert_true(fabs(result->table->rows[1].cells[6] - 2) < 1e-3);
	assert_true(isnan(result->table->rows[0].cells[1]));
}

static void too_much_for_a_replica_fails(void **state)
{
	CLEANUP(free_scene) struct scene *scene = make_scene(even, 1.5);
	const struct result *result = judge(scene);

	assert_int_equal(result->verdict, VERDICT_FAIL);
	assert_int_equal(result->cause, CAUSE_SCALE);
}

static void a_drift_between_the_ways_decides_nothing(void **state)
{
	static const double drifts[] = { 3.315, 3.385, 3.455, 3.525, 3.455, 3.385, 3.345 };
	CLEANUP(free_scene) struct scene *scene = make_scene(drifts, 1);
	CLEANUP(free_scene) struct scene *crowded = make_scene(even, 1);
	CLEANUP(free_scene) struct scene *ended = make_scene(even, 1);

	assert_int_equal(judge(scene)->verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(scene->results.items[0]->reason, "below replica 1"));
	crowded->observation.phases[2].load.wanted_units = 100;
	crowded->observation.phases[2].load.units = 90;
	assert_int_equal(judge(crowded)->verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(crowded->results.items[0]->reason, "too busy"));
	ended->observation.phase_count = 4;
	assert_int_equal(judge(ended)->verdict, VERDICT_INCONCLUSIVE);
}

static void without_its_series_there_is_nothing_to_judge(void **state)
{
	CLEANUP(free_scene) struct scene *scene = make_scene(even, 1);

	scene->observation.exporters[0]->zones[0].sums[ENERGY_CONTAINER].mine_rows = 0;
	assert_int_equal(judge(scene)->verdict, VERDICT_NOT_APPLICABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_replica_has_its_step),
		cmocka_unit_test(too_much_for_a_replica_fails),
		cmocka_unit_test(a_drift_between_the_ways_decides_nothing),
		cmocka_unit_test(without_its_series_there_is_nothing_to_judge),
	};
	return unit_run(tests);
}
