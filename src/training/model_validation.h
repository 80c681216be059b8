/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of one component of a trained model on rows that it may never have seen, row by row. The
 * interval of the mean error is a bootstrap over the rows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "training/training_request.h"

struct model_validation {
	const struct trained_model *model; /* borrowed */
	size_t component;
	struct model_columns columns;
	size_t power;                /* column */
	uint64_t inside;             /* rows within the model's bound */
	double *watts, *predicted_w; /* [rows] */
	size_t rows, size[2];
};

/*
 * Finds the features and "COMPONENT_power" among the columns [count] of rows. 0, or -ENOENT with a
 * diagnosis: one is missing.
 */
int model_validation_begin(struct model_validation *ret, const struct trained_model *model,
			   size_t component, const char *const *names, size_t count,
			   struct diag *diag);
/* A row; one that lacks a feature or the power is left out. 0 or -ENOMEM. */
int model_validation_add(struct model_validation *validation, const double *values);
/* @seed: of the bootstrap. 0, or -EINVAL with a diagnosis: all rows were left out. */
int model_validation_finish(const struct model_validation *validation, uint64_t seed,
			    struct training_result *ret, struct diag *diag);
void model_validation_release(struct model_validation *validation);
