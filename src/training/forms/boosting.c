// SPDX-License-Identifier: Apache-2.0
#include "training/forms/boosting.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "training/forms/boosted_tree.h"
#include "training/random.h"

#define XGBOOST_BASE_W 0.5F /* the initial value of XGBoost up to version 1.7 */

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

static void boost_release(struct boost *boost)
{
	free(boost->watts);
	free(boost->gradients);
	free(boost->is_in);
	boosted_tree_grower_free(boost->grower);
	free(boost->roots);
	free(boost->trees.nodes);
}

static int begin(struct boost *boost, const struct training_task *task)
{
	const struct boosting *boosting = boost->boosting;
	double mean_w = 0;

	boost->task = *task;
	boost->random.state = task->seed;
	boost->rules =
		(struct boosted_tree_rules){ .depth = boosting->depth,
					     .rate = boosting->rate,
					     .penalty = boosting->penalty,
					     .rises = boosting->monotone ? task->is_load : NULL };
	boost->roots = calloc(boosting->trees, sizeof(*boost->roots));
	boost->watts = calloc(task->rows, sizeof(*boost->watts));
	boost->gradients = calloc(task->rows, sizeof(*boost->gradients));
	boost->is_in = calloc(task->rows, sizeof(*boost->is_in));
	if (!boost->roots || !boost->watts || !boost->gradients || !boost->is_in)
		return -ENOMEM;
	for (size_t i = 0; i < task->rows; i++)
		mean_w += task->y[i] / (double)task->rows;
	boost->base = boosting->from_mean ? (float)mean_w : XGBOOST_BASE_W;
	for (size_t i = 0; i < task->rows; i++)
		boost->watts[i] = boost->base;
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

int train_boosting(const void *plan, const struct training_task *task, struct predictor *ret,
		   struct diag *diag)
{
	const struct boosting *boosting = plan;
	CLEANUP(boost_release) struct boost boost = { .boosting = boosting };
	int r = begin(&boost, task);

	(void)diag;
	while (r == 0 && boost.root_count < boosting->trees)
		r = add_tree(&boost);
	if (r < 0)
		return r;
	*ret = (struct predictor){ .form = PREDICTOR_TREES, .features = task->features };
	ret->trees.nodes = TAKE_PTR(boost.trees.nodes);
	ret->trees.node_count = boost.trees.count;
	ret->trees.roots = TAKE_PTR(boost.roots);
	ret->trees.root_count = boost.root_count;
	ret->trees.base = (double)boost.base;
	ret->trees.rate = 1;
	return 0;
}
