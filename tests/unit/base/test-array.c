// SPDX-License-Identifier: Apache-2.0
#include "base/array.h"

#include "base/hostile.h"
#include "tests/unit/unit.h"

static void grows_by_half_at_least_and_keeps_what_is_there(void **state)
{
	uint64_t *rows = NULL;
	uint32_t size = 0, moves = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t before = size;

		assert_int_equal(ARRAY_RESERVE(rows, size, i + 1U), 0);
		assert_true(size > i);
		moves += size != before;
		rows[i] = i;
	}
	assert_in_range(moves, 1, HOSTILE_OR(HOSTILE_EXACT, 0) + 25);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(rows[i], i);
	free(rows);
}

static void what_fails_changes_nothing(void **state)
{
	char(*rows)[1024] = NULL;
	uint32_t size = 0;
	size_t long_size = 0;

	assert_int_equal(ARRAY_RESERVE(rows, size, 3), 0);
	rows[2][1023] = 'x';
	assert_int_equal(ARRAY_RESERVE(rows, size, SIZE_MAX), -ENOMEM);
	assert_int_equal(ARRAY_RESERVE(rows, size, (size_t)UINT32_MAX + 1), -ENOMEM);
	assert_int_equal(ARRAY_RESIZE(rows, SIZE_MAX / 1000), -ENOMEM); /* the product overflows */
	assert_int_equal(size, HOSTILE_OR(3, 16));
	assert_int_equal(rows[2][1023], 'x');
	long_size = size;
	assert_int_equal(ARRAY_RESERVE(rows, long_size, 17), 0);
	assert_int_equal(long_size, HOSTILE_OR(17, 24));
	assert_int_equal(ARRAY_RESIZE(rows, 3), 0);
	assert_int_equal(rows[2][1023], 'x');
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_by_half_at_least_and_keeps_what_is_there),
		cmocka_unit_test(what_fails_changes_nothing),
	};

	return unit_run(tests);
}
