// SPDX-License-Identifier: Apache-2.0
#include "samples/isolation.h"

#include "tests/unit/samples/csv_text.h"
#include "tests/unit/unit.h"

#define assert_near(a, b, slack) assert_true(fabs((a) - (b)) <= (slack))

static void make(struct sample_table *table, const char *csv)
{
	struct diag diag = { "" };

	*table = (struct sample_table){ .rows = 0 };
	assert_int_equal(csv_text_read(csv, strlen(csv), table, &diag), 0);
}

static void test_minimum(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table;
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];

	make(&table,
	     "bpf_cpu_time_ms,package_power,dram_power,powers\n5,50,,1\n9,70,8,2\n1,40,9,3\n");
	assert_int_equal(isolation_find(&table, NULL, powers), 2);
	assert_string_equal(table.names[powers[0].column], "package_power");
	assert_near(powers[0].idle_w, 40, 0);
	assert_near(powers[1].idle_w, 8, 0);
	assert_int_equal(powers[0].way, ISOLATION_MINIMUM);
	isolation_subtract(&table, powers[0].column, 45);
	assert_near(table.columns[powers[0].column][0], 5, 0);
	assert_near(table.columns[powers[0].column][2], 0, 0);
	isolation_subtract(&table, powers[1].column, 1);
	assert_true(isnan(table.columns[powers[1].column][0]));
}

static void test_idle_rows(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table;
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];

	/* One reading that is too low does not decide. */
	make(&table, "bpf_cpu_time_ms,package_power\n1,30\n2,32\n1,31\n0,34\n2,28\n1000,90\n"
		     "500,60\n");
	assert_string_equal(isolation_load(&table), "bpf_cpu_time_ms");
	assert_int_equal(isolation_find(&table, "bpf_cpu_time_ms", powers), 1);
	assert_int_equal(powers[0].way, ISOLATION_IDLE_ROWS_FOUND);
	assert_near(powers[0].idle_w, 31, 1e-9);
}

static void test_intercept(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table;
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];

	/* 20 W and 0.1 W a unit, less above half of the load; the lowest row has 30 W. */
	make(&table, "cpu_cycles,package_power\n100,30\n200,40\n300,50\n500,70\n1000,75\n");
	assert_int_equal(isolation_find(&table, isolation_load(&table), powers), 1);
	assert_int_equal(powers[0].way, ISOLATION_INTERCEPT);
	assert_near(powers[0].idle_w, 20, 1e-9);
}

static void test_intercept_is_bounded(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table, none;
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];

	make(&table, "cpu_cycles,package_power\n100,1\n200,40\n300,79\n900,99\n");
	(void)isolation_find(&table, "cpu_cycles", powers);
	assert_near(powers[0].idle_w, 0, 0);
	make(&none, "x,package_power\n100,5\n");
	assert_null(isolation_load(&none));
	assert_int_equal(isolation_find(&none, NULL, powers), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimum),
		cmocka_unit_test(test_idle_rows),
		cmocka_unit_test(test_intercept),
		cmocka_unit_test(test_intercept_is_bounded),
	};

	return unit_run(tests);
}
