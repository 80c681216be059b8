// SPDX-License-Identifier: Apache-2.0
#include "training/boosting.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "training/boosted_tree.h"
#include "training/random.h"

#define XGBOOST_BASE_W 0.5F /* what XGBoost up to version 1.7 begins with */

/* What the trees have come to so far, and the block of rows that they are grown on. */
struct boost {
	const struct boosting *boosting;
	struct random random;
	float base;
	uint32_t *roots; /* [trees] */
	size_t root_count;
	struct boosted_tree_nodes trees;
	struct training_task task;
	struct boosted_tree_rules rules;
	float *watts, *gradients; /* [rows] */
	bool *is_in;              /* [rows] */
	struct boosted_tree_grower *grower;
};

static void leave_block(struct boost *boost)
{
	free(boost->watts);
	free(boost->gradients);
	free(boost->is_in);
	boosted_tree_grower_free(boost->grower);
	boost->watts = boost->gradients = NULL;
	boost->is_in = NULL;
	boost->grower = NULL;
}

static void boost_release(struct boost *boost)
{
	leave_block(boost);
	free(boost->roots);
	free(boost->trees.nodes);
}

/* The trees so far, which the boost keeps. */
static struct predictor lend_trees(const struct boost *boost)
{
	struct predictor ret = { .form = PREDICTOR_TREES, .features = boost->task.features };

	ret.trees.nodes = boost->trees.nodes;
	ret.trees.node_count = boost->trees.count;
	ret.trees.roots = boost->roots;
	ret.trees.root_count = boost->root_count;
	ret.trees.base = (double)boost->base;
	ret.trees.rate = 1;
	return ret;
}

static int enter_block(struct boost *boost, const struct training_task *task)
{
	const struct boosting *boosting = boost->boosting;
	struct predictor trees;

	leave_block(boost);
	boost->task = *task;
	boost->rules =
		(struct boosted_tree_rules){ .depth = boosting->depth,
					     .rate = boosting->rate,
					     .penalty = boosting->penalty,
					     .rises = boosting->monotone ? task->is_load : NULL };
	boost->watts = calloc(task->rows, sizeof(*boost->watts));
	boost->gradients = calloc(task->rows, sizeof(*boost->gradients));
	boost->is_in = calloc(task->rows, sizeof(*boost->is_in));
	if (!boost->watts || !boost->gradients || !boost->is_in)
		return -ENOMEM;
	trees = lend_trees(boost);
	for (size_t i = 0; i < task->rows; i++)
		boost->watts[i] =
			boost->root_count
				? (float)predictor_watts(&trees, task->x + i * task->features)
				: boost->base;
	return boosted_tree_grower_new(&boost->task, &boost->rules, &boost->grower);
}

/* Which rows the next tree is made from; NULL: all. */
static const bool *choose_rows(struct boost *boost)
{
	size_t count = 0, rows = boost->task.rows;

	if (boost->boosting->row_part >= 1)
		return NULL;
	for (size_t i = 0; i < rows; i++) {
		boost->is_in[i] = random_part(&boost->random) < boost->boosting->row_part;
		count += boost->is_in[i];
	}
	return count ? boost->is_in : NULL;
}

static int add_tree(struct boost *boost)
{
	const struct training_task *task = &boost->task;
	int r;

	for (size_t i = 0; i < task->rows; i++)
		boost->gradients[i] = boost->watts[i] - (float)task->y[i];
	boost->roots[boost->root_count] = (uint32_t)boost->trees.count;
	r = boosted_tree_grow(boost->grower, boost->gradients, choose_rows(boost), &boost->trees,
			      boost->watts);
	if (r == 0)
		boost->root_count++;
	return r;
}

static int read_block(struct boost *boost, const struct training_blocks *blocks, struct diag *diag)
{
	struct training_task task;
	int r = blocks->read(blocks->context, boost->root_count % blocks->count, &task, diag);

	if (r < 0)
		return r;
	if (boost->root_count == 0)
		boost->random.state = task.seed;
	return enter_block(boost, &task);
}

static int grow(const struct training_blocks *blocks, const struct boosting *boosting,
		struct predictor *ret, struct diag *diag)
{
	CLEANUP(boost_release) struct boost boost = { .boosting = boosting };
	int r = 0;

	boost.base = boosting->from_mean ? (float)blocks->mean_w : XGBOOST_BASE_W;
	boost.roots = calloc(boosting->trees, sizeof(*boost.roots));
	if (!boost.roots)
		return -ENOMEM;
	while (r == 0 && boost.root_count < boosting->trees) {
		if (boost.root_count == 0 || blocks->count > 1)
			r = read_block(&boost, blocks, diag);
		if (r == 0)
			r = add_tree(&boost);
	}
	if (r < 0)
		return r;
	*ret = lend_trees(&boost);
	boost.trees.nodes = NULL;
	boost.roots = NULL;
	return 0;
}

static int lend_task(void *context, size_t block, struct training_task *ret, struct diag *diag)
{
	(void)block;
	(void)diag;
	*ret = *(const struct training_task *)context;
	return 0;
}

int boosting_train(const struct training_task *task, const struct boosting *boosting,
		   struct predictor *ret)
{
	struct training_task lent = *task;
	struct training_blocks blocks = { .count = 1, .read = lend_task, .context = &lent };
	struct diag diag;

	for (size_t i = 0; i < task->rows; i++)
		blocks.mean_w += task->y[i] / (double)task->rows;
	return grow(&blocks, boosting, ret, &diag);
}

static const struct boosting xgboost = {
	.trees = 100, .depth = 6, .rate = 0.1F, .penalty = 1, .row_part = 1
};
static const struct boosting gradient = {
	.trees = 100, .depth = 3, .rate = 0.1F, .row_part = 1, .from_mean = true
};
static const struct boosting monotone = { .trees = 200,
					  .depth = 6,
					  .rate = 0.1F,
					  .penalty = 1,
					  .row_part = 0.8,
					  .from_mean = true,
					  .monotone = true };
/* More trees at a lower rate are hardly better in a blend, and cost an exporter time and memory. */
static const struct boosting short_monotone = { .trees = 100,
						.depth = 6,
						.rate = 0.1F,
						.penalty = 1,
						.row_part = 0.8,
						.from_mean = true,
						.monotone = true };
static const struct boosting sampled = {
	.trees = 100, .depth = 6, .rate = 0.08F, .penalty = 1, .row_part = 0.7, .from_mean = true
};

int train_xgboost(const struct training_task *task, double *stretch, struct predictor *ret,
		  struct diag *diag)
{
	(void)stretch;
	(void)diag;
	return boosting_train(task, &xgboost, ret);
}

int train_gradient_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag)
{
	(void)stretch;
	(void)diag;
	return boosting_train(task, &gradient, ret);
}

int train_sampled_boosting(const struct training_task *task, double *stretch, struct predictor *ret,
			   struct diag *diag)
{
	(void)stretch;
	(void)diag;
	return boosting_train(task, &sampled, ret);
}

int train_monotone_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag)
{
	(void)stretch;
	(void)diag;
	return boosting_train(task, &monotone, ret);
}

int train_short_monotone_boosting(const struct training_task *task, double *stretch,
				  struct predictor *ret, struct diag *diag)
{
	(void)stretch;
	(void)diag;
	return boosting_train(task, &short_monotone, ret);
}

int boost_xgboost(const struct training_blocks *blocks, struct predictor *ret, struct diag *diag)
{
	return grow(blocks, &xgboost, ret, diag);
}

int boost_gradient(const struct training_blocks *blocks, struct predictor *ret, struct diag *diag)
{
	return grow(blocks, &gradient, ret, diag);
}

int boost_monotone(const struct training_blocks *blocks, struct predictor *ret, struct diag *diag)
{
	return grow(blocks, &monotone, ret, diag);
}
