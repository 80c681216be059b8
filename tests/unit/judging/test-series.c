// SPDX-License-Identifier: Apache-2.0
#include "judging/series.h"

#include "tests/unit/unit.h"

static void free_series(struct series **series)
{
	series_free(*series);
}

static void a_gauge_is_the_mean_of_the_time_before(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");

	for (int i = 0; i < 10; i++)
		assert_int_equal(series_add_gauge(series, 1000 + 5 * i, i), 0);
	series_finish(series);
	assert_int_equal(series->count, 10);
	assert_true(fabs(series_start_s(series) - 995) < 1e-9);
	assert_true(fabs(series_end_s(series) - 1045) < 1e-9);
	assert_true(fabs(series_step_s(series) - 5) < 1e-9);
	struct amount all = series_amount(series, 0, 2000),
		      part = series_amount(series, 1012, 1018);
	assert_true(fabs(all.amount - 45 * 5) < 1e-9 && fabs(all.covered_s - 50) < 1e-9);
	assert_true(fabs(part.amount - (3 * 3 + 4 * 3)) < 1e-9 && fabs(part.covered_s - 6) < 1e-9);
}

static void a_counter_keeps_its_energy(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");
	static const double samples[][2] = { { 0, 100 },  { 1, 110 },  { 2, 120 }, { 9, 190 },
					     { 10, 205 }, { 11, 5 },   { 12, 6 },  { 12, 7 },
					     { 11, 7 },   { 13, NAN }, { 14, 8 } };

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		assert_int_equal(series_add_counter(series, samples[i][0], samples[i][1]), 0);
	series_finish(series);
	assert_int_equal(series->count, 6);
	assert_true(fabs(series_amount(series, 0, 10).amount - 105) < 1e-9);
	assert_true(fabs(series_amount(series, 10, 14).amount - 3) < 1e-9);
	assert_true(fabs(series_amount(series, 10, 14).covered_s - 3) < 1e-9);
	assert_int_equal(series->samples, 11);
	assert_int_equal(series->gaps, 2); /* the long window, and the reset */
	assert_int_equal(series->dropped.first, 1);
	assert_int_equal(series->dropped.reset, 1);
	assert_int_equal(series->dropped.duplicate, 1);
	assert_int_equal(series->dropped.out_of_order, 1);
	assert_int_equal(series->dropped.not_finite, 1);
}

static void a_gauge_says_nothing_of_a_gap(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");

	for (int i = 0; i < 20; i++)
		if (i < 8 || i > 12)
			assert_int_equal(series_add_gauge(series, i, -2), 0);
	series_finish(series);
	assert_int_equal(series->gaps, 1);
	assert_int_equal(series->negative, 15);
	struct amount gap = series_amount(series, 7, 13);
	assert_true(fabs(gap.covered_s - 1) < 1e-9 && fabs(gap.amount + 2) < 1e-9);
}

static void a_gauge_that_is_not_a_number_covers_nothing(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");
	static const double values[] = { NAN, 1, NAN, 2, 3, NAN, INFINITY, 4 };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_int_equal(series_add_gauge(series, (double)i, values[i]), 0);
	series_finish(series);
	assert_int_equal(series->dropped.not_finite, 4);
	struct amount all = series_amount(series, -10, 10);
	assert_true(fabs(all.amount - 10) < 1e-9 && fabs(all.covered_s - 4) < 1e-9);
}

static void one_sample_makes_no_window(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");

	assert_int_equal(series_add_gauge(series, 5, 3), 0);
	series_finish(series);
	assert_int_equal(series->count, 0);
	assert_int_equal(series->dropped.first, 1);
	assert_true(isnan(series_step_s(series)));
	assert_true(series_amount(series, 0, 10).covered_s <= 0);
}

static void two_readings_of_a_counter_make_one_window(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");

	assert_int_equal(series_add_counter(series, 5, 100), 0);
	assert_int_equal(series_add_counter(series, 7, 130), 0);
	series_finish(series);
	assert_int_equal(series->count, 1);
	assert_true(fabs(series_start_s(series) - 5) < 1e-9);
	assert_true(fabs(series_end_s(series) - 7) < 1e-9);
	assert_true(fabs(series_step_s(series) - 2) < 1e-9);
	assert_true(fabs(series_amount(series, 6, 7).amount - 15) < 1e-9);
}

static void windows_do_not_overlap(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");

	assert_int_equal(series_add_window(series, 0, 10, 1), 0);
	assert_int_equal(series_add_window(series, 9, 20, 1), 0);
	assert_int_equal(series_add_window(series, 30, 30, 1), 0);
	assert_int_equal(series_add_window(series, 20, 50, 2), 0);
	series_finish(series);
	assert_int_equal(series->count, 2);
	assert_int_equal(series->dropped.out_of_order, 2);
	assert_true(fabs(series_amount(series, 0, 100).amount - 70) < 1e-9);
}

/* Ten million samples take the room of a quarter of a million, and no joule is lost. */
static void a_long_series_is_merged(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");
	double sum = 0;

	for (int i = 0; i < 10000000; i++) {
		sum += i % 100;
		assert_int_equal(series_add_gauge(series, i, i % 100), 0);
	}
	series_finish(series);
	assert_true(series->count <= SERIES_WINDOWS_MAX);
	assert_int_equal(series->merged, 64);
	assert_int_equal(series->samples, 10000000);
	assert_true(fabs(series_amount(series, -1, 1e7).amount - sum) < 1e-6 * sum);
}

static void a_cut_keeps_parts_of_windows(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");

	assert_int_equal(series_add_window(series, 0, 10, 1), 0);
	assert_int_equal(series_add_window(series, 10, 20, 3), 0);
	series_finish(series);
	CLEANUP(free_series) struct series *cut = series_cut(series, 5, 12);
	assert_int_equal(cut->count, 2);
	assert_true(fabs(series_start_s(cut) - 5) < 1e-9 && fabs(series_end_s(cut) - 12) < 1e-9);
	assert_true(fabs(series_amount(cut, 0, 20).amount - 11) < 1e-9);
	CLEANUP(free_series) struct series *nothing = series_cut(series, 30, 40);
	assert_int_equal(nothing->count, 0);
}

static void too_many_gaps_are_an_error(void **state)
{
	CLEANUP(free_series) struct series *series = series_new("package", "W");
	int r = 0;

	for (int i = 0; i <= SERIES_WINDOWS_MAX && r == 0; i++)
		r = series_add_window(series, 3 * i, 3 * i + 1, 1);
	assert_int_equal(r, -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gauge_is_the_mean_of_the_time_before),
		cmocka_unit_test(a_counter_keeps_its_energy),
		cmocka_unit_test(a_gauge_says_nothing_of_a_gap),
		cmocka_unit_test(a_gauge_that_is_not_a_number_covers_nothing),
		cmocka_unit_test(one_sample_makes_no_window),
		cmocka_unit_test(two_readings_of_a_counter_make_one_window),
		cmocka_unit_test(windows_do_not_overlap),
		cmocka_unit_test(a_long_series_is_merged),
		cmocka_unit_test(a_cut_keeps_parts_of_windows),
		cmocka_unit_test(too_many_gaps_are_an_error),
	};
	return unit_run(tests);
}
