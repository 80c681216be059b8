/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of support vectors keeps most of its training rows, and each costs an exponential. Its
 * function is smooth, so that a few ten rows with other coefficients give nearly the same one
 * (C. J. C. Burges, "Simplified Support Vector Decision Rules", ICML 1996).
 *
 * Rows are taken one by one, the next one where the difference is largest, and the function of the
 * rows so far is the projection of the whole one onto theirs: it is the same at these rows (S.
 * Müller and R. Schaback, "A Newton Basis for Kernel Spaces", Journal of Approximation Theory 161,
 * 2009).
 */
#pragma once

#include "model/predictor.h"
#include "training/task.h"

/* As many cost 0.9 µs with three features (docs/performance.md). */
#define REDUCED_SET_ROWS_MAX 96
/* A twentieth of the error that the training of support vectors does not count. */
#define REDUCED_SET_TOLERANCE_W 0.01

/*
 * Replaces the rows of @kernel, which gives @watts [rows] for the rows of @task, by at most
 * REDUCED_SET_ROWS_MAX of these, if it gives the same within REDUCED_SET_TOLERANCE_W for each of
 * them; otherwise it stays as it is. 0 or -ENOMEM.
 */
int reduced_set_replace(const struct training_task *task, const double *watts,
			struct predictor *kernel);
