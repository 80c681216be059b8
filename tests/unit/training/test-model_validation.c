// SPDX-License-Identifier: Apache-2.0
/* A model of watts = 2 x, and rows that deviate from it by known amounts. */
#include "training/model_validation.h"

#include "tests/unit/unit.h"

static const char *const names[] = { "y", "x", "package_power" };

static double weights[] = { 0, 2 };
static struct model_feature feature = { .name = "x", .scale = 1, .minimum = 0, .maximum = 1000 };
static struct model_component component = {
	.name = "package",
	.features = &feature,
	.feature_count = 1,
	.predictor = { .form = PREDICTOR_LINEAR, .features = 1, .linear = { weights, 2 } },
	.error = { .bound_w = 5 },
};
static const struct trained_model model = {
	.name = "m", .node_type = -1, .components = &component, .component_count = 1
};

static void begin(struct model_validation *ret)
{
	struct diag diag = { "" };

	component.minimum_w = component.maximum_w = (double)NAN;
	assert_int_equal(model_validation_begin(ret, &model, 0, names, ARRAY_SIZE(names), &diag),
			 0);
}

/* A row whose power is @error beside the prediction. */
static void add(struct model_validation *validation, double x, double error)
{
	const double values[] = { (double)NAN, x, 2 * x + error };

	assert_int_equal(model_validation_add(validation, values), 0);
}

static void sums_are_of_whole_rows(void **state)
{
	CLEANUP(model_validation_release) struct model_validation validation;
	struct training_result result;
	struct diag diag = { "" };

	begin(&validation);
	assert_int_equal(model_validation_finish(&validation, 1, &result, &diag), -EINVAL);
	assert_string_equal(diag.text, "no row has all features and package_power");
	add(&validation, 10, 1);
	add(&validation, 20, -3);
	add(&validation, (double)NAN, 100);
	add(&validation, 30, (double)NAN);
	add(&validation, 100, 8);
	assert_int_equal(model_validation_finish(&validation, 1, &result, &diag), 0);
	assert_int_equal(result.score.rows, 3);
	assert_true(fabs(result.score.mae_w - 4) < 1e-9);
	assert_true(fabs(result.score.bias_w + 2) < 1e-9);
	assert_true(fabs(result.score.weighted_percent - 100 * 12.0 / (21 + 37 + 208)) < 1e-9);
	assert_true(fabs(result.score.range_percent - 100 * 4.0 / (208 - 21)) < 1e-9);
	assert_true(fabs(result.coverage - 2.0 / 3) < 1e-9);
	assert_true(result.bound.bound_w > 4.9);
}

static void what_is_missing_is_named(void **state)
{
	struct model_validation validation;
	struct diag diag = { "" };

	assert_int_equal(model_validation_begin(&validation, &model, 0, names, 2, &diag), -ENOENT);
	assert_string_equal(diag.text, "there is no column package_power with numbers");
	assert_int_equal(model_validation_begin(&validation, &model, 0, &names[2], 1, &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "\"x\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_of_whole_rows),
		cmocka_unit_test(what_is_missing_is_named),
	};

	return unit_run(tests);
}
