// SPDX-License-Identifier: Apache-2.0
/* What a search of sorted rows finds is what sorting all rows by their distance says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/nearest_rows.h"

#define ROWS     300
#define FEATURES 3

struct far {
	double distance, value;
	size_t place;
};

static uint64_t state = 88172645463325252ULL;

static double draw(unsigned most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state % most);
}

static int compare(const void *a, const void *b)
{
	const struct far *x = a, *y = b;

	if (x->distance < y->distance || x->distance > y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static double mean_of_nearest(const double *rows, const double *values, size_t count,
			      size_t nearest, const double *point)
{
	struct far all[ROWS];
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		all[i] = (struct far){ 0, values[i], i };
		for (size_t j = 0; j < FEATURES; j++) {
			double off = rows[i * FEATURES + j] - point[j];

			all[i].distance += off * off;
		}
	}
	qsort(all, count, sizeof(*all), compare);
	nearest = nearest < count ? nearest : count;
	for (size_t i = 0; i < nearest; i++)
		sum += all[i].value;
	return sum / (double)nearest;
}

/* Few different numbers, so that many rows are equally far. */
static void check_rows(size_t count, unsigned different)
{
	double rows[ROWS * FEATURES], values[ROWS], sorted[ROWS * FEATURES], moved[ROWS];
	struct known_rows plain = { rows, values, count, FEATURES };
	struct known_rows known = { sorted, moved, count, FEATURES };

	for (size_t i = 0; i < count; i++) {
		values[i] = draw(100);
		for (size_t j = 0; j < FEATURES; j++)
			rows[i * FEATURES + j] = draw(j == 1 ? 3 * different : different);
	}
	memcpy(sorted, rows, sizeof(rows));
	memcpy(moved, values, sizeof(values));
	assert_int_equal(nearest_rows_sort(&known), 0);
	for (size_t nearest = 1; nearest <= 20; nearest++) {
		const double point[] = { draw(different) + 0.5 * (double)(nearest % 2),
					 draw(4 * different) - 2, draw(different) };
		double mean = mean_of_nearest(rows, values, count, nearest, point);

		assert_true(nearest_rows_mean(&plain, nearest, point) - mean < 1e-9);
		assert_true(mean - nearest_rows_mean(&plain, nearest, point) < 1e-9);
		assert_true(nearest_rows_mean(&known, nearest, point) - mean < 1e-9);
		assert_true(mean - nearest_rows_mean(&known, nearest, point) < 1e-9);
	}
	free(known.order);
	free(known.splits);
}

static void sorted_rows_have_the_same_neighbours(void **unused)
{
	(void)unused;
	for (size_t count = 1; count <= ROWS; count += count < 20 ? 1 : 35) {
		check_rows(count, 4);
		check_rows(count, 1000);
	}
}

/* The second feature differs most among all rows, the first one within the halves. */
static void ranges_are_halved_by_what_differs_most(void **unused)
{
	double rows[40 * 2], values[40];
	struct known_rows known = { rows, values, 40, 2 };

	(void)unused;
	for (size_t i = 0; i < 40; i++) {
		rows[2 * i] = (double)(i * 7 % 40);
		rows[2 * i + 1] = i % 2 ? 100 : 200;
		values[i] = (double)i;
	}
	assert_int_equal(nearest_rows_sort(&known), 0);
	assert_int_equal(known.split_count, 3);
	assert_int_equal(known.splits[0].feature, 1);
	assert_true(known.splits[0].high - known.splits[0].low > 99);
	assert_int_equal(known.splits[1].feature, 0);
	assert_int_equal(known.splits[2].feature, 0);
	for (size_t i = 0; i < 40; i++) {
		assert_int_equal(known.order[i] % 2, i < 20);
		assert_int_equal((size_t)values[i], known.order[i]);
	}
	free(known.order);
	free(known.splits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_rows_have_the_same_neighbours),
		cmocka_unit_test(ranges_are_halved_by_what_differs_most),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
