// SPDX-License-Identifier: Apache-2.0
/*
 * Boosted trees compared with libxgboost's, if that is installed, on rows in which values and gains
 * are equal in places; and their properties without it.
 */
#include "training/forms/boosting.h"

#include "tests/unit/unit.h"
#include "training/random.h"

#define ROWS     1500
#define FEATURES 4

struct rows {
	double x[ROWS * FEATURES], y[ROWS];
};

/* The second feature has few values, the third is constant, the fourth follows the first. */
static struct training_task make_task(struct rows *rows, uint64_t seed)
{
	struct random random = { seed };

	for (size_t i = 0; i < ROWS; i++) {
		double *x = rows->x + i * FEATURES;

		x[0] = random_part(&random);
		x[1] = (double)random_below(&random, 5) / 4;
		x[2] = 0.5;
		x[3] = x[0] * 0.7 + 0.3 * random_part(&random);
		rows->y[i] = 40 + 150 * x[0] * (1 - 0.4 * x[1]) + 20 * sin(9 * x[3]) +
			     5 * random_part(&random);
	}
	return (struct training_task){
		.x = rows->x, .y = rows->y, .rows = ROWS, .features = FEATURES, .seed = seed
	};
}

static struct predictor train(const struct training_task *task, const struct boosting *boosting)
{
	struct predictor predictor;
	struct diag diag = { "" };

	assert_int_equal(train_boosting(boosting, task, &predictor, NULL), 0);
	if (predictor_check(&predictor, &diag) < 0)
		fail_msg("%s", diag.text);
	return predictor;
}

static void test_one_split_is_the_best_one(void **state)
{
	static const double x[] = { 5, 1, 4, 2, 3, 6 }, y[] = { 90, 10, 90, 10, 10, 90 };
	static const struct boosting boosting = {
		.trees = 1, .depth = 4, .rate = 1, .row_part = 1, .from_mean = true
	};
	struct training_task task = { .x = x, .y = y, .rows = 6, .features = 1 };
	struct predictor predictor = train(&task, &boosting);

	assert_int_equal(predictor.trees.node_count, 3);
	assert_true(fabsf(predictor.trees.nodes[0].threshold - 3.5F) < 1e-6F);
	for (size_t i = 0; i < 6; i++)
		assert_true(fabs(predictor_watts(&predictor, x + i) - y[i]) < 1e-4);
	predictor_release(&predictor);
}

static void test_what_does_not_vary_is_one_leaf(void **state)
{
	static const double x[] = { 1, 1, 1 }, y[] = { 10, 20, 60 };
	static const struct boosting boosting = {
		.trees = 3, .depth = 6, .rate = 1, .row_part = 1
	};
	struct training_task task = { .x = x, .y = y, .rows = 3, .features = 1 };
	struct predictor predictor = train(&task, &boosting);

	assert_int_equal(predictor.trees.node_count, 3);
	assert_true(fabs(predictor_watts(&predictor, x) - 30) < 1e-4);
	predictor_release(&predictor);
}

/* Each tree's contribution is known for rows that it is not made from, too. */
static void test_a_part_of_the_rows_is_enough(void **state)
{
	static const struct boosting part = {
		.trees = 100, .depth = 4, .rate = 0.2F, .penalty = 1, .row_part = 0.5
	};
	struct rows rows;
	struct training_task task = make_task(&rows, 3);
	struct predictor predictor = train(&task, &part);
	double sum = 0;

	for (size_t i = 0; i < ROWS; i++)
		sum += fabs(predictor_watts(&predictor, rows.x + i * FEATURES) - rows.y[i]);
	assert_true(sum / ROWS < 3);
	predictor_release(&predictor);
}

#ifdef KEPLER_TEST_XGBOOST

#include <xgboost/c_api.h>

static void set(BoosterHandle booster, const char *name, double value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%.9g", value);
	assert_int_equal(XGBoosterSetParam(booster, name, text), 0);
}

static BoosterHandle train_library(const struct training_task *task,
				   const struct boosting *boosting, float base,
				   DMatrixHandle *ret_matrix)
{
	static float x[ROWS * FEATURES], y[ROWS];
	BoosterHandle booster;

	for (size_t i = 0; i < ROWS * FEATURES; i++)
		x[i] = (float)task->x[i];
	for (size_t i = 0; i < ROWS; i++)
		y[i] = (float)task->y[i];
	assert_int_equal(XGDMatrixCreateFromMat(x, ROWS, FEATURES, NAN, ret_matrix), 0);
	assert_int_equal(XGDMatrixSetFloatInfo(*ret_matrix, "label", y, ROWS), 0);
	assert_int_equal(XGBoosterCreate(ret_matrix, 1, &booster), 0);
	set(booster, "nthread", 1);
	set(booster, "max_depth", boosting->depth);
	set(booster, "eta", (double)boosting->rate);
	set(booster, "lambda", (double)boosting->penalty);
	set(booster, "base_score", (double)base);
	assert_int_equal(XGBoosterSetParam(booster, "tree_method", "exact"), 0);
	if (boosting->monotone)
		assert_int_equal(XGBoosterSetParam(booster, "monotone_constraints", "(1,0,0,0)"),
				 0);
	for (unsigned i = 0; i < boosting->trees; i++)
		assert_int_equal(XGBoosterUpdateOneIter(booster, (int)i, *ret_matrix), 0);
	return booster;
}

static void compare(const struct boosting *boosting, uint64_t seed)
{
	static const bool is_load[FEATURES] = { true, false, false, false };
	struct rows rows;
	struct training_task task = make_task(&rows, seed);
	struct predictor predictor;
	DMatrixHandle matrix;
	BoosterHandle booster;
	const float *watts;
	bst_ulong count;
	double worst = 0;

	task.is_load = is_load;
	predictor = train(&task, boosting);
	booster = train_library(&task, boosting, (float)predictor.trees.base, &matrix);
	assert_int_equal(XGBoosterPredict(booster, matrix, 0, 0, 0, &count, &watts), 0);
	assert_int_equal(count, ROWS);
	for (size_t i = 0; i < ROWS; i++)
		worst = fmax(worst, fabs(predictor_watts(&predictor, rows.x + i * FEATURES) -
					 (double)watts[i]));
	if (!(worst <= 1e-4))
		fail_msg("depth %u, seed %u: %g W off", boosting->depth, (unsigned)seed, worst);
	(void)XGBoosterFree(booster);
	(void)XGDMatrixFree(matrix);
	predictor_release(&predictor);
}

static void test_trees_are_those_of_libxgboost(void **state)
{
	static const struct boosting cases[] = {
		{ .trees = 40, .depth = 6, .rate = 0.1F, .penalty = 1, .row_part = 1 },
		{ .trees = 40, .depth = 3, .rate = 0.1F, .row_part = 1, .from_mean = true },
		{ .trees = 40,
		  .depth = 6,
		  .rate = 0.1F,
		  .penalty = 1,
		  .row_part = 1,
		  .from_mean = true,
		  .monotone = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (uint64_t seed = 1; seed <= 2; seed++)
			compare(&cases[i], seed);
	}
}

#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_split_is_the_best_one),
		cmocka_unit_test(test_what_does_not_vary_is_one_leaf),
		cmocka_unit_test(test_a_part_of_the_rows_is_enough),
#ifdef KEPLER_TEST_XGBOOST
		cmocka_unit_test(test_trees_are_those_of_libxgboost),
#endif
	};

	return unit_run(tests);
}
