/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves of one feature, fitted by the Levenberg–Marquardt method of MINPACK (J. J. Moré, "The
 * Levenberg-Marquardt algorithm", 1978) from the start values of upstream's trainers, so the curves
 * are upstream's. Derivatives are exact, and MINPACK gets the triangular factor of residuals and
 * derivatives in place of all rows (docs/design/training-speed.md).
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

/* A trainer (trainer.h), with an enum predictor_form. */
int train_curve(const void *plan, const struct training_task *task, struct predictor *ret,
		struct diag *diag);
