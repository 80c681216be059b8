// SPDX-License-Identifier: Apache-2.0
/*
 * ln of the power at idle and at each tenth of load is a sum: a linear part of the machine's facts;
 * bumps around centres among them, for deviations that are common to similar machines, or to
 * machines whose vendors gave their cores as much memory in the same years; and the additions of
 * the CPU's generation and model. So power is positive and scales by factors. Between the levels it
 * is linear, and it never falls as load rises.
 *
 * Facts outside the population that the weights were fitted to are clamped to its ranges: there is
 * no extrapolation. The result of such a machine is marked, its bound is doubled, and no result is
 * further from the CPUs' design power, or rises less with load, than the population's machines do.
 */
#include "model/platform_power.h"

#include <math.h>
#include <string.h>

#include "base/macro.h"

#define OUTSIDE_FACTOR 2.0
#define NEAR_ENOUGH    0.3 /* similarity to the nearest centre; the population has 0.84 at least */

static double clamp(double value, double low, double high)
{
	if (!(value > low)) /* also NaN */
		return low;
	return value < high ? value : high;
}

/* Clamps @value to @range; whether it was beyond it by more than a rounding. */
static bool confine(double *value, const struct power_range *range)
{
	bool beyond = !(*value >= range->least * 0.98 && *value <= range->most * 1.02);

	*value = clamp(*value, range->least, range->most);
	return beyond;
}

static const struct typical_machine *typical_of(const struct power_model_weights *weights,
						unsigned year)
{
	size_t row = 0;

	while (row + 1 < POWER_TYPICAL_CLASSES && weights->typical[row + 1].year_from <= year)
		row++;
	return &weights->typical[row];
}

static bool is_vendor(const struct machine_facts *facts, const char *vendor)
{
	return strcmp(facts->vendor, vendor) == 0;
}

void machine_facts_read(const struct machine_facts *facts, struct platform_machine *ret)
{
	*ret = (struct platform_machine){
		.amd = is_vendor(facts, "amd"),
		.arm = is_vendor(facts, "arm"),
		.year = facts->year,
		.cores = facts->cores,
		.sockets = facts->sockets,
		.memory_gib = facts->memory_gib,
		.frequency_ghz = facts->frequency_ghz,
		.tdp_w = facts->cpu.tdp_w,
		.cores_per_socket = (double)facts->cores / facts->sockets,
		.memory_gib_per_core = facts->memory_gib / facts->cores,
		.segment = facts->cpu.segment,
		.low_power = facts->cpu.low_power,
	};
}

/*
 * The machine within the population's ranges; whether it is outside them. All facts but the design
 * power are known.
 */
static bool settle(const struct power_model_weights *weights, const struct machine_facts *facts,
		   struct platform_machine *ret)
{
	struct platform_machine machine;
	bool outside;

	machine_facts_read(facts, &machine);
	outside =
		(!machine.amd && !machine.arm && !is_vendor(facts, "intel")) || facts->cpu.desktop;
	/*
	 * All are confined, whichever is found to be outside. Memory per core is computed before:
	 * a machine with more cores than any of the population may have as much as others.
	 */
	if (facts->year < weights->year.least || facts->year > weights->year.most)
		outside = true;
	machine.year = clamp(machine.year, weights->year.least, weights->year.most);
	outside = confine(&machine.cores, &weights->cores) || outside;
	outside = confine(&machine.sockets, &weights->sockets) || outside;
	outside = confine(&machine.memory_gib, &weights->memory_gib) || outside;
	outside = confine(&machine.frequency_ghz, &weights->frequency_ghz) || outside;
	machine.cores_per_socket = machine.cores / machine.sockets;
	outside = confine(&machine.cores_per_socket, &weights->cores_per_socket) || outside;
	outside = confine(&machine.memory_gib_per_core, &weights->memory_gib_per_core) || outside;
	*ret = machine;
	return outside;
}

static unsigned likely_tdp(const struct power_model_weights *weights,
			   const struct machine_facts *facts)
{
	double features[POWER_TDP_COUNT], ln_w = 0;
	struct platform_machine machine;

	(void)settle(weights, facts, &machine);
	platform_tdp_features(&machine, features);
	for (size_t i = 0; i < POWER_TDP_COUNT; i++)
		ln_w += weights->tdp[i] * features[i];
	return (unsigned)clamp(round(exp(ln_w)), 1, weights->tdp_w.most);
}

void power_model_complete_facts(const struct power_model *model, const struct machine_facts *facts,
				struct machine_facts *ret)
{
	struct machine_facts full = *facts;
	unsigned smt = is_vendor(facts, "arm") ? 1 : 2, per_socket;
	const struct typical_machine *typical;

	if (full.year == 0)
		full.year = full.cpu.year ? full.cpu.year : model->weights->year_typical;
	typical = typical_of(model->weights, full.year);
	per_socket = full.cpu.cores ? full.cpu.cores : typical->cores_per_socket;
	if (full.cores == 0 && full.threads > 0)
		full.cores = (full.threads + smt - 1) / smt;
	if (full.sockets == 0)
		full.sockets = full.cores == 0 ? typical->sockets
					       : (full.cores + per_socket - 1) / per_socket;
	if (full.cores == 0)
		full.cores = per_socket * full.sockets;
	if (full.threads == 0)
		full.threads = full.cores * smt;
	if (!(full.memory_gib > 0))
		full.memory_gib = typical->memory_gib_per_core * full.cores;
	if (!(full.frequency_ghz > 0))
		full.frequency_ghz = typical->frequency_ghz;
	if (full.cpu.tdp_w == 0)
		full.cpu.tdp_w = likely_tdp(model->weights, &full);
	*ret = full;
}

static void add_linear(const struct power_model_weights *weights,
		       const struct platform_machine *machine, double ln_w[static POWER_LEVELS])
{
	double features[POWER_FEATURE_COUNT];

	platform_features(machine, features);
	for (size_t i = 0; i < POWER_FEATURE_COUNT; i++) {
		for (size_t level = 0; level < POWER_LEVELS; level++)
			ln_w[level] += weights->linear[i][level] * features[i];
	}
}

/* Returns how similar the machine is to the nearest centre, 0..1. */
static double add_bumps(const struct power_bumps *bumps, const struct platform_machine *machine,
			double ln_w[static POWER_LEVELS])
{
	double place[POWER_BUMP_COUNT], nearest = 0;

	platform_place(machine, bumps->reach, place);
	for (size_t c = 0; c < POWER_CENTERS; c++) {
		const struct power_center *center = &bumps->centers[c];
		double square = 0, similarity;

		for (size_t i = 0; i < POWER_BUMP_COUNT; i++)
			square += (place[i] - center->at[i]) * (place[i] - center->at[i]);
		similarity = exp(-square / 2);
		nearest = similarity > nearest ? similarity : nearest;
		for (size_t level = 0; level < POWER_LEVELS; level++)
			ln_w[level] += center->ln_w[level] * similarity;
	}
	return nearest;
}

static bool add_generation(const struct power_model_weights *weights,
			   const struct machine_facts *facts, double ln_w[static POWER_LEVELS])
{
	bool small = facts->cpu.segment == CPU_SEGMENT_SMALL;

	for (size_t i = 0; i < weights->generation_count; i++) {
		const struct power_generation *row = &weights->generations[i];

		if (row->year != facts->year || row->small != small ||
		    !is_vendor(facts, row->vendor))
			continue;
		for (size_t level = 0; level < POWER_LEVELS; level++)
			ln_w[level] += row->ln_w[level];
		return true;
	}
	return false;
}

static bool add_cpu(const struct power_model_weights *weights, const struct machine_facts *facts,
		    double ln_w[static POWER_LEVELS])
{
	for (size_t i = 0; i < weights->cpu_count && facts->cpu.key[0]; i++) {
		const struct power_cpu *row = &weights->cpus[i];

		if (strcmp(row->key, facts->cpu.key) != 0)
			continue;
		ln_w[0] += row->idle_ln_w;
		for (size_t level = 1; level < POWER_LEVELS; level++)
			ln_w[level] += row->load_ln_w;
		return true;
	}
	return false;
}

/*
 * Far from the machines of the population the lines of idle and of full load may meet, which would
 * leave no dynamic power. Power at full load is nearer to the design power, and is kept.
 */
static void keep_rising(double least_rise, double watts[static POWER_LEVELS])
{
	double full_w = watts[POWER_LEVELS - 1], idle_w = full_w / (1 + least_rise);

	if (watts[0] <= idle_w)
		return;
	for (size_t level = 0; level < POWER_LEVELS; level++)
		watts[level] = idle_w + (full_w - idle_w) * (double)level / (POWER_LEVELS - 1);
}

/* W from ln W: within what machines of that design power draw, and never falling. */
static void finish(const struct power_model_weights *weights,
		   const struct platform_machine *machine, double tdp_w,
		   const double ln_w[static POWER_LEVELS], double watts[static POWER_LEVELS])
{
	double design_w = tdp_w * machine->sockets;
	const struct power_limits *limits = &weights->limits[POWER_LIMIT_CLASSES - 1];
	const struct power_range *idle, *full;

	while (limits > weights->limits && limits->year_from > machine->year)
		limits--;
	idle = &limits->idle;
	full = &limits->full;

	for (size_t level = 0; level < POWER_LEVELS; level++)
		watts[level] = clamp(exp(ln_w[level]), level == 0 ? idle->least * design_w : 0,
				     level == 0 ? idle->most * design_w : full->most * design_w);
	watts[POWER_LEVELS - 1] =
		clamp(watts[POWER_LEVELS - 1], full->least * design_w, full->most * design_w);
	keep_rising(limits->least_rise, watts);
	for (size_t level = 1; level < POWER_LEVELS; level++)
		watts[level] = watts[level] > watts[level - 1] ? watts[level] : watts[level - 1];
}

void power_curve_make(const struct power_model *model, const struct machine_facts *facts,
		      struct power_curve *ret)
{
	const struct power_model_weights *weights = model->weights;
	double ln_w[POWER_LEVELS] = { 0 };
	enum power_familiarity familiarity;
	struct platform_machine machine;
	struct machine_facts known;

	power_model_complete_facts(model, facts, &known);
	ret->outside = settle(weights, &known, &machine);
	machine.tdp_w = known.cpu.tdp_w;
	ret->outside = confine(&machine.tdp_w, &weights->tdp_w) || ret->outside;
	add_linear(weights, &machine, ln_w);
	if (add_bumps(&weights->bumps[POWER_BUMPS_ALIKE], &machine, ln_w) < NEAR_ENOUGH)
		ret->outside = true;
	(void)add_bumps(&weights->bumps[POWER_BUMPS_MEMORY], &machine, ln_w);
	familiarity = add_generation(weights, &known, ln_w) ? POWER_KNOWN_GENERATION
							    : POWER_UNKNOWN_GENERATION;
	if (add_cpu(weights, &known, ln_w))
		familiarity = POWER_KNOWN_CPU;
	/* An unknown frequency may be any of the frequencies of its year. */
	if (!known.cpu.key[0] || !(facts->frequency_ghz > 0))
		familiarity = POWER_UNNAMED;
	ret->bound = weights->bound[ret->outside ? POWER_UNNAMED : familiarity];
	finish(weights, &machine, clamp(known.cpu.tdp_w, 1, weights->tdp_w.most), ln_w, ret->watts);
}

static double between(const double levels[static POWER_LEVELS], double utilisation)
{
	double position = utilisation * (POWER_LEVELS - 1);
	size_t level = (size_t)position;

	if (level >= POWER_LEVELS - 1)
		return levels[POWER_LEVELS - 1];
	return levels[level] + (levels[level + 1] - levels[level]) * (position - (double)level);
}

/*
 * The bound of the power above idle at each tenth of load: nine of ten machines lie within this
 * share of it. Found like the bound of all power: in 20 groups of CPU models, by models that have
 * not seen the group. It is wide at low load, where the difference of two estimates is small.
 */
static const double dynamic_bound[POWER_LEVELS] = {
	1.07, 1.07, 0.71, 0.61, 0.56, 0.48, 0.41, 0.4, 0.38, 0.36, 0.33,
};

void power_curve_at(const struct power_curve *curve, double utilisation, struct power_estimate *ret)
{
	double u = clamp(utilisation, 0, 1), watts = between(curve->watts, u);

	ret->idle_w = curve->watts[0];
	ret->dynamic_w = watts > ret->idle_w ? watts - ret->idle_w : 0;
	ret->outside = curve->outside;
	ret->dynamic_bound_w =
		ret->dynamic_w * between(dynamic_bound, u) * (curve->outside ? OUTSIDE_FACTOR : 1);
	ret->bound_w = watts * between(curve->bound, u) * (curve->outside ? OUTSIDE_FACTOR : 1);
}

void power_model_estimate(const struct power_model *model, const struct machine_facts *facts,
			  double utilisation, struct power_estimate *ret)
{
	struct power_curve curve;

	power_curve_make(model, facts, &curve);
	power_curve_at(&curve, utilisation, ret);
}
