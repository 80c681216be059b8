// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/effect_checks.h"

#include "base/macro.h"
#include "tests/unit/unit.h"
#include "trial/load_arithmetic.h"

#define PHASE_S 10

/* A load of one CPU that takes 20 W between two idle phases of 10 W. */
struct scene {
	struct observation observation;
	struct result_list results;
};

static void take_page(struct exporter *exporter, double time_s, double joules)
{
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "# TYPE kepler_node_package_joules_total counter\n"
			   "kepler_node_package_joules_total{mode=\"dynamic\"} %f\n"
			   "# TYPE kepler_container_package_joules_total counter\n"
			   "kepler_container_package_joules_total{container_name=\"load.service\","
			   "mode=\"dynamic\"} %f\n",
			   joules, joules);

	assert_int_equal(exporter_take_page(exporter, time_s, time_s, text, (size_t)len), 0);
}

static struct scene *make_scene(const double *watts, const double *busy_cpus)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const struct exporter_options options = { "http://127.0.0.1:1/", 1,
						  &scene->observation.load_rows };
	struct observation *observation = &scene->observation;
	struct diag diag = { "" };

	observation->cpus.count = 2;
	plan_make(scenario_find("noisy-neighbour"), &observation->cpus, 3 * PHASE_S,
		  &observation->plan);
	observation->truth.zone_count = 1;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	observation->truth.zones[0].series = series_new("package", "W");
	observation->cpu = series_new("cpu", "CPUs");
	for (int i = 0; i < 3; i++) {
		struct observed_phase *phase = &observation->phases[i];

		(void)snprintf(phase->phase.name, sizeof(phase->phase.name), "load");
		phase->phase.start_s = i * PHASE_S;
		phase->phase.end_s = (i + 1) * PHASE_S;
		assert_int_equal(series_add_window(observation->truth.zones[0].series, i * PHASE_S,
						   (i + 1) * PHASE_S, watts[i]),
				 0);
		assert_int_equal(series_add_window(observation->cpu, i * PHASE_S, (i + 1) * PHASE_S,
						   busy_cpus[i]),
				 0);
	}
	observation->phase_count = 3;
	own_rows_add(&observation->load_rows, ENERGY_CONTAINER, "load.service");
	observation->phases[1].load.cpu_s = PHASE_S;
	observation->plan.phases[1].neighbour = NULL;
	observation->phases[1].load.wanted_s = PHASE_S;
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	take_page(observation->exporters[0], 0, 1);
	take_page(observation->exporters[0], 1, 2);
	return scene;
}

/* The verdict if the load is charged @charged_j; the result stays in the scene. */
static enum verdict judge(struct scene *scene, double charged_j)
{
	const struct check_bounds bounds = { 0.05, 0.1, 10 };

	scene->observation.phases[0].charges[0].levels[ENERGY_CONTAINER][0] += 5;
	scene->observation.phases[1].charges[0].levels[ENERGY_CONTAINER][0] = 5;
	scene->observation.phases[3].charges[0].levels[ENERGY_CONTAINER][0] = 5 + charged_j;
	assert_int_equal(check_effects(&scene->observation, 0, &bounds, &scene->results), 0);
	assert_int_equal(scene->results.count, 1);
	return scene->results.items[0]->verdict;
}

static void free_scene(struct scene **scene)
{
	result_list_release(&(*scene)->results);
	observation_release(&(*scene)->observation);
	free(*scene);
}

static const double watts[] = { 10, 30, 10 }, busy_cpus[] = { 0.1, 1.1, 0.1 };

static void the_charge_is_the_effect(void **state)
{
	CLEANUP(free_scene) struct scene *right = make_scene(watts, busy_cpus);
	CLEANUP(free_scene) struct scene *half = make_scene(watts, busy_cpus);

	assert_int_equal(judge(right, 205), VERDICT_PASS);
	assert_string_equal(right->results.items[0]->name, "container/package/load");
	assert_true(fabs(right->results.items[0]->error - 0.025) < 1e-9);
	assert_int_equal(judge(half, 100), VERDICT_FAIL);
	assert_int_equal(half->results.items[0]->cause, CAUSE_SCALE);
}

static void a_neighbour_has_its_part(void **state)
{
	CLEANUP(free_scene)
	struct scene *scene = make_scene(watts, (const double[]){ 0.1, 2.1, 0.1 });

	scene->observation.plan.phases[1].neighbour = &load_alternating;
	scene->observation.phases[1].load.other_cpu_s = PHASE_S;
	scene->observation.phases[1].load.wanted_s = 2 * PHASE_S;
	assert_int_equal(judge(scene, 100), VERDICT_PASS);
}

/* The rows have 2 W of their own, before the load as well as with it and after it. */
static void what_the_rows_have_otherwise_is_not_the_load(void **state)
{
	CLEANUP(free_scene) struct scene *scene = make_scene(watts, busy_cpus);

	scene->observation.phases[0].charges[0].levels[ENERGY_CONTAINER][0] = -20;
	assert_int_equal(judge(scene, 245), VERDICT_PASS);
	assert_true(fabs(scene->results.items[0]->error - 0.025) < 1e-9);
}

/* It may lack what only some exporters show, unless it is one of these. */
static void an_exporter_without_the_row_is_not_judged(void **state)
{
	CLEANUP(free_scene) struct scene *scene = make_scene(watts, busy_cpus);
	struct own_rows *rows = &scene->observation.load_rows;
	const struct check_bounds bounds = { 0.05, 0.1, 10 };

	scene->observation.exporters[0]->zones[0].sums[ENERGY_CONTAINER].mine_rows = 0;
	assert_int_equal(check_effects(&scene->observation, 0, &bounds, &scene->results), 0);
	assert_int_equal(scene->results.items[0]->verdict, VERDICT_NOT_APPLICABLE);
	scene->observation.exporters[0]->kind = EXPORTER_KEPLER_C;
	rows->is_certain[ENERGY_CONTAINER] = true;
	assert_int_equal(check_effects(&scene->observation, 0, &bounds, &scene->results), 0);
	assert_int_equal(scene->results.items[1]->verdict, VERDICT_FAIL);
}

static void a_busy_machine_decides_nothing(void **state)
{
	CLEANUP(free_scene)
	struct scene *drifts = make_scene((const double[]){ 10, 30, 18 }, busy_cpus);
	CLEANUP(free_scene)
	struct scene *others = make_scene(watts, (const double[]){ 0.1, 1.2, 0.1 });
	CLEANUP(free_scene) struct scene *crowded = make_scene(watts, busy_cpus);

	assert_int_equal(judge(drifts, 100), VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(drifts->results.items[0]->reason, "drifted"));
	assert_int_equal(judge(others, 100), VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(others->results.items[0]->reason, "Other work"));
	crowded->observation.phases[1].load.wanted_s = 1.2 * PHASE_S;
	assert_int_equal(judge(crowded, 100), VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(crowded->results.items[0]->reason, "too busy"));
}

static void fewer_processes_are_judged(void **state)
{
	CLEANUP(free_scene) struct scene *scene = make_scene(watts, busy_cpus);

	scene->observation.plan.phases[1].processes = 3000;
	scene->observation.phases[1].load.processes = 1149;
	scene->observation.phases[1].load.wanted_s = 3 * PHASE_S;
	assert_int_equal(judge(scene, 200), VERDICT_PASS);
	assert_non_null(strstr(scene->results.items[0]->reason, "1149 of 3000 planned processes"));
}

/* A second load of the same kind between two more idle phases. */
static void add_a_second_load(struct scene *scene)
{
	struct observation *observation = &scene->observation;

	plan_make(scenario_find("quick"), &observation->cpus, 5 * PHASE_S, &observation->plan);
	observation->plan.phases[3].load = &load_steady;
	for (int i = 3; i < 5; i++) {
		struct observed_phase *phase = &observation->phases[i];

		*phase = observation->phases[i - 2];
		phase->phase.start_s = i * PHASE_S;
		phase->phase.end_s = (i + 1) * PHASE_S;
		assert_int_equal(series_add_window(observation->truth.zones[0].series, i * PHASE_S,
						   (i + 1) * PHASE_S, watts[i - 2]),
				 0);
		assert_int_equal(series_add_window(observation->cpu, i * PHASE_S, (i + 1) * PHASE_S,
						   busy_cpus[i - 2]),
				 0);
	}
	observation->phase_count = 5;
}

/*
 * A new series shows 0 for longer than the phases, or everything of a load before. What the
 * exporter reports that it holds back decides whether that can be.
 */
static void a_series_that_settles_does_not_fail(void **state)
{
	static const struct {
		double before_j, charged_j, pending_before_j, pending_j; /* of the second load */
		enum verdict verdict;
	} cases[] = {
		{ 0, 0, 0, 205, VERDICT_INCONCLUSIVE },   /* not shown yet */
		{ 5, 0, 0, 205, VERDICT_INCONCLUSIVE },   /* a process of its own */
		{ 0, 0, 0, 20, VERDICT_FAIL },            /* less than the load used */
		{ 0, 100, 0, 205, VERDICT_FAIL },         /* it is shown, so nothing is missing */
		{ 0, 400, 205, 0, VERDICT_INCONCLUSIVE }, /* the energy before is in it */
		{ 5, 400, 205, 0, VERDICT_FAIL },         /* which was shown before */
		{ 0, 205, 1, 0, VERDICT_PASS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_scene) struct scene *scene = make_scene(watts, busy_cpus);
		struct observed_phase *phases = scene->observation.phases;
		const struct check_bounds bounds = { 0.05, 0.1, 10 };

		add_a_second_load(scene);
		scene->observation.exporters[0]->settle_s = 60;
		phases[3].charges[0].levels[ENERGY_CONTAINER][0] = cases[i].before_j;
		phases[3].charges[0].pending[ENERGY_CONTAINER][0] = cases[i].pending_before_j;
		phases[5].charges[0].levels[ENERGY_CONTAINER][0] =
			cases[i].before_j + cases[i].charged_j;
		phases[5].charges[0].pending[ENERGY_CONTAINER][0] = cases[i].pending_j;
		assert_int_equal(check_effects(&scene->observation, 0, &bounds, &scene->results),
				 0);
		assert_int_equal(scene->results.count, 2);
		if (scene->results.items[1]->verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, scene->results.items[1]->reason);
	}
}

/* A page at @time_s with a process of each load. The first process ended with its load. */
static void take_processes(struct exporter *exporter, double time_s, double first_j,
			   double second_j, double pending_j)
{
	char text[1024];
	int len = snprintf(text, sizeof(text),
			   "# TYPE kepler_process_package_joules_total counter\n"
			   "kepler_process_package_joules_total{pid=\"1\",command=\"kv-load\","
			   "mode=\"dynamic\"} %f\n",
			   first_j);

	if (exporter->load == 3)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"kepler_process_package_joules_total{pid=\"2\","
				"command=\"kv-load\",mode=\"dynamic\"} %f\n",
				second_j);
	len += snprintf(text + len, sizeof(text) - (size_t)len,
			"kepler_pending_joules{level=\"process\",zone=\"package\","
			"mode=\"dynamic\"} %f\n"
			"kepler_exporter_settle_seconds 20\n",
			pending_j);
	assert_int_equal(exporter_take_page(exporter, time_s, time_s, text, (size_t)len), 0);
}

/*
 * The process of a load can be shown only while the load after it runs, and that one's not at all
 * until the run has ended.
 */
static void a_process_is_of_the_load_with_which_it_came(void **state)
{
	static const struct {
		double second_j, pending_j, end_s;
		enum verdict verdict;
	} cases[] = {
		{ 205, 0, 50, VERDICT_PASS },
		{ 400, 0, 50, VERDICT_FAIL },
		{ 0, 205, 50, VERDICT_INCONCLUSIVE },
		{ 0, 20, 50, VERDICT_FAIL },  /* less than the load used */
		{ 0, 205, 70, VERDICT_FAIL }, /* it should have been shown by now */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_scene) struct scene *scene = make_scene(watts, busy_cpus);
		struct exporter *exporter = scene->observation.exporters[0];
		const struct check_bounds bounds = { 0.05, 0.1, 10 };

		add_a_second_load(scene);
		scene->observation.max_lag_s = 10;
		scene->observation.load_rows = (struct own_rows){ 0 };
		own_rows_add(&scene->observation.load_rows, ENERGY_PROCESS, "kv-load");
		exporter->load = 1;
		take_processes(exporter, 11, 0, 0, 1);
		exporter->load = 3;
		take_processes(exporter, 31, 0, 0, 205);
		take_processes(exporter, 35, 205, 0, 100);
		take_processes(exporter, cases[i].end_s, 205, cases[i].second_j,
			       cases[i].pending_j);
		assert_int_equal(check_effects(&scene->observation, 0, &bounds, &scene->results),
				 0);
		assert_int_equal(scene->results.count, 2);
		assert_int_equal(scene->results.items[0]->verdict, VERDICT_PASS);
		if (scene->results.items[1]->verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, scene->results.items[1]->reason);
	}
}

/* Memory takes 30 W where arithmetic takes 10 W. */
static void the_part_of_another_kind_follows_from_both_alone(void **state)
{
	static const double with[] = { 10, 20, 10, 40, 10, 50, 10, 50, 10 };
	CLEANUP(free_scene) struct scene *scene = make_scene(watts, busy_cpus);
	struct observation *observation = &scene->observation;
	const struct check_bounds bounds = { 0.05, 0.1, 10 };

	series_free(observation->truth.zones[0].series);
	series_free(observation->cpu);
	observation->truth.zones[0].series = series_new("package", "W");
	observation->cpu = series_new("cpu", "CPUs");
	plan_make(scenario_find("memory-bound"), &observation->cpus, 9 * PHASE_S,
		  &observation->plan);
	assert_int_equal(observation->plan.count, ARRAY_SIZE(with));
	for (int i = 0; i < 9; i++) {
		struct observed_phase *phase = &observation->phases[i];
		double busy = i % 2 == 0 ? 0.1 : i < 4 ? 1.1 : 2.1;

		phase->phase.start_s = i * PHASE_S;
		phase->phase.end_s = (i + 1) * PHASE_S;
		assert_int_equal(series_add_window(observation->truth.zones[0].series, i * PHASE_S,
						   (i + 1) * PHASE_S, with[i]),
				 0);
		assert_int_equal(
			series_add_window(observation->cpu, i * PHASE_S, (i + 1) * PHASE_S, busy),
			0);
		phase->load.cpu_s = i % 2 == 0 ? 0 : PHASE_S;
		phase->load.other_cpu_s = i % 2 == 1 && i > 4 ? PHASE_S : 0;
		phase->load.wanted_s = phase->load.cpu_s + phase->load.other_cpu_s;
		/* By CPU time, which is wrong where the two differ. */
		phase[1].charges[0].levels[ENERGY_CONTAINER][0] =
			phase->charges[0].levels[ENERGY_CONTAINER][0] +
			(i % 2 == 0 ? 0 : PHASE_S * (i < 4 ? with[i] - 10 : 20));
	}
	observation->phase_count = 9;
	assert_int_equal(check_effects(observation, 0, &bounds, &scene->results), 0);
	assert_int_equal(scene->results.count, 4);
	assert_int_equal(scene->results.items[0]->verdict, VERDICT_PASS);
	assert_int_equal(scene->results.items[1]->verdict, VERDICT_PASS);
	assert_true(fabs(scene->results.items[2]->error - 1) < 1e-9); /* 200 J instead of 100 J */
	assert_true(fabs(scene->results.items[3]->error + 1. / 3) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_charge_is_the_effect),
		cmocka_unit_test(a_neighbour_has_its_part),
		cmocka_unit_test(what_the_rows_have_otherwise_is_not_the_load),
		cmocka_unit_test(an_exporter_without_the_row_is_not_judged),
		cmocka_unit_test(a_busy_machine_decides_nothing),
		cmocka_unit_test(fewer_processes_are_judged),
		cmocka_unit_test(a_series_that_settles_does_not_fail),
		cmocka_unit_test(a_process_is_of_the_load_with_which_it_came),
		cmocka_unit_test(the_part_of_another_kind_follows_from_both_alone),
	};
	return unit_run(tests);
}
