// SPDX-License-Identifier: Apache-2.0
/* The minimum is as low as libsvm's, and predictions are nearly the same. */
#include "training/forms/support_vectors.h"

#include <libsvm/svm.h>

#include "tests/unit/unit.h"
#include "training/random.h"

#define ROWS     300
#define FEATURES 3

struct rows {
	double x[ROWS * FEATURES], y[ROWS];
};

static void fill(struct rows *rows, double power_w, uint64_t seed)
{
	struct random random = { seed };

	for (size_t i = 0; i < ROWS; i++) {
		double *x = rows->x + i * FEATURES;

		for (size_t j = 0; j < FEATURES; j++)
			x[j] = random_part(&random);
		rows->y[i] = power_w * (1 + x[0] + 0.3 * sin(5 * x[1]) + 0.1 * x[2]);
	}
}

static double kernel(const struct predictor *p, size_t i, size_t j)
{
	const double *a = p->rows.rows + i * FEATURES, *b = p->rows.rows + j * FEATURES;
	double sum = 0;

	for (size_t k = 0; k < FEATURES; k++)
		sum += (a[k] - b[k]) * (a[k] - b[k]);
	return exp(-p->rows.gamma * sum);
}

/* b'Kb / 2 - y'b + 0.2 Σ|b|; rows are found again by their first feature, which is unique. */
static double objective(const struct predictor *p, const struct training_task *task)
{
	double sum = 0;

	for (size_t i = 0; i < p->rows.row_count; i++) {
		double here = p->rows.values[i];

		for (size_t j = 0; j < p->rows.row_count; j++)
			sum += here * p->rows.values[j] * kernel(p, i, j) / 2;
		sum += 0.2 * fabs(here);
		for (size_t row = 0; row < task->rows; row++) {
			if (memcmp(task->x + row * FEATURES, p->rows.rows + i * FEATURES,
				   sizeof(double)) == 0)
				sum -= here * task->y[row];
		}
	}
	return sum;
}

static void be_silent(const char *text)
{
	(void)text;
}

/* Predictions and coefficients of libsvm in a predictor whose memory is static. */
static struct predictor train_library(const struct training_task *task, double gamma)
{
	static struct svm_node nodes[ROWS][FEATURES + 1];
	static struct svm_node *starts[ROWS];
	static double y[ROWS], rows[ROWS * FEATURES], values[ROWS];
	struct svm_problem problem = { .l = (int)task->rows, .y = y, .x = starts };
	struct svm_parameter parameter = { .svm_type = EPSILON_SVR,
					   .kernel_type = RBF,
					   .gamma = gamma,
					   .cache_size = 16,
					   .eps = 1e-3,
					   .C = 1,
					   .p = 0.2,
					   .shrinking = 1 };
	struct predictor p = { .form = PREDICTOR_KERNEL, .features = FEATURES };
	struct svm_model *model;

	for (size_t i = 0; i < task->rows; i++) {
		for (int j = 0; j < FEATURES; j++)
			nodes[i][j] = (struct svm_node){ j + 1, task->x[i * FEATURES + (size_t)j] };
		nodes[i][FEATURES].index = -1;
		starts[i] = nodes[i];
		y[i] = task->y[i];
	}
	svm_set_print_string_function(be_silent);
	model = svm_train(&problem, &parameter);
	for (int i = 0; i < model->l; i++) {
		for (int j = 0; j < FEATURES; j++)
			rows[i * FEATURES + j] = model->SV[i][j].value;
		values[i] = model->sv_coef[0][i];
	}
	p.rows.rows = rows;
	p.rows.values = values;
	p.rows.row_count = (size_t)model->l;
	p.rows.gamma = gamma;
	p.rows.intercept = -model->rho[0];
	svm_free_and_destroy_model(&model);
	return p;
}

static void compare(double power_w, size_t count, uint64_t seed)
{
	struct rows rows;
	struct training_task task = {
		.x = rows.x, .y = rows.y, .rows = count, .features = FEATURES
	};
	struct predictor ours, theirs;
	double low, balance = 0;
	struct diag diag = { "" };

	fill(&rows, power_w, seed);
	assert_int_equal(train_support_vectors(NULL, &task, &ours, &diag), 0);
	theirs = train_library(&task, ours.rows.gamma);
	low = objective(&theirs, &task);
	assert_true(fabs(objective(&ours, &task) / low - 1) < 1e-6);
	for (size_t i = 0; i < ours.rows.row_count; i++) {
		balance += ours.rows.values[i];
		assert_true(fabs(ours.rows.values[i]) <= 1);
	}
	assert_true(fabs(balance) < 1e-9);
	for (size_t i = 0; i < count; i++) {
		double watts = predictor_watts(&ours, rows.x + i * FEATURES);

		if (!(fabs(watts - predictor_watts(&theirs, rows.x + i * FEATURES)) < 0.02))
			fail_msg("%g W, row %zu: %g W, not %g", power_w, i, watts,
				 predictor_watts(&theirs, rows.x + i * FEATURES));
	}
	predictor_release(&ours);
}

static void test_it_is_as_low_as_libsvm(void **state)
{
	compare(1, 300, 1);   /* most coefficients are free, or 0 */
	compare(20, 300, 2);  /* some are */
	compare(150, 299, 3); /* most are at a bound */
	compare(150, 33, 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_as_low_as_libsvm),
	};

	return unit_run(tests);
}
