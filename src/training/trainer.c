// SPDX-License-Identifier: Apache-2.0
#include "training/trainer.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "samples/sample_table.h"
#include "training/forms/blend.h"
#include "training/forms/boosting.h"
#include "training/forms/curves.h"
#include "training/forms/forest.h"
#include "training/forms/least_squares.h"
#include "training/forms/neighbours.h"
#include "training/forms/support_vectors.h"

/* Upstream's XgboostFitTrainer. */
static const struct boosting xgboost = {
	.trees = 100, .depth = 6, .rate = 0.1F, .penalty = 1, .row_part = 1
};
/* scikit-learn's defaults. Without a penalty, XGBoost's gain is Friedman's improvement. */
static const struct boosting gradient = {
	.trees = 100, .depth = 3, .rate = 0.1F, .row_part = 1, .from_mean = true
};
static const struct boosting monotone = { .trees = 200,
					  .depth = 6,
					  .rate = 0.1F,
					  .penalty = 1,
					  .row_part = 0.8,
					  .from_mean = true,
					  .monotone = true };
/* More trees at a lower rate are hardly better in a blend, and cost an exporter time and memory. */
static const struct boosting short_monotone = { .trees = 100,
						.depth = 6,
						.rate = 0.1F,
						.penalty = 1,
						.row_part = 0.8,
						.from_mean = true,
						.monotone = true };
static const struct boosting sampled = {
	.trees = 100, .depth = 6, .rate = 0.08F, .penalty = 1, .row_part = 0.7, .from_mean = true
};
static const struct forest_plan extra_trees = { .trees = 50, .leaves_max = 1000 };
static const struct blend blended_trees = { { 40, 1000 }, .boosting = &short_monotone };
static const struct blend ratio_trees = { { 40, 1200 }, .with_ratios = true };
static const struct blend ratio_blend = { { 32, 1200 }, .boosting = &sampled, .with_ratios = true };
static const struct blend steady_trees = { { 40, 1200 }, .with_ratios = true, .is_steady = true };
static const struct blend steady_curve = {
	{ 40, 1200 }, .with_ratios = true, .is_steady = true, .only_load = true
};
static const enum line_method lines[] = { LINE_LEAST_SQUARES, LINE_RIDGE, LINE_NON_NEGATIVE,
					  LINE_GRADIENT_DESCENT, LINE_POLYNOMIAL };
static const enum predictor_form curves[] = { PREDICTOR_LOGARITHMIC, PREDICTOR_LOGISTIC,
					      PREDICTOR_EXPONENTIAL };

const struct trainer trainers[] = {
	{ "ExtraTrees", "the mean of many random trees", train_forest, &extra_trees },
	{ "BlendedTrees", "the mean of random trees and of monotone boosted ones", train_blend,
	  &blended_trees },
	{ "RatioTrees", "the mean of many random trees on ratios of features", train_blend,
	  &ratio_trees },
	{ "RatioBlend", "the mean of random and boosted trees on ratios of features", train_blend,
	  &ratio_blend },
	{ "SteadyTrees", "the mean of many random trees, for the power of a steady load",
	  train_blend, &steady_trees },
	{ "SteadyCurve", "the same for one feature, the load", train_blend, &steady_curve },
	{ "MonotoneBoosting", "boosted trees whose power never falls as load grows", train_boosting,
	  &monotone },
	{ "LeastSquares", "a line, by ordinary least squares", train_line, &lines[0] },
	{ "Ridge", "a line, with a penalty by cross-validation", train_line, &lines[1] },
	{ "LinearRegressionTrainer", "a line that rises with each feature", train_line, &lines[2] },
	{ "SGDRegressorTrainer", "a line, with a small penalty", train_line, &lines[3] },
	{ "PolynomialRegressionTrainer", "a polynomial of degree 2", train_line, &lines[4] },
	{ "LogarithmicRegressionTrainer", "a logarithmic curve of one feature", train_curve,
	  &curves[0] },
	{ "LogisticRegressionTrainer", "a logistic curve of one feature", train_curve, &curves[1] },
	{ "ExponentialRegressionTrainer", "an exponential curve of one feature", train_curve,
	  &curves[2] },
	{ "KNeighborsRegressorTrainer", "the mean of the six nearest rows", train_neighbours,
	  NULL },
	{ "SVRRegressorTrainer", "support vectors with a radial kernel", train_support_vectors,
	  NULL },
	{ "GradientBoostingRegressorTrainer", "100 boosted trees of depth 3", train_boosting,
	  &gradient },
	{ "XgboostFitTrainer", "100 boosted trees of depth 6", train_boosting, &xgboost },
	{ NULL, NULL, NULL, NULL },
};

static bool is_name(const char *full, const char *name)
{
	static const char *const ends[] = { "", "Trainer", "FitTrainer", "RegressorTrainer",
					    "RegressionTrainer" };
	size_t len = strlen(name);

	for (size_t i = 0; len > 0 && i < ARRAY_SIZE(ends); i++) {
		if (strncmp(full, name, len) == 0 && strcmp(full + len, ends[i]) == 0)
			return true;
	}
	return false;
}

const struct trainer *trainer_find(const char *name)
{
	const struct trainer *trainer = trainers;

	while (trainer->name && !is_name(trainer->name, name))
		trainer++;
	return trainer->name ? trainer : NULL;
}

static int check_task(const struct training_task *task, struct diag *diag)
{
	if (task->rows == 0 || task->rows > SAMPLE_ROWS_MAX)
		return diag_set(diag, -EINVAL, "there are %zu rows to train on, not 1 to %u",
				task->rows, SAMPLE_ROWS_MAX);
	if (task->features == 0 || task->features > PREDICTOR_FEATURES_MAX)
		return diag_set(diag, -EINVAL, "there are %zu features, not 1 to %d",
				task->features, PREDICTOR_FEATURES_MAX);
	for (size_t i = 0; i < task->rows * task->features; i++) {
		if (!isfinite(task->x[i]))
			return diag_set(diag, -EINVAL, "a feature of row %zu is not finite",
					i / task->features);
	}
	for (size_t i = 0; i < task->rows; i++) {
		if (!isfinite(task->y[i]))
			return diag_set(diag, -EINVAL, "the watts of row %zu are not finite", i);
	}
	return 0;
}

int trainer_train(const struct trainer *trainer, const struct training_task *task,
		  struct predictor *ret, struct diag *diag)
{
	CLEANUP(predictor_release) struct predictor predictor = { .features = 0 };
	struct diag why = { "" };
	int r = check_task(task, diag);

	if (r < 0)
		return r;
	r = trainer->train(trainer->plan, task, &predictor, &why);
	if (r == 0)
		r = predictor_check(&predictor, &why);
	if (r == -ENOMEM)
		return diag_set(diag, r, "%s: out of memory", trainer->name);
	if (r < 0)
		return diag_set(diag, r, "%s: %.400s", trainer->name, why.text);
	*ret = predictor;
	predictor = (struct predictor){ .features = 0 };
	return 0;
}
