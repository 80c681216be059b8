/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far predictions are off on rows that the model has not seen. Each row is held out once, with
 * others: rows by chance, blocks of neighbouring rows, or all rows of a group, such as a machine.
 *
 * Rows that follow each other are alike, so that chance judges how well a model remembers, and
 * blocks how well it knows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "training/trainer.h"
#include "training/training_rows.h"

struct validation_score {
	double mae_w;
	double low_w, high_w;    /* its 90 % interval, by a bootstrap over the rows */
	double bias_w;           /* mean of prediction - measured power */
	double mape_percent;     /* over rows with power above 0; NAN without any */
	double weighted_percent; /* sum of errors / sum of power */
	double range_percent;    /* mae_w / range of the power; NAN if that is constant */
	size_t rows;
};

enum fold_kind { FOLDS_RANDOM, FOLDS_BLOCKED, FOLDS_GROUPS };

#define FOLDS_MIN 2U
#define FOLDS_MAX 100U

struct validation_plan {
	enum fold_kind kind;
	unsigned folds;
	uint64_t seed;
	const double *group; /* of each row, for FOLDS_GROUPS: equal ones are held out together */
};

/* The fold that holds each row out, into @ret [rows]: 0, or -EINVAL: there are fewer groups. */
int validation_folds(const struct validation_plan *plan, size_t rows, uint32_t *ret,
		     struct diag *diag);
/* Watts of each row, by a model that has not seen it, into @ret [rows]. Errors of trainers. */
int validation_predict(const struct trainer *trainer, const struct training_rows *rows,
		       const struct validation_plan *plan, double *ret, struct diag *diag);
/* The same for one split: predicts the rows in @held_out from all others. */
int validation_predict_split(const struct trainer *trainer, const struct training_rows *rows,
			     const bool *held_out, uint64_t seed, double *ret, struct diag *diag);

/* @seed: of the bootstrap. @rows is at least 1. 0 or -ENOMEM. */
int validation_score(const double *watts, const double *predicted, size_t rows, uint64_t seed,
		     struct validation_score *ret);
