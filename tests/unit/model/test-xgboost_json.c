// SPDX-License-Identifier: Apache-2.0
/*
 * Models that the reader accepts and refuses, and predictions compared with libxgboost's, if that
 * is installed: of models that are trained here on made-up rows, and of published ones.
 */
#include "model/xgboost_json.h"

#include "base/strbuf.h"
#include "model_text.h"
#include "tests/unit/unit.h"

#define MODEL(objective, parameters, booster, tree)                                                \
	"{\"learner\": {\"objective\": {\"name\": \"" objective                                    \
	"\"}, \"learner_model_param\": {" parameters                                               \
	"}, \"gradient_booster\": {\"name\": \"" booster "\", \"model\": {\"trees\": [" tree       \
	"]}}, \"feature_names\": [\"cpu_cycles\", \"cache_miss\"]}}"
#define PARAMETERS "\"num_feature\": \"2\", \"base_score\": \"5E-1\""
/* Children stand before their parents, and the right one first. */
#define TREE                                                                                       \
	"{\"left_children\": [4, -1, -1, -1, 2], \"right_children\": [1, -1, -1, -1, 3], "         \
	"\"split_indices\": [1, 0, 0, 0, 0], \"split_conditions\": [2.5, 10, 20, 30, 1], "         \
	"\"default_left\": [1, 0, 0, 0, 0]}"

static double watts(const struct trained_model *model, double first, double second)
{
	double row[] = { first, second };

	return predictor_watts(&model->components[0].predictor, row);
}

static bool is(double value, double expected)
{
	return fabs(value - expected) < 1e-6;
}

static void test_a_tree_is_walked(void **state)
{
	struct trained_model model;
	struct diag diag = { "" };

	if (model_of("a/package.json", MODEL("reg:squarederror", PARAMETERS, "gbtree", TREE),
		     &model, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_string_equal(model.components[0].name, "package");
	assert_string_equal(model.components[0].features[1].name, "cache_miss");
	assert_true(is(watts(&model, 0, 0), 20.5));
	assert_true(is(watts(&model, 1, 0), 30.5)); /* not less than it: right */
	assert_true(is(watts(&model, 0, 2.5), 10.5));
	assert_true(is(watts(&model, 1, (double)NAN), 30.5)); /* missing: left */
	trained_model_release(&model);
}

static void test_objectives(void **state)
{
	struct trained_model model;
	struct diag diag = { "" };

	assert_int_equal(model_of("m", MODEL("reg:gamma", PARAMETERS, "gbtree", ""), &model, &diag),
			 0);
	assert_true(is(watts(&model, 0, 0), 0.5));
	trained_model_release(&model);
	assert_true(is_refused("m", MODEL("binary:logistic", PARAMETERS, "gbtree", ""),
			       "\"binary:logistic\" is not a regression"));
}

static void test_other_boosters_are_refused(void **state)
{
	assert_true(is_refused("m", MODEL("reg:squarederror", PARAMETERS, "dart", ""),
			       "the booster \"dart\" is not read"));
	assert_true(is_refused(
		"m", MODEL("reg:squarederror", PARAMETERS ", \"num_target\": \"2\"", "gbtree", ""),
		"has 2 outputs"));
	assert_true(is_refused("m",
			       MODEL("reg:squarederror", "\"num_feature\": \"65\"", "gbtree", ""),
			       "\"num_feature\" is 65, not 1 to 64"));
	assert_true(is_refused("m",
			       MODEL("reg:squarederror",
				     "\"num_feature\": \"2\", \"base_score\": \"x\"", "gbtree", ""),
			       "\"base_score\" must be one number, not \"x\""));
}

#define ONE(left, right, feature, value)                                                           \
	MODEL("reg:squarederror", PARAMETERS, "gbtree",                                            \
	      "{\"left_children\": " left ", \"right_children\": " right                           \
	      ", \"split_indices\": " feature ", \"split_conditions\": " value                     \
	      ", \"default_left\": [0, 0, 0]}")

static void test_invalid_trees_are_refused(void **state)
{
	assert_true(is_refused("m", ONE("[1,0,-1]", "[2,2,-1]", "[0,0,0]", "[1,1,1]"),
			       "trees[0]: its nodes form a circle"));
	assert_true(is_refused("m", ONE("[1,-1,-1]", "[3,-1,-1]", "[0,0,0]", "[1,1,1]"),
			       "node 0 must have two children from 0 to 2"));
	assert_true(is_refused("m", ONE("[1,-1,-1]", "[-1,-1,-1]", "[0,0,0]", "[1,1,1]"),
			       "node 0 must have two children"));
	assert_true(is_refused("m", ONE("[1,-1,-1]", "[2,-1,-1]", "[2,0,0]", "[1,1,1]"),
			       "\"split_indices\"[0] must be a feature from 0 to 1"));
	assert_true(is_refused("m", ONE("[1,-1,-1]", "[2,-1,-1]", "[0,0,0]", "[1e300,1,1]"),
			       "\"split_conditions\"[0] must be a finite number"));
	assert_true(is_refused("m", ONE("[1,-1,-1]", "[2,-1]", "[0,0,0]", "[1,1,1]"),
			       "\"right_children\" has 2 elements, not 3"));
	assert_true(is_refused("m", ONE("[]", "[]", "[]", "[]"), "it has no node"));
}

#ifdef KEPLER_TEST_XGBOOST

#include <xgboost/c_api.h>

#define ROWS     600
#define FEATURES 3
/* The part that libxgboost rounds away when it adds up 60 leaves of single precision. */
#define PREPARED_TOLERANCE 2e-6

static uint32_t seed = 12345;

static float chance(void)
{
	seed = seed * 1664525 + 1013904223;
	return (float)(seed >> 8) / (float)(1 << 24);
}

/* Powers of 50 to 300 W; some rows lack a feature. */
static void make_rows(float *rows, float *labels)
{
	for (size_t i = 0; i < ROWS; i++) {
		float *row = rows + i * FEATURES;

		for (size_t j = 0; j < FEATURES; j++)
			row[j] = chance();
		labels[i] = 50 + 200 * row[0] * (0.5F + row[1]) + 10 * chance();
		if (i % 7 == 0)
			row[i % FEATURES] = NAN;
	}
}

static BoosterHandle train(DMatrixHandle matrix, const char *depth, const char *objective)
{
	BoosterHandle booster;

	assert_int_equal(XGBoosterCreate(&matrix, 1, &booster), 0);
	assert_int_equal(XGBoosterSetParam(booster, "max_depth", depth), 0);
	assert_int_equal(XGBoosterSetParam(booster, "eta", "0.1"), 0);
	assert_int_equal(XGBoosterSetParam(booster, "nthread", "1"), 0);
	assert_int_equal(XGBoosterSetParam(booster, "objective", objective), 0);
	for (int i = 0; i < 60; i++)
		assert_int_equal(XGBoosterUpdateOneIter(booster, i, matrix), 0);
	return booster;
}

/* Largest difference, as a share of the prediction. */
static double difference(BoosterHandle booster, DMatrixHandle matrix, const float *rows,
			 size_t features, const struct trained_model *model)
{
	const float *watts;
	bst_ulong count;
	double largest = 0, row[PREDICTOR_FEATURES_MAX], share;

	assert_int_equal(XGBoosterPredict(booster, matrix, 0, 0, 0, &count, &watts), 0);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < features; j++)
			row[j] = (double)rows[i * features + j];
		share = fabs(predictor_watts(&model->components[0].predictor, row) -
			     (double)watts[i]) /
			fmax(1, fabs((double)watts[i]));
		largest = fmax(largest, share);
	}
	return largest;
}

static void compare_trained(const char *depth, const char *objective, double tolerance)
{
	static float rows[ROWS * FEATURES], labels[ROWS];
	struct trained_model model;
	struct diag diag = { "" };
	DMatrixHandle matrix;
	BoosterHandle booster;
	const char *text;
	bst_ulong len;
	double off;

	make_rows(rows, labels);
	assert_int_equal(XGDMatrixCreateFromMat(rows, ROWS, FEATURES, NAN, &matrix), 0);
	assert_int_equal(XGDMatrixSetFloatInfo(matrix, "label", labels, ROWS), 0);
	booster = train(matrix, depth, objective);
	assert_int_equal(XGBoosterSaveModelToBuffer(booster, "{\"format\": \"json\"}", &len, &text),
			 0);
	if (trained_model_parse(&model, "m.json", text, len, &diag) < 0)
		fail_msg("%s", diag.text);
	off = difference(booster, matrix, rows, FEATURES, &model);
	if (!(off <= tolerance))
		fail_msg("depth %s, %s: %g off", depth, objective, off);
	trained_model_release(&model);
	XGBoosterFree(booster);
	XGDMatrixFree(matrix);
}

static void test_predictions_are_those_of_libxgboost(void **state)
{
	compare_trained("1", "reg:squarederror", 0);
	compare_trained("6", "reg:squarederror", 0);
	compare_trained("9", "reg:absoluteerror", 0);
	compare_trained("6", "reg:gamma", 1e-5);
}

#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tree_is_walked),
		cmocka_unit_test(test_objectives),
		cmocka_unit_test(test_other_boosters_are_refused),
		cmocka_unit_test(test_invalid_trees_are_refused),
#ifdef KEPLER_TEST_XGBOOST
		cmocka_unit_test(test_predictions_are_those_of_libxgboost),
#endif
	};

	return unit_run(tests);
}
