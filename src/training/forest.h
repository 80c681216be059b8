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
	/*
	 * About how many a tree has: leaves have as many rows as that takes. With few rows a leaf
	 * may have a single one; with more rows leaves grow, because a model is a file.
	 */
	unsigned leaves_max;
};

/* 0 or -ENOMEM. */
int train_forest(const struct training_task *task, const struct forest_plan *plan,
		 struct predictor *ret);
/* 50 trees. */

int train_extra_trees(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag);
