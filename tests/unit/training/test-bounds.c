// SPDX-License-Identifier: Apache-2.0
#include "training/bounds.h"

#include "tests/unit/unit.h"
#include "training/random.h"

#define ROWS 2000

/* Errors up to @constant_w, or up to @ratio of the prediction. */
static void make_rows(uint64_t seed, double constant_w, double ratio, double *watts,
		      double *predicted)
{
	struct random random = { seed };

	for (size_t i = 0; i < ROWS; i++) {
		double part = 2 * random_part(&random) - 1;

		predicted[i] = 10 + 500 * random_part(&random);
		watts[i] = predicted[i] + part * (constant_w + ratio * predicted[i]);
	}
}

/* The part of the rows that lies within the bound. */
static double coverage_of(const struct error_bound *bound, const double *watts,
			  const double *predicted, size_t rows)
{
	size_t inside = 0;

	for (size_t i = 0; i < rows; i++)
		inside += fabs(predicted[i] - watts[i]) <= bounds_at(bound, predicted[i]);
	return (double)inside / (double)rows;
}

static void test_nine_of_ten_of_other_rows(void **state)
{
	static const double ratios[] = { 0, 0.05, 0.2 };
	double watts[ROWS], predicted[ROWS];
	struct error_bound bound;

	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		make_rows(i, 20, ratios[i], watts, predicted);
		assert_int_equal(bounds_find(watts, predicted, ROWS, &bound), 0);
		make_rows(i + 100, 20, ratios[i], watts, predicted);
		assert_true(fabs(coverage_of(&bound, watts, predicted, ROWS) - 0.9) < 0.02);
	}
}

static void test_constant_errors_have_a_constant_bound(void **state)
{
	double watts[ROWS], predicted[ROWS];
	struct error_bound bound;

	make_rows(1, 20, 0, watts, predicted);
	assert_int_equal(bounds_find(watts, predicted, ROWS, &bound), 0);
	assert_true(fabs(bound.bound_w - 18) < 0.6);
	assert_true(fabs(bounds_at(&bound, 0) - bound.bound_w) < 1e-9);
}

static void test_errors_that_grow_have_a_ratio(void **state)
{
	double watts[ROWS], predicted[ROWS];
	struct error_bound bound;

	make_rows(1, 0, 0.2, watts, predicted);
	assert_int_equal(bounds_find(watts, predicted, ROWS, &bound), 0);
	assert_true(bound.bound_ratio >= 0.1 && bound.bound_ratio <= 0.2);
	assert_true(bounds_at(&bound, 500) > 1.5 * bounds_at(&bound, 50));
}

/* The sum of twelve draws, which is as good as normal, with a deviation of @ratio. */
static void make_normal_rows(uint64_t seed, double ratio, double *watts, double *predicted)
{
	struct random random = { seed };

	for (size_t i = 0; i < ROWS; i++) {
		double normal = -6;

		for (int k = 0; k < 12; k++)
			normal += random_part(&random);
		predicted[i] = 10 + 500 * random_part(&random);
		watts[i] = predicted[i] * (1 + ratio * normal);
	}
}

/* Nine of ten of the small ones, and of the large ones, not the former for the latter. */
static void test_errors_that_grow_are_covered_at_any_load(void **state)
{
	double watts[ROWS], predicted[ROWS], rows[3] = { 0 }, inside[3] = { 0 };
	struct error_bound bound;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		make_normal_rows(seed, 0.13, watts, predicted);
		assert_int_equal(bounds_find(watts, predicted, ROWS, &bound), 0);
		for (size_t i = 0; i < ROWS; i++) {
			size_t third = predicted[i] < 170 ? 0 : predicted[i] < 340 ? 1 : 2;

			rows[third]++;
			inside[third] +=
				fabs(watts[i] - predicted[i]) <= bounds_at(&bound, predicted[i]);
		}
	}
	for (size_t third = 0; third < 3; third++)
		assert_true(fabs(inside[third] / rows[third] - 0.9) < 0.01);
}

static void test_few_rows_have_a_wide_constant(void **state)
{
	const double watts[] = { 10, 20, 30 }, predicted[] = { 11, 18, 37 };
	struct error_bound bound;

	assert_int_equal(bounds_find(watts, predicted, 3, &bound), 0);
	assert_true(fabs(bound.bound_w - 7) < 1e-9); /* the largest */
	assert_true(bound.bound_ratio <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nine_of_ten_of_other_rows),
		cmocka_unit_test(test_constant_errors_have_a_constant_bound),
		cmocka_unit_test(test_errors_that_grow_have_a_ratio),
		cmocka_unit_test(test_errors_that_grow_are_covered_at_any_load),
		cmocka_unit_test(test_few_rows_have_a_wide_constant),
	};

	return unit_run(tests);
}
