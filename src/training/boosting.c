// SPDX-License-Identifier: Apache-2.0
#include "training/boosting.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "training/boosted_tree.h"
#include "training/random.h"

#define XGBOOST_BASE_W 0.5F /* what XGBoost up to version 1.7 begins with */

/* What the trees have come to so far. */
struct boost {
	const struct training_task *task;
	const struct boosting *boosting;
	struct random random;
	float base;
	float *watts, *gradients; /* [rows] */
	bool *is_in;              /* [rows] */
	uint32_t *roots;          /* [trees] */
	struct boosted_tree_nodes trees;
	struct boosted_tree_grower *grower;
};

static void boost_release(struct boost *boost)
{
	free(boost->watts);
	free(boost->gradients);
	free(boost->is_in);
	free(boost->roots);
	free(boost->trees.nodes);
	boosted_tree_grower_free(boost->grower);
}

static int begin(struct boost *boost, const struct boosted_tree_rules *rules)
{
	const struct training_task *task = boost->task;
	double mean = 0;

	boost->random.state = task->seed;
	boost->watts = calloc(task->rows, sizeof(*boost->watts));
	boost->gradients = calloc(task->rows, sizeof(*boost->gradients));
	boost->is_in = calloc(task->rows, sizeof(*boost->is_in));
	boost->roots = calloc(boost->boosting->trees, sizeof(*boost->roots));
	if (!boost->watts || !boost->gradients || !boost->is_in || !boost->roots)
		return -ENOMEM;
	for (size_t i = 0; i < task->rows; i++)
		mean += task->y[i] / (double)task->rows;
	boost->base = boost->boosting->from_mean ? (float)mean : XGBOOST_BASE_W;
	for (size_t i = 0; i < task->rows; i++)
		boost->watts[i] = boost->base;
	return boosted_tree_grower_new(task, rules, &boost->grower);
}

/* Which rows the next tree is made from; NULL: all. */
static const bool *choose_rows(struct boost *boost)
{
	size_t count = 0, rows = boost->task->rows;

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
	const struct training_task *task = boost->task;

	for (size_t i = 0; i < task->rows; i++)
		boost->gradients[i] = boost->watts[i] - (float)task->y[i];
	return boosted_tree_grow(boost->grower, boost->gradients, choose_rows(boost), &boost->trees,
				 boost->watts);
}

int boosting_train(const struct training_task *task, const struct boosting *boosting,
		   struct predictor *ret)
{
	CLEANUP(boost_release) struct boost boost = { .task = task, .boosting = boosting };
	struct boosted_tree_rules rules = { .depth = boosting->depth,
					    .rate = boosting->rate,
					    .penalty = boosting->penalty,
					    .rises = boosting->monotone ? task->is_load : NULL };
	int r = begin(&boost, &rules);

	for (unsigned tree = 0; r == 0 && tree < boosting->trees; tree++) {
		boost.roots[tree] = (uint32_t)boost.trees.count;
		r = add_tree(&boost);
	}
	if (r < 0)
		return r;
	*ret = (struct predictor){ .form = PREDICTOR_TREES, .features = task->features };
	ret->trees.nodes = TAKE_PTR(boost.trees.nodes);
	ret->trees.node_count = boost.trees.count;
	ret->trees.roots = TAKE_PTR(boost.roots);
	ret->trees.root_count = boosting->trees;
	ret->trees.base = (double)boost.base;
	ret->trees.rate = 1;
	return 0;
}

int train_xgboost(const struct training_task *task, double *stretch, struct predictor *ret,
		  struct diag *diag)
{
	static const struct boosting boosting = {
		.trees = 100, .depth = 6, .rate = 0.1F, .penalty = 1, .row_part = 1
	};

	(void)stretch;
	(void)diag;
	return boosting_train(task, &boosting, ret);
}

int train_gradient_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag)
{
	static const struct boosting boosting = {
		.trees = 100, .depth = 3, .rate = 0.1F, .row_part = 1, .from_mean = true
	};

	(void)stretch;
	(void)diag;
	return boosting_train(task, &boosting, ret);
}

int train_monotone_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag)
{
	static const struct boosting boosting = { .trees = 200,
						  .depth = 6,
						  .rate = 0.1F,
						  .penalty = 1,
						  .row_part = 0.8,
						  .from_mean = true,
						  .monotone = true };

	(void)stretch;
	(void)diag;
	return boosting_train(task, &boosting, ret);
}
