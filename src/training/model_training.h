/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training a whole model: each trainer is validated on each component, and the one whose errors are
 * smallest in sum makes the model, if what it makes can be used (trained_model_check()); else the
 * next one does. All rows train the model in the end; its errors are those of the validation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"
#include "training/bounds.h"
#include "training/trainer.h"
#include "training/validation.h"

#define TRAINERS_MAX 16

struct training_request {
	const struct trainer *trainers[TRAINERS_MAX];
	size_t trainer_count;
	const char *const *features;
	size_t feature_count;
	const char *const *components; /* at most MODEL_COMPONENTS_MAX */
	size_t component_count;
	struct validation_plan plan;
	const char *group_column; /* of FOLDS_GROUPS */
	/* Rows with more than 0 in this column are held out, instead of the plan; NULL: none. */
	const char *split_column;
	bool only_errors; /* make no model */
	/* Is called before each validation, or NULL. */
	void (*progress)(void *context, const char *trainer, const char *component);
	void *context;
};

/* One trainer on one component. */
struct training_result {
	struct validation_score score;
	struct error_bound bound;
	/* Part of the rows within the bound; NAN where the bound is from these rows. */
	double coverage;
	struct diag failure; /* "": none */
};

struct training_report {
	struct training_result results[TRAINERS_MAX][MODEL_COMPONENTS_MAX];
	size_t rows[MODEL_COMPONENTS_MAX];
	size_t left_out[MODEL_COMPONENTS_MAX]; /* not all of the row was measured */
	/* [trainer_count]: why its model cannot be used, though it was the best; "": it can. */
	struct diag unusable[TRAINERS_MAX];
	size_t chosen; /* the trainer that made the model; trainer_count: none */
};

/*
 * Fills the components and origin.trainer of @model, whose other members are the caller's; a name
 * that is empty becomes that of the trainer and node type. 0; with a diagnosis -ENOENT (a column
 * is missing), -EINVAL (no trainer made a usable model) or -ENOMEM. @report is large, and is filled
 * as far as it went.
 */
int model_training_run(const struct sample_table *table, const struct training_request *request,
		       struct trained_model *model, struct training_report *report,
		       struct diag *diag);
/* Errors of a trained model on rows that it may never have seen, of one component. */
int model_training_validate(const struct trained_model *model, size_t component,
			    const struct sample_table *table, uint64_t seed,
			    struct training_result *ret, struct diag *diag);
