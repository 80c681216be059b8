/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient boosted trees (Friedman, Annals of Statistics 29, 2001) for squared error: each tree
 * takes off a part of the errors that those before it have left (boosted_tree.h). Predictions are
 * those of libxgboost's models, sums in single precision, so that models can be exchanged.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

struct boosting {
	unsigned trees;
	unsigned depth; /* of each, 1 … BOOSTED_TREE_DEPTH_MAX */
	float rate;     /* the part of the errors that a tree takes off */
	float penalty;  /* XGBoost's lambda */
	/* Part of the rows that each tree is made from, by chance, above 0; 1: all of them. */
	double row_part;
	bool from_mean; /* the first prediction is the mean, otherwise 0.5 W */
	bool monotone;  /* power never falls as a feature of load (is_load) grows */
};

/* 0 or -ENOMEM. */
int boosting_train(const struct training_task *task, const struct boosting *boosting,
		   struct predictor *ret);

/* Upstream's XgboostFitTrainer: 100 trees of depth 6, rate 0.1. */
int train_xgboost(const struct training_task *task, double *stretch, struct predictor *ret,
		  struct diag *diag);
/*
 * Upstream's GradientBoostingRegressorTrainer, which is scikit-learn's: 100 trees of depth 3, rate
 * 0.1, from the mean. Without penalties XGBoost's gain is Friedman's improvement.
 */
int train_gradient_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag);
/* 100 trees of depth 6, rate 0.08, each from 7 of 10 rows: smoother than the two above. */
int train_sampled_boosting(const struct training_task *task, double *stretch, struct predictor *ret,
			   struct diag *diag);
/* 200 trees of depth 6 such that power never falls as load grows, each of 80 % of the rows. */
int train_monotone_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag);
/* 100 of these, as the half of a blend. */
int train_short_monotone_boosting(const struct training_task *task, double *stretch,
				  struct predictor *ret, struct diag *diag);
