// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves beside those of a plain walk from each root, of random forests and rows: thresholds that
 * rows have exactly, both zeros, infinities, missing values, trees of a single leaf, of more leaves
 * than there are exits, and chains that are deeper than any balanced tree.
 */
#include "model/prepared_trees.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "model/predictor.h"

#define FEATURES  9
#define NODES_MAX 60000
#define ROWS      60
#define STEPS     50 /* different thresholds of a feature */

struct forest {
	struct tree_node nodes[NODES_MAX];
	uint32_t roots[PREPARED_TREES_MAX];
	size_t node_count, root_count;
};

static struct forest forest;
static uint64_t seed = 88172645463325252U;

static uint32_t chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

/* Of a threshold, or of a row. */
static float number(void)
{
	return ((float)chance(STEPS) - STEPS / 2.0F) / 4;
}

static void add_node(float value)
{
	assert_true(forest.node_count < NODES_MAX);
	forest.nodes[forest.node_count++] = (struct tree_node){ .threshold = value };
}

static void split(size_t node, bool or_equal)
{
	forest.nodes[node] = (struct tree_node){
		.left = (uint32_t)forest.node_count,
		.feature = (uint16_t)chance(FEATURES),
		.missing_left = chance(2) == 0,
		.or_equal = or_equal,
		.threshold = number(),
	};
	add_node((float)forest.node_count);
	add_node((float)forest.node_count);
}

/* @leaves of them; @is_chain: below one side of each node is a leaf. */
static void add_tree(size_t leaves, bool is_chain, bool or_equal)
{
	size_t root = forest.node_count, next = root;

	forest.roots[forest.root_count++] = (uint32_t)root;
	add_node((float)root);
	for (size_t i = 1; i < leaves; i++) {
		split(next, or_equal);
		next = is_chain ? forest.node_count - 1 - chance(2) : next + 1;
	}
	for (size_t i = root; i < forest.node_count; i++)
		forest.nodes[i].or_equal = or_equal;
}

static float walk(uint32_t at, const float *row)
{
	const struct tree_node *node = &forest.nodes[at];
	float value = row[node->feature];
	bool left = node->or_equal ? value <= node->threshold : value < node->threshold;

	if (!node->left)
		return node->threshold;
	return walk(node->left + !(isnan(value) ? node->missing_left : left), row);
}

static void make_row(float *row, bool lacks_some)
{
	static const float special[] = { -0.0F, 0, INFINITY, -INFINITY, 3.4e38F, -3.4e38F, 1e-45F };

	for (size_t i = 0; i < FEATURES; i++) {
		row[i] = chance(5) ? number() : special[chance(ARRAY_SIZE(special))];
		if (lacks_some && chance(4) == 0)
			row[i] = NAN;
	}
}

static void assert_leaves_are_those_of_a_walk(void)
{
	struct prepared_trees *prepared;
	float leaves[PREPARED_TREES_MAX], row[FEATURES];

	assert_int_equal(prepared_trees_new(forest.nodes, forest.node_count, forest.roots,
					    forest.root_count, FEATURES, &prepared),
			 0);
	for (size_t i = 0; i < ROWS; i++) {
		make_row(row, i % 2);
		prepared_trees_leaves(prepared, row, leaves);
		for (size_t tree = 0; tree < forest.root_count; tree++) {
			float walked = walk(forest.roots[tree], row);

			if (leaves[tree] < walked || leaves[tree] > walked)
				fail_msg("row %zu, tree %zu: leaf %g, not %g", i, tree,
					 (double)leaves[tree], (double)walked);
		}
	}
	prepared_trees_free(prepared);
}

static void clear(void)
{
	forest.node_count = forest.root_count = 0;
}

static void test_random_forests(void **state)
{
	(void)state;
	for (size_t round = 0; round < 60; round++) {
		size_t trees = 1 + chance(40);

		clear();
		for (size_t i = 0; i < trees; i++)
			add_tree(1 + chance(chance(3) ? 64 : 900), chance(4) == 0, round % 2);
		assert_leaves_are_those_of_a_walk();
	}
}

/* As many leaves as exits, one more, and one less, in the order that decides what is walked. */
static void test_sizes_around_the_exits(void **state)
{
	(void)state;
	for (size_t leaves = 63; leaves <= 66; leaves++) {
		clear();
		add_tree(1, false, false);
		add_tree(leaves, false, false);
		add_tree(2, false, false);
		assert_leaves_are_those_of_a_walk();
	}
}

/* States end with a block of trees, and are kept after so many splits. */
static void test_sizes_around_states(void **state)
{
	(void)state;
	for (size_t trees = 1; trees <= 40; trees++) {
		clear();
		for (size_t i = 0; i < trees; i++)
			add_tree(FEATURES + 8, false, true);
		assert_leaves_are_those_of_a_walk();
	}
}

static void test_trees_without_splits(void **state)
{
	(void)state;
	clear();
	for (size_t i = 0; i < 3; i++)
		add_tree(1, false, false);
	assert_leaves_are_those_of_a_walk();
}

static int make(struct prepared_trees **ret)
{
	return prepared_trees_new(forest.nodes, forest.node_count, forest.roots, forest.root_count,
				  FEATURES, ret);
}

static void test_what_is_left_to_a_walk(void **state)
{
	struct prepared_trees *prepared;

	(void)state;
	clear();
	assert_int_equal(make(&prepared), -ENOTSUP); /* no trees */
	add_tree(200, false, false);
	forest.roots[forest.root_count++] = forest.roots[0];
	assert_int_equal(make(&prepared), -ENOTSUP); /* its rests twice */
	clear();
	for (size_t i = 0; i < PREPARED_TREES_MAX; i++)
		add_tree(1, false, false);
	assert_int_equal(make(&prepared), 0);
	prepared_trees_free(prepared);
	forest.root_count = PREPARED_TREES_MAX;
	assert_int_equal(prepared_trees_new(forest.nodes, forest.node_count, forest.roots,
					    PREPARED_TREES_MAX + 1, FEATURES, &prepared),
			 -ENOTSUP);
	assert_int_equal(prepared_trees_new(forest.nodes, forest.node_count, forest.roots, 1,
					    PREPARED_FEATURES_MAX + 1, &prepared),
			 -ENOTSUP);
}

/* Each node has one child twice, below which are 2^40 leaves. */
static void test_nodes_that_are_shared(void **state)
{
	struct prepared_trees *prepared;

	(void)state;
	clear();
	forest.roots[forest.root_count++] = 0;
	for (uint32_t i = 0; i < 80; i++) {
		add_node(number());
		forest.nodes[i].left = i / 2 * 2 + 2;
	}
	add_node(1);
	add_node(2);
	assert_int_equal(make(&prepared), -ENOTSUP);
}

static void test_its_size(void **state)
{
	struct prepared_trees *prepared;

	(void)state;
	clear();
	add_tree(900, false, false);
	assert_int_equal(make(&prepared), 0);
	/* 64 exits of 4 bytes; of 64 rests the nodes that are no splits above, 8 bytes each. */
	assert_in_range(prepared_trees_size(prepared), 64 * 4 + (2 * 900 - 1 - 63) * 8, 20000);
	prepared_trees_free(prepared);
	prepared_trees_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_forests),
		cmocka_unit_test(test_sizes_around_the_exits),
		cmocka_unit_test(test_sizes_around_states),
		cmocka_unit_test(test_trees_without_splits),
		cmocka_unit_test(test_what_is_left_to_a_walk),
		cmocka_unit_test(test_nodes_that_are_shared),
		cmocka_unit_test(test_its_size),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
