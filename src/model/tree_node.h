/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of a regression tree, as training makes it and files hold it; predictor.h owns trees.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A leaf has left == 0: no tree's root is a child. Children stand behind their parent, so that a
 * walk ends.
 */
struct tree_node {
	uint32_t left;     /* index among all nodes; right is left + 1 */
	uint16_t feature;  /* from predictor.features on: a ratio */
	bool missing_left; /* a value that is NaN goes left */
	/*
	 * Left at x <= threshold (scikit-learn), else at x < it (XGBoost); the same in all nodes.
	 */
	bool or_equal;
	float threshold; /* a leaf's value */
};
