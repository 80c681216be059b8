// SPDX-License-Identifier: Apache-2.0
#include "training/design.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* A term that varies by less than this part of its mean is constant but for rounding. */
#define CONSTANT_RATIO 1e-12

static size_t design_terms(const double *x, size_t features, bool polynomial, double *ret)
{
	size_t term = 0;

	for (size_t i = 0; i < features; i++)
		ret[term++] = x[i];
	for (size_t i = 0; polynomial && i < features; i++) {
		for (size_t j = i; j < features; j++)
			ret[term++] = x[i] * x[j];
	}
	return term;
}

static void standardise(double *column, size_t rows, double *ret_mean, double *ret_deviation)
{
	double sum = 0, squares = 0, deviation;

	for (size_t i = 0; i < rows; i++)
		sum += column[i];
	*ret_mean = sum / (double)rows;
	for (size_t i = 0; i < rows; i++) {
		column[i] -= *ret_mean;
		squares += column[i] * column[i];
	}
	deviation = sqrt(squares / (double)rows);
	*ret_deviation = deviation > CONSTANT_RATIO * fabs(*ret_mean) ? deviation : 0;
	for (size_t i = 0; i < rows; i++)
		column[i] = *ret_deviation > 0 ? column[i] / *ret_deviation : 0;
}

int design_new(const struct training_task *task, bool polynomial, struct design *ret)
{
	size_t features = task->features;
	size_t terms = features + (polynomial ? features * (features + 1) / 2 : 0);
	CLEANUP(design_release)
	struct design design = { .rows = task->rows, .terms = terms };
	CLEANUP_FREE double *row_terms = calloc(terms, sizeof(*row_terms));

	design.z = calloc(terms * task->rows, sizeof(*design.z));
	design.y = calloc(task->rows, sizeof(*design.y));
	design.mean = calloc(terms, sizeof(*design.mean));
	design.deviation = calloc(terms, sizeof(*design.deviation));
	if (!design.z || !design.y || !design.mean || !design.deviation || !row_terms)
		return -ENOMEM;
	for (size_t row = 0; row < task->rows; row++) {
		(void)design_terms(task->x + row * features, features, polynomial, row_terms);
		for (size_t term = 0; term < terms; term++)
			design.z[term * task->rows + row] = row_terms[term];
	}
	for (size_t term = 0; term < terms; term++)
		standardise(design.z + term * task->rows, task->rows, &design.mean[term],
			    &design.deviation[term]);
	for (size_t row = 0; row < task->rows; row++)
		design.mean_w += task->y[row] / (double)task->rows;
	for (size_t row = 0; row < task->rows; row++)
		design.y[row] = task->y[row] - design.mean_w;
	*ret = design;
	memset(&design, 0, sizeof(design));
	return 0;
}

void design_release(struct design *design)
{
	free(design->z);
	free(design->y);
	free(design->mean);
	free(design->deviation);
	*design = (struct design){ 0 };
}

int design_finish(const struct design *design, const double *weights, enum predictor_form form,
		  size_t features, struct predictor *ret)
{
	double *out = calloc(design->terms + 1, sizeof(*out));

	if (!out)
		return -ENOMEM;
	out[0] = design->mean_w;
	for (size_t term = 0; term < design->terms; term++) {
		if (design->deviation[term] > 0)
			out[1 + term] = weights[term] / design->deviation[term];
		out[0] -= out[1 + term] * design->mean[term];
	}
	*ret = (struct predictor){ .form = form, .features = features };
	ret->linear.weights = out;
	ret->linear.terms = design->terms + 1;
	return 0;
}
