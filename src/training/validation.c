// SPDX-License-Identifier: Apache-2.0
#include "training/validation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"
#include "training/random.h"

#define BOOTSTRAPS 200U
#define TAIL       (BOOTSTRAPS / 20) /* 5 % on each side */

/* Groups in an order of chance, dealt to the folds one after the other. */
static int deal_groups(const struct validation_plan *plan, size_t rows, uint32_t *ret,
		       struct diag *diag)
{
	CLEANUP_FREE double *sorted = calloc(rows, sizeof(*sorted));
	CLEANUP_FREE uint32_t *order = calloc(rows, sizeof(*order));
	struct random random = { plan->seed };
	size_t groups = 0;

	if (!sorted || !order)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++)
		sorted[i] = plan->group[i];
	qsort(sorted, rows, sizeof(*sorted), compare_doubles);
	for (size_t i = 0; i < rows; i++) {
		if (i == 0 || sorted[i] > sorted[groups - 1])
			sorted[groups++] = sorted[i];
	}
	if (groups < plan->folds)
		return diag_set(diag, -EINVAL,
				"%u folds of whole groups need as many groups, and there are %zu",
				plan->folds, groups);
	random_order(&random, order, groups);
	for (size_t i = 0; i < rows; i++) {
		const double *found =
			bsearch(&plan->group[i], sorted, groups, sizeof(*sorted), compare_doubles);

		ret[i] = found ? order[found - sorted] % plan->folds : 0;
	}
	return 0;
}

static int deal_rows(const struct validation_plan *plan, size_t rows, uint32_t *ret)
{
	CLEANUP_FREE uint32_t *order = calloc(rows, sizeof(*order));
	struct random random = { plan->seed };

	if (!order)
		return -ENOMEM;
	random_order(&random, order, rows);
	for (size_t i = 0; i < rows; i++)
		ret[order[i]] = (uint32_t)(i % plan->folds);
	return 0;
}

int validation_folds(const struct validation_plan *plan, size_t rows, uint32_t *ret,
		     struct diag *diag)
{
	if (plan->folds < FOLDS_MIN || plan->folds > FOLDS_MAX || plan->folds > rows)
		return diag_set(diag, -EINVAL, "%zu row%s cannot be divided into %u folds", rows,
				rows == 1 ? "" : "s", plan->folds);
	if (plan->kind == FOLDS_GROUPS)
		return deal_groups(plan, rows, ret, diag);
	if (plan->kind == FOLDS_RANDOM)
		return deal_rows(plan, rows, ret);
	for (size_t i = 0; i < rows; i++)
		ret[i] = (uint32_t)(((i + 1) * plan->folds - 1) / rows);
	return 0;
}

int validation_predict_split(const struct trainer *trainer, const struct training_rows *rows,
			     const bool *held_out, uint64_t seed, double *ret, struct diag *diag)
{
	CLEANUP(training_part_release) struct training_part part = { .rows = 0 };
	CLEANUP(predictor_release) struct predictor predictor = { .features = 0 };
	struct training_task task;
	int r = training_rows_take(rows, held_out, false, &part);

	if (r < 0)
		return r;
	task = training_task_of(rows, &part, seed);
	r = trainer_train(trainer, &task, &predictor, diag);
	for (size_t row = 0; r == 0 && row < rows->rows; row++) {
		const double *x = rows->x + row * rows->feature_count;

		if (held_out[row])
			ret[row] = fmax(predictor_watts(&predictor, x), 0);
	}
	return r;
}

int validation_predict(const struct trainer *trainer, const struct training_rows *rows,
		       const struct validation_plan *plan, double *ret, struct diag *diag)
{
	CLEANUP_FREE uint32_t *folds = calloc(rows->rows, sizeof(*folds));
	CLEANUP_FREE bool *held_out = calloc(rows->rows, sizeof(*held_out));
	int r = folds && held_out ? validation_folds(plan, rows->rows, folds, diag) : -ENOMEM;

	for (unsigned fold = 0; r == 0 && fold < plan->folds; fold++) {
		for (size_t i = 0; i < rows->rows; i++)
			held_out[i] = folds[i] == fold;
		r = validation_predict_split(trainer, rows, held_out, plan->seed + fold, ret, diag);
	}
	return r;
}

/* The 90 % interval of the mean of @errors, by a bootstrap over the rows. */
static void find_interval(const double *errors, size_t rows, uint64_t seed,
			  struct validation_score *ret)
{
	struct random random = { seed };
	double means[BOOTSTRAPS];

	for (unsigned turn = 0; turn < BOOTSTRAPS; turn++) {
		means[turn] = 0;
		for (size_t i = 0; i < rows; i++)
			means[turn] += errors[random_below(&random, rows)] / (double)rows;
	}
	qsort(means, BOOTSTRAPS, sizeof(*means), compare_doubles);
	ret->low_w = means[TAIL];
	ret->high_w = means[BOOTSTRAPS - 1 - TAIL];
}

int validation_score(const double *watts, const double *predicted, size_t rows, uint64_t seed,
		     struct validation_score *ret)
{
	CLEANUP_FREE double *errors = calloc(rows, sizeof(*errors));
	double lowest_w = watts[0], highest_w = watts[0], sum = 0, excess = 0, power = 0,
	       ratios = 0;
	size_t positive = 0;

	if (!errors)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++) {
		errors[i] = fabs(predicted[i] - watts[i]);
		sum += errors[i];
		excess += predicted[i] - watts[i];
		power += watts[i];
		lowest_w = fmin(lowest_w, watts[i]);
		highest_w = fmax(highest_w, watts[i]);
		ratios += watts[i] > 0 ? errors[i] / watts[i] : 0;
		positive += watts[i] > 0;
	}
	*ret = (struct validation_score){
		.mae_w = sum / (double)rows,
		.bias_w = excess / (double)rows,
		.mape_percent = positive ? 100 * ratios / (double)positive : (double)NAN,
		.weighted_percent = power > 0 ? 100 * sum / power : (double)NAN,
		.rows = rows,
	};
	ret->range_percent =
		highest_w > lowest_w ? 100 * ret->mae_w / (highest_w - lowest_w) : (double)NAN;
	find_interval(errors, rows, seed, ret);
	return 0;
}
