// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/component_fit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"

#define STEP       (1.0 / (COMPONENT_LEVELS - 1))
#define IDLE_BELOW 0.03
#define MODELS_MIN 3

/* 95 % of Student's t, by degrees of freedom from 1 on: 90 % of errors lie between ± these. */
static const double student_t[] = {
	6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
	1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753
}; /* COMPONENT_MACHINES_MAX - 1 */

static bool is_at(double load, size_t level)
{
	double at = (double)level * STEP;

	return level == 0 ? load < IDLE_BELOW : load >= IDLE_BELOW && fabs(load - at) <= STEP / 2;
}

/* ln of estimate over measurement, of machines held out. */
struct ln_errors {
	double of[COMPONENT_MACHINES_MAX][COMPONENT_COUNT][COMPONENT_LEVELS];
};

struct pool {
	double sum, weight;
	size_t levels; /* that have rows */
};

static void merge_falling(struct pool *pools, size_t *count)
{
	while (*count > 1 && pools[*count - 2].sum / pools[*count - 2].weight >
				     pools[*count - 1].sum / pools[*count - 1].weight) {
		pools[*count - 2].sum += pools[*count - 1].sum;
		pools[*count - 2].weight += pools[*count - 1].weight;
		pools[*count - 2].levels += pools[*count - 1].levels;
		(*count)--;
	}
}

/* Lines between the levels that are known (not NAN), constant beyond them. */
static void fill_gaps(double levels[static COMPONENT_LEVELS])
{
	size_t last = SIZE_MAX;

	for (size_t l = 0; l < COMPONENT_LEVELS; l++) {
		if (isnan(levels[l]))
			continue;
		for (size_t gap = last == SIZE_MAX ? 0 : last + 1; gap < l; gap++)
			levels[gap] = last == SIZE_MAX
					      ? levels[l]
					      : levels[last] + (levels[l] - levels[last]) *
								       (double)(gap - last) /
								       (double)(l - last);
		last = l;
	}
	for (size_t gap = last + 1; gap < COMPONENT_LEVELS; gap++)
		levels[gap] = levels[last];
}

bool component_curve(const struct component_row *rows, size_t count,
		     double ret[static COMPONENT_LEVELS])
{
	struct pool pools[COMPONENT_LEVELS];
	double levels[COMPONENT_LEVELS];
	bool has_rows[COMPONENT_LEVELS];
	size_t pool_count = 0, known = 0, at = 0;

	for (size_t l = 0; l < COMPONENT_LEVELS; l++) {
		struct pool pool = { .levels = 1 };

		for (size_t i = 0; i < count; i++) {
			if (is_at(rows[i].load, l)) {
				pool.sum += rows[i].watts;
				pool.weight++;
			}
		}
		levels[l] = (double)NAN;
		has_rows[l] = pool.weight > 0;
		if (!has_rows[l])
			continue;
		known++;
		pools[pool_count++] = pool;
		merge_falling(pools, &pool_count);
	}
	if (known < 2)
		return false;
	for (size_t l = 0; l < COMPONENT_LEVELS; l++) {
		if (!has_rows[l])
			continue;
		levels[l] = pools[at].sum / pools[at].weight;
		if (--pools[at].levels == 0)
			at++;
	}
	fill_gaps(levels);
	memcpy(ret, levels, sizeof(levels));
	return true;
}

static const char *cpu_of(const struct component_machine *machine)
{
	return machine->facts.cpu.key;
}

/* How many machines have the CPU model of @machine. */
static size_t count_alike(const struct component_machine *machines, size_t count, size_t machine)
{
	size_t alike = 0;

	for (size_t i = 0; i < count; i++)
		alike += strcmp(cpu_of(&machines[i]), cpu_of(&machines[machine])) == 0;
	return alike;
}

/* Each CPU model counts once. Of @without's CPU model none is used; NULL: all are. */
static void mean_shares(const struct component_machine *machines, size_t count,
			const struct power_model *platform, const char *without,
			struct component_fit *fit)
{
	double sum[COMPONENT_COUNT][COMPONENT_LEVELS] = { 0 }, weights = 0;

	for (size_t m = 0; m < count; m++) {
		double weight = 1.0 / (double)count_alike(machines, count, m);
		double scales[COMPONENT_COUNT];
		struct machine_facts known;

		if (without && strcmp(cpu_of(&machines[m]), without) == 0)
			continue;
		power_model_complete_facts(platform, &machines[m].facts, &known);
		component_scales(&known, scales);
		weights += weight;
		for (size_t c = 0; c < COMPONENT_COUNT; c++) {
			for (size_t l = 0; l < COMPONENT_LEVELS; l++)
				sum[c][l] += weight * log(fit->curves[m][c][l] / scales[c]);
		}
	}
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		for (size_t l = 0; l < COMPONENT_LEVELS; l++)
			fit->weights.share[c][l] = exp(sum[c][l] / weights);
	}
}

static double estimate_w(const struct component_weights *weights,
			 const struct power_model *platform, const struct machine_facts *facts,
			 double load, size_t component, double *ret_bound_w)
{
	struct power_estimate power[COMPONENT_COUNT];

	component_power_estimate(weights, platform, facts, load, power);
	*ret_bound_w = power[component].bound_w;
	return power[component].idle_w + power[component].dynamic_w;
}

static double percent_off(double estimated, double measured)
{
	return (estimated / measured - 1) * 100;
}

/* Errors, and their logarithms, of the estimates for @machine by weights without it. */
static void judge(const struct component_machine *machine, const struct power_model *platform,
		  size_t c, const struct component_weights *weights,
		  const double curve[static COMPONENT_LEVELS],
		  double ln_off[static COMPONENT_LEVELS], struct component_error *ret)
{
	double off[COMPONENT_LEVELS], bound_w;
	struct component_error error = { 0 };

	for (size_t l = 0; l < COMPONENT_LEVELS; l++) {
		double watts = estimate_w(weights, platform, &machine->facts, (double)l * STEP, c,
					  &bound_w);

		off[l] = percent_off(watts, curve[l]);
		ln_off[l] = log(watts / curve[l]);
		error.mae_w += fabs(watts - curve[l]) / COMPONENT_LEVELS;
		error.mape_percent += fabs(off[l]) / COMPONENT_LEVELS;
	}
	error.idle_percent = off[0];
	error.half_percent = off[COMPONENT_LEVELS / 2];
	error.full_percent = off[COMPONENT_LEVELS - 1];
	*ret = error;
}

static void hold_out(const struct component_machine *machines, size_t count,
		     const struct power_model *platform, struct component_fit *fit,
		     struct ln_errors *errors)
{
	for (size_t m = 0; m < count; m++) {
		mean_shares(machines, count, platform, cpu_of(&machines[m]), fit);
		for (size_t c = 0; c < COMPONENT_COUNT; c++)
			judge(&machines[m], platform, c, &fit->weights, fit->curves[m][c],
			      errors->of[m][c], &fit->held_out[m][c]);
	}
}

/*
 * That of machines held out, around what they were estimated to draw, widened by Student's t for
 * the number of CPU models. Errors of @without's CPU model are left out; NULL: none.
 */
static void measure_spread(const struct component_machine *machines, size_t count,
			   const struct ln_errors *errors, const char *without,
			   struct component_weights *ret)
{
	double squares[COMPONENT_COUNT][COMPONENT_LEVELS] = { 0 }, models = 0;
	double t;

	for (size_t m = 0; m < count; m++) {
		double weight = 1.0 / (double)count_alike(machines, count, m);

		if (without && strcmp(cpu_of(&machines[m]), without) == 0)
			continue;
		models += weight;
		for (size_t c = 0; c < COMPONENT_COUNT; c++) {
			for (size_t l = 0; l < COMPONENT_LEVELS; l++)
				squares[c][l] += weight * pow(errors->of[m][c][l], 2);
		}
	}
	t = student_t[lround(models) - 2];
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		for (size_t l = 0; l < COMPONENT_LEVELS; l++)
			ret->spread[c][l] = t * sqrt(squares[c][l] / models);
	}
}

/* How many rows of a machine are within a bound that neither it nor one like it has a part in. */
static void count_covered(const struct component_machine *machines, size_t count,
			  const struct power_model *platform, const struct ln_errors *errors,
			  struct component_fit *fit)
{
	for (size_t m = 0; m < count; m++) {
		mean_shares(machines, count, platform, cpu_of(&machines[m]), fit);
		measure_spread(machines, count, errors, cpu_of(&machines[m]), &fit->weights);
		for (size_t c = 0; c < COMPONENT_COUNT; c++) {
			const struct component_row *rows = machines[m].rows[c];
			size_t inside = 0;

			for (size_t i = 0; i < machines[m].row_count[c]; i++) {
				double bound_w, watts = estimate_w(&fit->weights, platform,
								   &machines[m].facts, rows[i].load,
								   c, &bound_w);

				inside += fabs(watts - rows[i].watts) <= bound_w;
			}
			fit->held_out[m][c].covered =
				(double)inside / (double)machines[m].row_count[c];
		}
	}
}

static void take_means(size_t count, struct component_fit *fit)
{
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		struct component_error *mean = &fit->mean[c];

		for (size_t m = 0; m < count; m++) {
			const struct component_error *one = &fit->held_out[m][c];

			mean->mae_w += one->mae_w / (double)count;
			mean->mape_percent += one->mape_percent / (double)count;
			mean->idle_percent += fabs(one->idle_percent) / (double)count;
			mean->half_percent += fabs(one->half_percent) / (double)count;
			mean->full_percent += fabs(one->full_percent) / (double)count;
			mean->covered += one->covered / (double)count;
		}
	}
}

int component_fit(const struct component_machine *machines, size_t count,
		  const struct power_model *platform, struct component_fit *ret, struct diag *diag)
{
	struct component_fit fit = { 0 };
	struct ln_errors errors;
	double models = 0;

	if (count > COMPONENT_MACHINES_MAX)
		return diag_set(diag, -EINVAL, "%zu machines are more than %d", count,
				COMPONENT_MACHINES_MAX);
	for (size_t m = 0; m < count; m++) {
		for (size_t c = 0; c < COMPONENT_COUNT; c++) {
			if (!component_curve(machines[m].rows[c], machines[m].row_count[c],
					     fit.curves[m][c]))
				return diag_set(diag, -EINVAL,
						"%s: its rows are of less than two levels of load",
						machines[m].name);
		}
		models += 1.0 / (double)count_alike(machines, count, m);
	}
	if (lround(models) < MODELS_MIN)
		return diag_set(diag, -EINVAL, "machines of %d CPU models are needed, not %ld",
				MODELS_MIN, lround(models));
	hold_out(machines, count, platform, &fit, &errors);
	count_covered(machines, count, platform, &errors, &fit);
	take_means(count, &fit);
	mean_shares(machines, count, platform, NULL, &fit);
	measure_spread(machines, count, &errors, NULL, &fit.weights);
	*ret = fit;
	return 0;
}
