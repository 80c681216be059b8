// SPDX-License-Identifier: Apache-2.0
/* Least squares with known answers, and the conditions of Karush, Kuhn and Tucker on any others. */
#include "attribution/learning/nnls.h"

#include "../../rig/property.h"
#include "tests/unit/unit.h"

#define ALL ((1U << NNLS_MAX) - 1)

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(1, fabs(b));
}

/* Adds the equation row·x = y. */
static void add_row(double *a, double *b, const double *row, size_t n, double y)
{
	for (size_t i = 0; i < n; i++) {
		b[i] += row[i] * y;
		for (size_t j = 0; j <= i; j++)
			a[nnls_at(i, j)] += row[i] * row[j];
	}
}

static void test_an_inner_solution_is_that_of_least_squares(void **state)
{
	const double rows[][2] = { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 3 } };
	double a[3] = { 0 }, b[2] = { 0 }, x[2] = { 0 };

	for (size_t i = 0; i < 4; i++)
		add_row(a, b, rows[i], 2, 5 + 3 * rows[i][1] + (i % 2 ? 0.5 : -0.5));
	assert_true(nnls_solve(a, b, 2, ALL, x));
	assert_true(is_near(x[0], 4.7) && is_near(x[1], 3.2));
}

static void test_what_would_be_negative_is_zero(void **state)
{
	const double rows[][2] = { { 1, 0 }, { 1, 1 }, { 1, 2 } };
	double a[3] = { 0 }, b[2] = { 0 }, x[2] = { 0, 7 }; /* a bad start */

	for (size_t i = 0; i < 3; i++)
		add_row(a, b, rows[i], 2, 6 - 2 * rows[i][1]);
	assert_true(nnls_solve(a, b, 2, ALL, x));
	assert_true(is_near(x[0], 4) && is_near(x[1], 0));
}

static void test_only_variables_of_the_mask_are_used(void **state)
{
	double a[3] = { 1, 0, 1 }, b[2] = { 2, 3 }, x[2] = { 0 };

	assert_true(nnls_solve(a, b, 2, 2, x));
	assert_true(is_near(x[0], 0) && is_near(x[1], 3));
}

static void test_a_column_of_zeros_has_no_part(void **state)
{
	double a[3] = { 4, 0, 0 }, b[2] = { 2, 0 }, x[2] = { 0, 5 };

	assert_true(nnls_solve(a, b, 2, ALL, x));
	assert_true(is_near(x[0], 0.5) && is_near(x[1], 0));
}

static void test_equal_columns_are_solved(void **state)
{
	double a[3] = { 1, 1, 1 }, b[2] = { 2, 2 }, x[2] = { 0.5, 0.5 };

	assert_true(nnls_solve(a, b, 2, ALL, x));
	assert_true(x[0] >= 0 && x[1] >= 0 && is_near(x[0] + x[1], 2));
}

static void test_units_do_not_matter(void **state)
{
	double a[3] = { 4e18, 1e-3, 4e-18 }, b[2] = { 4.001e9, 4.001e-9 }, x[2] = { 0 };

	assert_true(nnls_solve(a, b, 2, ALL, x));
	assert_true(is_near(x[0] / 1e-9, 1) && is_near(x[1] / 1e9, 1));
}

static void test_numbers_that_are_not_finite_are_refused(void **state)
{
	double a[3] = { 1, 0, 1 }, b[2] = { (double)NAN, 1 }, x[2] = { 3, 4 };

	assert_false(nnls_solve(a, b, 2, ALL, x));
	b[0] = 1;
	a[1] = (double)INFINITY;
	assert_false(nnls_solve(a, b, 2, ALL, x));
	assert_true(is_near(x[0], 3) && is_near(x[1], 4));
}

/* The inverse of [2 1; 1 2], which is [2 -1; -1 2] / 3; a variable that is 0 has none. */
static void test_the_variance_of_a_sum(void **state)
{
	double a[] = { 2, 1, 2, 0, 0, 5 }, x[] = { 1, 4, 0 }, gradient[] = { 1, 2, 9 };

	assert_true(is_near(nnls_variance(a, 3, ALL, x, gradient), 2));
	assert_true(is_near(nnls_variance(a, 3, 2, x, gradient), 2)); /* 2² / 2 */
	assert_true(is_near(nnls_variance(a, 3, 1, x, gradient), 0.5));
	gradient[0] = (double)NAN;
	assert_true(nnls_variance(a, 3, ALL, x, gradient) < 0);
}

/* -1..1 in steps that reach 0 at times */
static double draw_number(struct property_source *source)
{
	return ((double)draw_below(source, 201) - 100) / 100;
}

/* Sums up to 50; up to 25 columns can be the same, which costs digits. */
#define NO_GRADIENT 1e-5

/* A gradient of 0 where x is above 0, and none that wants x above 0 elsewhere. */
static const char *is_the_least(struct property_source *source, void *userdata)
{
	size_t n = 1 + draw_below(source, NNLS_MAX), rows = n + 2 + draw_below(source, 20);
	double a[NNLS_MAX * (NNLS_MAX + 1) / 2] = { 0 }, b[NNLS_MAX] = { 0 }, x[NNLS_MAX],
					     row[NNLS_MAX];

	(void)userdata;
	for (size_t r = 0; r < rows; r++) {
		for (size_t i = 0; i < n; i++)
			row[i] = draw_number(source);
		add_row(a, b, row, n, draw_number(source));
	}
	for (size_t i = 0; i < n; i++)
		x[i] = draw_chance(source, 2) ? draw_number(source) : 0;
	if (!nnls_solve(a, b, n, ALL, x))
		return "it was refused";
	for (size_t i = 0; i < n; i++) {
		double gradient = b[i];

		for (size_t j = 0; j < n; j++)
			gradient -= a[i >= j ? nnls_at(i, j) : nnls_at(j, i)] * x[j];
		if (x[i] < 0)
			return "a variable is below 0";
		if (gradient > NO_GRADIENT || (x[i] > 0 && gradient < -NO_GRADIENT))
			return "there is a better solution";
	}
	return NULL;
}

static void test_no_solution_is_better(void **state)
{
	assert_true(property_check("least squares", is_the_least, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_inner_solution_is_that_of_least_squares),
		cmocka_unit_test(test_what_would_be_negative_is_zero),
		cmocka_unit_test(test_only_variables_of_the_mask_are_used),
		cmocka_unit_test(test_a_column_of_zeros_has_no_part),
		cmocka_unit_test(test_equal_columns_are_solved),
		cmocka_unit_test(test_units_do_not_matter),
		cmocka_unit_test(test_numbers_that_are_not_finite_are_refused),
		cmocka_unit_test(test_the_variance_of_a_sum),
		cmocka_unit_test(test_no_solution_is_better),
	};

	return unit_run(tests);
}
