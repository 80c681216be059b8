// SPDX-License-Identifier: Apache-2.0
/* Rows that share a key: every one is found, newest first, whatever the order in which they go. */
#include "attribution/rows/row_index.h"

#include "tests/unit/unit.h"

static const struct map_key key = { 1, 2 }, other_key = { 1, 3 };

static void assert_chain(const struct row_index *index, const uint32_t *expected, size_t count)
{
	uint32_t row = row_index_first(index, key);

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(row, expected[i]);
		row = row_index_next(index, row);
	}
	assert_int_equal(row, INDEX_NONE);
}

static void test_removal_in_any_order(void **state)
{
	struct row_index index;

	row_index_init(&index, 100);
	assert_int_equal(row_index_first(&index, key), INDEX_NONE);
	for (uint32_t row = 70; row < 74; row++)
		assert_int_equal(row_index_add(&index, key, row), 0);
	assert_int_equal(row_index_add(&index, other_key, 5), 0);
	assert_chain(&index, (uint32_t[]){ 73, 72, 71, 70 }, 4);
	row_index_remove(&index, key, 71); /* in the middle */
	assert_chain(&index, (uint32_t[]){ 73, 72, 70 }, 3);
	row_index_remove(&index, key, 73); /* the newest */
	row_index_remove(&index, key, 5);  /* under another key */
	assert_chain(&index, (uint32_t[]){ 72, 70 }, 2);
	row_index_remove(&index, key, 70); /* the oldest */
	row_index_remove(&index, key, 72);
	assert_chain(&index, NULL, 0);
	row_index_remove(&index, key, 72);
	assert_int_equal(row_index_first(&index, other_key), 5);
	assert_int_equal(index.map.used, 1);
	row_index_release(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_removal_in_any_order),
	};

	return unit_run(tests);
}
