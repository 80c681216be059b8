// SPDX-License-Identifier: Apache-2.0
#include "profile/symbol_table.h"

#include "tests/unit/unit.h"

static const char *name_at(struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol ? symbol_table_name(table, symbol) : "";
}

static void kernel_symbols_reach_to_the_next(void **state)
{
	struct symbol_table table = { .count = 0 };

	assert_int_equal(symbol_table_add_kallsyms(&table, "ffffffff81000200 t second\t[mod]\n"),
			 0);
	assert_int_equal(symbol_table_add_kallsyms(&table, "ffffffff81000000 T first\n"), 0);
	assert_int_equal(symbol_table_add_kallsyms(&table, "ffffffff81000100 D data\n"), -EINVAL);
	assert_int_equal(symbol_table_add_kallsyms(&table, "0000000000000000 T hidden\n"), -EINVAL);
	assert_int_equal(symbol_table_add_kallsyms(&table, "nonsense"), -EINVAL);
	assert_string_equal(name_at(&table, 0xffffffff81000000), "first");
	assert_string_equal(name_at(&table, 0xffffffff810001ff), "first");
	assert_string_equal(name_at(&table, 0xffffffff81000200), "second");
	assert_string_equal(name_at(&table, 0x1000), "");
	symbol_table_release(&table);
}

static void compiled_functions_have_an_end(void **state)
{
	struct symbol_table table = { .count = 0 };

	assert_int_equal(symbol_table_add_perf_map(&table, "7f00 10 tick; now\r\n"), 0);
	assert_int_equal(symbol_table_add_perf_map(&table, "7f00 10\n"), -EINVAL);
	assert_int_equal(symbol_table_add_perf_map(&table, "7f00 0 x\n"), -EINVAL);
	assert_string_equal(name_at(&table, 0x7f0f), "tick; now");
	assert_string_equal(name_at(&table, 0x7f10), "");
	symbol_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_symbols_reach_to_the_next),
		cmocka_unit_test(compiled_functions_have_an_end),
	};

	return unit_run(tests);
}
