// SPDX-License-Identifier: Apache-2.0
/* A model of watts = 2 x, and rows that lie beside it by known amounts. */
#include "training/model_validation.h"

#include "tests/unit/unit.h"
#include "training/random.h"

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

static void add_many(struct model_validation *validation, size_t rows)
{
	struct random random = { 3 };

	for (size_t i = 0; i < rows; i++)
		add(validation, 400 * random_part(&random), -6 * log(random_part(&random)));
}

/* Where errors are too many to be kept the interval is what a bootstrap of them would be. */
static void an_interval_needs_no_errors(void **state)
{
	CLEANUP(model_validation_release) struct model_validation few, many;
	struct training_result kept, summed;
	struct diag diag = { "" };
	double low_w, high_w;

	begin(&few);
	begin(&many);
	add_many(&few, MODEL_VALIDATION_KEPT);
	add_many(&many, MODEL_VALIDATION_KEPT + 1);
	assert_non_null(few.errors);
	assert_null(many.errors);
	assert_int_equal(model_validation_finish(&few, 1, &kept, &diag), 0);
	assert_int_equal(model_validation_finish(&many, 1, &summed, &diag), 0);
	assert_int_equal(summed.score.rows, MODEL_VALIDATION_KEPT + 1);
	/* Errors of an exponential distribution: a deviation of 6 W. */
	error_sums_interval(&many.sums, &low_w, &high_w);
	assert_true(fabs((high_w - low_w) - 2 * 1.645 * 6 / sqrt(MODEL_VALIDATION_KEPT)) < 3e-4);
	assert_true(summed.score.low_w >= low_w && summed.score.low_w <= low_w);
	/* Two hundred draws say where 5 % lie to a seventh of the width. */
	assert_true(fabs(kept.score.low_w - low_w) < (high_w - low_w) / 7);
	assert_true(fabs(kept.score.high_w - high_w) < (high_w - low_w) / 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_of_whole_rows),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(an_interval_needs_no_errors),
	};

	return unit_run(tests);
}
