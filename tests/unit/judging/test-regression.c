// SPDX-License-Identifier: Apache-2.0
#include "judging/regression.h"

#include "tests/unit/unit.h"

#define WINDOWS 300

static void free_series(struct series **series)
{
	series_free(*series);
}

/* A truth that changes every 20 s, times @scale, with an error that alternates by @noise_w. */
static struct series *make(double scale, double noise_w, int step_s)
{
	struct series *series = series_new("package", "W");

	assert_non_null(series);
	for (int i = 0; i < WINDOWS; i += step_s) {
		double watts = scale * (i / 20 % 2 ? 80 : 40) + (i % 2 ? noise_w : -noise_w);

		assert_int_equal(series_add_window(series, i, i + step_s, watts), 0);
	}
	return series;
}

static struct regression measure(double earlier, double later, double noise_w, int step_s)
{
	CLEANUP(free_series) struct series *actual = make(1, 0, 1);
	CLEANUP(free_series) struct series *before = make(earlier, noise_w, step_s);
	CLEANUP(free_series) struct series *after = make(later, noise_w, step_s);
	struct regression regression;

	assert_int_equal(regression_measure(actual, before, after, &regression), 0);
	return regression;
}

static void what_is_worse_is_found(void **state)
{
	struct regression worse = measure(1, 1.03, 0, 1), better = measure(1.03, 1, 0, 1);

	assert_int_equal(worse.windows, WINDOWS);
	assert_true(fabs(worse.earlier_error) < 1e-9 && fabs(worse.later_error - 0.03) < 1e-9);
	assert_true(fabs(worse.change - 0.03) < 1e-9);
	assert_true(worse.low > 0.029 && worse.high < 0.031);
	assert_true(fabs(better.change + 0.03) < 1e-9 && better.high < -0.029);
	/* Too low is as wrong as too high. */
	assert_true(fabs(measure(0.98, 1.02, 0, 1).change) < 1e-9);
	assert_int_equal(measure(1, 1.03, 0, 5).windows, WINDOWS / 5);
}

/*
 * An error that both have in the same window does not count as a difference: the interval is
 * narrow.
 */
static void what_disturbs_both_is_in_neither_s_favour(void **state)
{
	struct regression regression = measure(1, 1, 10, 1);

	assert_true(regression.later_error > 0.15);
	assert_true(fabs(regression.low) < 1e-9 && fabs(regression.high) < 1e-9);
}

static void a_few_windows_have_no_interval(void **state)
{
	CLEANUP(free_series) struct series *actual = make(1, 0, 1);
	CLEANUP(free_series) struct series *part = series_cut(actual, 0, 5);
	struct regression regression;

	assert_non_null(part);
	assert_int_equal(regression_measure(part, actual, actual, &regression), 0);
	assert_int_equal(regression.windows, 5);
	assert_true(isnan(regression.low));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_worse_is_found),
		cmocka_unit_test(what_disturbs_both_is_in_neither_s_favour),
		cmocka_unit_test(a_few_windows_have_no_interval),
	};

	return unit_run(tests);
}
