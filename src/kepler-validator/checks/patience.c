// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/patience.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "judging/judge.h"
#include "kepler-validator/checks/node_checks.h"
#include "truth/meters/gpu_meter.h"

/* --quick stays within five minutes, --full within 45. */
#define SPARE_LEAST_S 120.0
#define SPARE_MOST_S  300.0
#define SPARE_PART    0.125

double patience_s(double duration_s)
{
	return fmin(fmax(SPARE_LEAST_S, SPARE_PART * duration_s), SPARE_MOST_S);
}

bool patience_is_row_late(const struct observation *observation, size_t exporter, size_t index,
			  enum energy_level level, size_t zone, const struct load_charge *now)
{
	const struct load_charge *before = &observation->phases[index].charges[exporter];

	return now->pending[level][zone] > 0 &&
	       now->levels[level][zone] - before->levels[level][zone] <= 0;
}

/* A page can be so late, and a series stand at 0 for so long. */
static bool may_be_held_back(const struct observation *observation, size_t exporter, double age_s)
{
	double settle_s = observation->exporters[exporter]->settle_s;

	return settle_s > 0 && age_s <= settle_s + observation->max_lag_s;
}

bool patience_are_processes_late(const struct observation *observation, size_t exporter,
				 size_t index, size_t zone)
{
	const struct exporter *judged = observation->exporters[exporter];
	const struct exporter_zone *account = &judged->zones[zone];

	return account->loads.at_zero[index] > 0 && account->sums[ENERGY_PROCESS].pending_j > 0 &&
	       may_be_held_back(observation, exporter,
				judged->page_s - observation->phases[index].phase.start_s);
}

/* Is the load of phase @index judged at this level? */
static bool is_judged(const struct observation *observation, size_t index, enum energy_level level,
		      const struct exporter_zone *zone)
{
	const struct load_kind *load = observation->plan.phases[index].load;
	bool is_gpu = strcmp(zone->name, TRUTH_GPU) == 0;

	return observation->load_rows.counts[level] > 0 && zone->sums[level].mine_rows > 0 &&
	       (level != ENERGY_PROCESS || load->is_workers_only) &&
	       is_gpu == (load == &load_gpu_command);
}

/* The load of the phase before the current one. */
static bool waits_for_row(const struct observation *observation, size_t exporter, size_t index)
{
	const struct exporter *judged = observation->exporters[exporter];

	for (size_t zone = 0; zone < judged->zone_count; zone++)
		for (int level = ENERGY_PROCESS + 1; level < ENERGY_LEVELS; level++) {
			const struct exporter_sum *sum = &judged->zones[zone].sums[level];
			struct load_charge now = { .levels = { { 0 } } };

			now.levels[level][zone] = sum->mine;
			now.pending[level][zone] = sum->pending_j;
			if (is_judged(observation, index, (enum energy_level)level,
				      &judged->zones[zone]) &&
			    patience_is_row_late(observation, exporter, index,
						 (enum energy_level)level, zone, &now))
				return true;
		}
	return false;
}

/* The load of any phase. */
static bool waits_for_processes(const struct observation *observation, size_t exporter)
{
	const struct exporter *judged = observation->exporters[exporter];

	for (size_t zone = 0; zone < judged->zone_count; zone++)
		for (size_t i = 0; i < observation->phase_count; i++)
			if (plan_is_bracket(&observation->plan, i) &&
			    is_judged(observation, i, ENERGY_PROCESS, &judged->zones[zone]) &&
			    patience_are_processes_late(observation, exporter, i, zone))
				return true;
	return false;
}

/* Does an exporter still hold series of a load back, and may it? */
static bool waits_for_rows(const struct observation *observation, char why[static PHASE_WHY_MAX])
{
	size_t at = observation->phase_count - 1;
	const struct phase *phase = &observation->phases[at].phase;
	bool is_last = at + 1 == observation->plan.count;

	if (at == 0 || !plan_is_bracket(&observation->plan, at - 1))
		return false;
	for (size_t i = 0; i < observation->exporter_count; i++) {
		if (!(may_be_held_back(observation, i, phase->end_s - phase->start_s) &&
		      waits_for_row(observation, i, at - 1)) &&
		    !(is_last && waits_for_processes(observation, i)))
			continue;
		(void)snprintf(why, PHASE_WHY_MAX,
			       "the exporter shows a new series as 0 for %.0f s "
			       "(kepler_exporter_settle_seconds), and the load's are new",
			       observation->exporters[i]->settle_s);
		return true;
	}
	return false;
}

static bool is_phase_open(const struct result *result, const char *name)
{
	const struct phase_result *last = &result->phases[result->phase_count - 1];

	return strcmp(last->phase.name, name) == 0 && last->verdict == VERDICT_INCONCLUSIVE &&
	       threshold_is_open(&result->threshold, last->error, last->ratio_low - 1,
				 last->ratio_high - 1);
}

static bool is_whole_open(const struct result *result)
{
	const struct errors *errors = &result->errors;

	return threshold_is_open(&result->threshold, errors->energy_ratio - 1,
				 errors->ratio_low - 1, errors->ratio_high - 1);
}

/* Would the current phase show that the exporter's power follows, if it were longer? */
static bool is_phase_short(const struct result *result, const char *name)
{
	const struct phase_result *last = &result->phases[result->phase_count - 1];

	return result->has_short_phases && strcmp(last->phase.name, name) == 0 &&
	       judge_phase_shows_swing(result, last, 0);
}

static bool is_open(const struct observation *observation, const struct result *result,
		    char why[static PHASE_WHY_MAX])
{
	size_t at = observation->phase_count - 1;
	const char *name = observation->phases[at].phase.name;

	if (result->verdict != VERDICT_INCONCLUSIVE || result->phase_count == 0)
		return false;
	if (is_phase_short(result, name)) {
		(void)snprintf(why, PHASE_WHY_MAX,
			       "it was too short to show whether %.60s follows the power",
			       result->name);
		return true;
	}
	bool is_last = at + 1 == observation->plan.count;
	bool is_phase = is_phase_open(result, name);
	if (!is_phase && !(is_last && is_whole_open(result)))
		return false;
	(void)snprintf(why, PHASE_WHY_MAX,
		       "the interval of the energy ratio of %.60s %s included the bound",
		       result->name, is_phase ? "in it" : "over the whole run");
	return true;
}

static bool is_undecided(struct observation *observation, size_t exporter,
			 char why[static PHASE_WHY_MAX])
{
	CLEANUP(result_list_release) struct result_list list = { 0 };
	const struct model_exporter *model = &observation->models[exporter];
	const struct checking checking = { observation, observation->exporters[exporter],
					   observation->bounds, &list,
					   model->pid > 0 ? model : NULL };

	if (checking.exporter->new_pages == 0 || check_zones(&checking) < 0)
		return false;
	for (size_t i = 0; i < list.count; i++)
		if (is_open(observation, list.items[i], why))
			return true;
	return false;
}

bool patience_is_needed(struct observation *observation, char why[static PHASE_WHY_MAX])
{
	if (waits_for_rows(observation, why))
		return true;
	for (size_t i = 0; i < observation->exporter_count; i++)
		if (is_undecided(observation, i, why))
			return true;
	return false;
}
