// SPDX-License-Identifier: Apache-2.0
#include "units/unit_series.h"

#include "tests/unit/unit.h"

#define MICRO 1000000ULL

/* A reading with the values of series 1 and 2; negative: the series is not there. */
static int read_two(struct unit_series *series, double one, double two, uint64_t *increase)
{
	bool is_first = false;
	int r = 0;

	unit_series_begin(series);
	if (one >= 0)
		r = unit_series_add(series, 1, one);
	if (r == 0 && two >= 0)
		r = unit_series_add(series, 2, two);
	if (r == 0)
		r = unit_series_end(series, increase, &is_first);
	return r < 0 ? r : is_first;
}

static void assert_increase(struct unit_series *series, double one, double two, uint64_t wanted)
{
	uint64_t increase = 77;

	assert_int_equal(read_two(series, one, two, &increase), 0);
	assert_int_equal(increase, wanted);
}

static void test_increase(void **state)
{
	struct unit_series series = { .count = 0 };
	uint64_t increase = 0;

	assert_int_equal(read_two(&series, 10, -1, &increase), 1);
	assert_int_equal(increase, 0);
	assert_increase(&series, 13, -1, 3 * MICRO);
	assert_increase(&series, 13, -1, 0);
	assert_increase(&series, 13.25, -1, MICRO / 4);
	/* One that begins counts from 0; one that is reset, too. */
	assert_increase(&series, 13.25, 4, 4 * MICRO);
	assert_increase(&series, 2, 5, 3 * MICRO);
	/* One that disappears and comes back. */
	assert_increase(&series, 3, -1, MICRO);
	assert_increase(&series, 3, 6, MICRO);
	unit_series_release(&series);
}

/* Sums of doubles would lose units. */
static void test_large_counters_are_exact(void **state)
{
	struct unit_series series = { .count = 0 };
	uint64_t increase = 0;

	assert_int_equal(read_two(&series, 999999999998, -1, &increase), 1);
	assert_increase(&series, 999999999999, -1, MICRO);
	unit_series_release(&series);
}

static void test_values_that_no_counter_has(void **state)
{
	static const double values[] = { -1e-9, NAN, INFINITY, 1.1e12 };
	struct unit_series series = { .count = 0 };
	uint64_t increase = 0;
	bool is_first;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		assert_true(read_two(&series, 10, -1, &increase) >= 0);
		unit_series_begin(&series);
		assert_int_equal(unit_series_add(&series, 1, values[i]), -ERANGE);
	}
	/* It begins again. */
	assert_int_equal(read_two(&series, 10, -1, &increase), 1);
	unit_series_begin(&series);
	assert_int_equal(unit_series_end(&series, &increase, &is_first), -ENODATA);
	unit_series_begin(&series);
	assert_int_equal(unit_series_add(&series, 1, 1), 0);
	assert_int_equal(unit_series_add(&series, 1, 1), -EEXIST);
	unit_series_release(&series);
}

static void test_number_of_series_is_limited(void **state)
{
	struct unit_series series = { .count = 0 };
	uint64_t increase = 0;
	bool is_first;

	for (uint64_t base = 0; base < 3; base++) {
		unit_series_begin(&series);
		for (uint64_t i = 0; i < UNIT_SERIES_MAX; i++)
			assert_int_equal(unit_series_add(&series, 1000 * base + i, 2), 0);
		assert_int_equal(unit_series_end(&series, &increase, &is_first), 0);
		assert_int_equal(series.count, UNIT_SERIES_MAX);
		assert_int_equal(increase, base ? 2 * MICRO * UNIT_SERIES_MAX : 0);
	}
	unit_series_begin(&series);
	for (uint64_t i = 0; i < UNIT_SERIES_MAX; i++)
		assert_int_equal(unit_series_add(&series, 2000 + i, 2), 0);
	assert_int_equal(unit_series_add(&series, 1, 2), -E2BIG);
	unit_series_release(&series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_increase),
		cmocka_unit_test(test_large_counters_are_exact),
		cmocka_unit_test(test_values_that_no_counter_has),
		cmocka_unit_test(test_number_of_series_is_limited),
	};

	return unit_run(tests);
}
