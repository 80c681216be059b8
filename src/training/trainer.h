/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trainers: rows of features with their watts → a predictor. One table of them, with the names of
 * upstream's model server where it has the same method, and names of our own where it has none.
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
	const char *what; /* it does, in words for help and reports */
	/*
	 * 0; -EINVAL with a diagnosis, when no predictor can be found for these rows; -ENOMEM.
	 * @stretch [features] is 1 in the beginning: a trainer that sets an element to another
	 * value has trained on x times it, so that the feature's scale is to be divided by it.
	 */
	int (*train)(const struct training_task *task, double *stretch, struct predictor *ret,
		     struct diag *diag);
	/* Its power never falls as load grows, when it is given is_load. */
	bool is_monotone;
};

/* All trainers; a NULL name ends them. */
extern const struct trainer trainers[];
/* By its name, with or without its end: "Xgboost", "XgboostFit"; NULL: there is none. */
const struct trainer *trainer_find(const char *name);
/* Checks the task, trains and checks the model. Results as of train(). */
int trainer_train(const struct trainer *trainer, const struct training_task *task, double *stretch,
		  struct predictor *ret, struct diag *diag);
