// SPDX-License-Identifier: Apache-2.0
#include "training/curves.h"

#include <cminpack.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"

#define WEIGHTS_MAX     4
#define TOLERANCE       1.49012e-8
#define EVALUATIONS_MAX 30000
#define STEP_FACTOR     100
#define ARGUMENT_MIN    1e-12 /* of a logarithm */

struct fit {
	const struct training_task *task;
	struct predictor predictor; /* at the weights that are tried */
};

static double curve_at(const struct predictor *predictor, double x)
{
	const double *c = predictor->curve.c;

	if (predictor->form == PREDICTOR_LOGARITHMIC)
		return c[0] * log(fmax(c[1] * x + 1, ARGUMENT_MIN)) + c[2];
	if (predictor->form == PREDICTOR_EXPONENTIAL)
		return c[0] * exp(c[1] * x) + c[2];
	return c[0] / (1 + exp(-c[2] * (x - c[1]))) + c[3];
}

/* MINPACK's callback: residuals at @weights. */
static int residuals(void *context, int rows, int count, const double *weights, double *out,
		     int flag)
{
	struct fit *fit = context;
	const struct training_task *task = fit->task;

	(void)flag;
	for (int i = 0; i < count; i++)
		fit->predictor.curve.c[i] = weights[i];
	for (int row = 0; row < rows; row++)
		out[row] = curve_at(&fit->predictor,
				    task->x[(size_t)row * task->features + task->main_feature]) -
			   task->y[row];
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

static int fit_curve(struct fit *fit, int count, double *weights, struct diag *diag)
{
	const struct training_task *task = fit->task;
	size_t rows = task->rows, n = (size_t)count;
	CLEANUP_FREE double *numbers = calloc(rows * n + 2 * rows + 5 * n, sizeof(*numbers));
	CLEANUP_FREE int *pivots = calloc(n, sizeof(*pivots));
	double *jacobian = numbers, *out, *work;
	int evaluations, info;

	if (!numbers || !pivots)
		return -ENOMEM;
	if (rows < n)
		return diag_set(diag, -EINVAL,
				"a curve of %d weights cannot be found from %zu rows", count, rows);
	out = jacobian + rows * n;
	work = out + 2 * rows; /* the second half of it is lmdif's last array */
	info = lmdif(residuals, fit, (int)rows, count, weights, out, TOLERANCE, TOLERANCE, 0,
		     EVALUATIONS_MAX, DBL_EPSILON, work, 1, STEP_FACTOR, 0, &evaluations, jacobian,
		     (int)rows, pivots, work + n, work + 2 * n, work + 3 * n, work + 4 * n,
		     out + rows);
	if (info <= 0 || info == 5)
		return diag_set(diag, -EINVAL, "the curve's fit did not converge in %d evaluations",
				evaluations);
	return 0;
}

static int train(const struct training_task *task, enum predictor_form form, int count,
		 double *weights, struct predictor *ret, struct diag *diag)
{
	struct fit fit = { .task = task };
	int r;

	fit.predictor = (struct predictor){ .form = form, .features = task->features };
	fit.predictor.curve.feature = task->main_feature;
	r = fit_curve(&fit, count, weights, diag);
	if (r < 0)
		return r;
	for (int i = 0; i < count; i++)
		fit.predictor.curve.c[i] = weights[i];
	*ret = fit.predictor;
	return 0;
}

int train_logarithmic(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag)
{
	struct spread spread = spread_of(task);
	double weights[WEIGHTS_MAX] = { spread.max - spread.min, 1, spread.min };

	(void)stretch;
	return train(task, PREDICTOR_LOGARITHMIC, 3, weights, ret, diag);
}

int train_logistic(const struct training_task *task, double *stretch, struct predictor *ret,
		   struct diag *diag)
{
	struct spread spread = spread_of(task);
	double range = spread.max - spread.min;
	double steepness = spread.deviation > 0 ? floor(range / spread.deviation) : 1;
	double weights[WEIGHTS_MAX] = { range, 0.5, steepness, spread.min };

	(void)stretch;
	return train(task, PREDICTOR_LOGISTIC, 4, weights, ret, diag);
}

int train_exponential(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag)
{
	struct spread spread = spread_of(task);
	double start = floor((spread.max - spread.min) / exp(1));
	double weights[WEIGHTS_MAX] = { start, 1, spread.min - start };

	(void)stretch;
	return train(task, PREDICTOR_EXPONENTIAL, 3, weights, ret, diag);
}
