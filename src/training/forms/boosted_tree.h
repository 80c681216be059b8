/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One tree of gradient boosting with squared error, by the exact greedy method of Chen and Guestrin
 * ("XGBoost: A Scalable Tree Boosting System", KDD 2016, algorithm 1, equations 5 to 7): each node
 * is split where Σ gradient² / (rows + penalty) of both sides grows most.
 *
 * Rows are sorted once by each feature. A split divides the rows of its node among the children, in
 * each of these orders, so that a node is always one range of each order, and a search reads it
 * from end to end. Sums are in double precision, gains, weights and thresholds in
 * single precision, and of equal gains the one of the first feature and the highest threshold
 * counts: the trees are those of libxgboost's tree_method "exact". Why this is not libxgboost
 * itself: docs/design/training-speed.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/predictor.h"
#include "training/task.h"

struct boosted_tree_rules {
	unsigned depth; /* splits from the root to a leaf, 1 … BOOSTED_TREE_DEPTH_MAX */
	float rate;     /* of a weight, in the leaf */
	float penalty;  /* of squared weights, 0 or more */
	/* [features]: weights do not fall as it grows; NULL: they may. */
	const bool *rises;
};

#define BOOSTED_TREE_DEPTH_MAX 16

/* Trees, one after the other, as in a predictor. All zero: none. free() releases @nodes. */
struct boosted_tree_nodes {
	struct tree_node *nodes;
	size_t count, size;
};

struct boosted_tree_grower;

/* @task and @rules are borrowed for the grower's life. 0 or -ENOMEM. */
int boosted_tree_grower_new(const struct training_task *task,
			    const struct boosted_tree_rules *rules,
			    struct boosted_tree_grower **ret);
void boosted_tree_grower_free(struct boosted_tree_grower *grower);
/*
 * Appends a tree to @tree that takes off @gradients [rows] (prediction - watts), and adds the leaf
 * of each row to @watts [rows]. @is_in [rows]: rows that the tree is made from; NULL: all. At least
 * one is. 0 or -ENOMEM.
 */
int boosted_tree_grow(struct boosted_tree_grower *grower, const float *gradients, const bool *is_in,
		      struct boosted_tree_nodes *tree, float *watts);
