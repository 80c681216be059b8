// SPDX-License-Identifier: Apache-2.0
#include "training/forms/least_squares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "training/design.h"
#include "training/lapack_library.h"

#define DESCENT_PENALTY 1e-4  /* by row, of columns that are divided by their largest value */
#define RANK_RATIO      1e-10 /* singular values below this part of the largest one count as 0 */
#define PENALTY_FIRST   1e-8  /* by row */
#define PENALTY_STEP    3.1622776601683795
#define PENALTIES       21 /* up to 100 */
#define GRADIENT_SLACK  1e-12

static int fit_least_squares(struct design *design, size_t features, struct predictor *ret,
			     struct diag *diag)
{
	size_t longer = design->rows > design->terms ? design->rows : design->terms;
	CLEANUP_FREE double *singular = calloc(design->terms, sizeof(*singular));
	CLEANUP_FREE double *b = calloc(longer, sizeof(*b));
	lapack_int rank, rows = (lapack_int)design->rows, terms = (lapack_int)design->terms;
	const struct lapack_library *lapack;
	int r = singular && b ? lapack_library_get(&lapack, diag) : -ENOMEM;

	if (r < 0)
		return r;
	memcpy(b, design->y, design->rows * sizeof(*b));
	if (lapack->dgelsd(LAPACK_COL_MAJOR, rows, terms, 1, design->z, rows, b, (lapack_int)longer,
			   singular, RANK_RATIO, &rank) != 0)
		return diag_set(diag, -EINVAL, "least squares did not converge");
	return design_finish(design, b, PREDICTOR_LINEAR, features, ret);
}

/* z'z (lower triangle, column by column) and z'y of a design. */
static void normal_equations(const struct design *design, double *a, double *b)
{
	size_t n = design->terms, rows = design->rows;

	for (size_t i = 0; i < n; i++) {
		const double *zi = design->z + i * rows;

		for (size_t j = 0; j <= i; j++) {
			const double *zj = design->z + j * rows;
			double sum = 0;

			for (size_t row = 0; row < rows; row++)
				sum += zi[row] * zj[row];
			a[j * n + i] = a[i * n + j] = sum;
		}
		b[i] = 0;
		for (size_t row = 0; row < rows; row++)
			b[i] += zi[row] * design->y[row];
	}
}

static int fit_gradient_descent(struct design *design, size_t features, struct predictor *ret,
				struct diag *diag)
{
	size_t n = design->terms;
	CLEANUP_FREE double *a = calloc(n * n, sizeof(*a));
	CLEANUP_FREE double *b = calloc(n, sizeof(*b));
	const struct lapack_library *lapack;
	int r = a && b ? lapack_library_get(&lapack, diag) : -ENOMEM;

	if (r < 0)
		return r;
	normal_equations(design, a, b);
	for (size_t i = 0; i < n; i++) {
		double deviation = design->deviation[i];

		/* The penalty is on weights of columns that are not divided by the deviation. */
		a[i * n + i] += deviation > 0 ? DESCENT_PENALTY * (double)design->rows /
							(deviation * deviation)
					      : 1;
	}
	if (lapack->dposv(LAPACK_COL_MAJOR, 'L', (lapack_int)n, 1, a, (lapack_int)n, b,
			  (lapack_int)n) != 0)
		return diag_set(diag, -EINVAL, "the normal equations have no solution");
	return design_finish(design, b, PREDICTOR_LINEAR, features, ret);
}

/* A singular value decomposition of a design, and u'y. */
struct decomposition {
	double *u, *singular, *vt, *uy;
	size_t rank; /* singular values in all */
};

static void decomposition_release(struct decomposition *d)
{
	free(d->u);
	free(d->singular);
	free(d->vt);
	free(d->uy);
}

static int decompose(const struct lapack_library *lapack, struct design *design,
		     struct decomposition *ret)
{
	size_t rows = design->rows, terms = design->terms;

	ret->rank = rows < terms ? rows : terms;
	ret->u = calloc(rows * ret->rank, sizeof(*ret->u));
	ret->singular = calloc(ret->rank, sizeof(*ret->singular));
	ret->vt = calloc(ret->rank * terms, sizeof(*ret->vt));
	ret->uy = calloc(ret->rank, sizeof(*ret->uy));
	if (!ret->u || !ret->singular || !ret->vt || !ret->uy)
		return -ENOMEM;
	if (lapack->dgesdd(LAPACK_COL_MAJOR, 'S', (lapack_int)rows, (lapack_int)terms, design->z,
			   (lapack_int)rows, ret->singular, ret->u, (lapack_int)rows, ret->vt,
			   (lapack_int)ret->rank) != 0)
		return -EINVAL;
	for (size_t i = 0; i < ret->rank; i++) {
		for (size_t row = 0; row < rows; row++)
			ret->uy[i] += ret->u[i * rows + row] * design->y[row];
	}
	return 0;
}

/* How much of a direction is left with a penalty: 0 … 1. */
static double kept(const struct decomposition *d, size_t i, double penalty)
{
	double square = d->singular[i] * d->singular[i];

	return d->singular[i] > RANK_RATIO * d->singular[0] ? square / (square + penalty) : 0;
}

/* n RSS / (n - parameters)², INFINITY with as many parameters as rows. */
static double cross_validated(const struct design *design, const struct decomposition *d,
			      double penalty)
{
	double rows = (double)design->rows, residual = 0, parameters = 1;

	for (size_t row = 0; row < design->rows; row++)
		residual += design->y[row] * design->y[row];
	for (size_t i = 0; i < d->rank; i++) {
		double part = kept(d, i, penalty);

		residual -= (1 - (1 - part) * (1 - part)) * d->uy[i] * d->uy[i];
		parameters += part;
	}
	if (parameters >= rows - 0.5)
		return (double)INFINITY;
	return rows * (residual > 0 ? residual : 0) / ((rows - parameters) * (rows - parameters));
}

static double choose_penalty(const struct design *design, const struct decomposition *d)
{
	double best = (double)INFINITY, chosen = 0;
	double penalty = PENALTY_FIRST * (double)design->rows;

	for (unsigned i = 0; i < PENALTIES; i++, penalty *= PENALTY_STEP) {
		double error = cross_validated(design, d, penalty);

		if (error <= best || chosen <= 0) {
			best = error;
			chosen = penalty;
		}
	}
	return chosen;
}

static int fit_penalised(struct design *design, enum predictor_form form, size_t features,
			 struct predictor *ret, struct diag *diag)
{
	CLEANUP(decomposition_release) struct decomposition d = { .rank = 0 };
	CLEANUP_FREE double *weights = calloc(design->terms, sizeof(*weights));
	const struct lapack_library *lapack;
	int r = weights ? lapack_library_get(&lapack, diag) : -ENOMEM;
	double penalty;

	if (r == 0)
		r = decompose(lapack, design, &d);
	if (r == -EINVAL)
		return diag_set(diag, r, "the singular values did not converge");
	if (r < 0)
		return r;
	penalty = choose_penalty(design, &d);
	for (size_t i = 0; i < d.rank; i++) {
		double part = kept(&d, i, penalty);

		for (size_t term = 0; part > 0 && term < design->terms; term++)
			weights[term] += part / d.singular[i] * d.uy[i] * d.vt[term * d.rank + i];
	}
	return design_finish(design, weights, form, features, ret);
}

/* The normal equations of non-negative least squares while the set of weights above 0 changes. */
struct active_set {
	const struct lapack_library *lapack;
	size_t n;
	const double *a, *b;
	bool *free;              /* [n]: may be above 0 */
	double *x, *trial;       /* [n] */
	double *part_a, *part_b; /* of the free ones */
	double slack;            /* gradients up to this are 0 */
};

/* The solution of the free weights alone, into trial; false when they depend on each other. */
static bool solve_free(struct active_set *set)
{
	size_t m = 0, row = 0;

	for (size_t i = 0; i < set->n; i++)
		m += set->free[i];
	for (size_t i = 0; i < set->n; i++) {
		size_t column = 0;

		if (!set->free[i])
			continue;
		for (size_t j = 0; j < set->n; j++) {
			if (set->free[j])
				set->part_a[row * m + column++] = set->a[i * set->n + j];
		}
		set->part_b[row++] = set->b[i];
	}
	if (m && set->lapack->dposv(LAPACK_COL_MAJOR, 'L', (lapack_int)m, 1, set->part_a,
				    (lapack_int)m, set->part_b, (lapack_int)m) != 0)
		return false;
	row = 0;
	for (size_t i = 0; i < set->n; i++)
		set->trial[i] = set->free[i] ? set->part_b[row++] : 0;
	return true;
}

/* The weight at 0 that is most worth raising, or n. */
static size_t most_wanted(const struct active_set *set)
{
	size_t best = set->n;
	double steepest = set->slack;

	for (size_t i = 0; i < set->n; i++) {
		double gradient = set->b[i];

		if (set->free[i])
			continue;
		for (size_t j = 0; j < set->n; j++)
			gradient -= set->a[i * set->n + j] * set->x[j];
		if (gradient > steepest) {
			steepest = gradient;
			best = i;
		}
	}
	return best;
}

/* Goes towards trial until a free weight is 0, and fixes it there; false: trial is reached. */
static bool step_to_bound(struct active_set *set)
{
	double part = 1;
	size_t bound = set->n;

	for (size_t i = 0; i < set->n; i++) {
		if (set->free[i] && set->trial[i] <= 0) {
			double here = set->x[i] / (set->x[i] - set->trial[i]);

			if (set->x[i] <= 0 || here <= part) {
				part = set->x[i] <= 0 ? 0 : here;
				bound = i;
			}
		}
	}
	for (size_t i = 0; i < set->n; i++)
		set->x[i] += part * (set->trial[i] - set->x[i]);
	if (bound == set->n)
		return false;
	set->free[bound] = false;
	set->x[bound] = 0;
	return true;
}

static void solve_non_negative(struct active_set *set)
{
	for (size_t turn = 0; turn < 3 * set->n + 3; turn++) {
		size_t wanted = most_wanted(set);

		if (wanted == set->n)
			return;
		set->free[wanted] = true;
		do {
			if (!solve_free(set)) {
				set->free[wanted] = false;
				return;
			}
		} while (step_to_bound(set));
	}
}

static int fit_non_negative(struct design *design, size_t features, struct predictor *ret,
			    struct diag *diag)
{
	size_t n = design->terms;
	CLEANUP_FREE double *numbers = calloc(2 * n * n + 4 * n, sizeof(*numbers));
	CLEANUP_FREE bool *is_free = calloc(n, sizeof(*is_free));
	double *a = numbers, *b = a + n * n;
	struct active_set set = { .n = n, .a = a, .b = b, .free = is_free };
	int r = numbers && is_free ? lapack_library_get(&set.lapack, diag) : -ENOMEM;

	if (r < 0)
		return r;
	set.x = b + n;
	set.trial = set.x + n;
	set.part_b = set.trial + n;
	set.part_a = set.part_b + n;
	normal_equations(design, a, b);
	for (size_t i = 0; i < n; i++)
		set.slack = fmax(set.slack, fabs(b[i]) * GRADIENT_SLACK);
	solve_non_negative(&set);
	return design_finish(design, set.x, PREDICTOR_LINEAR, features, ret);
}

int train_line(const void *plan, const struct training_task *task, struct predictor *ret,
	       struct diag *diag)
{
	enum line_method method = *(const enum line_method *)plan;
	size_t features = task->features;
	CLEANUP(design_release) struct design design = { .rows = 0 };
	int r = design_new(task, method == LINE_POLYNOMIAL, &design);

	if (r < 0)
		return r;
	switch (method) {
	case LINE_LEAST_SQUARES:
		return fit_least_squares(&design, features, ret, diag);
	case LINE_RIDGE:
		return fit_penalised(&design, PREDICTOR_LINEAR, features, ret, diag);
	case LINE_NON_NEGATIVE:
		return fit_non_negative(&design, features, ret, diag);
	case LINE_GRADIENT_DESCENT:
		return fit_gradient_descent(&design, features, ret, diag);
	case LINE_POLYNOMIAL:
		return fit_penalised(&design, PREDICTOR_POLYNOMIAL, features, ret, diag);
	}
	return -EINVAL;
}
