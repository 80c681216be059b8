/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The design matrix of a linear form: its terms as columns, centred and divided by their standard
 * deviation; and the way back from weights of such columns to weights of the terms.
 */
#pragma once

#include "model/predictor.h"
#include "training/task.h"
#include "training/triangle.h"

struct design {
	double *z;                /* column by column: terms × rows */
	double *y;                /* centred */
	double *mean, *deviation; /* of each term; a deviation of 0: the term is constant, z is 0 */
	double mean_w;
	size_t rows, terms;  /* terms without the intercept */
	size_t observations; /* that the rows stand for: as many, or more in a triangle */
};

/* @polynomial: of degree 2, in the order of PREDICTOR_POLYNOMIAL. 0 or -ENOMEM. */
int design_new(const struct training_task *task, bool polynomial, struct design *ret);
/*
 * Of rows [1, terms, W] that were reduced to a triangle: its rows below the first one have the same
 * squares and products as all centred rows. 0, -EINVAL when there are fewer rows than terms, or
 * -ENOMEM.
 */
int design_of_triangle(const struct triangle *triangle, struct design *ret);
/* Terms of degree 1, with @polynomial also 2, of the features @x, into @ret; how many. */
size_t design_terms(const double *x, size_t features, bool polynomial, double *ret);
void design_release(struct design *design);
/* A linear or polynomial predictor from weights of the design's columns: 0 or -ENOMEM. */
int design_finish(const struct design *design, const double *weights, enum predictor_form form,
		  size_t features, struct predictor *ret);
