// SPDX-License-Identifier: Apache-2.0
#include "kube/quantity.h"

#include "tests/unit/unit.h"

static void reads_what_manifests_say(void **state)
{
	static const struct {
		const char *text;
		uint64_t milli;
	} cases[] = {
		{ "0", 0 },
		{ "1", 1000 },
		{ "100m", 100 },
		{ "1500m", 1500 },
		{ "0.5", 500 },
		{ ".5", 500 },
		{ "2.", 2000 },
		{ "1.0005", 1001 },
		{ "1n", 1 },
		{ "999999u", 1000 },
		{ "2k", 2000000 },
		{ "128Mi", 134217728000 },
		{ "1.5Gi", 1610612736000 },
		{ "1Ki", 1024000 },
		{ "0.1Ki", 102400 },
		{ "1e3", 1000000 },
		{ "1E3", 1000000 },
		{ "12e-1", 1200 },
		{ "5e+2", 500000 },
		{ "000000000000000000000000001", 1000 },
		{ "128974848000m", 128974848000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 77;

		if (quantity_parse_milli(cases[i].text, &value) < 0 || value != cases[i].milli)
			fail_msg("%s: %llu thousandths", cases[i].text, (unsigned long long)value);
	}
}

static void large_ones_are_exact_or_refused(void **state)
{
	uint64_t value = 77;

	assert_int_equal(quantity_parse_milli("15Pi", &value), 0);
	assert_true(value == (15ULL << 50) * 1000);
	assert_int_equal(quantity_parse_milli("9999999999999999999m", &value), 0);
	assert_true(value == 9999999999999999999ULL);
	value = 77;
	assert_int_equal(quantity_parse_milli("17Pi", &value), -ERANGE);
	assert_int_equal(quantity_parse_milli("15Ei", &value), -ERANGE);
	assert_int_equal(quantity_parse_milli("1e17", &value), -ERANGE);
	assert_int_equal(quantity_parse_milli("1e999999999999", &value), -ERANGE);
	assert_int_equal(quantity_parse_milli("9999999999999999999E", &value), -ERANGE);
	assert_int_equal(value, 77);
	assert_int_equal(quantity_parse_milli("1e-30", &value), 0);
	assert_int_equal(value, 1);
}

static void the_rest_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     ".",
					     "m",
					     "Mi",
					     "-1",
					     "+1",
					     " 1",
					     "1 ",
					     "1x",
					     "1mi",
					     "1KI",
					     "1 Mi",
					     "1e",
					     "1e-",
					     "1.2.3",
					     "0x1",
					     "1,5",
					     "NaN",
					     "Inf",
					     "1\n",
					     "1Mi1",
					     "1ee1",
					     "11111111111111111111" };
	uint64_t value = 77;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (quantity_parse_milli(wrong[i], &value) >= 0)
			fail_msg("'%s' is taken", wrong[i]);
	}
	assert_int_equal(value, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_manifests_say),
		cmocka_unit_test(large_ones_are_exact_or_refused),
		cmocka_unit_test(the_rest_is_refused),
	};

	return unit_run(tests);
}
