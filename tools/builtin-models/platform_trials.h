/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials of the platform model: machines that are held out in several ways, its errors of them, and
 * the tables of these.
 */
#pragma once

#include "base/strbuf.h"
#include "tools/builtin-models/platform_judge.h"

enum platform_trial {
	TRIAL_TYPES,
	TRIAL_TYPES_DEALT, /* in 20 groups, a mean of four draws */
	TRIAL_CPUS,
	TRIAL_CPUS_DEALT,
	TRIAL_GENERATIONS,
	TRIAL_UNNAMED, /* CPU models, asked for without their names */
	TRIALS,
};

struct platform_result {
	struct platform_errors errors;
	double bound[POWER_LEVELS]; /* that nine of ten held-out machines lie within */
	double covered;             /* 0..1: rows within bounds that were found on others */
	double *coverage;           /* [count] of each type; owned, or NULL: not asked for */
};

struct platform_population {
	const struct platform_type **types; /* [count] */
	size_t count, rows;
};

const char *platform_trial_name(enum platform_trial trial);
/* @coverage: also of each type. 0, or errors of platform_fit() with a diagnosis. */
int platform_try(const struct platform_population *population, const struct platform_fit *fit,
		 enum platform_trial trial, bool coverage, struct platform_result *ret,
		 struct diag *diag);
void platform_result_release(struct platform_result *result);
/* "NAME: 25.8 (15.9) W, 11.2 (8.8) %", without a newline. */
void platform_errors_print(const char *name, const struct platform_errors *errors,
			   struct strbuf *out);
/*
 * Markdown: errors with and without each part; coverage of the bounds, by level and by class of
 * machines. Errors as above.
 */
int platform_print_parts(const struct platform_population *population, struct strbuf *out,
			 struct diag *diag);
int platform_print_bounds(const struct platform_population *population,
			  const struct platform_fit *fit, struct strbuf *out, struct diag *diag);
/*
 * Errors of models that were refitted for each of 20 groups, as power_model_estimate() applies
 * them: without the centres, ranges, limits and likely design powers of the held-out machines, too.
 * The bounds are those of @whole, the model of all machines. Errors as above.
 */
int platform_print_refits(const struct platform_population *population,
			  const struct power_model *whole, struct strbuf *out, struct diag *diag);
