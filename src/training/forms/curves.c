// SPDX-License-Identifier: Apache-2.0
#include "training/forms/curves.h"

#include <cminpack.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exp_block.h"
#include "base/macro.h"

#define WEIGHTS_MAX     4
#define COLUMNS_MAX     (1 + WEIGHTS_MAX) /* residuals and their derivatives */
#define TOLERANCE       1.49012e-8
#define EVALUATIONS_MAX 30000
#define STEP_FACTOR     100
#define ARGUMENT_MIN    1e-12 /* of a logarithm */
#define PIVOT_MIN       1e-14 /* a derivative that has less of its own is those before it */

/* Values of EXP_BLOCK rows: the residual, and its derivative by each weight. */
struct block {
	double columns[COLUMNS_MAX][EXP_BLOCK];
};

struct fit {
	enum predictor_form form;
	size_t rows;
	unsigned weights;
	double *x, *y; /* [rows, to whole blocks] */
	/* Weights that were tried last, and the factor there: derivatives are asked for next. */
	double tried[WEIGHTS_MAX];
	double factor[COLUMNS_MAX][COLUMNS_MAX];
};

static void take_logarithmic(const double *w, const double *x, struct block *ret)
{
	for (unsigned i = 0; i < EXP_BLOCK; i++) {
		double argument = w[1] * x[i] + 1;
		double value = log(fmax(argument, ARGUMENT_MIN));

		ret->columns[0][i] = w[0] * value + w[2];
		ret->columns[1][i] = value;
		ret->columns[2][i] = argument > ARGUMENT_MIN ? w[0] * x[i] / argument : 0;
		ret->columns[3][i] = 1;
	}
}

static void take_exponential(const double *w, const double *x, struct block *ret)
{
	double *value = ret->columns[1];

	for (unsigned i = 0; i < EXP_BLOCK; i++)
		value[i] = w[1] * x[i];
	exp_block(value);
	for (unsigned i = 0; i < EXP_BLOCK; i++) {
		ret->columns[0][i] = w[0] * value[i] + w[2];
		ret->columns[2][i] = w[0] * x[i] * value[i];
		ret->columns[3][i] = 1;
	}
}

static void take_logistic(const double *w, const double *x, struct block *ret)
{
	double *value = ret->columns[1];

	for (unsigned i = 0; i < EXP_BLOCK; i++)
		value[i] = -w[2] * (x[i] - w[1]);
	exp_block(value);
	for (unsigned i = 0; i < EXP_BLOCK; i++) {
		double slope;

		value[i] = 1 / (1 + value[i]);
		slope = w[0] * value[i] * (1 - value[i]);
		ret->columns[0][i] = w[0] * value[i] + w[3];
		ret->columns[2][i] = -w[2] * slope;
		ret->columns[3][i] = slope * (x[i] - w[1]);
		ret->columns[4][i] = 1;
	}
}

static void take_block(const struct fit *fit, const double *weights, size_t first,
		       struct block *ret)
{
	if (fit->form == PREDICTOR_LOGARITHMIC)
		take_logarithmic(weights, fit->x + first, ret);
	else if (fit->form == PREDICTOR_EXPONENTIAL)
		take_exponential(weights, fit->x + first, ret);
	else
		take_logistic(weights, fit->x + first, ret);
	for (unsigned i = 0; i < EXP_BLOCK; i++)
		ret->columns[0][i] -= fit->y[first + i];
	/* After the last row. */
	for (size_t i = fit->rows - first; i < EXP_BLOCK; i++) {
		for (unsigned column = 0; column < COLUMNS_MAX; column++)
			ret->columns[column][i] = 0;
	}
}

/* Products of the first @columns columns with each other, summed over all rows: i <= j. */
static void add_products(const struct fit *fit, const double *weights, unsigned columns,
			 double products[COLUMNS_MAX][COLUMNS_MAX])
{
	double sums[COLUMNS_MAX][COLUMNS_MAX][EXP_BLOCK] = { { { 0 } } };
	struct block block;

	for (size_t first = 0; first < fit->rows; first += EXP_BLOCK) {
		take_block(fit, weights, first, &block);
		for (unsigned i = 0; i < columns; i++) {
			for (unsigned j = i; j < columns; j++) {
				for (unsigned k = 0; k < EXP_BLOCK; k++)
					sums[i][j][k] += block.columns[i][k] * block.columns[j][k];
			}
		}
	}
	for (unsigned i = 0; i < columns; i++) {
		for (unsigned j = i; j < columns; j++) {
			products[i][j] = 0;
			for (unsigned k = 0; k < EXP_BLOCK; k++)
				products[i][j] += sums[i][j][k];
		}
	}
}

/* The Cholesky factor, row by row, in place of the products. */
static void factorise(double products[COLUMNS_MAX][COLUMNS_MAX], unsigned columns)
{
	for (unsigned i = 0; i < columns; i++) {
		double whole = products[i][i];

		for (unsigned j = i; j < columns; j++) {
			for (unsigned k = 0; k < i; k++)
				products[i][j] -= products[k][i] * products[k][j];
		}
		whole = products[i][i] > PIVOT_MIN * whole ? sqrt(products[i][i]) : 0;
		products[i][i] = whole;
		for (unsigned j = i + 1; j < columns; j++)
			products[i][j] = whole > 0 ? products[i][j] / whole : 0;
	}
}

/*
 * MINPACK's callback. All that the method asks of residuals and derivatives are their lengths and
 * the angles between them. Those are the same for the columns of the triangular factor of all of
 * them, residuals first: so it is given these few rows, and not one for each row of training.
 */
static int residuals(void *context, int rows, int count, const double *weights, double *out,
		     double *jacobian, int stride, int flag)
{
	struct fit *fit = context;
	size_t size = (size_t)count * sizeof(*weights);

	if (flag != 2 || memcmp(fit->tried, weights, size) != 0) {
		add_products(fit, weights, (unsigned)count + 1, fit->factor);
		factorise(fit->factor, (unsigned)count + 1);
		memcpy(fit->tried, weights, size);
	}
	for (int row = 0; row < rows; row++) {
		if (flag != 2)
			out[row] = row == 0 ? fit->factor[0][0] : 0;
		for (int i = 0; flag == 2 && i < count; i++)
			jacobian[i * stride + row] = row <= i + 1 ? fit->factor[row][i + 1] : 0;
	}
	return 0;
}

struct spread {
	double min, max, deviation;
};

static struct spread spread_of(const struct training_task *task)
{
	struct spread spread = { .min = task->y[0], .max = task->y[0] };
	double mean = 0, squares = 0;

	for (size_t i = 0; i < task->rows; i++) {
		spread.min = fmin(spread.min, task->y[i]);
		spread.max = fmax(spread.max, task->y[i]);
		mean += task->y[i] / (double)task->rows;
	}
	for (size_t i = 0; i < task->rows; i++)
		squares += (task->y[i] - mean) * (task->y[i] - mean);
	spread.deviation = sqrt(squares / (double)task->rows);
	return spread;
}

static int fit_curve(struct fit *fit, double *weights, struct diag *diag)
{
	double jacobian[COLUMNS_MAX * WEIGHTS_MAX], out[COLUMNS_MAX], work[COLUMNS_MAX];
	double vectors[5][WEIGHTS_MAX];
	int pivots[WEIGHTS_MAX], evaluations, derivatives, info, count = (int)fit->weights;

	info = lmder(residuals, fit, count + 1, count, weights, out, jacobian, count + 1, TOLERANCE,
		     TOLERANCE, 0, EVALUATIONS_MAX, vectors[0], 1, STEP_FACTOR, 0, &evaluations,
		     &derivatives, pivots, vectors[1], vectors[2], vectors[3], vectors[4], work);
	if (info <= 0 || info == 5)
		return diag_set(diag, -EINVAL, "the curve's fit did not converge in %d evaluations",
				evaluations);
	return 0;
}

/* Start values as upstream's trainers have them; their number. */
static unsigned start_of(enum predictor_form form, const struct training_task *task,
			 double weights[static WEIGHTS_MAX])
{
	struct spread spread = spread_of(task);
	double range = spread.max - spread.min, start = floor(range / exp(1));

	if (form == PREDICTOR_LOGARITHMIC) {
		memcpy(weights, (double[]){ range, 1, spread.min }, 3 * sizeof(*weights));
		return 3;
	}
	if (form == PREDICTOR_EXPONENTIAL) {
		memcpy(weights, (double[]){ start, 1, spread.min - start }, 3 * sizeof(*weights));
		return 3;
	}
	memcpy(weights,
	       (double[]){ range, 0.5, spread.deviation > 0 ? floor(range / spread.deviation) : 1,
			   spread.min },
	       4 * sizeof(*weights));
	return 4;
}

int train_curve(const void *plan, const struct training_task *task, struct predictor *ret,
		struct diag *diag)
{
	enum predictor_form form = *(const enum predictor_form *)plan;
	double weights[WEIGHTS_MAX];
	unsigned count = start_of(form, task, weights);
	size_t padded = (task->rows + EXP_BLOCK - 1) / EXP_BLOCK * EXP_BLOCK;
	CLEANUP_FREE double *numbers = calloc(2, (padded ? padded : 1) * sizeof(*numbers));
	struct fit fit = { .form = form, .rows = task->rows, .weights = count };
	int r;

	if (!numbers)
		return -ENOMEM;
	if (task->rows < count)
		return diag_set(diag, -EINVAL,
				"a curve of %u weights cannot be found from %zu rows", count,
				task->rows);
	fit.x = numbers;
	fit.y = numbers + padded;
	for (size_t i = 0; i < task->rows; i++) {
		fit.x[i] = task->x[i * task->features + task->main_feature];
		fit.y[i] = task->y[i];
	}
	r = fit_curve(&fit, weights, diag);
	if (r < 0)
		return r;
	*ret = (struct predictor){ .form = form, .features = task->features };
	ret->curve.feature = task->main_feature;
	for (unsigned i = 0; i < count; i++)
		ret->curve.c[i] = weights[i];
	return 0;
}
