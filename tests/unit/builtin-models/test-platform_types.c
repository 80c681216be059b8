// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_types.h"

#include "tests/unit/unit.h"

static const struct platform_measurement server = {
	.processor = "intel_xeon_e5_2660v3",
	.cores = 20,
	.sockets = 2,
	.memory_gib = 64,
	.frequency_mhz = 2600,
};

/* The rows of levels @from to @to tenths, of 100 W and 20 W for each tenth. */
static void add(struct platform_types *types, unsigned number, unsigned from, unsigned to)
{
	struct platform_measurement row = server;
	struct diag diag = { "" };

	row.type = number;
	for (unsigned level = from; level <= to; level++) {
		row.cpu_time_ms = 70 * level;
		row.watts = 100 + 20 * level;
		assert_int_equal(platform_types_add(types, &row, &diag), 0);
	}
}

static void check_levels(const struct platform_type *type)
{
	for (size_t level = 0; level < POWER_LEVELS; level++)
		assert_true(fabs(exp(type->ln_w[level]) - (100 + 20 * (double)level)) < 0.1);
}

static void test_levels_are_parts_of_full_load(void **state)
{
	CLEANUP(platform_types_release) struct platform_types types = { .count = 0 };
	struct diag diag = { "" };

	add(&types, 9, 0, 10);
	add(&types, 2, 0, 10);
	add(&types, 2, 0, 10);
	assert_int_equal(platform_types_finish(&types, &diag), 0);
	assert_int_equal(types.count, 2);
	assert_int_equal(types.row_count, 33);
	assert_int_equal(types.types[0].number, 2);
	assert_true(fabs(types.types[0].results - 2) < 1e-9);
	assert_true(fabs(types.types[1].rows[5].load - 0.5) < 1e-9);
	check_levels(&types.types[0]);
	check_levels(&types.types[1]);
	assert_string_equal(types.types[0].group, "xeone52660v3");
	assert_int_equal(types.types[0].facts.year, 2014);
	assert_int_equal(types.types[0].facts.cpu.tdp_w, 105);
}

/* The spacing of the levels shows that the last one of a single result is 80 %. */
static void test_missing_levels_are_found(void **state)
{
	CLEANUP(platform_types_release) struct platform_types types = { .count = 0 };
	struct diag diag = { "" };

	add(&types, 1, 0, 10);
	add(&types, 2, 2, 8);
	assert_int_equal(platform_types_finish(&types, &diag), 0);
	assert_true(fabs(types.types[1].rows[6].load - 0.8) < 1e-9);
	check_levels(&types.types[1]);
}

static int finish(struct platform_types *types, struct diag *diag)
{
	int r = platform_types_finish(types, diag);

	platform_types_release(types);
	return r;
}

static void test_tables_that_say_too_little_are_refused(void **state)
{
	struct platform_types types = { .count = 0 };
	struct platform_measurement row = server;
	struct diag diag = { "" };

	assert_int_equal(finish(&types, &diag), -EINVAL);
	add(&types, 1, 3, 3);
	assert_int_equal(finish(&types, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "node type 1 has rows of one load only"));
	add(&types, 1, 9, 10);
	assert_int_equal(finish(&types, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "no machine has rows at 0 %"));
	row.processor = "intel_xeon_q9999";
	row.watts = 1;
	assert_int_equal(platform_types_add(&types, &row, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "\"intel_xeon_q9999\" is not known"));
	platform_types_release(&types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels_are_parts_of_full_load),
		cmocka_unit_test(test_missing_levels_are_found),
		cmocka_unit_test(test_tables_that_say_too_little_are_refused),
	};

	return unit_run(tests);
}
