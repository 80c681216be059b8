// SPDX-License-Identifier: Apache-2.0
#include "training/validation.h"

#include "tests/unit/unit.h"

#define ROWS 100

static void count_folds(const uint32_t *folds, size_t rows, size_t *ret)
{
	for (size_t i = 0; i < rows; i++)
		ret[folds[i]]++;
}

static void test_folds_have_equal_parts(void **state)
{
	struct validation_plan plan = { FOLDS_RANDOM, 10, 1, NULL };
	uint32_t folds[ROWS], other[ROWS];
	size_t counts[10] = { 0 };
	struct diag diag = { "" };

	assert_int_equal(validation_folds(&plan, ROWS, folds, &diag), 0);
	count_folds(folds, ROWS, counts);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(counts[i], 10);
	assert_int_equal(validation_folds(&plan, ROWS, other, &diag), 0);
	assert_memory_equal(folds, other, sizeof(folds));
	plan.seed = 2;
	assert_int_equal(validation_folds(&plan, ROWS, other, &diag), 0);
	assert_memory_not_equal(folds, other, sizeof(folds));
}

static void test_blocks_follow_each_other(void **state)
{
	const struct validation_plan plan = { FOLDS_BLOCKED, 3, 1, NULL };
	const uint32_t expected[10] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 2 };
	uint32_t folds[10];
	struct diag diag = { "" };

	assert_int_equal(validation_folds(&plan, 10, folds, &diag), 0);
	assert_memory_equal(folds, expected, sizeof(folds));
}

static void test_groups_are_held_out_whole(void **state)
{
	double group[ROWS];
	struct validation_plan plan = { FOLDS_GROUPS, 5, 1, group };
	uint32_t folds[ROWS];
	size_t counts[5] = { 0 };
	struct diag diag = { "" };

	for (size_t i = 0; i < ROWS; i++)
		group[i] = (double)(i % 20);
	assert_int_equal(validation_folds(&plan, ROWS, folds, &diag), 0);
	for (size_t i = 20; i < ROWS; i++)
		assert_int_equal(folds[i], folds[i % 20]);
	count_folds(folds, ROWS, counts);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(counts[i], 20);
	plan.folds = 21;
	assert_int_equal(validation_folds(&plan, ROWS, folds, &diag), -EINVAL);
	assert_string_equal(diag.text, "21 folds of whole groups need as many groups, and there "
				       "are 20");
}

static void test_a_row_is_not_predicted_from_itself(void **state)
{
	double x[ROWS], y[ROWS], predicted[ROWS];
	struct model_feature feature = { .scale = 1 };
	struct training_rows rows = {
		.features = &feature, .feature_count = 1, .x = x, .y = y, .rows = ROWS
	};
	const struct validation_plan plan = { FOLDS_RANDOM, ROWS, 1, NULL };
	struct diag diag = { "" };

	for (size_t i = 0; i < ROWS; i++) {
		x[i] = (double)i;
		y[i] = i == 50 ? 5000 : 10;
	}
	for (size_t i = 0; i < ROWS; i++)
		predicted[i] = -1;
	assert_int_equal(validation_predict(trainer_find("KNeighborsRegressor"), &rows, &plan,
					    predicted, &diag),
			 0);
	assert_true(fabs(predicted[50] - 10) < 1e-9);
	assert_true(predicted[49] > 800); /* a neighbour of the odd one */
}

static void test_no_prediction_is_negative(void **state)
{
	double x[10], y[10], predicted[10] = { 0 };
	struct model_feature feature = { .scale = 1 };
	struct training_rows rows = {
		.features = &feature, .feature_count = 1, .x = x, .y = y, .rows = 10
	};
	bool held_out[10] = { true };
	struct diag diag = { "" };

	for (size_t i = 0; i < 10; i++) {
		x[i] = i == 0 ? -5 : (double)i;
		y[i] = (double)i;
	}
	assert_int_equal(validation_predict_split(trainer_find("LeastSquares"), &rows, held_out, 1,
						  predicted, &diag),
			 0);
	assert_true(predicted[0] >= 0 && predicted[0] <= 0);
}

static void test_scores(void **state)
{
	const double watts[] = { 100, 200, 0, 100 }, predicted[] = { 110, 180, 5, 100 };
	struct validation_score score;

	assert_int_equal(validation_score(watts, predicted, 4, 1, &score), 0);
	assert_true(fabs(score.mae_w - 8.75) < 1e-9);
	assert_true(fabs(score.bias_w - (10 - 20 + 5) / 4.0) < 1e-9);
	assert_true(fabs(score.mape_percent - 20.0 / 3) < 1e-9);
	assert_true(fabs(score.weighted_percent - 8.75) < 1e-9);
	assert_true(fabs(score.range_percent - 4.375) < 1e-9);
	assert_true(score.low_w < 8.75 && score.high_w > 8.75 && score.high_w <= 20);
}

static void test_scores_of_constant_and_no_power(void **state)
{
	const double watts[] = { 0, 0 }, predicted[] = { 1, 1 };
	struct validation_score score;

	assert_int_equal(validation_score(watts, predicted, 2, 1, &score), 0);
	assert_true(fabs(score.mae_w - 1) < 1e-9);
	assert_true(isnan(score.mape_percent) && isnan(score.weighted_percent));
	assert_true(isnan(score.range_percent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folds_have_equal_parts),
		cmocka_unit_test(test_blocks_follow_each_other),
		cmocka_unit_test(test_groups_are_held_out_whole),
		cmocka_unit_test(test_a_row_is_not_predicted_from_itself),
		cmocka_unit_test(test_no_prediction_is_negative),
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_scores_of_constant_and_no_power),
	};

	return unit_run(tests);
}
