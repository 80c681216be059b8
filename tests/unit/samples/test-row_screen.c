// SPDX-License-Identifier: Apache-2.0
#include "samples/row_screen.h"

#include "tests/unit/unit.h"

#define assert_is(a, b) assert_true(fabs((a) - (b)) <= 0)

static double cell(struct row_screen *screen, const char *name, double value, uint64_t line)
{
	return row_screen_cell(screen, row_screen_index(screen, name), value, "rows.csv", line);
}

static struct row_screen made(uint32_t cpus, uint32_t sockets)
{
	struct row_screen screen = { .machine = { cpus, sockets } };

	assert_int_equal(row_screen_add(&screen, "package_power"), 0);
	assert_int_equal(row_screen_add(&screen, "bpf_cpu_time_ms"), 0);
	assert_int_equal(row_screen_add(&screen, "timestamp"), 0);
	assert_int_equal(row_screen_add(&screen, "gpu_power"), 0);
	assert_int_equal(row_screen_add(&screen, "platform_power"), 0);
	return screen;
}

static void test_limits(void **state)
{
	struct row_screen screen = made(4, 2);

	assert_is(cell(&screen, "package_power", 4000, 2), 4000);
	assert_true(isnan(cell(&screen, "package_power", 4001, 3)));
	assert_true(isnan(cell(&screen, "package_power", -0.5, 4)));
	assert_true(isnan(cell(&screen, "package_power", (double)INFINITY, 5)));
	/* A counter is read a little late: 4 CPUs have 4,000 ms in a second, and some more. */
	assert_is(cell(&screen, "bpf_cpu_time_ms", 4100, 2), 4100);
	assert_true(isnan(cell(&screen, "bpf_cpu_time_ms", 4500, 3)));
	/* Several boards, and a machine, draw more than a socket. */
	assert_is(cell(&screen, "gpu_power", 9000, 2), 9000);
	assert_is(cell(&screen, "platform_power", 20000, 2), 20000);
	assert_true(isnan(cell(&screen, "platform_power", 20001, 2)));
	/* A column that is not a feature has no limit. */
	assert_is(cell(&screen, "timestamp", -1e300, 2), -1e300);
	assert_true(row_screen_index(&screen, "dram_power") == SAMPLE_COLUMN_NONE);
	row_screen_release(&screen);
}

static void test_machines_differ(void **state)
{
	struct row_screen unknown = made(0, 0), small = made(2, 1), large = made(512, 8);

	assert_is(cell(&unknown, "package_power", 4000, 2), 4000);
	assert_true(isnan(cell(&unknown, "package_power", 5000, 2)));
	assert_true(isnan(cell(&small, "package_power", 2500, 2)));
	assert_is(cell(&large, "package_power", 16000, 2), 16000);
	assert_is(cell(&unknown, "bpf_cpu_time_ms", 8e6, 2), 8e6);
	assert_true(isnan(cell(&unknown, "bpf_cpu_time_ms", 1e308, 2)));
	assert_true(isnan(cell(&small, "bpf_cpu_time_ms", 2300, 2)));
	assert_is(cell(&large, "bpf_cpu_time_ms", 512000, 2), 512000);
	row_screen_release(&unknown);
	row_screen_release(&small);
	row_screen_release(&large);
}

/* A few impossible cells are left out, with their count and the first of them. */
static void test_some_are_left_out(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct row_screen screen = made(0, 0);
	const struct screened_column *column = &screen.columns[0];

	for (uint64_t line = 2; line < 100; line++)
		(void)cell(&screen, "package_power", line == 17 ? 50000 : (double)line, line);
	(void)cell(&screen, "package_power", (double)NAN, 100);
	(void)cell(&screen, "package_power", (double)NAN, 101);
	assert_false(screened_column_is_impossible(column));
	assert_int_equal(screened_column_check(column, NULL), 0);
	screened_column_describe(column, &text);
	assert_string_equal(text.data,
			    "package_power: 3 of 100 cells are left out: 2 are not numbers, 1 is "
			    "above 4000 W; the first is rows.csv:17: 50000\n");
	assert_is(column->lowest, 2);
	assert_is(column->highest, 99);
	assert_false(screened_column_is_constant(column));
	/* A column without a fault is not mentioned. */
	strbuf_reset(&text);
	(void)cell(&screen, "platform_power", 3, 2);
	assert_false(screened_column_is_constant(&screen.columns[4]));
	(void)cell(&screen, "platform_power", 3, 3);
	screened_column_describe(&screen.columns[4], &text);
	assert_int_equal(text.len, 0);
	assert_true(screened_column_is_constant(&screen.columns[4]));
	row_screen_release(&screen);
}

static void test_wrong_units_are_refused(void **state)
{
	struct row_screen screen = made(72, 2);
	struct diag diag;

	for (uint64_t line = 2; line < 22; line++) {
		(void)cell(&screen, "package_power", line < 5 ? 45000 : 45, line);
		(void)cell(&screen, "bpf_cpu_time_ms", 72e6, line);
		(void)cell(&screen, "platform_power", -50, line);
		(void)cell(&screen, "gpu_power", (double)NAN, line);
	}
	/* 3 of 20 are more than a tenth. */
	assert_int_equal(screened_column_check(&screen.columns[0], &diag), -EINVAL);
	assert_string_equal(diag.text, "package_power: of 20 cells 3 are above 4000 W; the first "
				       "is rows.csv:2: 45000; power must be in W, not mW; a "
				       "machine of more sockets needs --machine.chips");
	assert_int_equal(screened_column_check(&screen.columns[1], &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "--machine.cores"));
	assert_int_equal(screened_column_check(&screen.columns[4], &diag), -EINVAL);
	assert_string_equal(diag.text, "platform_power: of 20 cells 20 are negative; the first is "
				       "rows.csv:2: -50; power cannot be negative");
	/* A column without a number is refused where it is needed, and is not impossible. */
	assert_false(screened_column_is_impossible(&screen.columns[3]));
	assert_int_equal(screened_column_check(&screen.columns[3], &diag), -EINVAL);
	assert_string_equal(diag.text, "gpu_power: of 20 cells 20 are not numbers; the first is "
				       "rows.csv:2");
	row_screen_release(&screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_machines_differ),
		cmocka_unit_test(test_some_are_left_out),
		cmocka_unit_test(test_wrong_units_are_refused),
	};

	return unit_run(tests);
}
