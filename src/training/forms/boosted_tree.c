// SPDX-License-Identifier: Apache-2.0
#include "training/forms/boosted_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define GAIN_MIN 1e-6F /* a split must gain more */

struct sorted_value {
	float value;
	uint32_t row;
};

/* A node of the level that grows: a range of each order, and limits of its weight. */
struct growing_node {
	uint32_t first, count;
	uint32_t index; /* among the nodes of all trees */
	double sum;     /* of its rows' gradients */
	float lowest, highest;
};

struct split {
	size_t column;
	uint32_t above; /* rows that go right: the first ones of the column's order */
	double sum;     /* of their gradients */
	float gain;
};

struct boosted_tree_grower {
	const struct training_task *task;
	const struct boosted_tree_rules *rules;
	size_t columns;                 /* features that vary */
	uint16_t *features;             /* [columns] */
	struct sorted_value *sorted;    /* columns × rows, the largest value first */
	struct sorted_value *orders[2]; /* columns × rows, by node: of this level and the next */
	double *share;                  /* [rows + 1]: 1 / (rows + penalty); of no row 0 */
	bool *goes_right;               /* [rows] */
	struct growing_node *levels[2]; /* nodes of this level and the next */
	size_t levels_size[2];
	size_t rows; /* that the tree is made from */
	const float *gradients;
};

static int compare_values(const void *a, const void *b)
{
	const struct sorted_value *x = a, *y = b;

	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

static void sort_columns(struct boosted_tree_grower *grower)
{
	const struct training_task *task = grower->task;

	for (size_t feature = 0; feature < task->features; feature++) {
		struct sorted_value *order = grower->sorted + grower->columns * task->rows;

		for (size_t row = 0; row < task->rows; row++)
			order[row] = (struct sorted_value){
				(float)task->x[row * task->features + feature], (uint32_t)row
			};
		qsort(order, task->rows, sizeof(*order), compare_values);
		if (order[0].value > order[task->rows - 1].value)
			grower->features[grower->columns++] = (uint16_t)feature;
	}
}

int boosted_tree_grower_new(const struct training_task *task,
			    const struct boosted_tree_rules *rules,
			    struct boosted_tree_grower **ret)
{
	size_t rows = task->rows, numbers = rows * task->features;
	struct boosted_tree_grower *grower = calloc(1, sizeof(*grower));

	if (!grower)
		return -ENOMEM;
	grower->task = task;
	grower->rules = rules;
	grower->features = calloc(task->features, sizeof(*grower->features));
	grower->sorted = calloc(numbers, sizeof(*grower->sorted));
	grower->orders[0] = calloc(numbers, sizeof(*grower->sorted));
	grower->orders[1] = calloc(numbers, sizeof(*grower->sorted));
	grower->share = calloc(rows + 1, sizeof(*grower->share));
	grower->goes_right = calloc(rows, sizeof(*grower->goes_right));
	if (!grower->features || !grower->sorted || !grower->orders[0] || !grower->orders[1] ||
	    !grower->share || !grower->goes_right) {
		boosted_tree_grower_free(grower);
		return -ENOMEM;
	}
	for (size_t i = 1; i <= rows; i++)
		grower->share[i] = 1 / ((double)i + (double)rules->penalty);
	sort_columns(grower);
	*ret = grower;
	return 0;
}

void boosted_tree_grower_free(struct boosted_tree_grower *grower)
{
	if (!grower)
		return;
	free(grower->features);
	free(grower->sorted);
	free(grower->share);
	free(grower->goes_right);
	for (size_t i = 0; i < ARRAY_SIZE(grower->orders); i++) {
		free(grower->orders[i]);
		free(grower->levels[i]);
	}
	free(grower);
}

/* The weight of @count rows with this sum of gradients, within the node's limits. */
static float weight_of(const struct boosted_tree_grower *grower, const struct growing_node *node,
		       double sum, uint32_t count)
{
	float weight = (float)(-sum * grower->share[count]);

	if (weight < node->lowest)
		return node->lowest;
	return weight > node->highest ? node->highest : weight;
}

/* The gain of rows with this weight, which need not be the best one. */
static float gain_of(const struct boosted_tree_grower *grower, double sum, uint32_t count,
		     float weight)
{
	float rows = (float)count + grower->rules->penalty;

	return -(2 * (float)sum * weight + rows * (weight * weight));
}

/*
 * The gain of rows with the best weight, as libxgboost rounds it: a square in single precision,
 * divided in single precision. Multiplying by a reciprocal in double precision gives the same
 * result.
 */
static inline float best_gain(double sum, double share)
{
	return (float)((double)(float)(sum * sum) * share);
}

/*
 * The best place to split a node's range @order: the highest sum of both sides' gains into
 * *ret_above and *ret_sum, below 0 if its values are all equal.
 */
static float search(const struct boosted_tree_grower *grower, const struct growing_node *node,
		    const struct sorted_value *order, uint32_t *ret_above, double *ret_sum)
{
	const double *above = grower->share + 1, *below = grower->share + node->count - 1;
	const float *gradients = grower->gradients;
	double sum = 0, total = node->sum;
	float highest = -1;

	for (uint32_t i = 0; i + 1 < node->count; i++) {
		float gain;

		sum += (double)gradients[order[i].row];
		gain = best_gain(sum, *above++) + best_gain(total - sum, *below--);
		if (gain > highest && order[i].value > order[i + 1].value) {
			highest = gain;
			*ret_above = i + 1;
			*ret_sum = sum;
		}
	}
	return highest;
}

/* The same with limits of weights and @rises: the rows above must not have the lower weight. */
static float search_limited(const struct boosted_tree_grower *grower,
			    const struct growing_node *node, const struct sorted_value *order,
			    bool rises, uint32_t *ret_above, double *ret_sum)
{
	double sum = 0;
	float highest = -(float)INFINITY;

	for (uint32_t i = 0; i + 1 < node->count; i++) {
		float low, high, gain;

		sum += (double)grower->gradients[order[i].row];
		if (!(order[i].value > order[i + 1].value))
			continue;
		low = weight_of(grower, node, node->sum - sum, node->count - i - 1);
		high = weight_of(grower, node, sum, i + 1);
		gain = gain_of(grower, node->sum - sum, node->count - i - 1, low) +
		       gain_of(grower, sum, i + 1, high);
		if (gain > highest && (!rises || low <= high)) {
			highest = gain;
			*ret_above = i + 1;
			*ret_sum = sum;
		}
	}
	return highest;
}

static bool rises_with(const struct boosted_tree_grower *grower, size_t column)
{
	return grower->rules->rises && grower->rules->rises[grower->features[column]];
}

static struct split find_split(const struct boosted_tree_grower *grower,
			       const struct growing_node *node, const struct sorted_value *orders)
{
	struct split best = { .gain = GAIN_MIN };
	float alone = grower->rules->rises
			      ? gain_of(grower, node->sum, node->count,
					weight_of(grower, node, node->sum, node->count))
			      : best_gain(node->sum, grower->share[node->count]);

	for (size_t column = 0; node->count > 1 && column < grower->columns; column++) {
		const struct sorted_value *order = orders + column * grower->rows + node->first;
		struct split found = { .column = column };
		float sides =
			grower->rules->rises
				? search_limited(grower, node, order, rises_with(grower, column),
						 &found.above, &found.sum)
				: search(grower, node, order, &found.above, &found.sum);

		found.gain = (float)((double)sides - (double)alone);
		if (found.above && found.gain > best.gain)
			best = found;
	}
	return best;
}

static void add_leaf(const struct sorted_value *order, uint32_t count, float leaf, float *watts)
{
	for (uint32_t i = 0; i < count; i++)
		watts[order[i].row] += leaf;
}

/* Divides the rows of a node among its children, the rows below first, in each order. */
static void divide(struct boosted_tree_grower *grower, const struct growing_node *node,
		   const struct split *split, const struct sorted_value *orders,
		   struct sorted_value *ret)
{
	bool *goes_right = grower->goes_right;
	size_t place = split->column * grower->rows + node->first;

	for (uint32_t i = 0; i < node->count; i++)
		goes_right[orders[place + i].row] = i < split->above;
	for (size_t column = 0; column < grower->columns; column++) {
		const struct sorted_value *from = orders + column * grower->rows + node->first;
		struct sorted_value *sides[2];

		sides[0] = ret + column * grower->rows + node->first;
		sides[1] = sides[0] + node->count - split->above;
		for (uint32_t i = 0; i < node->count; i++) {
			bool right = goes_right[from[i].row];

			*sides[right] = from[i];
			sides[right]++;
		}
	}
}

/* Between the values on both sides, or the higher one if no number is between them. */
static float threshold_of(const struct sorted_value *order, uint32_t above)
{
	float high = order[above - 1].value, low = order[above].value;
	float middle = (high + low) * 0.5F;

	return middle > low ? middle : high;
}

static int add_node(struct boosted_tree_nodes *tree)
{
	if (ARRAY_RESERVE(tree->nodes, tree->size, tree->count + 1) < 0)
		return -ENOMEM;
	tree->nodes[tree->count++] = (struct tree_node){ .missing_left = true };
	return 0;
}

/* The two children of a split node; their limits meet halfway if weights must rise. */
static void make_children(const struct boosted_tree_grower *grower, const struct growing_node *node,
			  const struct split *split, struct growing_node *ret)
{
	uint32_t below = node->count - split->above;

	ret[0] = ret[1] = *node;
	ret[0].count = below;
	ret[0].sum = node->sum - split->sum;
	ret[1].first = node->first + below;
	ret[1].count = split->above;
	ret[1].sum = split->sum;
	if (rises_with(grower, split->column)) {
		float middle = (weight_of(grower, node, ret[0].sum, below) +
				weight_of(grower, node, split->sum, split->above)) /
			       2;

		ret[0].highest = ret[1].lowest = middle;
	}
}

static float leaf_of(const struct boosted_tree_grower *grower, const struct growing_node *node)
{
	return weight_of(grower, node, node->sum, node->count) * grower->rules->rate;
}

/*
 * Splits one node of a level, if that gains, and puts its children after the *@count nodes of the
 * next level; nodes of the last level are leaves at once.
 */
static int grow_node(struct boosted_tree_grower *grower, const struct growing_node *node,
		     unsigned level, const struct sorted_value *orders,
		     struct boosted_tree_nodes *tree, size_t *count, float *watts)
{
	unsigned next = (level + 1) % 2;
	struct split split = find_split(grower, node, orders);
	const struct sorted_value *order = orders + split.column * grower->rows + node->first;
	struct growing_node *children;

	if (!split.above) {
		tree->nodes[node->index].threshold = leaf_of(grower, node);
		if (grower->columns)
			add_leaf(order, node->count, tree->nodes[node->index].threshold, watts);
		return 0;
	}
	if (ARRAY_RESERVE(grower->levels[next], grower->levels_size[next], *count + 2) < 0)
		return -ENOMEM;
	children = grower->levels[next] + *count;
	make_children(grower, node, &split, children);
	tree->nodes[node->index].left = (uint32_t)tree->count;
	tree->nodes[node->index].feature = grower->features[split.column];
	tree->nodes[node->index].threshold = threshold_of(order, split.above);
	for (unsigned i = 0; i < 2; i++) {
		children[i].index = (uint32_t)tree->count;
		if (add_node(tree) < 0)
			return -ENOMEM;
	}
	if (level + 1 < grower->rules->depth) {
		divide(grower, node, &split, orders, grower->orders[next]);
		*count += 2;
		return 0;
	}
	/* In the order of the split's own feature the rows above come first. */
	for (unsigned i = 0; i < 2; i++) {
		float leaf = leaf_of(grower, &children[i]);

		tree->nodes[children[i].index].threshold = leaf;
		add_leaf(i ? order : order + split.above, children[i].count, leaf, watts);
	}
	return 0;
}

/* The orders of the rows that a tree is made from; grower->rows becomes their number. */
static const struct sorted_value *take_rows(struct boosted_tree_grower *grower, const bool *is_in)
{
	size_t rows = grower->task->rows, count = 0;

	grower->rows = rows;
	if (!is_in)
		return grower->sorted;
	for (size_t i = 0; i < rows * grower->columns; i++) {
		if (is_in[grower->sorted[i].row])
			grower->orders[0][count++] = grower->sorted[i];
	}
	grower->rows = 0;
	for (size_t i = 0; i < rows; i++)
		grower->rows += is_in[i];
	return grower->orders[0];
}

static struct growing_node make_root(const struct boosted_tree_grower *grower, const bool *is_in,
				     size_t index)
{
	struct growing_node root = { .count = (uint32_t)grower->rows,
				     .index = (uint32_t)index,
				     .lowest = -(float)INFINITY,
				     .highest = (float)INFINITY };

	for (size_t i = 0; i < grower->task->rows; i++) {
		if (!is_in || is_in[i])
			root.sum += (double)grower->gradients[i];
	}
	return root;
}

/* The leaves of rows that are in no order: the tree is not made from them, or nothing varies. */
static void walk_rows(const struct boosted_tree_grower *grower, const bool *is_in,
		      const struct boosted_tree_nodes *tree, size_t root, float *watts)
{
	const struct training_task *task = grower->task;

	if (!is_in && grower->columns)
		return;
	for (size_t i = 0; i < task->rows; i++) {
		const struct tree_node *node = &tree->nodes[root];

		if (is_in && is_in[i] && grower->columns)
			continue;
		while (node->left) {
			float value = (float)task->x[i * task->features + node->feature];

			node = &tree->nodes[node->left + !(value < node->threshold)];
		}
		watts[i] += node->threshold;
	}
}

int boosted_tree_grow(struct boosted_tree_grower *grower, const float *gradients, const bool *is_in,
		      struct boosted_tree_nodes *tree, float *watts)
{
	const struct sorted_value *orders = take_rows(grower, is_in);
	size_t root = tree->count, count = 1;

	grower->gradients = gradients;
	if (ARRAY_RESERVE(grower->levels[0], grower->levels_size[0], 1) < 0 || add_node(tree) < 0)
		return -ENOMEM;
	grower->levels[0][0] = make_root(grower, is_in, root);
	for (unsigned level = 0; count > 0; level++) {
		size_t next = 0;

		for (size_t i = 0; i < count; i++) {
			if (grow_node(grower, &grower->levels[level % 2][i], level, orders, tree,
				      &next, watts) < 0)
				return -ENOMEM;
		}
		orders = grower->orders[(level + 1) % 2];
		count = next;
	}
	walk_rows(grower, is_in, tree, root, watts);
	return 0;
}
