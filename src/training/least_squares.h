/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear forms with an intercept, by LAPACK: ordinary, ridge, non-negative; and the polynomial of
 * degree 2, which is linear in its terms.
 *
 * Columns and watts are centred first, so that the intercept is never penalised or bounded.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

/* The solution of minimum norm (dgelsd): columns that depend on each other share their effect. */
int train_least_squares(const struct training_task *task, double *stretch, struct predictor *ret,
			struct diag *diag);
/* The penalty is chosen by generalised cross-validation: Golub, Heath and Wahba, 1979. */
int train_ridge(const struct training_task *task, double *stretch, struct predictor *ret,
		struct diag *diag);
/*
 * Weights are not negative: Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23,
 * on the normal equations.
 */
int train_non_negative(const struct training_task *task, double *stretch, struct predictor *ret,
		       struct diag *diag);
/*
 * What stochastic gradient descent with squared loss and an L2 penalty of 1e-4 converges to, in
 * closed form: that is ridge with a penalty of 1e-4 by row.
 */
int train_gradient_descent(const struct training_task *task, double *stretch, struct predictor *ret,
			   struct diag *diag);
/* All terms up to degree 2, with the penalty of train_ridge(). */
int train_polynomial(const struct training_task *task, double *stretch, struct predictor *ret,
		     struct diag *diag);
