// SPDX-License-Identifier: Apache-2.0
/* A model of watts = 10 + 2 cpu, and more samples than are drawn. */
#include "report/judged_samples.h"

#include "tests/unit/unit.h"

#define FEW  3000
#define MANY 120000 /* every third is exchanged, every 31st is drawn */

static double weights[] = { 10, 2, 0 };
static struct model_feature features[] = {
	{ .name = "cpu", .scale = 1, .minimum = 0, .maximum = 99 },
	{ .name = "disk", .scale = 1, .minimum = 0, .maximum = 99 },
};
static struct model_component component = {
	.name = "package",
	.features = features,
	.feature_count = 2,
	.predictor = { .form = PREDICTOR_LINEAR, .features = 2, .linear = { weights, 3 } },
	.error = { .bound_w = 5 },
	.minimum_w = (double)NAN,
	.maximum_w = (double)NAN,
};
static const struct trained_model model = {
	.name = "m", .node_type = -1, .components = &component, .component_count = 1
};

/* Three samples of four are 1 W off the model, each fourth is 9 W; the first lacks a feature. */
static void make(struct sample_table *table, size_t rows)
{
	static const char *const names[] = { "cpu", "disk", "package_power" };
	size_t column;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(sample_table_add_column(table, names[i], &column), 0);
	for (size_t row = 0; row <= rows; row++) {
		double cpu = (double)(row * 7 % 100);

		assert_int_equal(sample_table_add_row(table), 0);
		table->columns[0][row] = row ? cpu : (double)NAN;
		table->columns[1][row] = (double)(row % 13);
		table->columns[2][row] = 10 + 2 * cpu + (row % 4 == 3 ? -9 : 1);
	}
}

static void check(size_t rows, size_t exchanged, size_t drawn)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	CLEANUP(judged_samples_release) struct judged_samples all = { .count = 0 };
	const struct judged *judged = &all.components[0];
	double growth[PREDICTOR_FEATURES_MAX], counted = 0;
	struct diag diag = { "" };

	make(&table, rows);
	assert_int_equal(judged_samples_read(&model, &table, NULL, &all, &diag), 0);
	assert_int_equal(judged->rows, rows);
	assert_int_equal(judged->left_out, 1);
	assert_int_equal(judged->errors.covered, rows / 4 * 3);
	assert_true(fabs(judged->errors.mae_w - 3) < 1e-9);
	assert_true(judged->most[0] >= 99 && judged->most[0] <= 99);
	assert_int_equal(judged->exchanged, exchanged);
	assert_int_equal(judged->drawn_count, drawn);
	for (size_t i = 0; i < JUDGED_BINS; i++)
		counted += judged->counts[i];
	assert_int_equal((size_t)counted, rows);
	/* The first that is drawn is the first that is whole. */
	assert_true(judged->drawn[0].order >= 1 && judged->drawn[0].order <= 1);
	assert_true(fabs(judged->drawn[1].predicted - judged->drawn[1].measured) > 0.9);
	assert_int_equal(judged_importance(judged, growth), 0);
	/* Two loads of chance are 33 apart: 67 W, about. */
	assert_true(growth[0] > 60 && growth[0] < 70);
	assert_true(growth[1] >= 0 && growth[1] <= 0);
}

static void errors_are_of_all_samples(void **state)
{
	check(FEW, FEW, FEW);
	check(MANY, MANY / 3, MANY / 31 + 1);
}

/* Predictions for held-out rows are drawn, and have errors of their own. */
static void held_out_predictions_are_drawn(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = { .rows = 0 }, held = { .rows = 0 };
	CLEANUP(judged_samples_release) struct judged_samples all = { .count = 0 };
	const struct judged *judged = &all.components[0];
	struct diag diag = { "" };
	size_t power, predicted;

	make(&table, FEW);
	assert_int_equal(sample_table_add_column(&held, "package_power", &power), 0);
	assert_int_equal(sample_table_add_column(&held, "package_held_out", &predicted), 0);
	for (size_t row = 0; row < 100; row++) {
		assert_int_equal(sample_table_add_row(&held), 0);
		held.columns[power][row] = 100;
		/* Half of them are beyond the bound of 5 W; the last one was not predicted. */
		held.columns[predicted][row] = row == 99 ? (double)NAN : row % 2 ? 104 : 110;
	}
	assert_int_equal(judged_samples_read(&model, &table, &held, &all, &diag), 0);
	assert_true(fabs(judged->errors.mae_w - 3) < 1e-9);
	assert_int_equal(judged->held_out.rows, 99);
	assert_int_equal(judged->held_out.covered, 49);
	assert_true(fabs(judged->held_out.mae_w - (50 * 10 + 49 * 4) / 99.0) < 1e-9);
	assert_true(fabs(judged->held_out.mape_percent - judged->held_out.mae_w) < 1e-9);
	assert_int_equal(judged->drawn_count, 99);
	assert_true(fabs(judged->drawn[1].predicted - 104) < 1e-9);
	assert_true(fabs(judged->drawn[98].order - 98) < 1e-9);
	assert_true(judged_drawn_errors(judged) == &judged->held_out);
	assert_int_equal(judged->exchanged, FEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_of_all_samples),
		cmocka_unit_test(held_out_predictions_are_drawn),
	};

	return unit_run(tests);
}
