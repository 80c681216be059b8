/* SPDX-License-Identifier: Apache-2.0 */
/* The mean of the six nearest rows: the training rows are the predictor. */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

int train_neighbours(const void *plan, const struct training_task *task, struct predictor *ret,
		     struct diag *diag);
