/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear forms with an intercept, by LAPACK, and the polynomial of degree 2, which is linear in its
 * terms. Columns and watts are centred first, so the intercept is never penalised or bounded.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

enum line_method {
	/* The solution of minimum norm: columns that depend on each other share their effect. */
	LINE_LEAST_SQUARES,
	/* The penalty is chosen by generalised cross-validation: Golub, Heath and Wahba, 1979. */
	LINE_RIDGE,
	/*
	 * Weights are not negative: Lawson and Hanson, "Solving Least Squares Problems", 1974,
	 * chapter 23, on the normal equations.
	 */
	LINE_NON_NEGATIVE,
	/*
	 * The limit of stochastic gradient descent with squared loss and an L2 penalty of 1e-4, in
	 * closed form: ridge with a penalty of 1e-4 per row.
	 */
	LINE_GRADIENT_DESCENT,
	/* All terms up to degree 2, with the penalty of LINE_RIDGE. */
	LINE_POLYNOMIAL,
};

/* A trainer (trainer.h), with an enum line_method. */
int train_line(const void *plan, const struct training_task *task, struct predictor *ret,
	       struct diag *diag);
