// SPDX-License-Identifier: Apache-2.0
/*
 * Variables are passive (free) or held at 0. Each step frees the one that the gradient wants above
 * 0 most, solves for all that are free, and goes towards that solution until the first of them
 * reaches 0, which is held then. The sum of squares falls with each step, from any start >= 0, so
 * a start near the solution saves steps and costs nothing.
 */
#include "attribution/learning/nnls.h"

#include <math.h>
#include <string.h>

#define JITTER    1e-10 /* on a diagonal of 1: equal columns stay solvable */
#define TOLERANCE 1e-9  /* of the largest entry of b, scaled: a gradient that is 0 */

struct problem {
	double a[NNLS_MAX][NNLS_MAX]; /* with a diagonal of 1 */
	double b[NNLS_MAX];
	double scale[NNLS_MAX];
	double x[NNLS_MAX];
	size_t n;
	uint32_t passive;
	uint32_t usable;
};

static bool set_up(struct problem *p, const double *a, const double *b, uint32_t mask,
		   const double *x)
{
	for (size_t i = 0; i < p->n; i++) {
		double diagonal = a[nnls_at(i, i)];

		if (!isfinite(diagonal) || !isfinite(b[i]) || !isfinite(x[i]))
			return false;
		if (!(mask & 1U << i) || diagonal <= 0)
			continue;
		p->usable |= 1U << i;
		p->scale[i] = 1 / sqrt(diagonal);
		p->b[i] = b[i] * p->scale[i];
		p->x[i] = fmax(x[i], 0) / p->scale[i];
		p->passive |= p->x[i] > 0 ? 1U << i : 0;
		for (size_t j = 0; j < i; j++) {
			p->a[i][j] = a[nnls_at(i, j)] * p->scale[i] * p->scale[j];
			p->a[j][i] = p->a[i][j];
			if (!isfinite(p->a[i][j]))
				return false;
		}
		p->a[i][i] = 1 + JITTER;
	}
	return true;
}

/* Cholesky's decomposition of the passive rows and columns, in order; the number of these. */
static size_t decompose(const struct problem *p, double l[NNLS_MAX][NNLS_MAX],
			size_t index[NNLS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->passive & 1U << i)
			index[count++] = i;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = p->a[index[i]][index[j]];

			for (size_t k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			l[i][j] = i == j ? sqrt(fmax(sum, JITTER)) : sum / l[j][j];
		}
	return count;
}

/* The least squares of the passive variables, of any sign; the others are 0. */
static void solve_passive(const struct problem *p, double ret[NNLS_MAX])
{
	double l[NNLS_MAX][NNLS_MAX] = { 0 }, y[NNLS_MAX];
	size_t index[NNLS_MAX] = { 0 }, count = decompose(p, l, index);

	memset(ret, 0, NNLS_MAX * sizeof(*ret));
	for (size_t i = 0; i < count; i++) {
		y[i] = p->b[index[i]];
		for (size_t k = 0; k < i; k++)
			y[i] -= l[i][k] * y[k];
		y[i] /= l[i][i];
	}
	for (size_t i = count; i-- > 0;) {
		for (size_t k = i + 1; k < count; k++)
			y[i] -= l[k][i] * y[k];
		y[i] /= l[i][i];
		ret[index[i]] = y[i];
	}
}

/* Goes to the solution of the passive variables, holding those that reach 0 on the way. */
static void descend(struct problem *p)
{
	double to[NNLS_MAX];

	while (p->passive) {
		double step = 1;
		size_t first = p->n;

		solve_passive(p, to);
		for (size_t i = 0; i < p->n; i++)
			if (p->passive & 1U << i && to[i] <= 0) {
				double until = p->x[i] > 0 ? p->x[i] / (p->x[i] - to[i]) : 0;

				if (first == p->n || until < step) {
					step = until;
					first = i;
				}
			}
		for (size_t i = 0; i < p->n; i++)
			p->x[i] = fmax(p->x[i] + step * (to[i] - p->x[i]), 0);
		if (first == p->n)
			return;
		p->x[first] = 0;
		p->passive &= ~(1U << first);
	}
}

/* The variable held at 0 by which the sum of squares would fall most; n: none. */
static size_t steepest(const struct problem *p)
{
	double most = 0;
	size_t found = p->n;

	for (size_t i = 0; i < p->n; i++)
		most = fmax(most, TOLERANCE * fabs(p->b[i]));
	for (size_t i = 0; i < p->n; i++) {
		double gradient = p->b[i];

		if (!(p->usable & 1U << i) || p->passive & 1U << i)
			continue;
		for (size_t j = 0; j < p->n; j++)
			gradient -= p->a[i][j] * p->x[j];
		if (gradient > most) {
			most = gradient;
			found = i;
		}
	}
	return found;
}

bool nnls_solve(const double *a, const double *b, size_t n, uint32_t mask, double *x)
{
	struct problem p = { .n = n };

	if (n > NNLS_MAX || !set_up(&p, a, b, mask, x))
		return false;
	descend(&p);
	/* More steps than this are rounding: the last of them is as good as any. */
	for (size_t turn = 0; turn < 3 * n; turn++) {
		size_t next = steepest(&p);

		if (next == n)
			break;
		p.passive |= 1U << next;
		descend(&p);
	}
	for (size_t i = 0; i < n; i++)
		x[i] = p.x[i] * p.scale[i];
	return true;
}

double nnls_variance(const double *a, size_t n, uint32_t mask, const double *x,
		     const double *gradient)
{
	struct problem p = { .n = n };
	double l[NNLS_MAX][NNLS_MAX] = { 0 }, y[NNLS_MAX], variance = 0;
	size_t index[NNLS_MAX] = { 0 }, count;

	if (n > NNLS_MAX || !set_up(&p, a, gradient, mask, x))
		return -1;
	count = decompose(&p, l, index);
	for (size_t i = 0; i < count; i++) { /* p.b is the gradient, scaled */
		y[i] = p.b[index[i]];
		for (size_t k = 0; k < i; k++)
			y[i] -= l[i][k] * y[k];
		y[i] /= l[i][i];
		variance += y[i] * y[i];
	}
	return isfinite(variance) ? variance : -1;
}
