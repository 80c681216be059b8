/* SPDX-License-Identifier: Apache-2.0 */
/* A request to train, and its result. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "training/bounds.h"
#include "training/trainer.h"
#include "training/validation.h"

#define TRAINERS_MAX 24

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
	unsigned threads; /* threads for validation; 0: one per processor */
	/* Is called before each validation, by one thread at a time, or NULL. */
	void (*progress)(void *context, const char *trainer, const char *component);
	/*
	 * Called after each validation, by one thread at a time; may be NULL. It gets the trainer's
	 * results for the @rows that were held out, and NAN for the others. @row [rows] has their
	 * numbers in the table.
	 */
	void (*held_out)(void *context, size_t trainer, size_t component, const uint32_t *row,
			 const double *predicted_w, size_t rows);
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
