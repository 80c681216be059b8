// SPDX-License-Identifier: Apache-2.0
/*
 * Column k of the basis is the kernel of the k-th chosen row less what the columns before it have,
 * at length 1: columns of a Cholesky decomposition, which has to be known for the chosen rows and
 * at each row only as far as it has come. Coefficients of the columns become those of the rows by
 * back substitution. Rows that hardly differ from chosen ones would need large coefficients of
 * both signs, so that they end the search.
 */
#include "training/reduced_set.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/macro.h"

#define REST_MIN 1e-9 /* of a row's kernel with itself, which is 1, that chosen rows leave */

struct reduction {
	const struct training_task *task;
	double gamma;
	double *differences; /* [rows]: watts that are left */
	double *columns;     /* [REDUCED_SET_ROWS_MAX × rows] */
	size_t chosen[REDUCED_SET_ROWS_MAX];
	double coefficients[REDUCED_SET_ROWS_MAX]; /* of the columns, in the end of the rows */
	size_t count;
};

static double kernel_of(const struct reduction *reduction, size_t i, size_t j)
{
	size_t features = reduction->task->features;
	const double *a = reduction->task->x + i * features;
	const double *b = reduction->task->x + j * features;
	double sum = 0;

	for (size_t f = 0; f < features; f++)
		sum += (a[f] - b[f]) * (a[f] - b[f]);
	return exp(-reduction->gamma * sum);
}

static double *column_of(const struct reduction *reduction, size_t column)
{
	return reduction->columns + column * reduction->task->rows;
}

static size_t largest_difference(const struct reduction *reduction)
{
	size_t ret = 0;

	for (size_t i = 1; i < reduction->task->rows; i++) {
		if (fabs(reduction->differences[i]) > fabs(reduction->differences[ret]))
			ret = i;
	}
	return ret;
}

/* Chooses @row; false when the rows so far leave hardly anything of it. */
static bool choose(struct reduction *reduction, size_t row)
{
	double *column = column_of(reduction, reduction->count), length, coefficient;
	size_t rows = reduction->task->rows;

	for (size_t i = 0; i < rows; i++)
		column[i] = kernel_of(reduction, i, row);
	for (size_t k = 0; k < reduction->count; k++) {
		const double *before = column_of(reduction, k);
		double part = before[row];

		for (size_t i = 0; i < rows; i++)
			column[i] -= part * before[i];
	}
	if (!(column[row] > REST_MIN))
		return false;
	length = sqrt(column[row]);
	coefficient = reduction->differences[row] / length;
	for (size_t i = 0; i < rows; i++) {
		column[i] /= length;
		reduction->differences[i] -= coefficient * column[i];
	}
	reduction->chosen[reduction->count] = row;
	reduction->coefficients[reduction->count++] = coefficient;
	return true;
}

/* From coefficients of columns to those of rows. */
static void substitute_back(struct reduction *reduction)
{
	for (size_t k = reduction->count; k-- > 0;) {
		const double *column = column_of(reduction, k);

		reduction->coefficients[k] /= column[reduction->chosen[k]];
		for (size_t before = 0; before < k; before++)
			reduction->coefficients[before] -=
				reduction->coefficients[k] *
				column_of(reduction, before)[reduction->chosen[k]];
	}
}

/* Whether @kernel says @watts of all rows. */
static bool says(const struct predictor *kernel, const struct training_task *task,
		 const double *watts)
{
	for (size_t i = 0; i < task->rows; i++) {
		double its = predictor_watts(kernel, task->x + i * task->features);

		if (!(fabs(its - watts[i]) <= REDUCED_SET_TOLERANCE_W))
			return false;
	}
	return true;
}

/* The chosen rows instead of those of @kernel, in memory of their own. */
static int reduced_kernel(const struct reduction *reduction, const struct predictor *kernel,
			  struct predictor *ret)
{
	size_t features = reduction->task->features, count = reduction->count;
	CLEANUP_FREE double *rows = calloc(count * features, sizeof(*rows));
	CLEANUP_FREE double *values = calloc(count, sizeof(*values));

	if (!rows || !values)
		return -ENOMEM;
	for (size_t k = 0; k < count; k++) {
		const double *row = reduction->task->x + reduction->chosen[k] * features;

		for (size_t f = 0; f < features; f++)
			rows[k * features + f] = row[f];
		values[k] = reduction->coefficients[k];
	}
	*ret = *kernel;
	ret->rows.rows = TAKE_PTR(rows);
	ret->rows.values = TAKE_PTR(values);
	ret->rows.row_count = count;
	return 0;
}

static int replace(const struct reduction *reduction, const double *watts, struct predictor *kernel)
{
	struct predictor reduced, other;
	int r = reduced_kernel(reduction, kernel, &reduced);

	if (r < 0)
		return r;
	other = *kernel;
	if (says(&reduced, reduction->task, watts))
		*kernel = reduced;
	else
		other = reduced;
	predictor_release(&other);
	return 0;
}

int reduced_set_replace(const struct training_task *task, const double *watts,
			struct predictor *kernel)
{
	struct reduction reduction = { .task = task, .gamma = kernel->rows.gamma };
	CLEANUP_FREE double *numbers =
		calloc(task->rows * (REDUCED_SET_ROWS_MAX + 1), sizeof(*numbers));
	size_t most = kernel->rows.row_count - 1, row;

	if (kernel->rows.row_count < 2)
		return 0;
	if (!numbers)
		return -ENOMEM;
	most = most < REDUCED_SET_ROWS_MAX ? most : REDUCED_SET_ROWS_MAX;
	reduction.differences = numbers;
	reduction.columns = numbers + task->rows;
	for (size_t i = 0; i < task->rows; i++)
		reduction.differences[i] = watts[i] - kernel->rows.intercept;
	row = largest_difference(&reduction);
	while (fabs(reduction.differences[row]) > REDUCED_SET_TOLERANCE_W) {
		if (reduction.count == most || !choose(&reduction, row))
			return 0;
		row = largest_difference(&reduction);
	}
	if (reduction.count == 0)
		return 0;
	substitute_back(&reduction);
	return replace(&reduction, watts, kernel);
}
