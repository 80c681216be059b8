// SPDX-License-Identifier: Apache-2.0
#include "samples/power_column.h"

#include "tests/unit/unit.h"

static void columns_have_the_components_of_their_names(void **state)
{
	static const char *const others[] = { "_power", "power", "package_powers", "cpu_cycles",
					      "package_0_package_power" };
	char name[SAMPLE_NAME_MAX];

	(void)state;
	power_column("dram", name);
	assert_string_equal(name, "dram_power");
	assert_true(power_column_component("package_power", name));
	assert_string_equal(name, "package");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(power_column_component(others[i], name));
}

static void a_column_is_used_if_it_is_above_0_in_a_row(void **state)
{
	struct sample_table table = { .rows = 0 };
	char name[SAMPLE_NAME_MAX];
	size_t column;

	(void)state;
	assert_int_equal(sample_table_add_column(&table, "dram_power", &column), 0);
	assert_int_equal(sample_table_add_row(&table), 0);
	assert_false(power_column_is_used(&table, column, name)); /* not measured */
	table.columns[column][0] = 0;
	assert_false(power_column_is_used(&table, column, name));
	table.columns[column][0] = 0.5;
	assert_true(power_column_is_used(&table, column, name));
	sample_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_the_components_of_their_names),
		cmocka_unit_test(a_column_is_used_if_it_is_above_0_in_a_row),
	};

	return unit_run(tests);
}
