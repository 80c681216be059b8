// SPDX-License-Identifier: Apache-2.0
#include "training/support_vectors.h"

#include <errno.h>
#include <libsvm/svm.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define COST      1
#define EPSILON_W 0.2
#define TOLERANCE 1e-3
#define CACHE_MIB 64

static void be_silent(const char *text)
{
	(void)text;
}

static double gamma_of(const struct training_task *task)
{
	size_t count = task->rows * task->features;
	double mean = 0, variance = 0;

	for (size_t i = 0; i < count; i++)
		mean += task->x[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		variance += (task->x[i] - mean) * (task->x[i] - mean) / (double)count;
	return variance > 0 ? 1 / ((double)task->features * variance) : 1;
}

/* A dense row of libsvm has its indices from 1, and -1 behind the last one. */
static void fill_nodes(const struct training_task *task, struct svm_node *nodes,
		       struct svm_node **starts)
{
	for (size_t row = 0; row < task->rows; row++) {
		starts[row] = nodes;
		for (size_t i = 0; i < task->features; i++, nodes++) {
			nodes->index = (int)i + 1;
			nodes->value = task->x[row * task->features + i];
		}
		nodes++->index = -1;
	}
}

static int take_vectors(const struct svm_model *model, size_t features, double gamma,
			struct predictor *ret)
{
	size_t count = (size_t)model->l;
	CLEANUP_FREE double *rows = calloc(count * features + 1, sizeof(*rows));
	CLEANUP_FREE double *values = calloc(count + 1, sizeof(*values));

	if (!rows || !values)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < features; j++)
			rows[i * features + j] = model->SV[i][j].value;
		values[i] = model->sv_coef[0][i];
	}
	*ret = (struct predictor){ .form = PREDICTOR_KERNEL, .features = features };
	ret->rows.rows = TAKE_PTR(rows);
	ret->rows.values = TAKE_PTR(values);
	ret->rows.row_count = count;
	ret->rows.gamma = gamma;
	ret->rows.intercept = -model->rho[0];
	return 0;
}

int train_support_vectors(const struct training_task *task, double *stretch, struct predictor *ret,
			  struct diag *diag)
{
	size_t rows = task->rows;
	CLEANUP_FREE struct svm_node *nodes = calloc(rows * (task->features + 1), sizeof(*nodes));
	CLEANUP_FREE struct svm_node **starts = calloc(rows, ARRAY_ELEMENT(starts));
	CLEANUP_FREE double *y = calloc(rows, sizeof(*y));
	struct svm_problem problem = { .l = (int)rows, .y = y, .x = starts };
	struct svm_parameter parameter = {
		.svm_type = EPSILON_SVR,
		.kernel_type = RBF,
		.gamma = gamma_of(task),
		.cache_size = CACHE_MIB,
		.eps = TOLERANCE,
		.C = COST,
		.p = EPSILON_W,
		.shrinking = 1,
	};
	struct svm_model *model;
	int r;

	(void)stretch;
	if (rows > PREDICTOR_ROWS_MAX)
		return diag_set(diag, -EINVAL, "a model of support vectors holds %d rows, not %zu",
				PREDICTOR_ROWS_MAX, rows);
	if (!nodes || !starts || !y)
		return -ENOMEM;
	memcpy(y, task->y, rows * sizeof(*y));
	fill_nodes(task, nodes, starts);
	svm_set_print_string_function(be_silent);
	model = svm_train(&problem, &parameter);
	r = take_vectors(model, task->features, parameter.gamma, ret);
	svm_free_and_destroy_model(&model);
	return r;
}
