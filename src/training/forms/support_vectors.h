/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Support vector regression with a radial kernel: epsilon-SVR with C = 1, epsilon = 0.2 W and
 * gamma = 1 / (features × variance of all numbers), as upstream has it.
 *
 * Sequential minimal optimisation with working sets of second order (Fan, Chen and Lin, "Working
 * Set Selection Using Second Order Information for Training SVM", JMLR 6, 2005), as in libsvm, to
 * libsvm's tolerance. It begins where most rows end, with powers of watts at C = 1: those above the
 * median at the upper bound, the others at the lower one (docs/design/training-speed.md).
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

/* Keeps all vectors with a coefficient other than 0: nearly all rows. */
int train_support_vectors(const void *plan, const struct training_task *task, struct predictor *ret,
			  struct diag *diag);
