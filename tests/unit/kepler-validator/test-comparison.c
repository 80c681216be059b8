// SPDX-License-Identifier: Apache-2.0
/*
 * Phases are judged without their ends, and not at all if a change of power at an end could be the
 * reason of their error. An exporter that is wrong by a twentieth is found nevertheless, in each
 * phase of the quick scenario.
 */
#include "kepler-validator/checks/checks.h"

#include <math.h>

#include "tests/unit/unit.h"

#define LENGTH_S   180
#define INTERVAL_S 5 /* of the exporter */
#define NONE       99

struct machine {
	const struct plan *plan;
	double factor; /* of the exporter, in the phase @wrong or, with NONE, in all of them */
	size_t wrong;
};

static double watts(const struct plan_phase *phase)
{
	return !phase->load ? 20 : phase->processes > 0 ? 45 : 60;
}

/* Joules up to a time, of the machine or as its exporter shows them. */
static double energy(const struct machine *machine, double time_s, bool is_shown)
{
	double sum = 0;

	for (size_t i = 0; i < machine->plan->count && time_s > 0; i++) {
		const struct plan_phase *phase = &machine->plan->phases[i];
		bool is_wrong = is_shown && (machine->wrong == NONE || machine->wrong == i);
		double part_s = time_s < phase->length_s ? time_s : phase->length_s;

		sum += part_s * watts(phase) * (is_wrong ? machine->factor : 1);
		time_s -= part_s;
	}
	return sum;
}

static void take_page(struct exporter *exporter, const struct machine *machine, int time_s)
{
	char text[512];
	int shown_s = time_s / INTERVAL_S * INTERVAL_S;
	int len = snprintf(text, sizeof(text),
			   "# TYPE kepler_node_package_joules_total counter\n"
			   "kepler_node_package_joules_total{mode=\"dynamic\"} %.6f\n"
			   "kepler_exporter_snapshot_timestamp_seconds %d\n",
			   energy(machine, shown_s, true), shown_s);

	assert_int_equal(exporter_take_page(exporter, time_s, time_s, text, (size_t)len), 0);
}

/* The result node/package; the caller's list owns it. */
static const struct result *judge(struct machine *machine, struct observation *observation,
				  struct result_list *results)
{
	static const struct exporter_options options = { "http://127.0.0.1:1/", 1, NULL };
	static const struct check_bounds bounds = { .max_error = 0.03, .max_lag_s = 10 };
	struct diag diag = { "" };
	double start_s = 0;

	observation->cpus.count = 4;
	CPU_ZERO(&observation->cpus.places[PLACE_ANYWHERE]);
	for (size_t i = 0; i < 4; i++)
		CPU_SET(i, &observation->cpus.places[PLACE_ANYWHERE]);
	plan_make(scenario_find("quick"), &observation->cpus, LENGTH_S, &observation->plan);
	machine->plan = &observation->plan;
	for (size_t i = 0; i < observation->plan.count; i++) {
		struct phase *phase = &observation->phases[i].phase;

		memcpy(phase->name, observation->plan.phases[i].name, sizeof(phase->name));
		phase->start_s = start_s;
		phase->end_s = start_s += observation->plan.phases[i].length_s;
	}
	observation->phase_count = observation->plan.count;
	observation->truth.zone_count = 1;
	observation->truth.error = 0.01;
	(void)snprintf(observation->truth.zones[0].kind, TRUTH_KIND_MAX, "package");
	observation->truth.zones[0].series = series_new("package", "W");
	assert_non_null(observation->truth.zones[0].series);
	observation->truth.zones[0].series->error = 0.01;
	assert_int_equal(exporter_open(&options, &observation->exporters[0], &diag), 0);
	observation->exporter_count = 1;
	for (int i = 0; i <= LENGTH_S; i++) {
		assert_int_equal(series_add_counter(observation->truth.zones[0].series, i,
						    energy(machine, i, false)),
				 0);
		take_page(observation->exporters[0], machine, i);
	}
	series_finish(observation->truth.zones[0].series);
	exporter_finish(observation->exporters[0]);
	assert_int_equal(check_observation(observation, &bounds, results), 0);
	for (size_t i = 0; i < results->count; i++)
		if (strcmp(results->items[i]->name, "node/package") == 0)
			return results->items[i];
	fail();
	return NULL;
}

struct found {
	enum verdict verdict;
	enum cause cause;
	size_t wrong_phases; /* and the exporter has the error */
};

static struct found find(double factor, size_t wrong)
{
	struct machine machine = { .factor = factor, .wrong = wrong };
	struct observation *observation = calloc(1, sizeof(*observation));
	struct result_list results = { 0 };

	assert_non_null(observation);
	const struct result *result = judge(&machine, observation, &results);
	struct found found = { result->verdict, result->cause, 0 };
	for (size_t i = 0; i < result->phase_count; i++)
		found.wrong_phases += result->phases[i].verdict == VERDICT_FAIL &&
				      fabs(result->phases[i].error - (factor - 1)) < 0.005;
	result_list_release(&results);
	observation_release(observation);
	free(observation);
	return found;
}

static void a_scale_is_found_in_each_phase(void **state)
{
	static const double factors[] = { 0.95, 1.05 };

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
		struct found all = find(factors[i], NONE);

		assert_int_equal(all.verdict, VERDICT_FAIL);
		assert_int_equal(all.cause, CAUSE_SCALE);
		assert_int_equal(all.wrong_phases, 5);
	}
}

static void a_single_wrong_phase_is_found(void **state)
{
	static const double factors[] = { 0.95, 1.05 };

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		for (size_t wrong = 0; wrong < 5; wrong++) {
			struct found one = find(factors[i], wrong);

			assert_int_equal(one.verdict, VERDICT_FAIL);
			assert_int_equal(one.wrong_phases, 1);
		}
}

static void a_late_exporter_passes(void **state)
{
	assert_int_equal(find(1, NONE).verdict, VERDICT_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scale_is_found_in_each_phase),
		cmocka_unit_test(a_single_wrong_phase_is_found),
		cmocka_unit_test(a_late_exporter_passes),
	};
	return unit_run(tests);
}
