// SPDX-License-Identifier: Apache-2.0
/*
 * A tree grows by levels, so that children lie side by side and behind their parent, as a predictor
 * has them. The rows of a node are a range of one array of indices, which a split sorts into two.
 */
#include "training/forms/forest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "training/random.h"

struct range {
	uint32_t first, count;
};

struct grower {
	const struct training_task *task;
	struct random random;
	uint32_t *rows;       /* [task->rows] */
	struct range *ranges; /* one a node of the tree that grows */
	size_t ranges_size;
	struct tree_node *nodes;
	size_t count, size, root;
	size_t leaf_min;
};

struct split {
	size_t feature;
	float threshold;
	double gain;
};

static double value_of(const struct grower *grower, uint32_t row, size_t feature)
{
	/* As the predictor sees it. */
	return (double)(float)grower->task->x[row * grower->task->features + feature];
}

static double mean_of(const struct grower *grower, struct range range)
{
	double sum = 0;

	for (uint32_t i = 0; i < range.count; i++)
		sum += grower->task->y[grower->rows[range.first + i]];
	return sum / range.count;
}

/* The decrease of the sum of squares by a threshold; below 0: a side has too few rows. */
static double gain_of(const struct grower *grower, struct range range, double mean, size_t feature,
		      float threshold)
{
	double sum = 0;
	uint32_t left = 0, right;

	for (uint32_t i = 0; i < range.count; i++) {
		uint32_t row = grower->rows[range.first + i];

		if (value_of(grower, row, feature) < (double)threshold) {
			sum += grower->task->y[row] - mean;
			left++;
		}
	}
	right = range.count - left;
	if (left < grower->leaf_min || right < grower->leaf_min)
		return -1;
	return sum * sum / left + sum * sum / right;
}

static void try_feature(struct grower *grower, struct range range, double mean, size_t feature,
			struct split *best)
{
	double low = value_of(grower, grower->rows[range.first], feature), high = low, gain;
	float threshold;

	for (uint32_t i = 1; i < range.count; i++) {
		double value = value_of(grower, grower->rows[range.first + i], feature);

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	if (!(low < high))
		return;
	threshold = (float)(low + random_part(&grower->random) * (high - low));
	gain = gain_of(grower, range, mean, feature, threshold);
	if (gain > best->gain)
		*best = (struct split){ feature, threshold, gain };
}

/* Rows that go left come first; how many there are. */
static uint32_t sort_rows(struct grower *grower, struct range range, const struct split *split)
{
	uint32_t *rows = grower->rows + range.first;
	uint32_t left = 0;

	for (uint32_t i = 0; i < range.count; i++) {
		uint32_t row = rows[i];

		if (value_of(grower, row, split->feature) < (double)split->threshold) {
			rows[i] = rows[left];
			rows[left++] = row;
		}
	}
	return left;
}

static int add_node(struct grower *grower, uint32_t first, uint32_t count)
{
	size_t place = grower->count - grower->root;

	if (ARRAY_RESERVE(grower->nodes, grower->size, grower->count + 1) < 0 ||
	    ARRAY_RESERVE(grower->ranges, grower->ranges_size, place + 1) < 0)
		return -ENOMEM;
	grower->ranges[place] = (struct range){ first, count };
	grower->nodes[grower->count++] = (struct tree_node){ .left = 0 };
	return 0;
}

static int grow_node(struct grower *grower, size_t index)
{
	struct range range = grower->ranges[index - grower->root];
	double mean = mean_of(grower, range);
	struct split best = { .gain = 1e-12 };
	uint32_t left;
	int r;

	grower->nodes[index].threshold = (float)mean;
	if (range.count < 2 * grower->leaf_min)
		return 0;
	for (size_t i = 0; i < grower->task->features; i++)
		try_feature(grower, range, mean, i, &best);
	if (best.gain <= 1e-12)
		return 0;
	left = sort_rows(grower, range, &best);
	grower->nodes[index] = (struct tree_node){ .left = (uint32_t)grower->count,
						   .feature = (uint16_t)best.feature,
						   .threshold = best.threshold };
	r = add_node(grower, range.first, left);
	return r < 0 ? r : add_node(grower, range.first + left, range.count - left);
}

static int grow_tree(struct grower *grower)
{
	int r;

	grower->root = grower->count;
	for (uint32_t i = 0; i < grower->task->rows; i++)
		grower->rows[i] = i;
	r = add_node(grower, 0, (uint32_t)grower->task->rows);
	for (size_t i = grower->root; r == 0 && i < grower->count; i++)
		r = grow_node(grower, i);
	return r;
}

static void grower_release(struct grower *grower)
{
	free(grower->rows);
	free(grower->ranges);
	free(grower->nodes);
}

int train_forest(const void *userdata, const struct training_task *task, struct predictor *ret,
		 struct diag *diag)
{
	const struct forest_plan *plan = userdata;
	CLEANUP(grower_release) struct grower grower = { .task = task };
	CLEANUP_FREE uint32_t *roots = calloc(plan->trees, sizeof(*roots));
	int r = 0;

	(void)diag;
	grower.random.state = task->seed;
	grower.leaf_min = (task->rows + plan->leaves_max - 1) / plan->leaves_max;
	grower.rows = calloc(task->rows, sizeof(*grower.rows));
	if (!roots || !grower.rows)
		return -ENOMEM;
	for (size_t tree = 0; r == 0 && tree < plan->trees; tree++) {
		roots[tree] = (uint32_t)grower.count;
		r = grow_tree(&grower);
	}
	if (r < 0)
		return r;
	*ret = (struct predictor){ .form = PREDICTOR_TREES, .features = task->features };
	ret->trees.nodes = TAKE_PTR(grower.nodes);
	ret->trees.node_count = grower.count;
	ret->trees.roots = TAKE_PTR(roots);
	ret->trees.root_count = plan->trees;
	ret->trees.rate = 1.0 / plan->trees;
	return 0;
}
