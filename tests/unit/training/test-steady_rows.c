// SPDX-License-Identifier: Apache-2.0
/* Rows of a known curve: those in which load begins or ends, and those that stay. */
#include "training/steady_rows.h"

#include "model/trained_model.h"
#include "tests/unit/unit.h"
#include "training/random.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

static struct training_task task_of(const double *x, const double *y, size_t rows, size_t features)
{
	return (struct training_task){ .x = x, .y = y, .rows = rows, .features = features };
}

static void test_rows_that_rise_stay(void **state)
{
	static const double x[] = { 3, 0, 1, 2 }, y[] = { 90, 0, 10, 10 };
	struct training_task task = task_of(x, y, ARRAY_SIZE(y), 1);
	double watts[ARRAY_SIZE(y)];
	size_t load;

	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	for (size_t i = 0; i < ARRAY_SIZE(y); i++)
		assert_near(watts[i], y[i]);
}

/* The curve is 100 and 110 W; below it lie a row that ends load, and one within what may be. */
static void test_a_row_far_below_is_brought_near(void **state)
{
	static const double x[] = { 1, 1.1, 1.2, 2, 2.1, 3, 3.1, 3.2 };
	static const double y[] = { 100, 100, 100, 40, 95, 110, 110, 110 };
	struct training_task task = task_of(x, y, ARRAY_SIZE(y), 1);
	double watts[ARRAY_SIZE(y)];
	size_t load;

	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	for (size_t i = 0; i < ARRAY_SIZE(y); i++)
		assert_near(watts[i], i == 3 ? 100 - STEADY_PART * MODEL_FALL_TREES * 100 : y[i]);
}

/* The other way round: power that is there before the load. */
static void test_a_row_far_above_is_brought_down(void **state)
{
	static const double x[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const double y[] = { 200, 60, 60, 60, 60, 60, 300, 300 };
	struct training_task task = task_of(x, y, ARRAY_SIZE(y), 1);
	double watts[ARRAY_SIZE(y)];
	size_t load;

	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	for (size_t i = 0; i < ARRAY_SIZE(y); i++) {
		assert_true(watts[i] <= (i < 6 ? 67 : 300));
		assert_true(watts[i] >= (i < 6 ? 60 : 300));
	}
}

/* A part of a few watts is less than what any model may fall. */
static void test_a_few_watts_may_fall_by_the_least(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 5 }, y[] = { 2, 2, 1.7, 1, 2 };
	static const double within[] = { 2, 1.6, 1.6, 1.6, 1.6 };
	struct training_task task = task_of(x, y, ARRAY_SIZE(y), 1);
	double watts[ARRAY_SIZE(y)];
	size_t load;

	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	assert_near(watts[2], 1.7);
	assert_near(watts[3], 2 - STEADY_PART * MODEL_FALL_LEAST_W);
	task.y = within;
	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	for (size_t i = 0; i < ARRAY_SIZE(y); i++)
		assert_near(watts[i], within[i]);
}

/* A value that is not a power is not kept. */
static void test_no_power_is_below_0(void **state)
{
	static const double x[] = { 1, 2 }, y[] = { -5, -3 };
	struct training_task task = task_of(x, y, ARRAY_SIZE(y), 1);
	double watts[ARRAY_SIZE(y)];
	size_t load;

	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	assert_near(watts[0], -STEADY_PART * MODEL_FALL_LEAST_W);
	assert_near(watts[1], -STEADY_PART * MODEL_FALL_LEAST_W);
}

#define ROWS 3000

/* Features: a load, chance, and one along which power rises without an exception. */
static void make_rows(double *x, double *y)
{
	struct random random = { 5 };

	for (size_t i = 0; i < ROWS; i++) {
		double *row = x + 3 * i;

		row[0] = floor(random_part(&random) * 1000);
		row[1] = random_part(&random);
		y[i] = (50 + row[0]) * (random_below(&random, 5) ? 1 : 0.3);
		row[2] = y[i];
	}
}

static void test_the_load_is_found_among_the_features(void **state)
{
	static const bool grows[] = { true, true, false };
	double *x = calloc(3 * ROWS, sizeof(*x)), *y = calloc(ROWS, sizeof(*y));
	double *watts = calloc(ROWS, sizeof(*watts));
	struct training_task task = task_of(x, y, ROWS, 3);
	size_t load;

	assert_true(x && y && watts);
	make_rows(x, y);
	task.grows = grows;
	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	assert_int_equal(load, 0);
	for (size_t i = 0; i < ROWS; i++) {
		double lasting = 50 + x[3 * i];

		/* A step of the curve has twelve rows, and four loads. */
		assert_true(watts[i] <= lasting + 6);
		assert_true(watts[i] >= lasting * (1 - STEADY_PART * MODEL_FALL_TREES) - 6);
	}
	task.grows = NULL; /* along the last one no row is off */
	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	assert_int_equal(load, 2);
	for (size_t i = 0; i < ROWS; i++)
		assert_true(fabs(watts[i] - y[i]) <= 0.02 * y[i] + 6);
	free(x);
	free(y);
	free(watts);
}

/* Rows of one load are one step, however many there are. */
static void test_rows_of_one_load_are_together(void **state)
{
	double x[2 * STEADY_STEPS], y[ARRAY_SIZE(x)], watts[ARRAY_SIZE(x)];
	struct training_task task = task_of(x, y, ARRAY_SIZE(x), 1);
	size_t load;

	for (size_t i = 0; i < ARRAY_SIZE(x); i++) {
		x[i] = 7;
		y[i] = i % 4 ? 100 : 10;
	}
	assert_int_equal(steady_rows_watts(&task, watts, &load), 0);
	for (size_t i = 0; i < ARRAY_SIZE(x); i++)
		assert_near(watts[i], i % 4 ? 100 : 100 * (1 - STEADY_PART * MODEL_FALL_TREES));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_that_rise_stay),
		cmocka_unit_test(test_a_row_far_below_is_brought_near),
		cmocka_unit_test(test_a_row_far_above_is_brought_down),
		cmocka_unit_test(test_a_few_watts_may_fall_by_the_least),
		cmocka_unit_test(test_no_power_is_below_0),
		cmocka_unit_test(test_the_load_is_found_among_the_features),
		cmocka_unit_test(test_rows_of_one_load_are_together),
	};

	return unit_run(tests);
}
