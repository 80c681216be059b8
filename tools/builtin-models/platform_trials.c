// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_trials.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "tools/builtin-models/platform_weights.h"

#define DRAWS 4U

static const struct {
	const char *name;
	enum platform_kinship kinship;
	bool is_dealt, is_unnamed;
} trials[TRIALS] = {
	[TRIAL_TYPES] = { "types, one by one", PLATFORM_TYPE },
	[TRIAL_TYPES_DEALT] = { "types, 20 groups", PLATFORM_TYPE, .is_dealt = true },
	[TRIAL_CPUS] = { "CPU models, one by one", PLATFORM_CPU },
	[TRIAL_CPUS_DEALT] = { "CPU models, 20 groups", PLATFORM_CPU, .is_dealt = true },
	[TRIAL_GENERATIONS] = { "generations, one by one", PLATFORM_GENERATION },
	[TRIAL_UNNAMED] = { "CPU models, one by one, names of CPUs unknown", PLATFORM_CPU,
			    .is_unnamed = true },
};

const char *platform_trial_name(enum platform_trial trial)
{
	return trials[trial].name;
}

static int out_of_memory(struct diag *diag)
{
	return diag_set(diag, -ENOMEM, "out of memory");
}

/* ---- one trial ---- */

struct attempt {
	const struct platform_population *population;
	uint32_t *kin, *group; /* [count] */
	uint32_t groups;       /* of kin */
	double *ln_w;          /* [count × POWER_LEVELS] */
	double *watts;         /* [rows] */
};

static void attempt_release(struct attempt *attempt)
{
	free(attempt->kin);
	free(attempt->group);
	free(attempt->ln_w);
	free(attempt->watts);
}

static int attempt_init(struct attempt *attempt, const struct platform_population *population,
			enum platform_kinship kinship)
{
	attempt->population = population;
	attempt->kin = calloc(population->count, sizeof(*attempt->kin));
	attempt->group = calloc(population->count, sizeof(*attempt->group));
	attempt->ln_w = calloc(population->count * POWER_LEVELS, sizeof(*attempt->ln_w));
	attempt->watts = calloc(population->rows, sizeof(*attempt->watts));
	if (!attempt->kin || !attempt->group || !attempt->ln_w || !attempt->watts)
		return -ENOMEM;
	attempt->groups =
		platform_groups(population->types, population->count, kinship, attempt->kin);
	return 0;
}

/* Watts of all rows in one draw. */
static int hold_out(struct attempt *attempt, const struct platform_fit *fit,
		    enum platform_trial trial, uint64_t draw, struct diag *diag)
{
	const struct platform_population *population = attempt->population;
	int r = 0;

	memcpy(attempt->group, attempt->kin, population->count * sizeof(*attempt->group));
	if (trials[trial].is_dealt)
		r = platform_deal(attempt->group, population->count, attempt->groups, draw);
	if (r < 0)
		return out_of_memory(diag);
	r = platform_fit_hold_out(fit, attempt->group, trials[trial].is_unnamed, attempt->ln_w,
				  diag);
	if (r == 0)
		platform_row_watts(population->types, population->count, attempt->ln_w,
				   attempt->watts);
	return r;
}

static void add_errors(struct platform_errors *sum, const struct platform_errors *errors,
		       unsigned draws)
{
	sum->mean_w += errors->mean_w / draws;
	sum->median_w += errors->median_w / draws;
	sum->mean_percent += errors->mean_percent / draws;
	sum->median_percent += errors->median_percent / draws;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* Bounds of the last draw. */
static int find_bounds(const struct attempt *attempt, bool coverage, struct platform_result *result)
{
	const struct platform_population *population = attempt->population;
	int r = platform_bounds(population->types, population->count, attempt->watts,
				result->bound);

	if (r < 0 || !coverage)
		return r;
	result->coverage = calloc(population->count, sizeof(*result->coverage));
	if (!result->coverage)
		return -ENOMEM;
	r = platform_coverage(population->types, population->count, attempt->watts, attempt->kin,
			      attempt->groups, result->coverage);
	result->covered = mean_of(result->coverage, population->count);
	return r;
}

int platform_try(const struct platform_population *population, const struct platform_fit *fit,
		 enum platform_trial trial, bool coverage, struct platform_result *ret,
		 struct diag *diag)
{
	CLEANUP(attempt_release) struct attempt attempt = { .groups = 0 };
	CLEANUP(platform_result_release) struct platform_result result = { .covered = 0 };
	unsigned draws = trials[trial].is_dealt ? DRAWS : 1;

	if (attempt_init(&attempt, population, trials[trial].kinship) < 0)
		return out_of_memory(diag);
	for (unsigned draw = 0; draw < draws; draw++) {
		struct platform_errors errors;
		int r = hold_out(&attempt, fit, trial, draw, diag);

		if (r < 0)
			return r;
		if (platform_judge(population->types, population->count, attempt.watts, &errors) <
		    0)
			return out_of_memory(diag);
		add_errors(&result.errors, &errors, draws);
	}
	if (find_bounds(&attempt, coverage, &result) < 0)
		return out_of_memory(diag);
	*ret = result;
	result = (struct platform_result){ 0 };
	return 0;
}

void platform_result_release(struct platform_result *result)
{
	free(result->coverage);
	result->coverage = NULL;
}

/* ---- tables ---- */

void platform_errors_print(const char *name, const struct platform_errors *errors,
			   struct strbuf *out)
{
	strbuf_addf(out, "%s: %.1f (%.1f) W, %.1f (%.1f) %%", name, errors->mean_w,
		    errors->median_w, errors->mean_percent, errors->median_percent);
}

int platform_print_parts(const struct platform_population *population, struct strbuf *out,
			 struct diag *diag)
{
	static const struct {
		unsigned parts;
		const char *name;
	} steps[] = {
		{ 0, "linear" },
		{ PLATFORM_TDP, "+ design power" },
		{ PLATFORM_TDP | PLATFORM_SEGMENTS, "+ segments" },
		{ PLATFORM_TDP | PLATFORM_SEGMENTS | PLATFORM_BUMPS, "+ bumps" },
		{ PLATFORM_PARTS & ~(PLATFORM_CPUS | PLATFORM_MEMORY), "+ generations" },
		{ PLATFORM_PARTS & ~PLATFORM_MEMORY, "+ CPU models" },
		{ PLATFORM_PARTS, "+ memory" },
	};

	strbuf_add_str(out, "| held out | parts of the model | mean W | median W | mean % | median "
			    "% |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = 0 };
		int r = platform_fit(population->types, population->count, steps[i].parts, &fit,
				     diag);

		for (enum platform_trial trial = 0; r == 0 && trial <= TRIAL_GENERATIONS; trial++) {
			struct platform_result result = { .covered = 0 };
			const struct platform_errors *e = &result.errors;

			r = platform_try(population, &fit, trial, false, &result, diag);
			if (r == 0)
				strbuf_addf(out, "| %s | %s | %.1f | %.1f | %.1f | %.1f |\n",
					    trials[trial].name, steps[i].name, e->mean_w,
					    e->median_w, e->mean_percent, e->median_percent);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Classes of machines, by a number in a range or by vendor. */
static const struct {
	const char *name, *vendor;
	unsigned sockets_from, sockets_to, year_from, year_to;
} classes[] = {
	{ "2005 to 2008", NULL, 0, UINT32_MAX, 0, 2008 },
	{ "2009 to 2011", NULL, 0, UINT32_MAX, 2009, 2011 },
	{ "2012 to 2015", NULL, 0, UINT32_MAX, 2012, 2015 },
	{ "2016 to 2018", NULL, 0, UINT32_MAX, 2016, 2018 },
	{ "2019 and 2020", NULL, 0, UINT32_MAX, 2019, 2020 },
	{ "2021 to 2023", NULL, 0, UINT32_MAX, 2021, UINT32_MAX },
	{ "1 socket", NULL, 1, 1, 0, UINT32_MAX },
	{ "2 sockets", NULL, 2, 2, 0, UINT32_MAX },
	{ "more sockets", NULL, 3, UINT32_MAX, 0, UINT32_MAX },
	{ "Intel", "intel", 0, UINT32_MAX, 0, UINT32_MAX },
	{ "AMD", "amd", 0, UINT32_MAX, 0, UINT32_MAX },
	{ "Arm", "arm", 0, UINT32_MAX, 0, UINT32_MAX },
};

static bool is_in_class(const struct machine_facts *facts, size_t class)
{
	return (!classes[class].vendor || strcmp(facts->vendor, classes[class].vendor) == 0) &&
	       facts->sockets >= classes[class].sockets_from &&
	       facts->sockets <= classes[class].sockets_to &&
	       facts->year >= classes[class].year_from && facts->year <= classes[class].year_to;
}

static void print_class(const struct platform_population *population,
			const struct platform_result *results, size_t class, struct strbuf *out)
{
	double sum[TRIALS] = { 0 };
	size_t members = 0;

	for (size_t i = 0; i < population->count; i++) {
		if (!is_in_class(&population->types[i]->facts, class))
			continue;
		members++;
		for (size_t trial = 0; trial < TRIALS; trial++)
			sum[trial] += results[trial].coverage[i];
	}
	if (!members)
		return;
	strbuf_addf(out, "| %s | %zu |", classes[class].name, members);
	for (size_t trial = 0; trial < TRIALS; trial++)
		strbuf_addf(out, " %.1f |", 100 * sum[trial] / (double)members);
	strbuf_add_char(out, '\n');
}

static void print_bounds(const struct platform_population *population,
			 const struct platform_result *results, struct strbuf *out)
{
	for (size_t trial = 0; trial < TRIALS; trial++) {
		strbuf_addf(out, "%s: bound covers %.1f %%; at each level", trials[trial].name,
			    100 * results[trial].covered);
		for (size_t level = 0; level < POWER_LEVELS; level++)
			strbuf_addf(out, " %.2f", results[trial].bound[level]);
		strbuf_add_char(out, '\n');
	}
	strbuf_add_str(out, "\n| % within the bound | machine types |");
	for (size_t trial = 0; trial < TRIALS; trial++)
		strbuf_addf(out, " %s |", trials[trial].name);
	strbuf_add_str(out, "\n|---|---|---|---|---|---|---|---|\n");
	for (size_t class = 0; class < ARRAY_SIZE(classes); class ++)
		print_class(population, results, class, out);
}

int platform_print_bounds(const struct platform_population *population,
			  const struct platform_fit *fit, struct strbuf *out, struct diag *diag)
{
	struct platform_result results[TRIALS] = { { .covered = 0 } };
	int r = 0;

	for (enum platform_trial trial = 0; r == 0 && trial < TRIALS; trial++)
		r = platform_try(population, fit, trial, true, &results[trial], diag);
	if (r == 0)
		print_bounds(population, results, out);
	for (size_t trial = 0; trial < TRIALS; trial++)
		platform_result_release(&results[trial]);
	return r;
}

/* ---- refitted ---- */

/*
 * Asks a model for all rows of the types of a fold, into their places in @watts. Returns the sum
 * over types of the share of rows that lie within the bound of the answer.
 */
static double ask(const struct power_model *model, const struct attempt *attempt, uint32_t fold)
{
	double *watts = attempt->watts, within = 0;

	for (size_t i = 0; i < attempt->population->count; i++) {
		const struct platform_type *type = attempt->population->types[i];

		for (size_t row = 0; row < type->row_count; row++, watts++) {
			struct power_estimate power;

			if (attempt->group[i] != fold)
				continue;
			power_model_estimate(model, &type->facts, type->rows[row].load, &power);
			*watts = power.idle_w + power.dynamic_w;
			if (fabs(*watts - type->rows[row].watts) <= power.bound_w)
				within += 1 / (double)type->row_count;
		}
	}
	return within;
}

/* Adds to @within what ask() returns for a model that has not seen the fold. */
static int refit(const struct attempt *attempt, uint32_t fold, const struct power_model *whole,
		 double *within, struct diag *diag)
{
	const struct platform_population *population = attempt->population;
	CLEANUP_FREE const struct platform_type **others = NULL;
	CLEANUP(platform_fit_release) struct platform_fit fit = { .parts = 0 };
	CLEANUP(platform_model_release) struct platform_model model = { .cpus = NULL };
	size_t count = 0;
	int r;

	if (ARRAY_RESIZE(others, population->count) < 0)
		return out_of_memory(diag);
	for (size_t i = 0; i < population->count; i++) {
		if (attempt->group[i] != fold)
			others[count++] = population->types[i];
	}
	if (count == 0 || count == population->count)
		return 0;
	r = platform_fit(others, count, PLATFORM_PARTS, &fit, diag);
	if (r == 0)
		r = platform_model_make(&fit, &model, diag);
	if (r < 0)
		return r;
	memcpy(model.weights.bound, whole->weights->bound, sizeof(model.weights.bound));
	*within += ask(&model.model, attempt, fold);
	return 0;
}

static int print_refit(const struct platform_population *population, enum platform_trial trial,
		       const struct power_model *whole, struct strbuf *out, struct diag *diag)
{
	CLEANUP(attempt_release) struct attempt attempt = { .groups = 0 };
	struct platform_errors errors, sum = { 0 };
	double within = 0;

	if (attempt_init(&attempt, population, trials[trial].kinship) < 0)
		return out_of_memory(diag);
	for (uint64_t draw = 0; draw < DRAWS; draw++) {
		int r;

		memcpy(attempt.group, attempt.kin, population->count * sizeof(*attempt.group));
		if (platform_deal(attempt.group, population->count, attempt.groups, draw) < 0)
			return out_of_memory(diag);
		for (uint32_t fold = 0; fold < PLATFORM_FOLDS; fold++) {
			r = refit(&attempt, fold, whole, &within, diag);
			if (r < 0)
				return r;
		}
		r = platform_judge(population->types, population->count, attempt.watts, &errors);
		if (r < 0)
			return out_of_memory(diag);
		add_errors(&sum, &errors, DRAWS);
	}
	strbuf_add_str(out, "refitted, ");
	platform_errors_print(trials[trial].name, &sum, out);
	strbuf_addf(out, "; %.1f %% within the bound\n",
		    100 * within / DRAWS / (double)population->count);
	return 0;
}

int platform_print_refits(const struct platform_population *population,
			  const struct power_model *whole, struct strbuf *out, struct diag *diag)
{
	int r = print_refit(population, TRIAL_TYPES_DEALT, whole, out, diag);

	return r < 0 ? r : print_refit(population, TRIAL_CPUS_DEALT, whole, out, diag);
}
