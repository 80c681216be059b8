// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_weights.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define FEATURES     ((size_t)POWER_FEATURE_COUNT)
#define LIMIT_MARGIN 1.25

static const unsigned limits_from[POWER_LIMIT_CLASSES] = { 0, 2009 };
static const unsigned typical_from[POWER_TYPICAL_CLASSES] = {
	0, 2009, 2012, 2016, 2019, 2021, 2023
};

/* ---- weights ---- */

/* The weight of a machine in the sums of a level. */
static double dual_at(const struct platform_fit *fit, size_t machine, size_t level)
{
	const struct platform_surface *surface =
		&fit->surface[level == 0 ? PLATFORM_IDLE : PLATFORM_LOAD];

	return surface->fit.dual[machine * surface->fit.outputs + level - surface->first_level];
}

static const struct platform_variances *variances_at(size_t level)
{
	return &platform_variances[level == 0 ? PLATFORM_IDLE : PLATFORM_LOAD];
}

static void set_linear(const struct platform_fit *fit, struct power_model_weights *weights)
{
	const struct platform_design *design = &fit->design;

	for (size_t level = 0; level < POWER_LEVELS; level++) {
		for (size_t n = 0; n < FEATURES; n++) {
			double weight = 0;

			for (size_t i = 0; i < design->count; i++)
				weight += design->scaled[i * FEATURES + n] * dual_at(fit, i, level);
			weight *= design->deviation[n] > 0
					  ? platform_prior(n) / design->deviation[n]
					  : 0;
			weights->linear[n][level] = weight;
		}
		for (size_t n = 0; n < FEATURES; n++) {
			if (n != POWER_FEATURE_ONE)
				weights->linear[POWER_FEATURE_ONE][level] -=
					design->mean[n] * weights->linear[n][level];
		}
	}
}

static void set_centers(const struct platform_fit *fit, size_t set, struct power_bumps *ret)
{
	const struct platform_bumps *bumps = &fit->design.bumps[set];

	memcpy(ret->reach, platform_reach[set], sizeof(ret->reach));
	for (size_t c = 0; c < POWER_CENTERS; c++) {
		struct power_center *center = &ret->centers[c];

		memcpy(center->at, bumps->centers + c * POWER_BUMP_COUNT, sizeof(center->at));
		for (size_t level = 0; bumps->to_centers && level < POWER_LEVELS; level++) {
			double sum = 0;

			for (size_t i = 0; i < fit->design.count; i++)
				sum += bumps->to_centers[i * POWER_CENTERS + c] *
				       dual_at(fit, i, level);
			center->ln_w[level] = variances_at(level)->bumps[set] * sum;
		}
	}
}

static int compare_generations(const void *a, const void *b)
{
	const struct power_generation *x = a, *y = b;
	int vendors = strcmp(x->vendor, y->vendor);

	if (vendors || x->year != y->year)
		return vendors ? vendors : (x->year > y->year) - (x->year < y->year);
	return (int)x->small - (int)y->small;
}

static void add_generation(const struct platform_fit *fit, size_t machine,
			   struct platform_model *model)
{
	const struct platform_design *design = &fit->design;
	const struct machine_facts *facts = &design->types[machine]->facts;
	struct power_generation *row = &model->generations[model->weights.generation_count];

	for (size_t i = 0; i < machine; i++) {
		if (platform_same_generation(&design->types[i]->facts, facts))
			return;
	}
	model->weights.generation_count++;
	*row = (struct power_generation){ .vendor = facts->vendor,
					  .year = facts->year,
					  .small = facts->cpu.segment == CPU_SEGMENT_SMALL };
	for (size_t i = machine; i < design->count; i++) {
		if (!platform_same_generation(&design->types[i]->facts, facts))
			continue;
		for (size_t level = 0; level < POWER_LEVELS; level++)
			row->ln_w[level] +=
				variances_at(level)->generation * dual_at(fit, i, level);
	}
}

static int compare_cpus(const void *a, const void *b)
{
	return strcmp(((const struct power_cpu *)a)->key, ((const struct power_cpu *)b)->key);
}

static void add_cpu(const struct platform_fit *fit, size_t machine, struct platform_model *model)
{
	const struct platform_design *design = &fit->design;
	const char *key = design->types[machine]->facts.cpu.key;
	struct power_cpu *row = &model->cpus[model->weights.cpu_count];

	for (size_t i = 0; i < machine && key[0]; i++) {
		if (strcmp(design->types[i]->facts.cpu.key, key) == 0)
			return;
	}
	if (!key[0])
		return;
	model->weights.cpu_count++;
	*row = (struct power_cpu){ .key = key };
	for (size_t i = machine; i < design->count; i++) {
		if (strcmp(design->types[i]->facts.cpu.key, key) != 0)
			continue;
		row->idle_ln_w += platform_variances[PLATFORM_IDLE].cpu * dual_at(fit, i, 0);
		for (size_t level = 1; level < POWER_LEVELS; level++)
			row->load_ln_w += platform_variances[PLATFORM_LOAD].cpu *
					  dual_at(fit, i, level) / (POWER_LEVELS - 1);
	}
}

static void set_offsets(const struct platform_fit *fit, struct platform_model *model)
{
	struct power_model_weights *weights = &model->weights;

	for (size_t i = 0; i < fit->design.count; i++) {
		if (fit->parts & PLATFORM_GENERATIONS)
			add_generation(fit, i, model);
		if (fit->parts & PLATFORM_CPUS)
			add_cpu(fit, i, model);
	}
	qsort(model->generations, weights->generation_count, sizeof(*model->generations),
	      compare_generations);
	qsort(model->cpus, weights->cpu_count, sizeof(*model->cpus), compare_cpus);
	weights->generations = model->generations;
	weights->cpus = model->cpus;
}

/* ---- the population ---- */

enum fact {
	FACT_YEAR,
	FACT_CORES,
	FACT_SOCKETS,
	FACT_CORES_PER_SOCKET,
	FACT_MEMORY,
	FACT_MEMORY_PER_CORE,
	FACT_FREQUENCY,
	FACT_TDP,
};

static double fact_of(const struct platform_machine *machine, enum fact fact)
{
	switch (fact) {
	case FACT_YEAR:
		return machine->year;
	case FACT_CORES:
		return machine->cores;
	case FACT_SOCKETS:
		return machine->sockets;
	case FACT_CORES_PER_SOCKET:
		return machine->cores_per_socket;
	case FACT_MEMORY:
		return machine->memory_gib;
	case FACT_MEMORY_PER_CORE:
		return machine->memory_gib_per_core;
	case FACT_FREQUENCY:
		return machine->frequency_ghz;
	case FACT_TDP:
		break;
	}
	return machine->tdp_w;
}

static struct power_range range_of(const struct platform_design *design, enum fact fact)
{
	double first = fact_of(&design->machine[0], fact);
	struct power_range range = { first, first };

	for (size_t i = 1; i < design->count; i++) {
		double value = fact_of(&design->machine[i], fact);

		range.least = fmin(range.least, value);
		range.most = fmax(range.most, value);
	}
	return range;
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The lower median of the machines of years @from to below @to; 0: there are none. */
static double median_of(const struct platform_design *design, enum fact fact, unsigned from,
			unsigned to, double *scratch)
{
	size_t count = 0;

	for (size_t i = 0; i < design->count; i++) {
		unsigned year = design->types[i]->facts.year;

		if (year >= from && year < to)
			scratch[count++] = fact_of(&design->machine[i], fact);
	}
	qsort(scratch, count, sizeof(*scratch), compare_values);
	return count ? scratch[(count - 1) / 2] : 0;
}

/* A class without machines uses the machines of all years. */
static void set_typical(const struct platform_design *design, struct power_model_weights *weights,
			double *scratch)
{
	for (size_t k = 0; k < POWER_TYPICAL_CLASSES; k++) {
		struct typical_machine *typical = &weights->typical[k];
		unsigned from = typical_from[k];
		unsigned to = k + 1 < POWER_TYPICAL_CLASSES ? typical_from[k + 1] : UINT32_MAX;

		typical->year_from = from;
		if (!(median_of(design, FACT_CORES, from, to, scratch) > 0)) {
			from = 0;
			to = UINT32_MAX;
		}
		typical->cores_per_socket =
			(unsigned)median_of(design, FACT_CORES_PER_SOCKET, from, to, scratch);
		typical->sockets = (unsigned)median_of(design, FACT_SOCKETS, from, to, scratch);
		typical->memory_gib_per_core =
			median_of(design, FACT_MEMORY_PER_CORE, from, to, scratch);
		typical->frequency_ghz = median_of(design, FACT_FREQUENCY, from, to, scratch);
	}
	weights->year_typical = (unsigned)median_of(design, FACT_YEAR, 0, UINT32_MAX, scratch);
}

/* The limits of the machines of a class of years, or of all machines if it has none. */
static struct power_range limits_at(const struct platform_design *design, size_t level,
				    unsigned from, unsigned to)
{
	struct power_range range = { (double)INFINITY, 0 };

	for (size_t i = 0; i < design->count; i++) {
		const struct platform_machine *machine = &design->machine[i];
		double ratio =
			exp(design->types[i]->ln_w[level]) / (machine->tdp_w * machine->sockets);
		unsigned year = design->types[i]->facts.year;

		if (year < from || year >= to)
			continue;
		range.least = fmin(range.least, ratio / LIMIT_MARGIN);
		range.most = fmax(range.most, ratio * LIMIT_MARGIN);
	}
	return range.most > 0 ? range : limits_at(design, level, 0, UINT32_MAX);
}

/* The same for full load over idle, less 1. */
static double least_rise(const struct platform_design *design, unsigned from, unsigned to)
{
	double least = (double)INFINITY;

	for (size_t i = 0; i < design->count; i++) {
		const double *ln_w = design->types[i]->ln_w;
		unsigned year = design->types[i]->facts.year;

		if (year >= from && year < to)
			least = fmin(least, expm1(ln_w[POWER_LEVELS - 1] - ln_w[0]) / LIMIT_MARGIN);
	}
	return isfinite(least) ? least : least_rise(design, 0, UINT32_MAX);
}

static void set_limits(const struct platform_design *design, struct power_model_weights *weights)
{
	for (size_t k = 0; k < POWER_LIMIT_CLASSES; k++) {
		unsigned from = limits_from[k];
		unsigned to = k + 1 < POWER_LIMIT_CLASSES ? limits_from[k + 1] : UINT32_MAX;

		weights->limits[k] = (struct power_limits){
			.year_from = from,
			.idle = limits_at(design, 0, from, to),
			.full = limits_at(design, POWER_LEVELS - 1, from, to),
			.least_rise = least_rise(design, from, to),
		};
	}
}

static void set_ranges(const struct platform_design *design, struct power_model_weights *weights)
{
	weights->year = range_of(design, FACT_YEAR);
	weights->cores = range_of(design, FACT_CORES);
	weights->sockets = range_of(design, FACT_SOCKETS);
	weights->cores_per_socket = range_of(design, FACT_CORES_PER_SOCKET);
	weights->memory_gib = range_of(design, FACT_MEMORY);
	weights->memory_gib_per_core = range_of(design, FACT_MEMORY_PER_CORE);
	weights->frequency_ghz = range_of(design, FACT_FREQUENCY);
	weights->tdp_w = range_of(design, FACT_TDP);
}

int platform_model_make(const struct platform_fit *fit, struct platform_model *ret,
			struct diag *diag)
{
	size_t count = fit->design.count;
	CLEANUP_FREE double *scratch = calloc(count, sizeof(*scratch));
	struct platform_model *model = ret;

	*model = (struct platform_model){ 0 };
	model->generations = calloc(count, sizeof(*model->generations));
	model->cpus = calloc(count, sizeof(*model->cpus));
	if (!scratch || !model->generations || !model->cpus) {
		platform_model_release(model);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	set_linear(fit, &model->weights);
	for (size_t set = 0; set < POWER_BUMP_SETS; set++)
		set_centers(fit, set, &model->weights.bumps[set]);
	set_offsets(fit, model);
	memcpy(model->weights.tdp, fit->design.tdp, sizeof(model->weights.tdp));
	set_typical(&fit->design, &model->weights, scratch);
	set_ranges(&fit->design, &model->weights);
	set_limits(&fit->design, &model->weights);
	model->model.weights = &model->weights;
	return 0;
}

void platform_model_release(struct platform_model *model)
{
	free(model->generations);
	free(model->cpus);
	*model = (struct platform_model){ 0 };
}
