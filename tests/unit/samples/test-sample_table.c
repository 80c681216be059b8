// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_table.h"

#include "tests/unit/unit.h"

static void test_columns_and_rows_are_not_measured_at_first(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	size_t power, cycles;

	assert_int_equal(sample_table_add_column(&table, "package_power", &power), 0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(sample_table_add_row(&table), 0);
		assert_true(isnan(table.columns[power][i]));
		table.columns[power][i] = i;
	}
	assert_int_equal(sample_table_add_column(&table, "cpu_cycles", &cycles), 0);
	assert_int_equal(table.rows, 1000);
	for (int i = 0; i < 1000; i++) {
		assert_true(isnan(table.columns[cycles][i]));
		assert_int_equal((int)table.columns[power][i], i);
	}
	assert_int_equal(sample_table_add_row(&table), 0);
	assert_true(isnan(table.columns[cycles][1000]));
}

static void test_columns_are_found_by_name(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	size_t index;

	assert_true(sample_table_find(&table, "a") == SAMPLE_COLUMN_NONE);
	assert_int_equal(sample_table_add_column(&table, "a", &index), 0);
	assert_int_equal(sample_table_add_column(&table, "b", &index), 0);
	assert_int_equal(sample_table_find(&table, "b"), 1);
	assert_int_equal(sample_table_add_column(&table, "a", &index), -EEXIST);
	assert_true(sample_table_find(&table, "ab") == SAMPLE_COLUMN_NONE);
}

static void test_columns_have_a_limit(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	char name[SAMPLE_NAME_MAX + 1];
	size_t index;

	memset(name, 'a', SAMPLE_NAME_MAX);
	name[SAMPLE_NAME_MAX] = '\0';
	assert_int_equal(sample_table_add_column(&table, name, &index), -ENOSPC);
	for (int i = 0; i < SAMPLE_COLUMNS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		assert_int_equal(sample_table_add_column(&table, name, &index), 0);
	}
	assert_int_equal(sample_table_add_column(&table, "x", &index), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_and_rows_are_not_measured_at_first),
		cmocka_unit_test(test_columns_are_found_by_name),
		cmocka_unit_test(test_columns_have_a_limit),
	};

	return unit_run(tests);
}
