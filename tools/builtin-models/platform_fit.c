// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "tools/builtin-models/clusters.h"
#include "tools/builtin-models/positive_solve.h"

#define FEATURES        ((size_t)POWER_FEATURE_COUNT)
#define JITTER          1e-6 /* of the variance of a centre, so that equal ones do no harm */
#define TDP_PENALTY     0.1  /* on the weights of likely design powers, as rows of evidence */
#define TDP_PENALTY_ONE 1e-6
#define NOISE_OF_A_TYPE 0.5 /* part of the noise that more results of a type do not lessen */

/* ---- design power ---- */

static bool is_last_of_its_cpu(const struct platform_design *design, size_t i)
{
	for (size_t j = i + 1; j < design->count; j++) {
		if (strcmp(design->types[j]->facts.cpu.key, design->types[i]->facts.cpu.key) == 0)
			return false;
	}
	return true;
}

/* A regression over the models whose design power is known, each once. */
static int fit_tdp(struct platform_design *design, struct diag *diag)
{
	double a[POWER_TDP_COUNT * POWER_TDP_COUNT] = { 0 };

	for (size_t n = 0; n < POWER_TDP_COUNT; n++)
		a[n * POWER_TDP_COUNT + n] = n == POWER_TDP_ONE ? TDP_PENALTY_ONE : TDP_PENALTY;
	for (size_t i = 0; i < design->count; i++) {
		const struct machine_facts *facts = &design->types[i]->facts;
		double x[POWER_TDP_COUNT];

		if (!facts->cpu.tdp_w || !is_last_of_its_cpu(design, i))
			continue;
		platform_tdp_features(&design->machine[i], x);
		for (size_t n = 0; n < POWER_TDP_COUNT; n++) {
			design->tdp[n] += x[n] * log(facts->cpu.tdp_w);
			for (size_t m = 0; m < POWER_TDP_COUNT; m++)
				a[n * POWER_TDP_COUNT + m] += x[n] * x[m];
		}
	}
	return positive_solve(a, design->tdp, POWER_TDP_COUNT, 1, diag);
}

/* @machine with its design power, known or likely. */
static void read_machine(const struct platform_design *design, const struct machine_facts *facts,
			 struct platform_machine *ret)
{
	double x[POWER_TDP_COUNT], ln_w = 0;

	machine_facts_read(facts, ret);
	if (facts->cpu.tdp_w)
		return;
	platform_tdp_features(ret, x);
	for (size_t n = 0; n < POWER_TDP_COUNT; n++)
		ln_w += x[n] * design->tdp[n];
	ret->tdp_w = exp(ln_w);
}

/* ---- design ---- */

static bool is_used(size_t feature, unsigned parts)
{
	if (feature == POWER_FEATURE_LN_TDP || feature == POWER_FEATURE_LN_TDP_BY_YEAR)
		return parts & PLATFORM_TDP;
	return feature < POWER_FEATURE_SMALL || parts & PLATFORM_SEGMENTS;
}

/* Finds the scale of a feature that is not scaled yet. */
static void find_scale(struct platform_design *design, size_t feature)
{
	const double *raw = design->scaled;
	double mean = 0, square = 0;

	for (size_t i = 0; i < design->count; i++)
		mean += raw[i * FEATURES + feature] / (double)design->count;
	for (size_t i = 0; i < design->count; i++) {
		double off = raw[i * FEATURES + feature] - mean;

		square += off * off / (double)design->count;
	}
	design->mean[feature] = feature == POWER_FEATURE_ONE ? 0 : mean;
	design->deviation[feature] = feature == POWER_FEATURE_ONE ? 1 : sqrt(square);
}

/* @machine's features as the design has them. */
static void scale(const struct platform_design *design, const struct platform_machine *machine,
		  double ret[static POWER_FEATURE_COUNT])
{
	platform_features(machine, ret);
	for (size_t n = 0; n < FEATURES; n++)
		ret[n] = design->deviation[n] > 0
				 ? (ret[n] - design->mean[n]) / design->deviation[n]
				 : 0;
}

static int set_features(struct platform_design *design, unsigned parts)
{
	if (ARRAY_RESIZE(design->scaled, design->count * FEATURES) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < design->count; i++)
		platform_features(&design->machine[i], design->scaled + i * FEATURES);
	for (size_t n = 0; n < FEATURES; n++) {
		if (is_used(n, parts))
			find_scale(design, n);
	}
	for (size_t i = 0; i < design->count; i++)
		scale(design, &design->machine[i], design->scaled + i * FEATURES);
	return 0;
}

/* The similarity of a place with each centre, 0..1. */
static void find_similarity(const struct platform_bumps *bumps, const double *place, double *ret)
{
	for (size_t c = 0; c < POWER_CENTERS; c++)
		ret[c] = exp(-clusters_distance2(place, bumps->centers + c * POWER_BUMP_COUNT,
						 POWER_BUMP_COUNT) /
			     2);
}

static bool has_bumps(unsigned parts, size_t set)
{
	return parts & (set == POWER_BUMPS_ALIKE ? PLATFORM_BUMPS : PLATFORM_MEMORY);
}

static int set_centers(struct platform_design *design, size_t set, struct diag *diag)
{
	struct platform_bumps *bumps = &design->bumps[set];
	CLEANUP_FREE double *places = calloc(design->count * POWER_BUMP_COUNT, sizeof(*places));
	CLEANUP_FREE double *among = calloc((size_t)POWER_CENTERS * POWER_CENTERS, sizeof(*among));
	size_t all = design->count * POWER_CENTERS;

	bumps->similarity = calloc(all, sizeof(*bumps->similarity));
	bumps->to_centers = calloc(all, sizeof(*bumps->to_centers));
	if (!places || !among || !bumps->similarity || !bumps->to_centers)
		return -ENOMEM;
	for (size_t i = 0; i < design->count; i++)
		platform_place(&design->machine[i], platform_reach[set],
			       places + i * POWER_BUMP_COUNT);
	if (clusters_find(places, design->count, POWER_BUMP_COUNT, POWER_CENTERS, bumps->centers) <
	    0)
		return -ENOMEM;
	for (size_t i = 0; i < design->count; i++)
		find_similarity(bumps, places + i * POWER_BUMP_COUNT,
				bumps->similarity + i * POWER_CENTERS);
	for (size_t c = 0; c < POWER_CENTERS; c++) {
		find_similarity(bumps, bumps->centers + c * POWER_BUMP_COUNT,
				among + c * POWER_CENTERS);
		among[c * POWER_CENTERS + c] += JITTER;
	}
	memcpy(bumps->to_centers, bumps->similarity, all * sizeof(*bumps->similarity));
	return positive_solve(among, bumps->to_centers, POWER_CENTERS, design->count, diag);
}

static int design_init(struct platform_design *design, unsigned parts, struct diag *diag)
{
	int r;

	design->machine = calloc(design->count, sizeof(*design->machine));
	if (!design->machine)
		return -ENOMEM;
	for (size_t i = 0; i < design->count; i++)
		machine_facts_read(&design->types[i]->facts, &design->machine[i]);
	r = fit_tdp(design, diag);
	for (size_t i = 0; r == 0 && i < design->count; i++)
		read_machine(design, &design->types[i]->facts, &design->machine[i]);
	if (r == 0)
		r = set_features(design, parts);
	for (size_t set = 0; r == 0 && set < POWER_BUMP_SETS; set++) {
		if (has_bumps(parts, set))
			r = set_centers(design, set, diag);
	}
	return r;
}

static void design_release(struct platform_design *design)
{
	free(design->machine);
	free(design->scaled);
	for (size_t set = 0; set < POWER_BUMP_SETS; set++) {
		free(design->bumps[set].similarity);
		free(design->bumps[set].to_centers);
	}
}

/* ---- covariances ---- */

bool platform_same_generation(const struct machine_facts *a, const struct machine_facts *b)
{
	return a->year == b->year &&
	       (a->cpu.segment == CPU_SEGMENT_SMALL) == (b->cpu.segment == CPU_SEGMENT_SMALL) &&
	       strcmp(a->vendor, b->vendor) == 0;
}

/* A machine that is not in the design. */
struct asked {
	const struct machine_facts *facts;
	const double *scaled;                      /* [POWER_FEATURE_COUNT] */
	const double *similarity[POWER_BUMP_SETS]; /* [POWER_CENTERS]; NULL: no part */
};

/* The covariance of a set's bumps at the asked machine and at @with, over their variance. */
static double covariance_of_bumps(const struct platform_bumps *bumps, const double *similarity,
				  size_t with)
{
	double sum = 0;

	for (size_t c = 0; c < POWER_CENTERS; c++)
		sum += similarity[c] * bumps->to_centers[with * POWER_CENTERS + c];
	return sum;
}

static double covariance(const struct platform_fit *fit, const struct platform_variances *variances,
			 const struct asked *asked, size_t with)
{
	const struct platform_design *design = &fit->design;
	const struct machine_facts *facts = &design->types[with]->facts;
	double sum = 0;

	for (size_t n = 0; n < FEATURES; n++)
		sum += platform_prior(n) * asked->scaled[n] * design->scaled[with * FEATURES + n];
	for (size_t set = 0; set < POWER_BUMP_SETS; set++) {
		if (asked->similarity[set])
			sum += variances->bumps[set] * covariance_of_bumps(&design->bumps[set],
									   asked->similarity[set],
									   with);
	}
	if (fit->parts & PLATFORM_GENERATIONS && platform_same_generation(asked->facts, facts))
		sum += variances->generation;
	if (fit->parts & PLATFORM_CPUS && facts->cpu.key[0] &&
	    strcmp(asked->facts->cpu.key, facts->cpu.key) == 0)
		sum += variances->cpu;
	return sum;
}

static void find_covariances(const struct platform_fit *fit,
			     const struct platform_variances *variances, double *ret)
{
	size_t count = fit->design.count;

	for (size_t i = 0; i < count; i++) {
		struct asked asked = {
			.facts = &fit->design.types[i]->facts,
			.scaled = fit->design.scaled + i * FEATURES,
		};

		for (size_t set = 0; set < POWER_BUMP_SETS; set++) {
			if (has_bumps(fit->parts, set))
				asked.similarity[set] =
					fit->design.bumps[set].similarity + i * POWER_CENTERS;
		}
		for (size_t j = 0; j < count; j++)
			ret[i * count + j] = covariance(fit, variances, &asked, j);
		/* A type of many results is a mean of as many machines. */
		ret[i * count + i] += variances->noise *
				      (NOISE_OF_A_TYPE + 1 / (1 + fit->design.types[i]->results));
	}
}

/* Row by row those of each machine, asked for without the name of its CPU. */
static void find_unnamed_covariances(const struct platform_fit *fit,
				     const struct platform_variances *variances, double *ret)
{
	const struct platform_design *design = &fit->design;
	double scaled[POWER_FEATURE_COUNT], place[POWER_BUMP_COUNT];
	double similarity[POWER_BUMP_SETS][POWER_CENTERS];

	for (size_t i = 0; i < design->count; i++) {
		struct machine_facts facts = design->types[i]->facts;
		struct asked asked = { .facts = &facts, .scaled = scaled };
		struct platform_machine machine;

		facts.cpu = (struct cpu_name){ .segment = CPU_SEGMENT_OTHER };
		read_machine(design, &facts, &machine);
		scale(design, &machine, scaled);
		for (size_t set = 0; set < POWER_BUMP_SETS; set++) {
			if (!has_bumps(fit->parts, set))
				continue;
			platform_place(&machine, platform_reach[set], place);
			find_similarity(&design->bumps[set], place, similarity[set]);
			asked.similarity[set] = similarity[set];
		}
		for (size_t j = 0; j < design->count; j++)
			ret[i * design->count + j] = covariance(fit, variances, &asked, j);
	}
}

/* ---- fit ---- */

static int fit_surface(struct platform_fit *fit, size_t which, double *covariances,
		       struct diag *diag)
{
	struct platform_surface *surface = &fit->surface[which];
	size_t levels = which == PLATFORM_IDLE ? 1 : POWER_LEVELS - 1, count = fit->design.count;
	CLEANUP_FREE double *y = calloc(count * levels, sizeof(*y));

	if (!y)
		return -ENOMEM;
	surface->first_level = which == PLATFORM_IDLE ? 0 : 1;
	for (size_t i = 0; i < count; i++)
		memcpy(y + i * levels, fit->design.types[i]->ln_w + surface->first_level,
		       levels * sizeof(*y));
	find_covariances(fit, &platform_variances[which], covariances);
	return kriging_fit(covariances, y, count, levels, &surface->fit, diag);
}

int platform_fit(const struct platform_type *const *types, size_t count, unsigned parts,
		 struct platform_fit *ret, struct diag *diag)
{
	CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = parts };
	CLEANUP_FREE double *covariances = NULL;
	int r;

	if (count == 0)
		return diag_set(diag, -EINVAL, "there are no machines");
	covariances = calloc(count * count, sizeof(*covariances));
	r = covariances ? 0 : -ENOMEM;
	fit.design.types = types;
	fit.design.count = count;
	if (r == 0)
		r = design_init(&fit.design, parts, diag);
	for (size_t i = 0; r == 0 && i < PLATFORM_SURFACES; i++)
		r = fit_surface(&fit, i, covariances, diag);
	if (r == -ENOMEM)
		(void)diag_set(diag, r, "out of memory");
	if (r < 0)
		return r;
	*ret = fit;
	fit = (struct platform_fit){ 0 };
	return 0;
}

void platform_fit_release(struct platform_fit *fit)
{
	design_release(&fit->design);
	for (size_t i = 0; i < PLATFORM_SURFACES; i++)
		kriging_release(&fit->surface[i].fit);
	*fit = (struct platform_fit){ 0 };
}

int platform_fit_hold_out(const struct platform_fit *fit, const uint32_t *group, bool unnamed,
			  double *ret, struct diag *diag)
{
	size_t count = fit->design.count;
	CLEANUP_FREE double *out = calloc(count * POWER_LEVELS, sizeof(*out));
	CLEANUP_FREE double *asked = unnamed ? calloc(count * count, sizeof(*asked)) : NULL;

	if (!out || (unnamed && !asked))
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t s = 0; s < PLATFORM_SURFACES; s++) {
		const struct platform_surface *surface = &fit->surface[s];
		size_t levels = surface->fit.outputs;
		int r;

		if (asked)
			find_unnamed_covariances(fit, &platform_variances[s], asked);
		r = kriging_hold_out(&surface->fit, group, asked, out, diag);
		if (r < 0)
			return r;
		for (size_t i = 0; i < count; i++)
			memcpy(ret + i * POWER_LEVELS + surface->first_level, out + i * levels,
			       levels * sizeof(*out));
	}
	return 0;
}
