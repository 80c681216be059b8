// SPDX-License-Identifier: Apache-2.0
#include "top/top_sparks.h"

#include <math.h>

#include "tests/unit/unit.h"

static struct top_sparks sparks;

static void add(uint64_t key, double watts)
{
	top_sparks_begin(&sparks);
	top_sparks_add(&sparks, key, watts);
}

static void assert_values(uint64_t key, const float *expected, size_t count, size_t known)
{
	float values[SPARK_VALUES];

	assert_int_equal(top_sparks_get(&sparks, key, values, count), known);
	for (size_t i = 0; i < count; i++)
		assert_true(fabsf(values[i] - expected[i]) < 1e-6F);
}

static void the_newest_is_last(void **state)
{
	sparks = (struct top_sparks){ .turn = 0 };
	add(7, 1);
	add(7, 2);
	add(7, 3);
	assert_values(7, (const float[]){ 0, 1, 2, 3 }, 4, 3);
	assert_values(8, (const float[]){ 0, 0, 0, 0 }, 4, 0);
}

static void a_reading_without_the_row_is_0(void **state)
{
	sparks = (struct top_sparks){ .turn = 0 };
	add(7, 5);
	add(8, 1);
	add(8, 1);
	assert_values(7, (const float[]){ 5, 0, 0 }, 3, 3);
	add(7, 6);
	assert_values(7, (const float[]){ 5, 0, 0, 6 }, 4, 4);
}

static void what_is_old_is_forgotten(void **state)
{
	float values[SPARK_VALUES];

	sparks = (struct top_sparks){ .turn = 0 };
	add(7, 5);
	for (int i = 0; i <= SPARK_VALUES; i++)
		add(8, 1);
	add(7, 6);
	assert_int_equal(top_sparks_get(&sparks, 7, values, SPARK_VALUES), 1);
	/* More rows than there is room for: the last one always has its place. */
	for (uint64_t key = 1; key < 8 * SPARK_ROWS; key++) {
		add(key, 1);
		assert_int_equal(top_sparks_get(&sparks, key, values, 1), 1);
		assert_true(fabsf(values[0] - 1) < 1e-6F);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_is_last),
		cmocka_unit_test(a_reading_without_the_row_is_0),
		cmocka_unit_test(what_is_old_is_forgotten),
	};

	return unit_run(tests);
}
