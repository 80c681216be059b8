// SPDX-License-Identifier: Apache-2.0
#include "training/steady_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "model/trained_model.h"

struct row {
	double load, watts;
	size_t place; /* in the task */
};

/* Where a row's power begins to be moved, and by how many watts per watt of the curve. */
struct end {
	double curve_w, slope;
};

/* Consecutive rows in the order of load, with the same value of the curve. */
struct pool {
	size_t first, count;
	double curve_w;
};

struct steady {
	const struct training_task *task;
	struct row *rows;   /* [rows], by load */
	struct end *ends;   /* [2 × rows]: two of each row */
	struct pool *pools; /* [rows] */
	size_t pool_count;
	double *curve_w; /* [rows], in the task's order: of the best load so far */
	double off_w;    /* by which it moves the rows, in sum */
	size_t load;     /* the feature along which it rises */
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int by_load = (x->load > y->load) - (x->load < y->load);

	return by_load ? by_load : (x->watts > y->watts) - (x->watts < y->watts);
}

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->curve_w > y->curve_w) - (x->curve_w < y->curve_w);
}

/* The lowest power of a row under @curve_w. */
static double floor_of(double curve_w)
{
	return curve_w - STEADY_PART * model_fall_permitted(PREDICTOR_TREES, curve_w);
}

/* The highest curve with a floor of at most @watts, and the slope of the floor there. */
static struct end highest_curve(double watts)
{
	double kept = 1 - STEADY_PART * MODEL_FALL_TREES;
	struct end by_part = { watts / kept, kept };
	struct end by_least = { watts + STEADY_PART * MODEL_FALL_LEAST_W, 1 };

	return by_part.curve_w > by_least.curve_w ? by_part : by_least;
}

static void sort_rows(struct steady *steady, size_t feature)
{
	const struct training_task *task = steady->task;

	for (size_t i = 0; i < task->rows; i++)
		steady->rows[i] = (struct row){ .load = task->x[i * task->features + feature],
						.watts = task->y[i],
						.place = i };
	qsort(steady->rows, task->rows, sizeof(*steady->rows), compare_rows);
	for (size_t i = 0; i < task->rows; i++) {
		double watts = fmax(steady->rows[i].watts, 0);

		steady->ends[2 * i] = (struct end){ watts, 1 };
		steady->ends[2 * i + 1] = highest_curve(watts);
	}
}

/* The lowest value at which raising it stops reducing the sum of the pool's moves. */
static void find_curve(const struct steady *steady, struct pool *pool)
{
	struct end *ends = steady->ends + 2 * pool->first;
	double slope = -(double)pool->count;
	size_t i = 0;

	qsort(ends, 2 * pool->count, sizeof(*ends), compare_ends);
	while (slope + ends[i].slope < 0)
		slope += ends[i++].slope;
	pool->curve_w = ends[i].curve_w;
}

/* The end of the step that begins at @first; rows of the same load stay together. */
static size_t step_end(const struct steady *steady, size_t first)
{
	size_t rows = steady->task->rows;
	size_t end = first + (rows + STEADY_STEPS - 1) / STEADY_STEPS;

	while (end < rows && !(steady->rows[end].load > steady->rows[end - 1].load))
		end++;
	return end < rows ? end : rows;
}

static void pool_rows(struct steady *steady)
{
	size_t first = 0;

	steady->pool_count = 0;
	while (first < steady->task->rows) {
		struct pool *last = &steady->pools[steady->pool_count++];

		*last = (struct pool){ first, step_end(steady, first) - first, 0 };
		first += last->count;
		find_curve(steady, last);
		while (last > steady->pools && last[-1].curve_w > last->curve_w) {
			last[-1].count += last->count;
			last--;
			steady->pool_count--;
			find_curve(steady, last);
		}
	}
}

static double moved(double watts, double curve_w)
{
	return fmin(fmax(watts, floor_of(curve_w)), curve_w);
}

static double sum_off(const struct steady *steady)
{
	double sum = 0;

	for (size_t i = 0; i < steady->pool_count; i++) {
		const struct pool *pool = &steady->pools[i];

		for (size_t k = 0; k < pool->count; k++)
			sum += fabs(moved(steady->rows[pool->first + k].watts, pool->curve_w) -
				    steady->rows[pool->first + k].watts);
	}
	return sum;
}

static void keep_curve(struct steady *steady)
{
	for (size_t i = 0; i < steady->pool_count; i++) {
		const struct pool *pool = &steady->pools[i];

		for (size_t k = 0; k < pool->count; k++)
			steady->curve_w[steady->rows[pool->first + k].place] = pool->curve_w;
	}
}

static void try_load(struct steady *steady, size_t feature)
{
	double off_w;

	sort_rows(steady, feature);
	pool_rows(steady);
	off_w = sum_off(steady);
	if (off_w < steady->off_w) {
		steady->off_w = off_w;
		steady->load = feature;
		keep_curve(steady);
	}
}

static void steady_release(struct steady *steady)
{
	free(steady->rows);
	free(steady->ends);
	free(steady->pools);
	free(steady->curve_w);
}

int steady_rows_watts(const struct training_task *task, double *ret, size_t *ret_load)
{
	CLEANUP(steady_release)
	struct steady steady = { .task = task, .off_w = (double)INFINITY };
	bool any_load = false;

	steady.rows = calloc(task->rows, sizeof(*steady.rows));
	steady.ends = calloc(2 * task->rows, sizeof(*steady.ends));
	steady.pools = calloc(task->rows, sizeof(*steady.pools));
	steady.curve_w = calloc(task->rows, sizeof(*steady.curve_w));
	if (!steady.rows || !steady.ends || !steady.pools || !steady.curve_w)
		return -ENOMEM;
	for (size_t i = 0; task->grows && i < task->features; i++)
		any_load |= task->grows[i];
	for (size_t i = 0; i < task->features; i++) {
		if (!any_load || task->grows[i]) /* names that nothing is known of */
			try_load(&steady, i);
	}
	for (size_t i = 0; i < task->rows; i++)
		ret[i] = moved(task->y[i], steady.curve_w[i]);
	*ret_load = steady.load;
	return 0;
}
