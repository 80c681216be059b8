/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc.h"

#include "tests/unit/unit.h"

#define REST                                                                                       \
	" S 7 42 42 0 -1 4194560 1 2 3 4 100 23 11 5 20 0 3 0 8123 1000 50 18446744073709551615 "  \
	"1 1 0 "                                                                                   \
	"0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"

static int parse(const char *text, struct proc_stat *ret)
{
	return proc_stat_parse(text, strlen(text), ret);
}

static void test_fields(void **state)
{
	struct proc_stat stat;

	assert_int_equal(parse("42 (bash)" REST, &stat), 0);
	assert_int_equal(stat.pid, 42);
	assert_string_equal(stat.comm, "bash");
	assert_int_equal(stat.ppid, 7);
	assert_int_equal(stat.flags, 4194560);
	assert_int_equal(stat.self_ticks, 123);
	assert_int_equal(stat.reaped_ticks, 16);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.start_ticks, 8123);
	assert_int_equal(stat.rss_pages, 50);
	assert_int_equal(stat.cpu, 1);
}

static void test_hostile_names(void **state)
{
	static const struct {
		const char *text;
		const char *comm;
	} cases[] = {
		{ "42 (a) S 1 (b)" REST, "a) S 1 (b" },
		{ "42 ()" REST, "" },
		{ "42 ())" REST, ")" },
		{ "42 (()" REST, "(" },
		{ "42 (a\\nb\\\\c)" REST, "a\nb\\c" },
		{ "42 (a\nb)" REST, "a\nb" },
		{ "42 (\\)" REST, "\\" },
		{ "42 (kworker/u8:3-events_unbound)" REST, "kworker/u8:3-ev" },
		{ "42 (\xff\xfe \x01)" REST, "\xff\xfe \x01" },
	};
	struct proc_stat stat;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text, &stat), 0);
		assert_string_equal(stat.comm, cases[i].comm);
		assert_int_equal(stat.self_ticks, 123);
	}
}

static void test_negative_time_counts_as_none(void **state)
{
	struct proc_stat stat;

	assert_int_equal(parse("1 (x) S 0 0 0 0 -1 0 0 0 0 0 1 2 -3 4 20 -5 1 0 9 0 0 0 0 0 0 0 0 "
			       "0 0 0 0 0 0 0 17 0\n",
			       &stat),
			 0);
	assert_int_equal(stat.self_ticks, 3);
	assert_int_equal(stat.reaped_ticks, 4);
}

static void test_every_cut_line_is_refused(void **state)
{
	static const char line[] = "42 (ba)" REST;
	size_t cpu_field = strlen(line) - strlen(" 0 0 0 0 0\n") - 1;
	struct proc_stat stat = { .pid = 4711 };

	for (size_t len = 0; len < cpu_field; len++)
		assert_int_equal(proc_stat_parse(line, len, &stat), -EINVAL);
	assert_int_equal(stat.pid, 4711); /* untouched on failure */
}

static void test_garbage_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"(",
		")",
		")(",
		"42",
		"42 bash S",
		"42(bash)" REST,
		"x (bash)" REST,
		"-1 (bash)" REST,
		"4294967296 (bash)" REST,
		"42 (bash) S x" REST,
		"42 (bash) S  7 1" REST,
		"42 (bash)S 7",
	};
	struct proc_stat stat;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(parse(cases[i], &stat), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_negative_time_counts_as_none),
		cmocka_unit_test(test_every_cut_line_is_refused),
		cmocka_unit_test(test_garbage_is_refused),
	};

	return unit_run(tests);
}
