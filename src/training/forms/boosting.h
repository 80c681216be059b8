/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient boosted trees (Friedman, Annals of Statistics 29, 2001) for squared error: each tree
 * reduces the errors that the trees before it have left (boosted_tree.h). Predictions equal those
 * of libxgboost's models, with sums in single precision, so models can be exchanged.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

struct boosting {
	unsigned trees;
	unsigned depth; /* of each, 1 … BOOSTED_TREE_DEPTH_MAX */
	float rate;     /* the part of the errors that a tree removes */
	float penalty;  /* XGBoost's lambda */
	/* The part of the rows, chosen at random, that each tree is made from; 1: all of them. */
	double row_part;
	bool from_mean; /* the first prediction is the mean, otherwise 0.5 W */
	bool monotone;  /* power never falls as a load feature (is_load) grows */
};

/* A trainer (trainer.h), with a struct boosting. */
int train_boosting(const void *plan, const struct training_task *task, struct predictor *ret,
		   struct diag *diag);
