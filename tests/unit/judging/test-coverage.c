// SPDX-License-Identifier: Apache-2.0
#include "judging/coverage.h"

#include "tests/unit/unit.h"

#define WINDOWS 100

static void free_series(struct series **series)
{
	series_free(*series);
}

/* A truth of 100 W; of a hundred estimates, @outside are @error_w off, the others right. */
static struct coverage measure(int outside, double error_w, double bound_w, double truth_error)
{
	CLEANUP(free_series) struct series *actual = series_new("package", "W");
	CLEANUP(free_series) struct series *predicted = series_new("package", "W");
	CLEANUP(free_series) struct series *bound = series_new("package", "W");
	struct coverage coverage;

	for (int i = 0; i < 5 * WINDOWS; i++)
		assert_int_equal(series_add_window(actual, i, i + 1, 100), 0);
	for (int i = 0; i < WINDOWS; i++) {
		double off_w = i < outside ? error_w : 0;

		assert_int_equal(series_add_window(predicted, 5 * i, 5 * i + 5, 100 + off_w), 0);
		assert_int_equal(series_add_window(bound, 5 * i, 5 * i + 5, bound_w), 0);
	}
	actual->error = truth_error;
	coverage_measure(actual, predicted, bound, &coverage);
	return coverage;
}

static void windows_within_the_bound_are_covered(void **state)
{
	struct coverage coverage = measure(10, 12, 10, NAN);

	assert_int_equal(coverage.windows, WINDOWS);
	assert_int_equal(coverage.covered, 90);
	assert_int_equal(coverage.doubtful, 0);
	assert_true(fabs(coverage.bound - 10) < 1e-9);
	assert_int_equal(measure(10, -12, 10, NAN).covered, 90);
	assert_int_equal(measure(10, -12, 13, NAN).covered, WINDOWS);
}

static void the_truth_s_own_error_decides_nothing(void **state)
{
	struct coverage coverage = measure(30, 12, 10, 0.05);

	assert_int_equal(coverage.covered, 70);
	assert_int_equal(coverage.doubtful, 30);
	assert_int_equal(measure(30, 16, 10, 0.05).doubtful, 0);
}

static void a_window_without_a_truth_does_not_count(void **state)
{
	CLEANUP(free_series) struct series *actual = series_new("package", "W");
	CLEANUP(free_series) struct series *predicted = series_new("package", "W");
	struct coverage coverage;

	assert_int_equal(series_add_window(actual, 0, 6, 50), 0);
	assert_int_equal(series_add_window(predicted, 0, 5, 50), 0);
	assert_int_equal(series_add_window(predicted, 5, 10, 50), 0);
	coverage_measure(actual, predicted, predicted, &coverage);
	assert_int_equal(coverage.windows, 1);
	coverage_measure(predicted, actual, actual, &coverage);
	assert_int_equal(coverage.windows, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_within_the_bound_are_covered),
		cmocka_unit_test(the_truth_s_own_error_decides_nothing),
		cmocka_unit_test(a_window_without_a_truth_does_not_count),
	};

	return unit_run(tests);
}
