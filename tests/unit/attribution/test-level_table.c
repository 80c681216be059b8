// SPDX-License-Identifier: Apache-2.0
/* A level's rows: added in order, holes first, found by key, charged, gone with all they had. */
#include "attribution/rows/level_table.h"

#include "attribution/ledger.h"
#include "tests/unit/unit.h"

#define COLUMNS 3
#define CPU     (COLUMNS - 1)

struct row {
	struct level_row row;
	uint64_t key;
};

static void open_table(struct level_table *table)
{
	level_table_init(table, sizeof(struct row));
	value_table_init(&table->values, COLUMNS);
	value_table_init(&table->deltas, COLUMNS);
}

static struct map_key key_of(uint64_t key)
{
	return (struct map_key){ .lo = key };
}

static uint32_t add(struct level_table *table, uint64_t key)
{
	uint32_t row = level_table_add(table, key_of(key));
	struct row *at = level_table_at(table, row);

	assert_int_not_equal(row, INDEX_NONE);
	assert_int_equal(at->key, 0);
	at->key = key;
	return row;
}

static void take_out(struct level_table *table, uint32_t row)
{
	const struct row *at = level_table_at(table, row);

	level_table_remove(table, row, key_of(at->key));
}

static void test_rows_come_in_order_and_keep_what_they_have(void **state)
{
	struct level_table table;

	open_table(&table);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(add(&table, 7 * i), i);
		level_table_charge(&table, i, 1, i);
	}
	assert_int_equal(table.count, 1000);
	assert_int_equal(table.used, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct row *at = level_table_at(&table, i);

		assert_int_equal(at->key, 7 * i);
		assert_int_equal(at->row.serial, i + 1);
		assert_int_equal(row_index_first(&table.index, key_of(7 * i)), i);
		assert_int_equal(level_table_values(&table, i)[1], i);
	}
	level_table_release(&table);
}

static void test_holes_are_used_again(void **state)
{
	struct level_table table;

	open_table(&table);
	for (uint32_t i = 0; i < 5; i++) {
		(void)add(&table, i);
		level_table_charge(&table, i, 0, 10);
	}
	take_out(&table, 1);
	take_out(&table, 3);
	assert_int_equal(table.used, 3);
	assert_int_equal(row_index_first(&table.index, key_of(3)), INDEX_NONE);
	assert_int_equal(add(&table, 50), 3);
	assert_int_equal(level_table_values(&table, 3)[0], 0);
	assert_int_equal(add(&table, 51), 1);
	assert_int_equal(add(&table, 52), 5);
	assert_int_equal(((const struct row *)level_table_at(&table, 5))->row.serial, 8);
	assert_int_equal(table.count, 6);
	level_table_release(&table);
}

static void test_what_was_touched_has_deltas_until_the_interval_ends(void **state)
{
	struct level_table table;

	open_table(&table);
	for (uint32_t i = 0; i < 100; i++)
		(void)add(&table, i);
	assert_null(level_table_deltas(&table, 42));
	for (uint32_t i = 0; i < 100; i++)
		level_table_charge(&table, 99 - i, CPU, i + 1);
	level_table_charge(&table, 42, CPU, 1000);
	assert_int_equal(table.touched_count, 100);
	assert_int_equal(table.touched[0], 99);
	assert_int_equal(level_table_deltas(&table, 42)[CPU], 58 + 1000);
	assert_int_equal(level_table_deltas(&table, 42)[0], 0);
	level_table_begin(&table);
	assert_int_equal(table.touched_count, 0);
	assert_null(level_table_deltas(&table, 42));
	level_table_touch(&table, 42);
	assert_int_equal(level_table_deltas(&table, 42)[CPU], 0);
	assert_int_equal(level_table_values(&table, 42)[CPU], 58 + 1000);
	level_table_release(&table);
}

/*
 * The place of a row that left is on this interval's list already: its successor is not added
 * again.
 */
static void test_a_place_is_listed_once(void **state)
{
	struct level_table table;

	open_table(&table);
	(void)add(&table, 1);
	level_table_charge(&table, 0, 0, 5);
	take_out(&table, 0);
	assert_int_equal(add(&table, 2), 0);
	assert_int_equal(level_table_deltas(&table, 0)[0], 0);
	level_table_charge(&table, 0, 0, 3);
	assert_int_equal(level_table_deltas(&table, 0)[0], 3);
	assert_int_equal(table.touched_count, 1);
	level_table_release(&table);
}

/* There is one for each process, container and pod: what they cost is known. */
static void test_rows_are_small(void **state)
{
	assert_true(sizeof(struct level_row) <= 16);
	assert_true(sizeof(struct ledger_process) <= 48);
	assert_true(sizeof(struct ledger_container) <= 80);
	assert_true(sizeof(struct ledger_group) <= 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_come_in_order_and_keep_what_they_have),
		cmocka_unit_test(test_holes_are_used_again),
		cmocka_unit_test(test_what_was_touched_has_deltas_until_the_interval_ends),
		cmocka_unit_test(test_a_place_is_listed_once),
		cmocka_unit_test(test_rows_are_small),
	};

	return unit_run(tests);
}
