/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees in an arrangement in which one row is evaluated fast: which leaf each tree has for a row,
 * exactly as a walk from its root finds it. Pure; an evaluation allocates nothing.
 *
 * After C. Lucchese et al., "QuickScorer: A Fast Algorithm to Rank Documents with Additive
 * Ensembles of Regression Trees", SIGIR 2015: no tree is walked from its root. The upper part of
 * each tree has up to 64 exits, a bit each, the leftmost the lowest. A split that sends a row to
 * the right takes the exits on its left away, and the lowest exit that is left is the row's. Of
 * the splits by one feature in the order of their thresholds, those that send a row to the right
 * are the first ones; how many is found by binary search, and what they take away together is kept
 * for each 32nd of them. An exit is a leaf, or in a larger tree the root of a rest that is walked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/tree_node.h"

#define PREPARED_TREES_MAX    1024
#define PREPARED_FEATURES_MAX 128

struct prepared_trees;

/*
 * @nodes and @roots are those of a predictor that has passed its check; the result does not refer
 * to them. 0; -ENOMEM; -ENOTSUP when there are no trees or more than PREPARED_TREES_MAX, when what
 * is below an exit has more than 65,535 nodes, or when trees share nodes: then they are to be
 * walked.
 */
int prepared_trees_new(const struct tree_node *nodes, size_t node_count, const uint32_t *roots,
		       size_t root_count, size_t features, struct prepared_trees **ret);
/* Takes NULL. */
void prepared_trees_free(struct prepared_trees *trees);
/* The value of each tree's leaf, into @ret [root_count], for @row [features]; NaN: missing. */
void prepared_trees_leaves(const struct prepared_trees *trees, const float *row, float *ret);
/* Bytes of memory that they occupy. */
size_t prepared_trees_size(const struct prepared_trees *trees);
