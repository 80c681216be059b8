// SPDX-License-Identifier: Apache-2.0
/* A phase goes on while more of it may decide, and while an exporter holds back what it shows. */
#include "kepler-validator/checks/patience.h"

#include <math.h>

#include "tests/unit/unit.h"
#include "trial/load_arithmetic.h"

#define LENGTH_S 60

static const struct check_bounds bounds = { .max_error = 0.05, .max_lag_s = 10 };

/* A machine of 20 W and an exporter that is read every second; its readings scatter by @noise_w. */
static struct observation *observe(double factor, double noise_w)
{
	struct observation *observation = calloc(1, sizeof(*observation));
	const struct exporter_options options = { "http://127.0.0.1:1/", 1,
						  &observation->load_rows };
	struct diag diag = { "" };
	double joules = 0;

	assert_non_null(observation);
	observation->bounds = &bounds;
	observation->max_lag_s = bounds.max_lag_s;
	observation->step_s = 0.01;
	observation->cpus.count = 2;
	plan_make(scenario_find("node"), &observation->cpus, LENGTH_S, &observation->plan);
	observation->truth.zone_count = 1;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	observation->truth.zones[0].series = series_new("package", "W");
	observation->truth.zones[0].series->error = 0.01;
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= LENGTH_S; i++) {
		char text[512];
		int len = snprintf(text, sizeof(text),
				   "# TYPE kepler_node_package_joules_total counter\n"
				   "kepler_node_package_joules_total{mode=\"dynamic\"} %f\n"
				   "kepler_exporter_snapshot_timestamp_seconds %d\n",
				   joules, 100 + i);

		assert_int_equal(exporter_take_page(observation->exporters[0], 100 + i, 100 + i,
						    text, (size_t)len),
				 0);
		assert_int_equal(
			series_add_counter(observation->truth.zones[0].series, 100 + i, 20 * i), 0);
		/* Eight seconds of each, so that blocks of them differ. */
		joules += 20 * factor + (i / 8 % 2 ? noise_w : -noise_w);
	}
	observation->phases[0].phase = (struct phase){ "node", 100, 100 + LENGTH_S };
	observation->phase_count = 1;
	return observation;
}

static void expect(struct observation *observation, const char *word)
{
	char why[PHASE_WHY_MAX] = "";
	bool is_needed = patience_is_needed(observation, why);

	if (is_needed != (word != NULL))
		fail_msg("needed: %d (%s)", is_needed, why);
	if (word)
		assert_non_null(strstr(why, word));
	observation_release(observation);
	free(observation);
}

static void an_interval_at_the_bound_needs_more(void **state)
{
	expect(observe(1, 0), NULL);
	expect(observe(1.04, 0), NULL);
	expect(observe(1.048, 0.5), "node/package");
	expect(observe(1.5, 0), NULL); /* a failure is certain */
	/* The truth's own error leaves it open, however long the run is. */
	expect(observe(1.055, 0), NULL);
}

static void a_phase_that_has_ended_cannot_be_longer(void **state)
{
	struct observation *observation = observe(1.048, 0.5);

	observation->plan.count = 2;
	observation->phase_count = 2;
	observation->phases[1].phase = (struct phase){ "after", 160, 161 };
	observation->plan.count = 3;
	expect(observation, NULL);
}

/* The load's row of @level stands at 0 with @pending_j held back, @waited_s after the load. */
static struct observation *settle(const char *level, double waited_s, double pending_j,
				  double settle_s)
{
	struct observation *observation = observe(1, 0);
	struct exporter *exporter = observation->exporters[0];
	bool is_process = strcmp(level, "process") == 0;
	char text[1024];
	int len = snprintf(text, sizeof(text),
			   "# TYPE kepler_node_package_joules_total counter\n"
			   "kepler_node_package_joules_total{mode=\"dynamic\"} 10000\n"
			   "# TYPE kepler_%s_package_joules_total counter\n"
			   "kepler_%s_package_joules_total{pid=\"7\",command=\"kv-load\","
			   "mode=\"dynamic\"} 0\n"
			   "kepler_pending_joules{level=\"%s\",zone=\"package\","
			   "mode=\"dynamic\"} %f\n"
			   "kepler_pending_joules{level=\"%s\",zone=\"package\",mode=\"idle\"} "
			   "7\n"
			   "kepler_exporter_settle_seconds %f\n",
			   level, level, level, pending_j, level, settle_s);

	own_rows_add(&observation->load_rows, is_process ? ENERGY_PROCESS : ENERGY_CONTAINER,
		     "kv-load");
	plan_make(scenario_find("noisy-neighbour"), &observation->cpus, 3 * LENGTH_S,
		  &observation->plan);
	observation->phase_count = 3;
	observation->phases[1].phase = (struct phase){ "steady", 100, 150 };
	observation->phases[2].phase = (struct phase){ "after", 150, 150 + waited_s };
	exporter->load = 1;
	assert_int_equal(
		exporter_take_page(exporter, 150 + waited_s, 150 + waited_s, text, (size_t)len), 0);
	return observation;
}

static void what_an_exporter_holds_back_is_waited_for(void **state)
{
	expect(settle("container", 5, 5, 30), "a new series as 0 for 30 s");
	expect(settle("container", 5, 0, 30), NULL);  /* nothing is held back, idle energy aside */
	expect(settle("container", 50, 5, 30), NULL); /* it should have been shown by now */
	expect(settle("container", 5, 5, 0), NULL);   /* the exporter holds nothing back */
}

/* In which phase they are shown does not matter, because they are of one load. */
static void processes_are_waited_for_at_the_end(void **state)
{
	struct observation *early = settle("process", 5, 5, 60);

	early->plan.count = 5;
	expect(early, NULL);
	expect(settle("process", 5, 5, 60), "a new series as 0 for 60 s");
	expect(settle("process", 5, 0, 60), NULL);
	expect(settle("process", 25, 5, 60), NULL); /* it should have been shown by now */
	expect(settle("process", 5, 5, 0), NULL);
}

static void a_run_stays_within_its_limit(void **state)
{
	assert_true(180 + patience_s(180) <= 300);
	assert_true(2400 + patience_s(2400) <= 2700);
	assert_true(fabs(patience_s(3600) - 300) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_at_the_bound_needs_more),
		cmocka_unit_test(a_phase_that_has_ended_cannot_be_longer),
		cmocka_unit_test(what_an_exporter_holds_back_is_waited_for),
		cmocka_unit_test(processes_are_waited_for_at_the_end),
		cmocka_unit_test(a_run_stays_within_its_limit),
	};
	return unit_run(tests);
}
