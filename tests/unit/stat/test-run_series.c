// SPDX-License-Identifier: Apache-2.0
/* The expected figures were computed by numerical integration of the density of Student's t. */
#include "stat/run_series.h"

#include <math.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

static void assert_close(double got, double want, double error)
{
	if (fabs(got - want) > error)
		fail_msg("%.12g, not %.12g", got, want);
}

static void a_series_has_its_summary(void **state)
{
	static const double values[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	struct run_summary summary;

	assert_int_equal(run_summary_of(values, ARRAY_SIZE(values), &summary), 0);
	assert_int_equal(summary.count, 8);
	assert_close(summary.mean, 3.875, 1e-12);
	assert_close(summary.deviation, 2.748376144, 1e-8);
	assert_close(summary.median, 3.5, 1e-12);
	assert_close(summary.min, 1, 1e-12);
	assert_close(summary.max, 9, 1e-12);
	assert_int_equal(summary.outliers, 0);
	assert_int_equal(run_summary_of(values, 1, &summary), 0);
	assert_close(summary.deviation, 0, 1e-12);
	assert_close(summary.median, 3, 1e-12);
}

static void a_far_run_is_an_outlier(void **state)
{
	double values[] = { 90, 10, 10.1, 9.9, 10.2, 9.8, 10, 10.1 };
	struct run_summary summary;

	assert_int_equal(run_summary_of(values, ARRAY_SIZE(values), &summary), 0);
	assert_int_equal(summary.outliers, 1);
	assert_true(summary.first_is_outlier);
	values[0] = 10;
	values[5] = 50;
	assert_int_equal(run_summary_of(values, ARRAY_SIZE(values), &summary), 0);
	assert_int_equal(summary.outliers, 1);
	assert_false(summary.first_is_outlier);
}

static void students_t_is_that_of_tables(void **state)
{
	assert_close(student_quantile(0.05, 1), 12.7062047, 1e-6);
	assert_close(student_quantile(0.05, 10), 2.2281389, 1e-6);
	assert_close(student_quantile(0.01, 4.5), 4.272824, 1e-5);
	assert_close(student_quantile(0.05, 1e6), 1.9599664, 1e-4);
	assert_close(student_probability(2.2281389, 10), 0.05, 1e-8);
	assert_close(student_probability(-12.7062047, 1), 0.05, 1e-8);
	assert_close(student_probability(0, 7), 1, 1e-12);
	assert_close(student_probability(1, 1), 0.5, 1e-12);
}

static struct run_summary of(const double *values, size_t count)
{
	struct run_summary summary;

	assert_int_equal(run_summary_of(values, count, &summary), 0);
	return summary;
}

/* Welch, two samples with unequal variances and sizes. */
static void a_difference_has_its_interval(void **state)
{
	static const double before[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
					 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 };
	static const double after[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
					24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 27.1 };
	const struct run_summary b = of(before, 15), a = of(after, 15);
	struct run_difference difference;

	assert_true(run_difference_of(&b, &a, &difference));
	assert_close(difference.difference, 3.013333, 1e-5);
	assert_close(difference.probability, 0.00623405, 1e-7);
	assert_close(difference.low, 0.9264671, 1e-6);
	assert_close(difference.high - difference.difference,
		     difference.difference - difference.low, 1e-9);
	assert_true(run_difference_of(&a, &b, &difference));
	assert_close(difference.difference, -3.013333, 1e-5);
}

static void one_run_shows_no_difference(void **state)
{
	static const double values[] = { 1, 1, 2, 2 };
	struct run_summary one = of(values, 1), same = of(values, 2), more = of(values + 2, 2);
	struct run_difference difference;

	assert_false(run_difference_of(&one, &same, &difference));
	assert_true(run_difference_of(&same, &same, &difference));
	assert_close(difference.probability, 1, 1e-12);
	assert_true(run_difference_of(&same, &more, &difference));
	assert_close(difference.probability, 0, 1e-12);
	assert_close(difference.low, 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_series_has_its_summary),
		cmocka_unit_test(a_far_run_is_an_outlier),
		cmocka_unit_test(students_t_is_that_of_tables),
		cmocka_unit_test(a_difference_has_its_interval),
		cmocka_unit_test(one_run_shows_no_difference),
	};

	return unit_run(tests);
}
