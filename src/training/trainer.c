// SPDX-License-Identifier: Apache-2.0
#include "training/trainer.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "samples/sample_table.h"
#include "training/blend.h"
#include "training/boosting.h"
#include "training/curves.h"
#include "training/forest.h"
#include "training/least_squares.h"
#include "training/neighbours.h"
#include "training/support_vectors.h"

const struct trainer trainers[] = {
	{ "ExtraTrees", "the mean of many random trees", train_extra_trees },
	{ "BlendedTrees", "the mean of random trees and of monotone boosted ones",
	  train_blended_trees },
	{ "RatioTrees", "the mean of many random trees on ratios of features", train_ratio_trees },
	{ "RatioBlend", "the mean of random and boosted trees on ratios of features",
	  train_ratio_blend },
	{ "SteadyTrees", "the mean of many random trees, for the power of a steady load",
	  train_steady_trees },
	{ "SteadyCurve", "the same for one feature, the load", train_steady_curve },
	{ "MonotoneBoosting", "boosted trees whose power never falls as load grows",
	  train_monotone_boosting, .is_monotone = true },
	{ "LeastSquares", "a line, by ordinary least squares", train_least_squares },
	{ "Ridge", "a line, with a penalty by cross-validation", train_ridge },
	{ "LinearRegressionTrainer", "a line that rises with each feature", train_non_negative,
	  .is_monotone = true },
	{ "SGDRegressorTrainer", "a line, with a small penalty", train_gradient_descent },
	{ "PolynomialRegressionTrainer", "a polynomial of degree 2", train_polynomial },
	{ "LogarithmicRegressionTrainer", "a logarithmic curve of one feature", train_logarithmic },
	{ "LogisticRegressionTrainer", "a logistic curve of one feature", train_logistic },
	{ "ExponentialRegressionTrainer", "an exponential curve of one feature",
	  train_exponential },
	{ "KNeighborsRegressorTrainer", "the mean of the six nearest rows", train_neighbours },
	{ "SVRRegressorTrainer", "support vectors with a radial kernel", train_support_vectors },
	{ "GradientBoostingRegressorTrainer", "100 boosted trees of depth 3",
	  train_gradient_boosting },
	{ "XgboostFitTrainer", "100 boosted trees of depth 6", train_xgboost },
	{ NULL, NULL, NULL },
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

int trainer_train(const struct trainer *trainer, const struct training_task *task, double *stretch,
		  struct predictor *ret, struct diag *diag)
{
	CLEANUP(predictor_release) struct predictor predictor = { .features = 0 };
	struct diag why = { "" };
	int r = check_task(task, diag);

	for (size_t i = 0; r == 0 && i < task->features; i++)
		stretch[i] = 1;
	if (r < 0)
		return r;
	r = trainer->train(task, stretch, &predictor, &why);
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
