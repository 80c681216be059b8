/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trainers: rows of features with their watts → a predictor. One table, with the names of
 * upstream's model server if it has the method, and our own names if it has not.
 *
 * A trainer is deterministic: the same rows in the same order and the same seed give the same
 * predictor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

struct trainer {
	const char *name; /* "KNeighborsRegressorTrainer" */
	const char *what; /* its method, in words for help and reports */
	/*
	 * 0; -EINVAL with a diagnosis if no predictor can be found for these rows; -ENOMEM.
	 * @plan is the one below.
	 */
	int (*train)(const void *plan, const struct training_task *task, struct predictor *ret,
		     struct diag *diag);
	const void *plan; /* the parameters of the method */
};

/* All trainers; a NULL name ends them. */
extern const struct trainer trainers[];
/* By its name, with or without its end: "Xgboost", "XgboostFit"; NULL: none. */
const struct trainer *trainer_find(const char *name);
/* Checks the task, trains, and checks the predictor. Results as of train(). */
int trainer_train(const struct trainer *trainer, const struct training_task *task,
		  struct predictor *ret, struct diag *diag);
