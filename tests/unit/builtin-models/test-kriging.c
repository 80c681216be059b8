// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/kriging.h"

#include "tests/unit/unit.h"
#include "training/random.h"

#define ROWS    24U
#define OUTPUTS 2U
#define NOISE   0.1

/* Rows along a line: the nearer two are, the more alike. */
static double places[ROWS];

static double covariance(size_t i, size_t j)
{
	return exp(-(places[i] - places[j]) * (places[i] - places[j]));
}

static void set_rows(double *y)
{
	struct random random = { 7 };

	for (size_t i = 0; i < ROWS; i++) {
		places[i] = 4 * random_part(&random);
		y[i * OUTPUTS] = sin(places[i]) + 0.1 * random_part(&random);
		y[i * OUTPUTS + 1] = places[i];
	}
}

/* Fits the rows that are not of group @without. */
static size_t fit_others(const double *y, const uint32_t *group, uint32_t without, size_t *rows,
			 struct kriging *ret)
{
	double k[ROWS * ROWS], part[ROWS * OUTPUTS];
	struct diag diag = { "" };
	size_t count = 0;

	for (size_t i = 0; i < ROWS; i++) {
		if (group[i] != without)
			rows[count++] = i;
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++)
			k[i * count + j] = covariance(rows[i], rows[j]) + (i == j ? NOISE : 0);
		memcpy(part + i * OUTPUTS, y + rows[i] * OUTPUTS, OUTPUTS * sizeof(*part));
	}
	assert_int_equal(kriging_fit(k, part, count, OUTPUTS, ret, &diag), 0);
	return count;
}

static double predict(const struct kriging *fit, const size_t *rows, size_t row, size_t output)
{
	double sum = 0;

	for (size_t i = 0; i < fit->rows; i++)
		sum += covariance(row, rows[i]) * fit->dual[i * OUTPUTS + output];
	return sum;
}

/* The result from one inverse equals a fit without the group. */
static void check(const uint32_t *group)
{
	double y[ROWS * OUTPUTS], cross[ROWS * ROWS], own[ROWS * OUTPUTS], asked[ROWS * OUTPUTS];
	CLEANUP(kriging_release) struct kriging whole = { .rows = 0 };
	struct diag diag = { "" };
	size_t rows[ROWS];

	set_rows(y);
	(void)fit_others(y, group, UINT32_MAX, rows, &whole);
	for (size_t i = 0; i < ROWS * ROWS; i++)
		cross[i] = covariance(i / ROWS, i % ROWS);
	assert_int_equal(kriging_hold_out(&whole, group, NULL, own, &diag), 0);
	assert_int_equal(kriging_hold_out(&whole, group, cross, asked, &diag), 0);
	for (size_t i = 0; i < ROWS; i++) {
		CLEANUP(kriging_release) struct kriging others = { .rows = 0 };

		(void)fit_others(y, group, group[i], rows, &others);
		for (size_t k = 0; k < OUTPUTS; k++) {
			double anew = predict(&others, rows, i, k);

			assert_true(fabs(own[i * OUTPUTS + k] - anew) < 1e-9);
			assert_true(fabs(asked[i * OUTPUTS + k] - anew) < 1e-9);
		}
	}
}

static void test_rows_that_are_left_out_one_by_one(void **state)
{
	uint32_t group[ROWS];

	for (uint32_t i = 0; i < ROWS; i++)
		group[i] = i;
	check(group);
}

static void test_groups_that_are_left_out(void **state)
{
	uint32_t group[ROWS];

	for (uint32_t i = 0; i < ROWS; i++)
		group[i] = i % 5;
	check(group);
}

static void test_an_invalid_covariance_is_refused(void **state)
{
	double k[] = { 1, 2, 2, 1 }, y[] = { 1, 2 };
	struct kriging fit;
	struct diag diag = { "" };

	assert_int_equal(kriging_fit(k, y, 2, 1, &fit, &diag), -22);
	assert_non_null(strstr(diag.text, "positive definite"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_that_are_left_out_one_by_one),
		cmocka_unit_test(test_groups_that_are_left_out),
		cmocka_unit_test(test_an_invalid_covariance_is_refused),
	};

	return unit_run(tests);
}
