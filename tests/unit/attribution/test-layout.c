// SPDX-License-Identifier: Apache-2.0
#include "attribution/layout.h"

#include "energy/signal.h"
#include "tests/unit/unit.h"

static const struct zone package_0 = { .kind = ZONE_PACKAGE, .instance = "0", .source = "rapl" };
static const struct zone package_1 = { .kind = ZONE_PACKAGE, .instance = "1", .source = "rapl" };
static const struct zone dram_0 = { .kind = ZONE_DRAM, .instance = "0", .source = "rapl" };
static const struct zone other_source = { .kind = ZONE_PACKAGE, .instance = "0", .source = "acpi" };
static const struct zone estimate = { .kind = ZONE_PACKAGE,
				      .quality = QUALITY_ESTIMATED,
				      .source = "rapl" };
static const struct zone guest = { .kind = ZONE_PLATFORM,
				   .scope = SCOPE_VM_DYNAMIC,
				   .source = "model" };

static void add(struct layout *layout, const struct zone *zone)
{
	uint32_t columns = layout_columns_with(layout, zone);

	assert_int_equal(layout_reserve(layout, columns), 0);
	layout_add_zone(layout, zone);
	assert_int_equal(layout->columns, columns);
}

static void zones_of_a_kind_and_source_are_one_account(void **state)
{
	struct layout layout;

	assert_int_equal(layout_init(&layout, false), 0);
	assert_int_equal(layout.columns, 1);
	add(&layout, &package_0);
	add(&layout, &dram_0);
	add(&layout, &package_1);
	add(&layout, &other_source);
	add(&layout, &estimate);
	assert_int_equal(layout.account_count, 4);
	assert_int_equal(layout.columns, 5);
	assert_int_equal(layout.accounts[0].zones, 2);
	assert_int_equal(layout.accounts[0].first_zone, 0);
	assert_int_equal(layout.zones[0].next, 2);
	assert_int_equal(layout.zones[2].next, ZONE_NONE);
	assert_int_equal(layout_column(&layout, 0, MODE_DYNAMIC), 1);
	assert_int_equal(layout_column(&layout, 1, MODE_DYNAMIC), 2);
	assert_int_equal(layout_column(&layout, 2, MODE_DYNAMIC), 1);
	assert_int_equal(layout_column(&layout, 3, MODE_DYNAMIC), 3);
	assert_int_equal(layout_column(&layout, 4, MODE_DYNAMIC), 4);
	assert_int_equal(layout_column(&layout, 2, MODE_IDLE), COLUMN_NONE);
	assert_ptr_equal(layout_account_zone(&layout, 1), &dram_0);
	layout_release(&layout);
}

static void by_zone_each_is_an_account(void **state)
{
	struct layout layout;

	assert_int_equal(layout_init(&layout, true), 0);
	add(&layout, &package_0);
	add(&layout, &package_1);
	assert_int_equal(layout.account_count, 2);
	assert_int_equal(layout.columns, 3);
	assert_int_equal(layout_column(&layout, 1, MODE_DYNAMIC), 2);
	assert_int_equal(layout.zones[0].next, ZONE_NONE);
	layout_release(&layout);
}

/* Columns keep their number; a guest has no idle column, because its idle part is its host's. */
static void idle_columns_are_added_with_idle_energy_of_rows(void **state)
{
	static const uint64_t values[] = { 3, 5, 7, 11, 13, 17 };
	struct layout layout;

	assert_int_equal(layout_init(&layout, false), 0);
	add(&layout, &package_0);
	add(&layout, &guest);
	assert_int_equal(account_sum(&layout.accounts[0], values), 5);
	assert_int_equal(layout_columns_with_idle(&layout), 4);
	layout_bear_idle(&layout);
	assert_int_equal(layout.columns, 4);
	assert_int_equal(layout_columns_with_idle(&layout), 4);
	layout_bear_idle(&layout);
	add(&layout, &package_1);
	add(&layout, &dram_0);
	assert_int_equal(layout.columns, 6);
	assert_int_equal(layout_column(&layout, 0, MODE_DYNAMIC), 1);
	assert_int_equal(layout_column(&layout, 1, MODE_DYNAMIC), 2);
	assert_int_equal(layout_column(&layout, 0, MODE_IDLE), 3);
	assert_int_equal(layout_column(&layout, 1, MODE_IDLE), COLUMN_NONE);
	assert_int_equal(layout_column(&layout, 2, MODE_IDLE), 3);
	assert_int_equal(layout_column(&layout, 3, MODE_DYNAMIC), 4);
	assert_int_equal(layout_column(&layout, 3, MODE_IDLE), 5);
	assert_int_equal(account_sum(&layout.accounts[0], values), 5 + 11);
	assert_int_equal(account_value(&layout.accounts[1], MODE_IDLE, values), 0);
	layout_release(&layout);
}

/* None until they are known; each keeps its number. */
static void counters_have_a_column_once_they_are_known(void **state)
{
	const struct quantity *bytes = &signal_info[SIGNAL_NET_BYTES];
	struct layout layout;

	assert_int_equal(layout_init(&layout, false), 0);
	assert_int_equal(layout_find(&layout, &quantity_cpu_time), COLUMN_CPU);
	add(&layout, &package_0);
	assert_int_equal(layout_find(&layout, bytes), COLUMN_NONE);
	assert_int_equal(layout_reserve(&layout, 3), 0);
	layout_count(&layout, bytes);
	assert_int_equal(layout.columns, 3);
	add(&layout, &dram_0);
	assert_int_equal(layout_find(&layout, bytes), 2);
	assert_int_equal(layout_column(&layout, 1, MODE_DYNAMIC), 3);
	assert_int_equal(layout_others(&layout), 2);
	layout_release(&layout);
}

/* Who reads rows needs no more than this to know what a cell is. */
static void each_column_says_what_it_is(void **state)
{
	struct layout layout;

	assert_int_equal(layout_init(&layout, false), 0);
	add(&layout, &package_0);
	add(&layout, &dram_0);
	assert_int_equal(layout_reserve(&layout, layout_columns_with_idle(&layout)), 0);
	layout_bear_idle(&layout);
	for (uint32_t i = COLUMN_CPU + 1; i < layout.columns; i++) {
		const struct column *column = &layout.column[i];

		assert_ptr_equal(column->quantity, &quantity_energy);
		assert_int_equal(layout.accounts[column->account].column[column->mode], i);
	}
	assert_ptr_equal(layout.column[COLUMN_CPU].quantity, &quantity_cpu_time);
	assert_int_equal(layout.column[COLUMN_CPU].account, ACCOUNT_NONE);
	layout_release(&layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_of_a_kind_and_source_are_one_account),
		cmocka_unit_test(by_zone_each_is_an_account),
		cmocka_unit_test(idle_columns_are_added_with_idle_energy_of_rows),
		cmocka_unit_test(counters_have_a_column_once_they_are_known),
		cmocka_unit_test(each_column_says_what_it_is),
	};

	return unit_run(tests);
}
