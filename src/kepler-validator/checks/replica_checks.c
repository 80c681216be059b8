// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/replica_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "judging/bracket.h"
#include "kepler-validator/checks/truth_checks.h"

#define COVERED_LEAST 0.9  /* of a phase, by the truth */
#define DONE_LEAST    0.95 /* of the load's requests */

/* The power at one number of replicas. */
struct level {
	double machine_up, machine_down; /* the highest level has only one phase: the same */
	double exporter_up, exporter_down;
};

struct staircase {
	struct level levels[REPLICA_LEVELS_MAX];
	size_t count; /* the highest level is count - 1 */
	bool is_crowded;
};

static double mean(double a, double b)
{
	return (a + b) / 2;
}

static double machine_w(const struct observed_phase *phase, const struct series *truth)
{
	double start_s = phase->settled_s, end_s = phase->phase.end_s;
	struct amount amount = series_amount(truth, start_s, end_s);

	return amount.covered_s < COVERED_LEAST * (end_s - start_s)
		       ? (double)NAN
		       : amount.amount / amount.covered_s;
}

static double exporter_w(const struct observed_phase *phase, size_t exporter,
			 enum energy_level level, size_t zone)
{
	const struct load_charge *from = &phase->settled[exporter],
				 *to = &phase[1].charges[exporter];

	return (to->levels[level][zone] - from->levels[level][zone]) / (to->page_s - from->page_s);
}

static void add_phase(struct staircase *stairs, unsigned replicas, double machine, double exporter)
{
	struct level *level = &stairs->levels[replicas];

	if (replicas == stairs->count) {
		*level = (struct level){ machine, machine, exporter, exporter };
		stairs->count++;
	}
	level->machine_down = machine;
	level->exporter_down = exporter;
}

/*
 * From the phase before the first replica to the one after the last; false: not all have run. @ret
 * is empty.
 */
static bool read_stairs(const struct observation *observation, size_t exporter,
			enum energy_level level, size_t zone, const struct series *truth,
			struct staircase *ret)
{
	const struct plan *plan = &observation->plan;
	bool is_over = false;

	for (size_t i = 0; i < observation->phase_count; i++) {
		const struct observed_phase *phase = &observation->phases[i];
		bool is_next = i + 1 < plan->count && plan->phases[i + 1].replicas > 0;
		unsigned replicas = plan->phases[i].replicas;

		if (replicas == 0 && !is_next && ret->count <= 1)
			continue;
		if (replicas >= REPLICA_LEVELS_MAX)
			return false;
		add_phase(ret, replicas, machine_w(phase, truth),
			  exporter_w(phase, exporter, level, zone));
		ret->is_crowded = ret->is_crowded ||
				  (double)phase->load.units < DONE_LEAST * phase->load.wanted_units;
		is_over = replicas == 0 && ret->count > 1;
		if (is_over)
			break;
	}
	return is_over;
}

static struct bracket bracket_of(const struct staircase *stairs, size_t replicas)
{
	const struct level *with = &stairs->levels[replicas], *below = with - 1;

	return (struct bracket){ below->machine_up, mean(with->machine_up, with->machine_down),
				 below->machine_down };
}

static double exporter_step(const struct staircase *stairs, size_t replicas)
{
	const struct level *with = &stairs->levels[replicas], *below = with - 1;

	return mean(with->exporter_up, with->exporter_down) -
	       mean(below->exporter_up, below->exporter_down);
}

static struct result_table *make_table(const struct staircase *stairs)
{
	struct result_table *table = calloc(1, sizeof(*table));
	static const char *const columns[] = {
		"replicas",          "machine W",    "machine, step W", "container W",
		"container, step W", "difference W", "ratio",           "deviation %"
	};

	if (!table)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table->columns[i] = columns[i];
	table->column_count = ARRAY_SIZE(columns);
	for (size_t i = 0; i < stairs->count; i++) {
		const struct level *level = &stairs->levels[i];
		double *cells = table->rows[i].cells;

		(void)snprintf(table->rows[i].name, sizeof(table->rows[i].name), "%zu", i);
		for (size_t cell = 0; cell < RESULT_TABLE_COLUMNS - 1; cell++)
			cells[cell] = NAN;
		cells[0] = mean(level->machine_up, level->machine_down);
		cells[2] = mean(level->exporter_up, level->exporter_down);
		if (i == 0)
			continue;
		struct bracket bracket = bracket_of(stairs, i);
		cells[1] = bracket_effect(&bracket);
		cells[3] = exporter_step(stairs, i);
		cells[4] = cells[3] - cells[1];
		cells[5] = cells[3] / cells[1];
		cells[6] = 100 * (cells[5] - 1);
	}
	table->row_count = stairs->count;
	return table;
}

static void judge_stairs(const struct staircase *stairs, struct result *result)
{
	size_t drifted = 0;

	result->error = 0;
	for (size_t i = 1; i < stairs->count; i++) {
		struct bracket bracket = bracket_of(stairs, i);
		double error = exporter_step(stairs, i) / bracket_effect(&bracket) - 1;

		if (fabs(error) >= fabs(result->error) || isnan(error))
			result->error = error;
		if (drifted == 0 && (!bracket_is_conclusive(&bracket) ||
				     bracket_effect(&bracket) <= 0 || isnan(error)))
			drifted = i;
	}
	enum verdict verdict = threshold_verdict(&result->threshold, result->error, result->error);
	if (stairs->is_crowded)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The machine was too busy: the replicas have not answered all "
				   "requests in time.");
	else if (drifted > 0)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Between both phases below replica %zu, the machine drifted by "
				   "more than a third of the effect.",
				   drifted);
	else {
		if (verdict == VERDICT_FAIL)
			result->cause = CAUSE_SCALE;
		result_set_verdict(result, verdict,
				   "Of the power that each replica added, at worst %+.1f %% too "
				   "much was charged to its container, with a bound of ±%g %%.",
				   100 * result->error, 100 * result->threshold.max_error);
	}
}

static int check_zone(const struct observation *observation, size_t exporter,
		      const struct truth_zone *truth, const struct check_bounds *bounds,
		      struct result_list *ret)
{
	struct exporter *judged = observation->exporters[exporter];
	const struct exporter_zone *zone = exporter_find_zone(judged, truth->kind);
	CLEANUP_FREE struct staircase *stairs = calloc(1, sizeof(*stairs));
	char name[RESULT_NAME_MAX];

	(void)snprintf(name, sizeof(name), "replicas/%s", truth->kind);
	struct result *result = result_new(name, RESULT_ACCURACY);
	if (!result || !stairs) {
		result_free(result);
		return -ENOMEM;
	}
	(void)snprintf(result->exporter, sizeof(result->exporter), "%.*s", RESULT_NAME_MAX - 1,
		       judged->url);
	result->threshold.max_error = bounds->max_effect_error;
	result->threshold.truth_error = observation->truth.error;
	if (!zone || zone->sums[ENERGY_CONTAINER].mine_rows == 0)
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "This exporter has no series of the load's container.");
	else if (!read_stairs(observation, exporter, ENERGY_CONTAINER,
			      (size_t)(zone - judged->zones), truth->series, stairs))
		result_set_verdict(result, VERDICT_INCONCLUSIVE, "Not all phases have run.");
	else {
		result->table = make_table(stairs);
		judge_stairs(stairs, result);
	}
	truth_doubt_apply(truth, result);
	return result_list_add(ret, result);
}

int check_replicas(const struct observation *observation, size_t exporter,
		   const struct check_bounds *bounds, struct result_list *ret)
{
	bool has_replicas = false;
	int r = 0;

	for (size_t i = 0; i < observation->plan.count; i++)
		has_replicas = has_replicas || observation->plan.phases[i].replicas > 0;
	for (size_t i = 0; has_replicas && i < observation->truth.zone_count && r == 0; i++)
		r = check_zone(observation, exporter, &observation->truth.zones[i], bounds, ret);
	return r;
}
