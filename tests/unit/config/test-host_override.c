// SPDX-License-Identifier: Apache-2.0
#include "config/host_override.h"
#include "tests/unit/unit.h"

static void test_sets_what_is_named(void **state)
{
	struct host_info host = { .cores = 2, .cpus = 4, .is_vm = true };
	struct diag diag = { "" };

	assert_int_equal(host_override("cores=8,year=2021,memory-gib=31.5,vm=false", &host, &diag),
			 0);
	assert_int_equal(host.cores, 8);
	assert_int_equal(host.cpus, 4);
	assert_int_equal(host.cpu_year, 2021);
	assert_true(host.memory_gib > 31.4 && host.memory_gib < 31.6);
	assert_false(host.is_vm);
	assert_int_equal(host_override("", &host, &diag), 0);
	assert_string_equal(diag.text, "");
}

static void test_names_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *expect;
	} cases[] = {
		{ "cores", "KEY=VALUE" },
		{ "core=8", "one of cores" },
		{ "cores=0", "not a possible value" },
		{ "cores=2.5", "not a possible value" },
		{ "cores=1e9", "not a possible value" },
		{ "memory-gib=-1", "not a possible value" },
		{ "memory-gib=much", "not a possible value" },
		{ "vm=maybe", "not a possible value" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct host_info host = { .cores = 2 };
		struct diag diag = { "" };

		assert_true(host_override(cases[i].text, &host, &diag) < 0);
		assert_non_null(strstr(diag.text, cases[i].expect));
		assert_non_null(strstr(diag.text, "--model.machine"));
		assert_int_equal(host.cores, 2);
	}
}

static void test_refuses_a_long_text(void **state)
{
	struct host_info host = { 0 };
	struct diag diag = { "" };
	char text[1000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(host_override(text, &host, &diag), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets_what_is_named),
		cmocka_unit_test(test_names_what_is_wrong),
		cmocka_unit_test(test_refuses_a_long_text),
	};

	return unit_run(tests);
}
