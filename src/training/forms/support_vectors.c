// SPDX-License-Identifier: Apache-2.0
/*
 * The minimised function is b'Kb / 2 - y'b + epsilon Σ|b| with Σb = 0 and |b| <= C. A step raises
 * one coefficient and lowers another one by as much, at most to a bound or to 0, where the slope of
 * |b| changes. No kernel row is kept: a model takes few steps more than it has rows.
 */
#include "training/forms/support_vectors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/exp_block.h"
#include "base/macro.h"
#include "base/num.h"

#define COST      1.0
#define EPSILON_W 0.2
#define TOLERANCE 1e-3 /* W: of slopes up and down together */
#define CURVE_MIN 1e-12
#define STEPS_MAX 10000000U

struct solver {
	const struct training_task *task;
	size_t rows, padded; /* to whole blocks */
	double gamma;
	double *columns;       /* features × padded */
	double *coefficients;  /* [rows] */
	double *gradient;      /* [rows]: Kb - y */
	double *row_i, *row_j; /* [padded]: rows of the kernel matrix */
};

static double gamma_of(const struct training_task *task)
{
	size_t count = task->rows * task->features;
	double mean = 0, variance = 0;

	for (size_t i = 0; i < count; i++)
		mean += task->x[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		variance += (task->x[i] - mean) * (task->x[i] - mean) / (double)count;
	return variance > 0 ? 1 / ((double)task->features * variance) : 1;
}

/* The kernel of row @i with rows @first to @first + EXP_BLOCK. */
static void kernel_block(const struct solver *solver, size_t i, size_t first, double *ret)
{
	double squares[EXP_BLOCK] = { 0 };

	for (size_t f = 0; f < solver->task->features; f++) {
		const double *column = solver->columns + f * solver->padded;
		double here = column[i];

		for (size_t k = 0; k < EXP_BLOCK; k++)
			squares[k] += (column[first + k] - here) * (column[first + k] - here);
	}
	for (size_t k = 0; k < EXP_BLOCK; k++)
		ret[k] = -solver->gamma * squares[k];
	exp_block(ret);
}

static void kernel_row(const struct solver *solver, size_t i, double *ret)
{
	for (size_t first = 0; first < solver->rows; first += EXP_BLOCK)
		kernel_block(solver, i, first, ret + first);
}

/* Equally many coefficients at both bounds, and one at 0 if their number is odd. */
static int begin(struct solver *solver)
{
	size_t rows = solver->rows, above = rows / 2, below = above;
	CLEANUP_FREE double *sorted = calloc(rows ? rows : 1, sizeof(*sorted));
	double median;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++)
		sorted[i] = solver->task->y[i];
	qsort(sorted, rows, sizeof(*sorted), compare_doubles);
	median = sorted[rows / 2];
	for (size_t i = 0; i < rows; i++) {
		if (solver->task->y[i] > median) {
			solver->coefficients[i] = COST;
			above--;
		} else if (solver->task->y[i] < median) {
			solver->coefficients[i] = -COST;
			below--;
		}
	}
	for (size_t i = 0; i < rows; i++) {
		if (solver->task->y[i] > median || solver->task->y[i] < median)
			continue;
		if (above > 0) {
			solver->coefficients[i] = COST;
			above--;
		} else if (below > 0) {
			solver->coefficients[i] = -COST;
			below--;
		}
	}
	return 0;
}

/* The kernel matrix is symmetric: each of its blocks counts for the rows and for the columns. */
static void first_gradient(struct solver *solver)
{
	const double *b = solver->coefficients;
	double kernel[EXP_BLOCK];

	for (size_t i = 0; i < solver->rows; i++)
		solver->gradient[i] -= solver->task->y[i];
	for (size_t i = 0; i < solver->rows; i++) {
		size_t first = i / EXP_BLOCK * EXP_BLOCK;
		double sum = b[i];

		for (; first < solver->rows; first += EXP_BLOCK) {
			kernel_block(solver, i, first, kernel);
			for (size_t k = first > i ? 0 : i + 1 - first;
			     k < EXP_BLOCK && first + k < solver->rows; k++) {
				sum += kernel[k] * b[first + k];
				solver->gradient[first + k] += kernel[k] * b[i];
			}
		}
		solver->gradient[i] += sum;
	}
}

/* Slopes of the objective as coefficient @i rises or falls; INFINITY: it is at its bound. */
static double slope_up(const struct solver *solver, size_t i)
{
	double b = solver->coefficients[i];

	if (b >= COST)
		return (double)INFINITY;
	return solver->gradient[i] + (b >= 0 ? EPSILON_W : -EPSILON_W);
}

static double slope_down(const struct solver *solver, size_t i)
{
	double b = solver->coefficients[i];

	if (b <= -COST)
		return (double)INFINITY;
	return -solver->gradient[i] + (b <= 0 ? EPSILON_W : -EPSILON_W);
}

/* The coefficient that falls when @i rises, for the largest gain; rows: none is worth it. */
static size_t choose_partner(const struct solver *solver, size_t i, double up)
{
	double best = 0, steepest = (double)INFINITY;
	size_t chosen = solver->rows;

	for (size_t j = 0; j < solver->rows; j++) {
		double down = slope_down(solver, j), slope = up + down;
		double curve = fmax(2 - 2 * solver->row_i[j], CURVE_MIN);

		if (j != i)
			steepest = fmin(steepest, slope);
		if (j != i && slope < 0 && slope * slope > best * curve) {
			best = slope * slope / curve;
			chosen = j;
		}
	}
	return steepest < -TOLERANCE ? chosen : solver->rows;
}

/* One step; false if no pair gains. */
static bool step(struct solver *solver)
{
	double *b = solver->coefficients, up = (double)INFINITY, by;
	size_t i = 0, j;

	for (size_t k = 0; k < solver->rows; k++) {
		double slope = slope_up(solver, k);

		if (slope < up) {
			up = slope;
			i = k;
		}
	}
	if (!isfinite(up))
		return false;
	kernel_row(solver, i, solver->row_i);
	j = choose_partner(solver, i, up);
	if (j == solver->rows)
		return false;
	kernel_row(solver, j, solver->row_j);
	by = -(up + slope_down(solver, j)) / fmax(2 - 2 * solver->row_i[j], CURVE_MIN);
	/* At most to 0 or to the bound. */
	by = fmin(by, b[i] < 0 ? -b[i] : COST - b[i]);
	by = fmin(by, b[j] > 0 ? b[j] : b[j] + COST);
	b[i] += by;
	b[j] -= by;
	for (size_t k = 0; k < solver->rows; k++)
		solver->gradient[k] += by * (solver->row_i[k] - solver->row_j[k]);
	return true;
}

/* From coefficients that are free, else halfway between the bounds that the others set. */
static double intercept_of(const struct solver *solver)
{
	double sum = 0, up = (double)INFINITY, down = (double)INFINITY;
	size_t count = 0;

	for (size_t i = 0; i < solver->rows; i++) {
		double size = fabs(solver->coefficients[i]);

		if (size > 0 && size < COST) {
			sum -= slope_up(solver, i);
			count++;
		}
		up = fmin(up, slope_up(solver, i));
		down = fmin(down, slope_down(solver, i));
	}
	if (count > 0)
		return sum / (double)count;
	if (isfinite(up) && isfinite(down))
		return (down - up) / 2;
	return isfinite(up) ? -up : down;
}

static int take_vectors(const struct solver *solver, struct predictor *ret)
{
	const struct training_task *task = solver->task;
	size_t size = task->rows * task->features;
	CLEANUP_FREE double *rows = calloc(size ? size : 1, sizeof(*rows));
	CLEANUP_FREE double *values = calloc(task->rows ? task->rows : 1, sizeof(*values));
	size_t count = 0;

	if (!rows || !values)
		return -ENOMEM;
	for (size_t i = 0; i < task->rows; i++) {
		if (!(fabs(solver->coefficients[i]) > 0))
			continue;
		for (size_t f = 0; f < task->features; f++)
			rows[count * task->features + f] = task->x[i * task->features + f];
		values[count++] = solver->coefficients[i];
	}
	*ret = (struct predictor){ .form = PREDICTOR_KERNEL, .features = task->features };
	ret->rows.rows = TAKE_PTR(rows);
	ret->rows.values = TAKE_PTR(values);
	ret->rows.row_count = count;
	ret->rows.gamma = solver->gamma;
	ret->rows.intercept = intercept_of(solver);
	return 0;
}

int train_support_vectors(const void *plan, const struct training_task *task, struct predictor *ret,
			  struct diag *diag)
{
	struct solver solver = { .task = task, .rows = task->rows, .gamma = gamma_of(task) };
	size_t padded = (task->rows + EXP_BLOCK - 1) / EXP_BLOCK * EXP_BLOCK;
	CLEANUP_FREE double *numbers = NULL;
	bool more = true;

	(void)plan;
	if (task->rows > PREDICTOR_ROWS_MAX)
		return diag_set(diag, -EINVAL, "a model of support vectors holds %d rows, not %zu",
				PREDICTOR_ROWS_MAX, task->rows);
	numbers = calloc(padded * (task->features + 4), sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	solver.padded = padded;
	solver.columns = numbers;
	solver.coefficients = numbers + padded * task->features;
	solver.gradient = solver.coefficients + padded;
	solver.row_i = solver.gradient + padded;
	solver.row_j = solver.row_i + padded;
	for (size_t i = 0; i < task->rows; i++) {
		for (size_t f = 0; f < task->features; f++)
			solver.columns[f * padded + i] = task->x[i * task->features + f];
	}
	if (begin(&solver) < 0)
		return -ENOMEM;
	first_gradient(&solver);
	for (unsigned i = 0; more && i < STEPS_MAX; i++)
		more = step(&solver);
	return take_vectors(&solver, ret);
}
