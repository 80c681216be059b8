/* SPDX-License-Identifier: Apache-2.0 */
/* A repository of models on disk, for tests: files of our own, below a directory of its own. */
#pragma once

#include <stddef.h>

/* Weights of a line from 10 W, up to 30 W at 1,000 ms/s, of component "package". */
extern const char model_tree_weights[];
/* A row of a table, and the head of it. */
extern const char model_tree_table_head[];

struct model_tree {
	char path[64];
};

int model_tree_new(void **state);  /* a setup of cmocka: *state becomes the tree */
int model_tree_free(void **state); /* its teardown */
/* Writes @data to @file below the tree, and makes the directories above it. */
void model_tree_put(const struct model_tree *tree, const char *file, const void *data, size_t len);
void model_tree_put_text(const struct model_tree *tree, const char *file, const char *text);
/* An archive of XGBoost trees that give @low W below half of the scale and @high W above. */
void model_tree_put_trees(const struct model_tree *tree, const char *file, const char *name,
			  double low, double high);
