// SPDX-License-Identifier: Apache-2.0
#include "training/blend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "training/boosting.h"
#include "training/forest.h"

#define SHARE     0.5 /* of each of the two */
#define IDLE_PART 50  /* one row in as many is added, in which nothing runs */
#define IDLE_RANK 50  /* its power is that below which one in as many rows lie */

/* Where the nodes and trees of a part begin in the whole. */
struct place {
	size_t node, root;
};

/* Copies @part behind what is there, with its rate and its share in the leaves. */
static void add_part(const struct predictor *part, struct place *place, struct predictor *whole)
{
	float factor = (float)(part->trees.rate * SHARE);

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
	whole->trees.base += part->trees.base * SHARE;
	place->node += part->trees.node_count;
	place->root += part->trees.root_count;
}

static int blend(const struct predictor *a, const struct predictor *b, struct predictor *ret)
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

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The rows, and behind them some in which nothing runs, with a power that is nearly the lowest of
 * all: numbers in *ret_x and *ret_y are given.
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
	idle_w = y[lowest];
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

int train_blended_trees(const struct training_task *task, double *stretch, struct predictor *ret,
			struct diag *diag)
{
	CLEANUP(predictor_release) struct predictor random = { .features = 0 };
	CLEANUP(predictor_release) struct predictor boosted = { .features = 0 };
	CLEANUP_FREE double *x = NULL;
	CLEANUP_FREE double *y = NULL;
	struct training_task with_idle;
	int r = add_idle_rows(task, &with_idle, &x, &y);

	if (r == 0)
		r = train_extra_trees(&with_idle, stretch, &random, diag);
	if (r == 0)
		r = train_monotone_boosting(&with_idle, stretch, &boosted, diag);
	return r < 0 ? r : blend(&random, &boosted, ret);
}
