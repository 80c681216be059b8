// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "tools/builtin-models/platform_text.h"
#include "tools/builtin-models/platform_trials.h"
#include "tools/builtin-models/specpower_csv.h"

#define NAME "specpower-platform-4"

/* Trials whose bounds the program uses, by how familiar a machine is. */
static const enum platform_trial calibrations[POWER_FAMILIARITY_COUNT] = {
	[POWER_KNOWN_CPU] = TRIAL_TYPES,
	[POWER_KNOWN_GENERATION] = TRIAL_CPUS,
	[POWER_UNKNOWN_GENERATION] = TRIAL_GENERATIONS,
	[POWER_UNNAMED] = TRIAL_UNNAMED,
};

struct built_platform {
	struct platform_types types;
	struct platform_population population;
	struct platform_fit fit;
	struct platform_model model;
	char trained_on[64];
	struct strbuf errors; /* lines */
};

static void built_platform_release(struct built_platform *built)
{
	platform_model_release(&built->model);
	platform_fit_release(&built->fit);
	free(built->population.types);
	platform_types_release(&built->types);
	strbuf_release(&built->errors);
}

static int read_population(struct built_platform *built, const char *path, struct diag *diag)
{
	int r = specpower_csv_read(path, &built->types, diag);

	if (r < 0)
		return r;
	built->population.count = built->types.count;
	built->population.rows = built->types.row_count;
	if (ARRAY_RESIZE(built->population.types, built->types.count) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < built->types.count; i++)
		built->population.types[i] = &built->types.types[i];
	return 0;
}

/* The model's errors as lines, and its bounds. */
static int judge(struct built_platform *built, struct diag *diag)
{
	struct platform_model *model = &built->model;

	for (enum platform_trial trial = 0; trial < TRIALS; trial++) {
		struct platform_result result;
		int r = platform_try(&built->population, &built->fit, trial, false, &result, diag);

		if (r < 0)
			return r;
		platform_errors_print(platform_trial_name(trial), &result.errors, &built->errors);
		strbuf_add_char(&built->errors, '\n');
		for (size_t i = 0; i < POWER_FAMILIARITY_COUNT; i++) {
			if (calibrations[i] == (enum platform_trial)trial)
				memcpy(model->weights.bound[i], result.bound, sizeof(result.bound));
		}
		if (trial != TRIAL_TYPES)
			continue;
		model->model.loo_mae_w = result.errors.mean_w;
		model->model.loo_mape_percent = result.errors.mean_percent;
	}
	return strbuf_error(&built->errors);
}

static int build(struct built_platform *built, const char *path, struct diag *diag)
{
	int r = read_population(built, path, diag);

	if (r == 0)
		r = platform_fit(built->population.types, built->population.count, PLATFORM_PARTS,
				 &built->fit, diag);
	if (r == 0)
		r = platform_model_make(&built->fit, &built->model, diag);
	if (r < 0)
		return r;
	(void)snprintf(built->trained_on, sizeof(built->trained_on),
		       "SPECpower_ssj2008, %zu machine types", built->types.count);
	built->model.model.name = NAME;
	built->model.model.trained_on = built->trained_on;
	return judge(built, diag);
}

static int write_text(const char *path, const struct strbuf *text, struct diag *diag)
{
	int r = strbuf_error(text);

	if (r == 0)
		r = write_output_file(path, text->data, text->len, 0644);
	return r < 0 ? diag_set(diag, r, "%.200s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}

static int write_files(const struct builtin_config *config, const struct built_platform *built,
		       struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf weights = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT;
	const struct platform_origin origin = {
		.date = config->date,
		.types = built->types.count,
		.rows = built->types.row_count,
		.errors = built->errors.data,
	};
	int r = 0;

	if (*config->write) {
		platform_text_weights(&built->model, &origin, &weights);
		r = write_text(config->write, &weights, diag);
	}
	if (r == 0 && *config->expect) {
		platform_text_expected(&built->model.model, &expected);
		r = write_text(config->expect, &expected, diag);
	}
	return r;
}

int builtin_platform_train(const struct builtin_config *config, const char *path,
			   struct strbuf *out, struct diag *diag)
{
	CLEANUP(built_platform_release) struct built_platform built = { .errors = STRBUF_INIT };
	int r = build(&built, path, diag);

	if (r < 0)
		return r;
	strbuf_add(out, built.errors.data, built.errors.len);
	if (config->table)
		r = platform_print_parts(&built.population, out, diag);
	if (r == 0 && config->table)
		r = platform_print_bounds(&built.population, &built.fit, out, diag);
	if (r == 0 && config->refit)
		r = platform_print_refits(&built.population, &built.model.model, out, diag);
	return r < 0 ? r : write_files(config, &built, diag);
}
