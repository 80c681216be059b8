/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves of one feature, fitted by the Levenberg–Marquardt method of MINPACK (J. J. Moré, "The
 * Levenberg-Marquardt algorithm", 1978), from the start values that upstream's trainers have. So
 * the curves are the ones that upstream finds. Derivatives are exact, and MINPACK sees the
 * triangular factor of residuals and derivatives in place of all rows
 * (docs/design/training-speed.md).
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

int train_logarithmic(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag);
int train_logistic(const struct training_task *task, double *stretch, struct predictor *ret,
		   struct diag *diag);
int train_exponential(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag);
