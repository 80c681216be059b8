// SPDX-License-Identifier: Apache-2.0
#include "model/trained_model.h"

#include "tests/unit/unit.h"

/* 20 W + 100 W × a / 10, seen from a = 2 to 10. */
static double weights[] = { 20, 100, 0 };
static struct model_feature features[] = {
	{ .name = "a", .scale = 10, .minimum = 2, .maximum = 10 },
	{ .name = "b", .scale = 0, .minimum = (double)NAN, .maximum = (double)NAN },
};
static struct model_component component = {
	.name = "package",
	.features = features,
	.feature_count = 2,
	.predictor = { .form = PREDICTOR_LINEAR, .features = 2, .linear = { weights, 3 } },
	.error = { .mae_w = 2, .mape_percent = 3, .bound_w = 5, .bound_ratio = 0.1 },
	.minimum_w = 40,
	.maximum_w = 120,
};
static const struct trained_model model = {
	.name = "m",
	.components = &component,
	.component_count = 1,
};
static const struct model_columns columns = { .column = { 1, 0 } };

static struct model_answer predict(double a)
{
	struct model_answer answer;

	trained_model_predict(&model, 0, &columns, (double[]){ 3, a }, &answer);
	return answer;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void test_features_are_found_by_name(void **state)
{
	static const char *const names[] = { "b", "a" };
	static const char *const others[] = { "b", "aa" };
	struct model_columns found;
	struct diag diag = { "" };

	assert_int_equal(trained_model_bind(&model, 0, names, 2, &found, &diag), 0);
	assert_int_equal(found.column[0], 1);
	assert_int_equal(found.column[1], 0);
	assert_true(trained_model_bind(&model, 0, others, 2, &found, &diag) < 0);
	assert_string_equal(diag.text, "component \"package\" of model \"m\" needs the feature "
				       "\"a\", which is not available");
}

static void test_inside_the_range(void **state)
{
	struct model_answer answer = predict(5);

	assert_near(answer.watts, 70);
	assert_near(answer.bound_w, 7); /* a tenth of it is more than 5 W */
	assert_false(answer.outside);
	assert_near(predict(2.5).bound_w, 5);
	assert_false(predict(10.8).outside); /* a tenth of the range further is still inside */
}

/* The edge's value, twice its bound, and what the form would have gone further. */
static void test_outside_the_range(void **state)
{
	struct model_answer answer = predict(12);

	assert_true(answer.outside);
	assert_near(answer.watts, 20 + 10 * 10.8);
	assert_near(answer.bound_w, 2 * 12.8 + 10 * 1.2);
	answer = predict(0);
	assert_true(answer.outside);
	assert_near(answer.watts, 32);
}

static void test_answers_are_physical(void **state)
{
	static const double values[] = { -1e308, 1e308, (double)INFINITY, -(double)INFINITY,
					 (double)NAN };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct model_answer answer = predict(values[i]);

		assert_true(answer.outside);
		assert_true(answer.watts >= 0 && answer.watts <= 180);
		assert_true(isfinite(answer.bound_w));
	}
}

static void test_an_unknown_bound_is_not_zero(void **state)
{
	const struct model_error known = component.error;

	component.error.bound_w = component.error.bound_ratio = (double)NAN;
	component.error.mae_w = component.error.mape_percent = (double)NAN;
	assert_true(isnan(predict(5).bound_w));
	component.error.mape_percent = 10; /* nine of ten are within 2.06 times the mean */
	assert_near(predict(5).bound_w, 2.06 * 7);
	component.error.mae_w = 5;
	assert_near(predict(5).bound_w, 2.06 * 5);
	component.error.bound_ratio = 0.2;
	assert_near(predict(5).bound_w, 14);
	component.error.bound_w = 3;
	component.error.bound_ratio = (double)NAN;
	assert_near(predict(5).bound_w, 3);
	component.error = known;
}

static void test_what_is_always_zero_draws_no_power(void **state)
{
	assert_true(model_component_draws_power(&component));
	weights[0] = 0; /* nothing at no load */
	assert_true(model_component_draws_power(&component));
	weights[1] = 0;
	assert_false(model_component_draws_power(&component));
	weights[0] = 20;
	weights[1] = 100;
}

static void test_never_negative(void **state)
{
	weights[0] = -90;
	assert_true(predict(5).watts >= 0 && predict(5).watts <= 0);
	weights[0] = 20;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features_are_found_by_name),
		cmocka_unit_test(test_inside_the_range),
		cmocka_unit_test(test_outside_the_range),
		cmocka_unit_test(test_answers_are_physical),
		cmocka_unit_test(test_an_unknown_bound_is_not_zero),
		cmocka_unit_test(test_what_is_always_zero_draws_no_power),
		cmocka_unit_test(test_never_negative),
	};

	return unit_run(tests);
}
