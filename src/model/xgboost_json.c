// SPDX-License-Identifier: Apache-2.0
/*
 * A tree comes as parallel arrays over its nodes, whose children may be anywhere. Nodes are
 * numbered again, level by level, so that the two children of one are neighbours and follow it; if
 * nodes form a circle, there are not enough numbers.
 */
#include "model/xgboost_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define TREE_NODES_MAX 1000000
#define PLACE_MAX      96

/* Objectives with the sum of leaves, or its exponential, as their output. */
static const char *const plain_objectives[] = {
	"reg:squarederror",     "reg:linear",        "reg:absoluteerror",
	"reg:pseudohubererror", "reg:quantileerror",
};
static const char *const log_objectives[] = { "reg:gamma", "reg:tweedie", "count:poisson" };

/* A tree in the file's form. */
struct file_tree {
	uint32_t count;
	const json_t *left, *right, *features, *thresholds, *missing_left;
	char place[PLACE_MAX];
};

bool xgboost_json_is(const json_t *root)
{
	return json_is_object(json_object_get(root, "learner"));
}

const char *xgboost_json_feature(const json_t *root, size_t index)
{
	const json_t *names = json_object_get(json_object_get(root, "learner"), "feature_names");

	return json_string_value(json_array_get(names, index));
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static int read_objective(const struct json_source *source, const json_t *learner,
			  struct predictor *predictor)
{
	const json_t *objective;
	char name[64] = "";
	int r = json_value_object(source, learner, "learner", "objective", &objective);

	if (r == 0)
		r = json_value_text(source, objective, "learner.objective", "name", name,
				    sizeof(name));
	if (r < 0)
		return r;
	predictor->log_output = is_one_of(name, log_objectives, ARRAY_SIZE(log_objectives));
	if (!predictor->log_output &&
	    !is_one_of(name, plain_objectives, ARRAY_SIZE(plain_objectives)))
		return json_value_refuse(source, "learner.objective",
					 "\"%s\" is not a regression; train with "
					 "reg:squarederror",
					 name);
	return 0;
}

/* Numbers of the learner are text: "5E-1", from version 3 on "[5E-1]". */
static int text_number(const struct json_source *source, const json_t *object, const char *key,
		       double otherwise, double *ret)
{
	char text[64], *number = text;
	size_t len;
	int r = json_value_text(source, object, "learner.learner_model_param", key, text,
				sizeof(text));

	if (r < 0)
		return r;
	len = strlen(text);
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		number++;
	}
	if (!number[0]) {
		*ret = otherwise;
		return 0;
	}
	if (parse_double(number, ret) < 0)
		return json_value_refuse(source, "learner.learner_model_param",
					 "\"%s\" must be one number, not \"%.40s\"", key, number);
	return 0;
}

static int read_parameters(const struct json_source *source, const json_t *learner,
			   struct predictor *predictor)
{
	const json_t *parameters;
	double features = 0, classes = 0, targets = 0, base = 0;
	int r = json_value_object(source, learner, "learner", "learner_model_param", &parameters);

	if (r < 0 || (r = text_number(source, parameters, "num_feature", 0, &features)) < 0 ||
	    (r = text_number(source, parameters, "num_class", 0, &classes)) < 0 ||
	    (r = text_number(source, parameters, "num_target", 1, &targets)) < 0 ||
	    (r = text_number(source, parameters, "base_score", 0.5, &base)) < 0)
		return r;
	if (classes > 1 || targets > 1)
		return json_value_refuse(source, "learner.learner_model_param",
					 "the model has %g outputs; one file is one component",
					 classes > targets ? classes : targets);
	if (!(features >= 1 && features <= PREDICTOR_FEATURES_MAX))
		return json_value_refuse(source, "learner.learner_model_param",
					 "\"num_feature\" is %g, not 1 to %d", features,
					 PREDICTOR_FEATURES_MAX);
	if (predictor->log_output && !(base > 0))
		return json_value_refuse(source, "learner.learner_model_param",
					 "\"base_score\" is %g, not above 0", base);
	predictor->features = (size_t)features;
	predictor->trees.base = predictor->log_output ? log(base) : base;
	return 0;
}

static int find_trees(const struct json_source *source, const json_t *learner, const json_t **ret)
{
	const json_t *booster = NULL, *model = NULL;
	char name[32] = "";
	int r = json_value_object(source, learner, "learner", "gradient_booster", &booster);

	if (r == 0)
		r = json_value_text(source, booster, "learner.gradient_booster", "name", name,
				    sizeof(name));
	if (r < 0)
		return r;
	if (name[0] && strcmp(name, "gbtree") != 0)
		return json_value_refuse(source, "learner.gradient_booster",
					 "the booster \"%s\" is not read; train with gbtree", name);
	r = json_value_object(source, booster, "learner.gradient_booster", "model", &model);
	if (r < 0)
		return r;
	return json_value_array(source, model, "learner.gradient_booster.model", "trees",
				PREDICTOR_TREES_MAX, ret);
}

static int tree_array(const struct json_source *source, const json_t *json,
		      const struct file_tree *tree, const char *key, const json_t **ret)
{
	int r = json_value_array(source, json, tree->place, key, TREE_NODES_MAX, ret);

	if (r == 0 && json_array_size(*ret) != tree->count)
		return json_value_refuse(source, tree->place, "\"%s\" has %zu elements, not %u",
					 key, json_array_size(*ret), tree->count);
	return r;
}

/* A split by category has another type than 0. */
static bool has_categories(const json_t *json)
{
	const json_t *types = json_object_get(json, "split_type");

	for (size_t i = 0; i < json_array_size(types); i++) {
		if (json_integer_value(json_array_get(types, i)) != 0)
			return true;
	}
	return false;
}

static int open_tree(const struct json_source *source, const json_t *json, size_t index,
		     struct file_tree *tree)
{
	int r;

	(void)snprintf(tree->place, sizeof(tree->place),
		       "learner.gradient_booster.model.trees[%zu]", index);
	if (!json_is_object(json))
		return json_value_refuse(source, tree->place, "must be an object");
	if (has_categories(json))
		return json_value_refuse(source, tree->place,
					 "it splits by category; features must be numbers");
	r = json_value_array(source, json, tree->place, "left_children", TREE_NODES_MAX,
			     &tree->left);
	if (r < 0)
		return r;
	tree->count = (uint32_t)json_array_size(tree->left);
	if (tree->count == 0)
		return json_value_refuse(source, tree->place, "it has no node");
	if ((r = tree_array(source, json, tree, "right_children", &tree->right)) < 0 ||
	    (r = tree_array(source, json, tree, "split_indices", &tree->features)) < 0 ||
	    (r = tree_array(source, json, tree, "split_conditions", &tree->thresholds)) < 0)
		return r;
	return tree_array(source, json, tree, "default_left", &tree->missing_left);
}

/* A child's number in the file; -1: none; -2: it is not the number of a node. */
static int64_t child(const json_t *children, uint32_t node, uint32_t count)
{
	const json_t *value = json_array_get(children, node);
	json_int_t number = json_is_integer(value) ? json_integer_value(value) : -2;

	return number >= -1 && number < (json_int_t)count ? number : -2;
}

static int read_node(const struct json_source *source, const struct file_tree *tree, uint32_t node,
		     size_t features, struct tree_node *ret)
{
	const json_t *feature = json_array_get(tree->features, node);
	const json_t *threshold = json_array_get(tree->thresholds, node);
	const json_t *missing = json_array_get(tree->missing_left, node);
	double value = json_is_number(threshold) ? json_number_value(threshold) : (double)NAN;

	if (!(fabs(value) <= 3.4e38))
		return json_value_refuse(source, tree->place,
					 "\"split_conditions\"[%u] must be a finite number", node);
	if (!json_is_integer(feature) || json_integer_value(feature) < 0 ||
	    json_integer_value(feature) >= (json_int_t)features)
		return json_value_refuse(source, tree->place,
					 "\"split_indices\"[%u] must be a feature from 0 to %zu",
					 node, features - 1);
	ret->feature = (uint16_t)json_integer_value(feature);
	ret->threshold = (float)value;
	ret->missing_left = json_is_true(missing) || json_integer_value(missing) == 1;
	return 0;
}

/* Nodes that are numbered: the file's number of each; nodes from @next on have none yet. */
struct numbering {
	uint32_t *file_nodes;
	uint32_t next;
};

static int read_tree(const struct json_source *source, const struct file_tree *tree,
		     struct predictor *predictor, struct numbering *numbering)
{
	uint32_t base = (uint32_t)predictor->trees.node_count;

	numbering->file_nodes[0] = 0;
	numbering->next = 1;
	for (uint32_t i = 0; i < numbering->next; i++) {
		uint32_t node = numbering->file_nodes[i];
		int64_t left = child(tree->left, node, tree->count);
		int64_t right = child(tree->right, node, tree->count);
		struct tree_node *to = &predictor->trees.nodes[base + i];
		int r = read_node(source, tree, node, predictor->features, to);

		if (r < 0)
			return r;
		if (left == -1 && right == -1)
			continue;
		if (left < 0 || right < 0)
			return json_value_refuse(source, tree->place,
						 "node %u must have two children from 0 to %u, or "
						 "none (-1)",
						 node, tree->count - 1);
		if (numbering->next + 2 > tree->count)
			return json_value_refuse(source, tree->place,
						 "its nodes form a circle, or share children");
		to->left = base + numbering->next;
		numbering->file_nodes[numbering->next++] = (uint32_t)left;
		numbering->file_nodes[numbering->next++] = (uint32_t)right;
	}
	predictor->trees.node_count += numbering->next;
	return 0;
}

static int add_tree(const struct json_source *source, const json_t *json, size_t index,
		    struct predictor *predictor)
{
	CLEANUP_FREE uint32_t *file_nodes = NULL;
	struct numbering numbering;
	struct file_tree tree = { 0 };
	int r = open_tree(source, json, index, &tree);

	if (r < 0)
		return r;
	if (ARRAY_RESIZE(file_nodes, (size_t)tree.count) < 0)
		return -ENOMEM;
	predictor->trees.roots[index] = (uint32_t)predictor->trees.node_count;
	numbering.file_nodes = file_nodes;
	return read_tree(source, &tree, predictor, &numbering);
}

static int read_trees(const struct json_source *source, const json_t *trees,
		      struct predictor *predictor)
{
	size_t count = json_array_size(trees), nodes = 0;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		nodes +=
			json_array_size(json_object_get(json_array_get(trees, i), "left_children"));
	if (nodes > PREDICTOR_NODES_MAX)
		return json_value_refuse(source, "learner.gradient_booster.model.trees",
					 "%zu nodes, more than %d", nodes, PREDICTOR_NODES_MAX);
	predictor->trees.roots = calloc(count + 1, sizeof(*predictor->trees.roots));
	predictor->trees.nodes = calloc(nodes + 1, sizeof(*predictor->trees.nodes));
	if (!predictor->trees.roots || !predictor->trees.nodes)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_tree(source, json_array_get(trees, i), i, predictor);
	predictor->trees.root_count = count;
	return r;
}

int xgboost_json_read(const struct json_source *source, const json_t *root, struct predictor *ret)
{
	CLEANUP(predictor_release)
	struct predictor predictor = { .form = PREDICTOR_TREES, .trees = { .rate = 1 } };
	const json_t *learner = NULL, *trees = NULL;
	int r = json_value_object(source, root, "", "learner", &learner);

	if (r < 0 || (r = read_objective(source, learner, &predictor)) < 0 ||
	    (r = read_parameters(source, learner, &predictor)) < 0 ||
	    (r = find_trees(source, learner, &trees)) < 0 ||
	    (r = read_trees(source, trees, &predictor)) < 0)
		return r;
	*ret = predictor;
	predictor = (struct predictor){ 0 };
	return 0;
}
