/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Support vector regression with a radial kernel, by libsvm: epsilon-SVR with C = 1, epsilon =
 * 0.2 W and gamma = 1 / (features × variance of all numbers), as upstream has it.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

int train_support_vectors(const struct training_task *task, double *stretch, struct predictor *ret,
			  struct diag *diag);
