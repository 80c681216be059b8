// SPDX-License-Identifier: Apache-2.0
/*
 * The load's energy is counted until the phase after it has ended, because exporters show it late.
 * Its processes' energy is counted until the run has ended, because they are of no other load.
 * What else its rows have, such as this program in its own container, is what they had per second
 * in the plan's first phase, which no load precedes.
 */
#include "kepler-validator/checks/effect_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "judging/bracket.h"
#include "kepler-validator/checks/patience.h"
#include "kepler-validator/checks/truth_checks.h"
#include "kepler-validator/frame_table.h"
#include "kepler-validator/load_rows.h"
#include "truth/meters/gpu_meter.h"

#define BUSY_LEAST    0.9  /* of the CPU time that the load wanted */
#define COVERED_LEAST 0.9  /* of a phase, by the truth */
#define STEPS_LEAST   5    /* between readings, in a phase of a command */
#define OTHER_MOST    0.05 /* of the load's CPU time: change of other work */

struct effect {
	struct bracket bracket; /* W */
	double length_s;
	double part;      /* the load's, of the effect; NAN: not known */
	double charged_j; /* by the exporter */
	/*
	 * The part of it that may be of loads before, and what may be missing: energy of series
	 * that the exporter held back at the beginning and at the end.
	 */
	double early_j, late_j;
	double settle_s; /* as the exporter says */
	bool is_crowded;
	bool is_gpu;                           /* other work on CPUs does not matter */
	bool is_short;                         /* for the time between two readings of the truth */
	uint64_t processes_planned, processes; /* that ran; 0: the load starts no short ones */
	double other_cpus, usual_cpus; /* busy with other work: meanwhile; before and after */
	double load_cpus;
	const char *busy; /* other commands that ran with the load; "": none is known */
};

static double mean_rate(const struct series *series, const struct phase *phase)
{
	struct amount amount = series_amount(series, phase->start_s, phase->end_s);

	if (amount.covered_s < COVERED_LEAST * (phase->end_s - phase->start_s))
		return NAN;
	return amount.amount / amount.covered_s;
}

static void set_errors(struct result *result, double actual_j, double charged_j)
{
	result->has_errors = true;
	result->errors = (struct errors){
		.actual = actual_j,
		.predicted = charged_j,
		.energy_ratio = charged_j / actual_j,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.range = NAN,
		.lag_s = NAN,
		.scale = charged_j / actual_j,
		.offset = NAN,
		.shape = NAN,
		.mae = NAN,
		.bias = NAN,
		.median_ape = NAN,
		.r2 = NAN,
		.mse = NAN,
		.mape = NAN,
	};
	result->error = charged_j / actual_j - 1;
}

/* A new series shows 0 first, and then everything at once: in which phase is not known then. */
static void judge_held_back(struct result *result, const struct effect *effect, double actual_j)
{
	double low = (effect->charged_j - effect->early_j) / actual_j - 1;
	double high = (effect->charged_j + effect->late_j) / actual_j - 1;
	enum verdict verdict = threshold_verdict(&result->threshold, low, high);

	if (verdict == VERDICT_FAIL)
		result->cause = CAUSE_SCALE;
	result_set_verdict(
		result, verdict,
		"The load was charged %.2f J, its effect was %.2f J; but the exporter "
		"shows a new series as 0 for %.0f s (kepler_exporter_settle_seconds), "
		"and %.2f J of such series may be of a load before, or %.2f J may be "
		"missing.%s",
		effect->charged_j, actual_j, effect->settle_s, effect->early_j, effect->late_j,
		verdict == VERDICT_INCONCLUSIVE ? " A longer --duration is needed." : "");
}

static void judge_charge(struct result *result, const struct effect *effect, double actual_j)
{
	enum verdict verdict = threshold_verdict(&result->threshold, result->error, result->error);

	if (effect->early_j > 0 || effect->late_j > 0) {
		judge_held_back(result, effect, actual_j);
		return;
	}
	char bound[THRESHOLD_TEXT_MAX];

	threshold_text(&result->threshold, bound);
	if (verdict == VERDICT_FAIL)
		result->cause = CAUSE_SCALE;
	char fewer[80] = "";

	if (effect->processes < effect->processes_planned)
		(void)snprintf(fewer, sizeof(fewer), " %llu of %llu planned processes ran.",
			       (unsigned long long)effect->processes,
			       (unsigned long long)effect->processes_planned);
	result_set_verdict(result, verdict,
			   "The load was charged %.2f J, its effect was %.2f J: %+.2f %% (bound "
			   "%s).%s",
			   effect->charged_j, actual_j, 100 * result->error, bound, fewer);
}

static void judge_effect(struct result *result, const struct effect *effect)
{
	double watts = bracket_effect(&effect->bracket);
	double actual_j = watts * effect->part * effect->length_s;

	set_errors(result, actual_j, effect->charged_j);
	if (effect->is_crowded)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The machine was too busy: the load got less than %.0f %% of "
				   "the CPU time that it wanted.%s%s",
				   100 * BUSY_LEAST, *effect->busy ? " Others that ran: " : "",
				   effect->busy);
	else if (effect->is_short)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The command ran for %.1f s only: too short to be measured.",
				   effect->length_s);
	else if (isnan(effect->part))
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The load's part of the effect is not known, because its "
				   "effect or its neighbour's alone was not conclusive.");
	else if (!effect->is_gpu &&
		 fabs(effect->other_cpus - effect->usual_cpus) > OTHER_MOST * effect->load_cpus)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Other work took %.3f CPUs with the load, and %.3f CPUs before "
				   "and after it: the effect is not the load's alone.%s%s",
				   effect->other_cpus, effect->usual_cpus,
				   *effect->busy ? " Others that ran: " : "", effect->busy);
	else if (!bracket_is_conclusive(&effect->bracket) || watts <= 0)
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The machine drew %.2f W before, %.2f W with and %.2f W after "
				   "the load: it drifted by more than a third of the effect.",
				   effect->bracket.before, effect->bracket.with,
				   effect->bracket.after);
	else
		judge_charge(result, effect, actual_j);
}

static struct bracket bracket_of(const struct observation *observation, size_t index,
				 const struct series *truth)
{
	const struct observed_phase *phase = &observation->phases[index];

	return (struct bracket){ mean_rate(truth, &phase[-1].phase),
				 mean_rate(truth, &phase->phase),
				 mean_rate(truth, &phase[1].phase) };
}

/*
 * The energy of a second of CPU time of @load where it ran alone as in phase @index; NAN: unknown.
 */
static double joules_per_cpu_s(const struct observation *observation, size_t index,
			       const struct load_kind *load, const struct series *truth)
{
	size_t alone = plan_find_alone(&observation->plan, index, load);

	if (alone + 1 >= observation->phase_count)
		return NAN;
	const struct observed_phase *phase = &observation->phases[alone];
	struct bracket bracket = bracket_of(observation, alone, truth);
	double length_s = phase->phase.end_s - phase->phase.start_s;
	if (!bracket_is_conclusive(&bracket) || bracket_effect(&bracket) <= 0)
		return NAN;
	return bracket_effect(&bracket) * length_s / phase->load.cpu_s;
}

static double part_of_load(const struct observation *observation, size_t index,
			   const struct series *truth)
{
	const struct plan_phase *plan = &observation->plan.phases[index];
	const struct load_result *load = &observation->phases[index].load;
	double own = load->cpu_s, other = load->other_cpu_s;

	if (!plan->neighbour)
		return 1;
	if (!plan->load->is_arithmetic || !plan->neighbour->is_arithmetic) {
		own *= joules_per_cpu_s(observation, index, plan->load, truth);
		other *= joules_per_cpu_s(observation, index, plan->neighbour, truth);
	}
	return own / (own + other);
}

/* The energy in the load's rows from the beginning of phase @from to that of phase @to. */
static double charge_between(const struct observation *observation, size_t exporter,
			     enum energy_level level, size_t zone, size_t from, size_t to)
{
	return observation->phases[to].charges[exporter].levels[level][zone] -
	       observation->phases[from].charges[exporter].levels[level][zone];
}

/* The load's part of it for the load of phase @index. */
static double load_charge(const struct observation *observation, size_t exporter,
			  enum energy_level level, size_t zone, size_t index)
{
	const struct observed_phase *phases = observation->phases;
	const struct phase *first = &phases[0].phase;
	double usual_w = charge_between(observation, exporter, level, zone, 0, 1) /
			 (first->end_s - first->start_s);
	double length_s = phases[index + 1].phase.end_s - phases[index].phase.start_s;
	double charged_j =
		level == ENERGY_PROCESS
			? load_account_joules(&observation->exporters[exporter]->zones[zone].loads,
					      (unsigned)index)
			: charge_between(observation, exporter, level, zone, index, index + 2);

	return charged_j - usual_w * length_s;
}

/* Finds the energy of series that showed nothing of the load yet, before its phase and after it. */
static void find_held_back(const struct observation *observation, size_t exporter,
			   enum energy_level level, size_t zone, size_t index,
			   struct effect *effect)
{
	const struct observed_phase *phases = observation->phases;
	const struct load_charge *from = &phases[index].charges[exporter];
	const struct load_charge *to = &phases[index + 2].charges[exporter];

	effect->settle_s = observation->exporters[exporter]->settle_s;
	if (level == ENERGY_PROCESS) {
		if (patience_are_processes_late(observation, exporter, index, zone))
			effect->late_j =
				observation->exporters[exporter]->zones[zone].sums[level].pending_j;
		return;
	}
	if (from->levels[level][zone] <= 0)
		for (size_t i = 0; i < index; i++)
			if (observation->plan.phases[i].load)
				effect->early_j = from->pending[level][zone];
	if (patience_is_row_late(observation, exporter, index, level, zone, to))
		effect->late_j = to->pending[level][zone];
}

/* Only Kepler in C shows services as containers, and cgroups of no known pod as pods. */
static bool may_lack_row(const struct observation *observation, const struct exporter *exporter,
			 enum energy_level level)
{
	return level != ENERGY_PROCESS &&
	       !(exporter->kind == EXPORTER_KEPLER_C && observation->load_rows.is_certain[level]);
}

/* A command has its effect in the virtual machine, if there is one; so has the work of a guest. */
static bool is_in_vm(const struct observation *observation, size_t index)
{
	const struct load_kind *load = observation->plan.phases[index].load;

	return observation->vm.pid && (load == &load_command || load == &load_guest);
}

/* By how many CPUs the machine's process was busier than before and after it. */
static double vm_cpus(const struct observation *observation, size_t index)
{
	const struct bracket bracket = bracket_of(observation, index, observation->vm_cpu);

	return bracket_effect(&bracket);
}

static bool is_gpu_zone(const struct truth_zone *truth)
{
	return strcmp(truth->kind, TRUTH_GPU) == 0;
}

/* The energy and the charges of a pipeline's stages; NULL: it has no stages. */
static struct result_table *stage_table(const struct observation *observation, size_t exporter,
					size_t zone, size_t index, const struct effect *effect)
{
	const struct load_kind *kind = observation->plan.phases[index].load;
	const struct load_account *loads = &observation->exporters[exporter]->zones[zone].loads;

	if (!kind->stages[0])
		return NULL;
	return frame_table_new(&observation->phases[index].load, kind->stages,
			       &loads->joules[index][LOAD_ROWS_STAGE],
			       bracket_effect(&effect->bracket) * effect->length_s);
}

static int check_effect(const struct observation *observation, size_t exporter, size_t index,
			const struct truth_zone *truth, enum energy_level level,
			const struct check_bounds *bounds, struct result_list *ret)
{
	struct exporter *judged = observation->exporters[exporter];
	const struct exporter_zone *zone = exporter_find_zone(judged, truth->kind);
	const struct observed_phase *phase = &observation->phases[index];
	const struct load_result *load = &phase->load;
	char name[RESULT_NAME_MAX];

	if (!zone || !zone->sums[level].series)
		return 0;
	double length_s = phase->phase.end_s - phase->phase.start_s;
	struct effect effect = {
		.bracket = bracket_of(observation, index, truth->series),
		.length_s = length_s,
		.load_cpus = (load->cpu_s + load->other_cpu_s) / length_s,
		.usual_cpus = (mean_rate(observation->cpu, &phase[-1].phase) +
			       mean_rate(observation->cpu, &phase[1].phase)) /
			      2,
		.part = part_of_load(observation, index, truth->series),
		.charged_j = load_charge(observation, exporter, level,
					 (size_t)(zone - judged->zones), index),
		.busy = phase->busy,
		.is_crowded = load->cpu_s + load->other_cpu_s < BUSY_LEAST * load->wanted_s,
	};
	find_held_back(observation, exporter, level, (size_t)(zone - judged->zones), index,
		       &effect);
	effect.is_gpu = is_gpu_zone(truth);
	effect.is_short = observation->command && length_s < STEPS_LEAST * observation->step_s;
	effect.processes_planned = observation->plan.phases[index].processes;
	effect.processes = load->processes;
	/* Each short process that ran had its CPU time, however busy the machine was. */
	if (effect.processes_planned > 0 && effect.processes > 0)
		effect.is_crowded = false;
	if (level == ENERGY_VM) {
		double own = vm_cpus(observation, index);

		effect.part = own / (own + effect.load_cpus);
		effect.load_cpus += own;
	}
	effect.other_cpus = mean_rate(observation->cpu, &phase->phase) - effect.load_cpus;
	(void)snprintf(name, sizeof(name), "%s/%s/%s", energy_level_name(level), truth->kind,
		       phase->phase.name);
	struct result *result = result_new(name, RESULT_ACCURACY);
	if (!result)
		return -ENOMEM;
	(void)snprintf(result->exporter, sizeof(result->exporter), "%.*s", RESULT_NAME_MAX - 1,
		       judged->url);
	result->threshold.max_error = bounds->max_effect_error;
	result->threshold.truth_error = fmax(0, truth->series->error);
	if (zone->sums[level].mine_rows == 0 && may_lack_row(observation, judged, level))
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "This exporter has no series of the load's %s.",
				   energy_level_name(level));
	else
		judge_effect(result, &effect);
	if (level == ENERGY_PROCESS)
		result->table = stage_table(observation, exporter, (size_t)(zone - judged->zones),
					    index, &effect);
	truth_doubt_apply(truth, result);
	return result_list_add(ret, result);
}

/* All levels at which the load is known, in all zones that it uses. */
static int check_phase(const struct observation *observation, size_t exporter, size_t index,
		       const struct check_bounds *bounds, struct result_list *ret)
{
	/* Without all processes of a load that starts many, only the cgroup has it. */
	const struct load_kind *load = observation->plan.phases[index].load;
	bool has_rows = load->is_workers_only;
	int r = 0;

	for (size_t zone = 0; zone < observation->truth.zone_count && r == 0; zone++) {
		if (is_gpu_zone(&observation->truth.zones[zone]) != (load == &load_gpu_command))
			continue;
		for (int level = ENERGY_PROCESS; level < ENERGY_LEVELS && r == 0; level++)
			if (observation->load_rows.counts[level] > 0 &&
			    (level == ENERGY_VM) == is_in_vm(observation, index) &&
			    (level != ENERGY_PROCESS || has_rows))
				r = check_effect(observation, exporter, index,
						 &observation->truth.zones[zone],
						 (enum energy_level)level, bounds, ret);
	}
	return r;
}

int check_effects(const struct observation *observation, size_t exporter,
		  const struct check_bounds *bounds, struct result_list *ret)
{
	int r = 0;

	for (size_t i = 0; i + 1 < observation->phase_count && r == 0; i++)
		if (plan_is_bracket(&observation->plan, i))
			r = check_phase(observation, exporter, i, bounds, ret);
	return r;
}
