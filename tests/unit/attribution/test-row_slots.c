// SPDX-License-Identifier: Apache-2.0
/* Slots: taken in order, holes first, and room for everything before anything is taken. */
#include "attribution/row_slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct table {
	struct row_slots slots;
	struct value_table values;
	uint64_t *rows;
};

static void open_table(struct table *table)
{
	*table = (struct table){ 0 };
	row_slots_init(&table->slots);
	value_table_init(&table->values, 3);
}

static void close_table(struct table *table)
{
	row_slots_release(&table->slots);
	value_table_release(&table->values);
	free(table->rows);
}

static uint32_t add(struct table *table, bool *ret_new)
{
	struct value_table *const values[] = { &table->values };
	uint32_t slot;

	table->rows = row_slots_reserve(&table->slots, table->rows, sizeof(*table->rows));
	assert_non_null(table->rows);
	slot = row_slots_find(&table->slots, values, 1);
	assert_int_equal(slot, row_slots_find(&table->slots, values, 1)); /* not taken yet */
	*ret_new = row_slots_take(&table->slots, slot);
	table->rows[slot] = slot;
	value_table_clear(&table->values, slot);
	return slot;
}

static void test_slots_come_in_order(void **state)
{
	struct table table;
	bool new;

	(void)state;
	open_table(&table);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(add(&table, &new), i);
		assert_true(new);
	}
	assert_int_equal(table.slots.count, 1000);
	assert_int_equal(table.slots.used, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(table.rows[i], i);
	close_table(&table);
}

static void test_holes_are_used_again(void **state)
{
	struct table table;
	bool new;

	(void)state;
	open_table(&table);
	for (uint32_t i = 0; i < 5; i++)
		(void)add(&table, &new);
	row_slots_give_back(&table.slots, 1);
	row_slots_give_back(&table.slots, 3);
	assert_int_equal(table.slots.used, 3);
	assert_int_equal(add(&table, &new), 3);
	assert_false(new);
	assert_int_equal(add(&table, &new), 1);
	assert_int_equal(add(&table, &new), 5);
	assert_true(new);
	assert_int_equal(table.slots.count, 6);
	close_table(&table);
}

static void test_every_slot_can_be_touched(void **state)
{
	struct table table;
	bool new;

	(void)state;
	open_table(&table);
	for (uint32_t i = 0; i < 100; i++)
		(void)add(&table, &new);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(row_slots_touch(&table.slots, 99 - i), i);
	assert_int_equal(table.slots.touched[0], 99);
	assert_int_equal(table.slots.touched_count, 100);
	close_table(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_come_in_order),
		cmocka_unit_test(test_holes_are_used_again),
		cmocka_unit_test(test_every_slot_can_be_touched),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
