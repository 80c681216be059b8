/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extremely randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006): the mean of
 * many trees. Each splits at the best of random thresholds, one per feature. On rows of power they
 * are more accurate than boosted trees, and they need no choice of parameters.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

struct forest_plan {
	unsigned trees;
	/* About how many a tree has: with more rows leaves grow, because a model is a file. */
	unsigned leaves_max;
};

/* A trainer (trainer.h), with a struct forest_plan. */
int train_forest(const void *userdata, const struct training_task *task, struct predictor *ret,
		 struct diag *diag);
