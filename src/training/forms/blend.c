// SPDX-License-Identifier: Apache-2.0
#include "training/forms/blend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "training/forms/boosting.h"
#include "training/forms/forest.h"
#include "training/load_path.h"
#include "training/steady_rows.h"

#define IDLE_PART 50 /* one row in as many is added, in which nothing runs */
#define IDLE_RANK 50 /* its power is that below which one in as many rows lie */

#define FALL_MAX  0.5 /* of what a model of trees may fall along its load */

/* The first node and tree of a part in the whole. */
struct place {
	size_t node, root;
};

/* Appends @part, with its rate and its share of one half applied to the leaves. */
static void add_part(const struct predictor *part, struct place *place, struct predictor *whole)
{
	float factor = (float)(part->trees.rate * 0.5);

	for (size_t i = 0; i < part->trees.node_count; i++) {
		struct tree_node *node = &whole->trees.nodes[place->node + i];

		*node = part->trees.nodes[i];
		if (node->left)
			node->left += (uint32_t)place->node;
		else
			node->threshold *= factor;
	}
	for (size_t i = 0; i < part->trees.root_count; i++)
		whole->trees.roots[place->root + i] = part->trees.roots[i] + (uint32_t)place->node;
	whole->trees.base += part->trees.base * 0.5;
	place->node += part->trees.node_count;
	place->root += part->trees.root_count;
}

static int add_up(const struct predictor *a, const struct predictor *b, struct predictor *ret)
{
	struct predictor whole = { .form = PREDICTOR_TREES, .features = a->features };
	struct place place = { 0, 0 };

	whole.trees.node_count = a->trees.node_count + b->trees.node_count;
	whole.trees.root_count = a->trees.root_count + b->trees.root_count;
	whole.trees.nodes = calloc(whole.trees.node_count, sizeof(*whole.trees.nodes));
	whole.trees.roots = calloc(whole.trees.root_count, sizeof(*whole.trees.roots));
	whole.trees.rate = 1;
	if (!whole.trees.nodes || !whole.trees.roots) {
		predictor_release(&whole);
		return -ENOMEM;
	}
	add_part(a, &place, &whole);
	add_part(b, &place, &whole);
	*ret = whole;
	return 0;
}

/*
 * The rows, followed by some in which nothing runs, with a power that is nearly the lowest of all,
 * or none above idle: numbers in *ret_x and *ret_y are given.
 */
static int add_idle_rows(const struct training_task *task, struct training_task *ret,
			 double **ret_x, double **ret_y)
{
	size_t rows = task->rows + task->rows / IDLE_PART + 1, lowest = task->rows / IDLE_RANK;
	double *x = calloc(rows * task->features, sizeof(*x)), *y = calloc(rows, sizeof(*y));
	double idle_w;

	*ret_x = x;
	*ret_y = y;
	if (!x || !y)
		return -ENOMEM;
	memcpy(y, task->y, task->rows * sizeof(*y));
	qsort(y, task->rows, sizeof(*y), compare_doubles);
	idle_w = task->is_dynamic ? 0 : y[lowest];
	memcpy(y, task->y, task->rows * sizeof(*y));
	memcpy(x, task->x, task->rows * task->features * sizeof(*x));
	for (size_t i = task->rows; i < rows; i++)
		y[i] = idle_w;
	*ret = *task;
	ret->x = x;
	ret->y = y;
	ret->rows = rows;
	return 0;
}

/* Appends ratios to the rows; *ret_x is their memory, given to the caller. */
static int add_ratios(const struct training_task *task, struct training_task *ret, double **ret_x)
{
	size_t width = task->features + task->ratio_count;
	double *x = calloc(task->rows * width, sizeof(*x));

	*ret_x = x;
	if (!x)
		return -ENOMEM;
	for (size_t row = 0; row < task->rows; row++) {
		const double *from = task->x + row * task->features;
		double *to = x + row * width;

		memcpy(to, from, task->features * sizeof(*to));
		for (size_t i = 0; i < task->ratio_count; i++)
			to[task->features + i] = feature_ratio_of(&task->ratios[i], from);
	}
	*ret = *task;
	ret->x = x;
	ret->features = width;
	ret->is_load = NULL;
	return 0;
}

/* Ratios are no longer features of their own, but follow from the first @task->features. */
static void name_ratios(const struct training_task *task, struct predictor *predictor)
{
	predictor->features = task->features;
	predictor->trees.ratio_count = task->ratio_count;
	for (size_t i = 0; i < task->ratio_count; i++)
		predictor->trees.ratios[i] = task->ratios[i];
}

static int train_parts(const struct blend *recipe, const struct training_task *task,
		       struct predictor *ret, struct diag *diag)
{
	CLEANUP(predictor_release) struct predictor random = { .features = 0 };
	CLEANUP(predictor_release) struct predictor boosted = { .features = 0 };
	int r;

	if (!recipe->boosting)
		return train_forest(&recipe->forest, task, ret, diag);
	r = train_forest(&recipe->forest, task, &random, diag);
	if (r == 0)
		r = train_boosting(recipe->boosting, task, &boosted, diag);
	return r < 0 ? r : add_up(&random, &boosted, ret);
}

static int train_on(const struct blend *recipe, const struct training_task *task,
		    struct predictor *ret, struct diag *diag)
{
	CLEANUP_FREE double *x = NULL;
	struct training_task with_ratios;
	int r;

	if (!recipe->with_ratios)
		return train_parts(recipe, task, ret, diag);
	r = add_ratios(task, &with_ratios, &x);
	if (r == 0)
		r = train_parts(recipe, &with_ratios, ret, diag);
	if (r == 0)
		name_ratios(task, ret);
	return r;
}

/* Appends rows of the load path; memory is given as by add_idle_rows(). */
static int add_path_rows(const struct training_task *task, const struct predictor *predictor,
			 struct training_task *ret, double **ret_x, double **ret_y)
{
	size_t most = task->rows + LOAD_PATH_ROWS;
	double *x = calloc(most * task->features, sizeof(*x)), *y = calloc(most, sizeof(*y));

	*ret_x = x;
	*ret_y = y;
	if (!x || !y)
		return -ENOMEM;
	memcpy(x, task->x, task->rows * task->features * sizeof(*x));
	memcpy(y, task->y, task->rows * sizeof(*y));
	*ret = *task;
	ret->x = x;
	ret->y = y;
	ret->rows +=
		load_path_rows(task, predictor, x + task->rows * task->features, y + task->rows);
	return 0;
}

/* A predictor that falls along the load is trained again, with rows of that path. */
static int train(const struct blend *recipe, const struct training_task *task,
		 struct predictor *ret, struct diag *diag)
{
	CLEANUP(predictor_release) struct predictor first = { .features = 0 };
	CLEANUP_FREE double *x = NULL;
	CLEANUP_FREE double *y = NULL;
	CLEANUP_FREE double *path_x = NULL;
	CLEANUP_FREE double *path_y = NULL;
	struct training_task with_idle, with_path;
	int r = add_idle_rows(task, &with_idle, &x, &y);

	if (r == 0)
		r = train_on(recipe, &with_idle, &first, diag);
	if (r < 0)
		return r;
	if (!recipe->with_ratios || load_path_fall(task, &first) < FALL_MAX) {
		*ret = first;
		first = (struct predictor){ .features = 0 };
		return 0;
	}
	r = add_path_rows(&with_idle, &first, &with_path, &path_x, &path_y);
	return r < 0 ? r : train_on(recipe, &with_path, ret, diag);
}

/* Trees cannot split at a feature that is 0 in each row. */
static int train_steady(const struct blend *recipe, const struct training_task *task,
			struct predictor *ret, struct diag *diag)
{
	CLEANUP_FREE double *x = calloc(task->rows * task->features, sizeof(*x));
	CLEANUP_FREE double *y = calloc(task->rows, sizeof(*y));
	struct training_task steady = *task;
	size_t load;
	int r = x && y ? steady_rows_watts(task, y, &load) : -ENOMEM;

	if (r < 0)
		return r;
	steady.y = y;
	for (size_t i = load; i < task->rows * task->features; i += task->features)
		x[i] = task->x[i];
	if (recipe->only_load) {
		steady.x = x;
		steady.ratio_count = 0;
	}
	return train(recipe, &steady, ret, diag);
}

int train_blend(const void *plan, const struct training_task *task, struct predictor *ret,
		struct diag *diag)
{
	const struct blend *recipe = plan;

	return recipe->is_steady ? train_steady(recipe, task, ret, diag)
				 : train(recipe, task, ret, diag);
}
