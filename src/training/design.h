/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The design matrix of a linear form: its terms as columns, centred and divided by their standard
 * deviation; and the way back from weights of such columns to weights of the terms.
 */
#pragma once

#include "model/predictor.h"
#include "training/task.h"

struct design {
	double *z;                /* column by column: terms × rows */
	double *y;                /* centred */
	double *mean, *deviation; /* of each term; a deviation of 0: the term is constant, z is 0 */
	double mean_w;
	size_t rows, terms; /* terms without the intercept */
};

/* @polynomial: of degree 2, in the order of PREDICTOR_POLYNOMIAL. 0 or -ENOMEM. */
int design_new(const struct training_task *task, bool polynomial, struct design *ret);
void design_release(struct design *design);
/* A linear or polynomial predictor from weights of the design's columns: 0 or -ENOMEM. */
int design_finish(const struct design *design, const double *weights, enum predictor_form form,
		  size_t features, struct predictor *ret);
