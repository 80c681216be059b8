/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient boosted trees, by libxgboost (Chen and Guestrin, "XGBoost: A Scalable Tree Boosting
 * System", KDD 2016). One thread, so that the result does not depend on their number.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

/* Upstream's XgboostFitTrainer: 100 trees of depth 6, rate 0.1. */
int train_xgboost(const struct training_task *task, double *stretch, struct predictor *ret,
		  struct diag *diag);
/*
 * Upstream's GradientBoostingRegressorTrainer, which is scikit-learn's: 100 trees of depth 3, rate
 * 0.1, from the mean. Without penalties XGBoost's gain is Friedman's improvement.
 */
int train_gradient_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag);
/* The first, for the mean absolute error, and such that power never falls as load grows. */
int train_monotone_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag);
