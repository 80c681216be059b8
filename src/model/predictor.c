// SPDX-License-Identifier: Apache-2.0
/*
 * A step down a tree depends on the step before it, so that one tree at a time leaves most of a
 * processor waiting. Several trees are descended side by side, without branches that depend on the
 * row: a leaf is its own next node, until all of them have reached one.
 */
#include "model/predictor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exp_block.h"
#include "base/macro.h"

#define TREES_AT_ONCE 10
/* So that arguments that are constant cost nothing. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The sum of leaves: as XGBoost adds them up, and as scikit-learn does. */
struct tree_sum {
	float single;
	double full;
};

static const char *const form_names[] = {
	[PREDICTOR_LINEAR] = "linear",           [PREDICTOR_POLYNOMIAL] = "polynomial",
	[PREDICTOR_LOGARITHMIC] = "logarithmic", [PREDICTOR_LOGISTIC] = "logistic",
	[PREDICTOR_EXPONENTIAL] = "exponential", [PREDICTOR_TREES] = "trees",
	[PREDICTOR_NEIGHBOURS] = "neighbours",   [PREDICTOR_KERNEL] = "kernel",
};

_Static_assert(ARRAY_SIZE(form_names) == PREDICTOR_FORM_COUNT, "each form has a name");

const char *predictor_form_name(enum predictor_form form)
{
	return form < PREDICTOR_FORM_COUNT ? form_names[form] : "unknown";
}

enum predictor_form predictor_form_find(const char *name)
{
	unsigned form = 0;

	while (form < PREDICTOR_FORM_COUNT && strcmp(form_names[form], name) != 0)
		form++;
	return (enum predictor_form)form;
}

size_t predictor_terms(enum predictor_form form, size_t features)
{
	size_t terms = 1 + features;

	return form == PREDICTOR_POLYNOMIAL ? terms + features * (features + 1) / 2 : terms;
}

static int check_numbers(const double *numbers, size_t count, const char *what, struct diag *diag)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(numbers[i]))
			return diag_set(diag, -EINVAL, "%s %zu is %g, not a finite number", what, i,
					numbers[i]);
	}
	return 0;
}

static int check_linear(const struct predictor *predictor, struct diag *diag)
{
	size_t terms = predictor_terms(predictor->form, predictor->features);

	if (!predictor->linear.weights || predictor->linear.terms != terms)
		return diag_set(diag, -EINVAL,
				"a %s form of %zu features has %zu weights, and there are %zu",
				predictor_form_name(predictor->form), predictor->features, terms,
				predictor->linear.terms);
	return check_numbers(predictor->linear.weights, terms, "weight", diag);
}

static int check_curve(const struct predictor *predictor, struct diag *diag)
{
	if (predictor->curve.feature >= predictor->features)
		return diag_set(diag, -EINVAL, "the curve's feature is number %zu of %zu",
				predictor->curve.feature, predictor->features);
	return check_numbers(predictor->curve.c, ARRAY_SIZE(predictor->curve.c), "curve weight",
			     diag);
}

static int check_node(const struct predictor *predictor, size_t index, struct diag *diag)
{
	const struct tree_node *node = &predictor->trees.nodes[index];

	if (node->left && (node->left <= index || node->left + 1 >= predictor->trees.node_count ||
			   node->left == UINT32_MAX))
		return diag_set(diag, -EINVAL,
				"tree node %zu has its children at %u, outside %zu..%zu", index,
				node->left, index + 1, predictor->trees.node_count - 1);
	if (node->feature >= predictor->features + predictor->trees.ratio_count)
		return diag_set(diag, -EINVAL, "tree node %zu asks for feature %u of %zu", index,
				node->feature, predictor->features + predictor->trees.ratio_count);
	if (node->or_equal != predictor->trees.nodes[0].or_equal)
		return diag_set(diag, -EINVAL,
				"tree node %zu goes left at other values than node 0 does: at the "
				"threshold itself, or only below it",
				index);
	if (!isfinite(node->threshold))
		return diag_set(diag, -EINVAL,
				"tree node %zu has the value %g, not a finite number", index,
				(double)node->threshold);
	return 0;
}

static int check_ratios(const struct predictor *predictor, struct diag *diag)
{
	size_t count = predictor->trees.ratio_count;

	if (count > PREDICTOR_RATIOS_MAX)
		return diag_set(diag, -EINVAL, "%zu ratios, more than %d", count,
				PREDICTOR_RATIOS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct feature_ratio *ratio = &predictor->trees.ratios[i];

		if (ratio->numerator >= predictor->features ||
		    ratio->denominator >= predictor->features)
			return diag_set(diag, -EINVAL,
					"ratio %zu: features %u and %u, but there are only %zu", i,
					ratio->numerator, ratio->denominator, predictor->features);
	}
	return 0;
}

static int check_trees(const struct predictor *predictor, struct diag *diag)
{
	size_t nodes = predictor->trees.node_count, roots = predictor->trees.root_count;
	int r = check_ratios(predictor, diag);

	if (r < 0)
		return r;
	if (nodes > PREDICTOR_NODES_MAX || roots > PREDICTOR_TREES_MAX)
		return diag_set(diag, -EINVAL, "%zu trees of %zu nodes, more than %d of %d", roots,
				nodes, PREDICTOR_TREES_MAX, PREDICTOR_NODES_MAX);
	if (!isfinite(predictor->trees.base) || !isfinite(predictor->trees.rate))
		return diag_set(diag, -EINVAL, "base or rate is not a finite number");
	for (size_t i = 0; i < roots; i++) {
		if (predictor->trees.roots[i] >= nodes)
			return diag_set(diag, -EINVAL, "tree %zu begins at node %u of %zu", i,
					predictor->trees.roots[i], nodes);
	}
	for (size_t i = 0; i < nodes && r == 0; i++)
		r = check_node(predictor, i, diag);
	return r;
}

static int check_rows(const struct predictor *predictor, struct diag *diag)
{
	size_t rows = predictor->rows.row_count;
	int r;

	if (rows > PREDICTOR_ROWS_MAX || (rows == 0 && predictor->form == PREDICTOR_NEIGHBOURS))
		return diag_set(diag, -EINVAL, "%zu rows, not 1 to %d", rows, PREDICTOR_ROWS_MAX);
	if (predictor->form == PREDICTOR_NEIGHBOURS &&
	    (predictor->rows.nearest == 0 || predictor->rows.nearest > rows ||
	     predictor->rows.nearest > PREDICTOR_NEAREST_MAX))
		return diag_set(diag, -EINVAL, "%zu nearest of %zu rows, not 1 to %d",
				predictor->rows.nearest, rows, PREDICTOR_NEAREST_MAX);
	if (predictor->form == PREDICTOR_KERNEL &&
	    (!isfinite(predictor->rows.intercept) || !isfinite(predictor->rows.gamma) ||
	     predictor->rows.gamma < 0))
		return diag_set(diag, -EINVAL,
				"gamma is negative, or it or the intercept is not "
				"finite");
	r = check_numbers(predictor->rows.rows, rows * predictor->features, "number of rows", diag);
	return r < 0 ? r : check_numbers(predictor->rows.values, rows, "value", diag);
}

int predictor_check(const struct predictor *predictor, struct diag *diag)
{
	if (predictor->features == 0 || predictor->features > PREDICTOR_FEATURES_MAX)
		return diag_set(diag, -EINVAL, "%zu features, not 1 to %d", predictor->features,
				PREDICTOR_FEATURES_MAX);
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		return check_linear(predictor, diag);
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
		return check_curve(predictor, diag);
	case PREDICTOR_TREES:
		return check_trees(predictor, diag);
	case PREDICTOR_NEIGHBOURS:
	case PREDICTOR_KERNEL:
		return check_rows(predictor, diag);
	case PREDICTOR_FORM_COUNT:
		break;
	}
	return diag_set(diag, -EINVAL, "unknown form %d", (int)predictor->form);
}

static double linear_watts(const struct predictor *predictor, const double *row)
{
	const double *weight = predictor->linear.weights;
	double sum = *weight++;

	for (size_t i = 0; i < predictor->features; i++)
		sum += *weight++ * row[i];
	if (predictor->form == PREDICTOR_LINEAR)
		return sum;
	for (size_t i = 0; i < predictor->features; i++) {
		for (size_t j = i; j < predictor->features; j++)
			sum += *weight++ * row[i] * row[j];
	}
	return sum;
}

static double curve_watts(const struct predictor *predictor, const double *row)
{
	const double *c = predictor->curve.c;
	double x = row[predictor->curve.feature];

	if (predictor->form == PREDICTOR_LOGARITHMIC)
		return c[0] * log(c[1] * x + 1) + c[2];
	if (predictor->form == PREDICTOR_EXPONENTIAL)
		return c[0] * exp(c[1] * x) + c[2];
	return c[0] / (1 + exp(-c[2] * (x - c[1]))) + c[3];
}

/* The child of a node that @value leads to; of a leaf, the leaf @here. */
static ALWAYS_INLINE uint32_t next_node(const struct tree_node *node, float value, uint32_t here,
					bool plain)
{
	bool left = value < node->threshold;

	if (!plain)
		left |= (node->or_equal & (value <= node->threshold)) |
			(isnan(value) & node->missing_left);
	return node->left ? node->left + !left : here;
}

/* Adds the leaves of @count trees, in their order. */
static ALWAYS_INLINE void add_leaves(const struct predictor *predictor, size_t first, size_t count,
				     const float *row, bool plain, struct tree_sum *sum)
{
	const struct tree_node *nodes = predictor->trees.nodes;
	uint32_t at[TREES_AT_ONCE], inner;

	memcpy(at, predictor->trees.roots + first, count * sizeof(*at));
	do {
		inner = 0;
#ifndef __clang__ /* which does so by itself */
#pragma GCC unroll 10
#endif
		for (size_t i = 0; i < count; i++) {
			const struct tree_node *node = &nodes[at[i]];

			inner |= node->left;
			at[i] = next_node(node, row[node->feature], at[i], plain);
		}
	} while (inner);
	for (size_t i = 0; i < count; i++) {
		sum->single += nodes[at[i]].threshold;
		sum->full += (double)nodes[at[i]].threshold;
	}
}

static ALWAYS_INLINE void add_all_leaves(const struct predictor *predictor, const float *row,
					 bool plain, struct tree_sum *sum)
{
	size_t count = predictor->trees.root_count, i = 0;

	for (; i + TREES_AT_ONCE <= count; i += TREES_AT_ONCE)
		add_leaves(predictor, i, TREES_AT_ONCE, row, plain, sum);
	for (; i < count; i++)
		add_leaves(predictor, i, 1, row, plain, sum);
}

double feature_ratio_of(const struct feature_ratio *ratio, const double *row)
{
	double denominator = row[ratio->denominator];
	bool is_zero = !(denominator > 0) && !(denominator < 0) && !isnan(denominator);

	return is_zero ? 0 : row[ratio->numerator] / denominator;
}

static double trees_watts(const struct predictor *predictor, const double *row)
{
	struct tree_sum sum = { .single = (float)predictor->trees.base };
	bool plain = predictor->trees.node_count == 0 || !predictor->trees.nodes[0].or_equal;
	float single[PREDICTOR_FEATURES_MAX + PREDICTOR_RATIOS_MAX];

	for (size_t j = 0; j < predictor->features; j++) {
		single[j] = (float)row[j];
		plain &= !isnan(row[j]);
	}
	for (size_t j = 0; j < predictor->trees.ratio_count; j++)
		single[predictor->features + j] =
			(float)feature_ratio_of(&predictor->trees.ratios[j], row);
	if (plain)
		add_all_leaves(predictor, single, true, &sum);
	else
		add_all_leaves(predictor, single, false, &sum);
	if (predictor->trees.rate < 1 || predictor->trees.rate > 1)
		return predictor->trees.base + predictor->trees.rate * sum.full;
	return (double)sum.single;
}

static double distance_squared(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

/* Keeps the @wanted nearest rows so far, in order. Of rows that are equally near the first stay. */
static void insert(double *distances, double *values, size_t wanted, double distance, double value)
{
	size_t place = wanted - 1;

	if (!(distance < distances[place]))
		return;
	for (; place > 0 && distance < distances[place - 1]; place--) {
		distances[place] = distances[place - 1];
		values[place] = values[place - 1];
	}
	distances[place] = distance;
	values[place] = value;
}

static double neighbours_watts(const struct predictor *predictor, const double *row)
{
	double distances[PREDICTOR_NEAREST_MAX], values[PREDICTOR_NEAREST_MAX], sum = 0;
	size_t nearest = predictor->rows.nearest;
	size_t wanted = nearest < PREDICTOR_NEAREST_MAX ? nearest : PREDICTOR_NEAREST_MAX;

	for (size_t i = 0; i < PREDICTOR_NEAREST_MAX; i++) {
		distances[i] = (double)INFINITY;
		values[i] = 0;
	}
	for (size_t i = 0; i < predictor->rows.row_count; i++)
		insert(distances, values, wanted,
		       distance_squared(predictor->rows.rows + i * predictor->features, row,
					predictor->features),
		       predictor->rows.values[i]);
	for (size_t i = 0; i < wanted; i++)
		sum += values[i];
	return sum / (double)wanted;
}

static double kernel_watts(const struct predictor *predictor, const double *row)
{
	size_t rows = predictor->rows.row_count;
	double sum = predictor->rows.intercept, kernel[EXP_BLOCK] = { 0 };

	for (size_t first = 0; first < rows; first += EXP_BLOCK) {
		size_t count = rows - first < EXP_BLOCK ? rows - first : EXP_BLOCK;
		const double *vectors = predictor->rows.rows + first * predictor->features;

		for (size_t i = 0; i < count; i++)
			kernel[i] = -predictor->rows.gamma *
				    distance_squared(vectors + i * predictor->features, row,
						     predictor->features);
		exp_block(kernel);
		for (size_t i = 0; i < count; i++)
			sum += predictor->rows.values[first + i] * kernel[i];
	}
	return sum;
}

static double form_value(const struct predictor *predictor, const double *row)
{
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		return linear_watts(predictor, row);
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
		return curve_watts(predictor, row);
	case PREDICTOR_TREES:
		return trees_watts(predictor, row);
	case PREDICTOR_NEIGHBOURS:
		return neighbours_watts(predictor, row);
	case PREDICTOR_KERNEL:
		return kernel_watts(predictor, row);
	case PREDICTOR_FORM_COUNT:
		break;
	}
	return 0;
}

double predictor_watts(const struct predictor *predictor, const double *row)
{
	double value = form_value(predictor, row);

	return predictor->log_output ? exp(value) : value;
}

void predictor_release(struct predictor *predictor)
{
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		free(predictor->linear.weights);
		break;
	case PREDICTOR_TREES:
		free(predictor->trees.nodes);
		free(predictor->trees.roots);
		break;
	case PREDICTOR_NEIGHBOURS:
	case PREDICTOR_KERNEL:
		free(predictor->rows.rows);
		free(predictor->rows.values);
		break;
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
	case PREDICTOR_FORM_COUNT:
		break;
	}
	*predictor = (struct predictor){ 0 };
}
