// SPDX-License-Identifier: Apache-2.0
#include "options/spelling.h"

#include "tests/unit/unit.h"

static void distances(void **state)
{
	assert_int_equal(spelling_distance("", ""), 0);
	assert_int_equal(spelling_distance("", "abc"), 3);
	assert_int_equal(spelling_distance("abc", ""), 3);
	assert_int_equal(spelling_distance("abc", "abc"), 0);
	assert_int_equal(spelling_distance("abc", "abd"), 1);
	assert_int_equal(spelling_distance("abc", "acb"), 1); /* one swap */
	assert_int_equal(spelling_distance("abc", "ac"), 1);
	assert_int_equal(spelling_distance("adress", "address"), 1);
	assert_int_equal(spelling_distance("kitten", "sitting"), 3);
	assert_int_equal(spelling_distance("LEVEL", "level"), 0);
	assert_int_equal(spelling_distance("ca", "abc"),
			 3); /* a swapped pair is not edited again */
}

static void symmetric_and_bounded(void **state)
{
	static const char *const words[] = {
		"", "a", "web", "log.level", "monitor.interval", "zzzzzzzzzzzzzzzzzzzz"
	};
	char longer[200];

	for (size_t i = 0; i < sizeof(longer) - 1; i++)
		longer[i] = 'x';
	longer[sizeof(longer) - 1] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			assert_int_equal(spelling_distance(words[i], words[j]),
					 spelling_distance(words[j], words[i]));
		assert_int_equal(spelling_distance(words[i], longer), SPELLING_MAX);
	}
}

static void tolerance(void **state)
{
	assert_int_equal(spelling_tolerance(""), 1);
	assert_int_equal(spelling_tolerance("web"), 1);
	assert_int_equal(spelling_tolerance("log.level"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(symmetric_and_bounded),
		cmocka_unit_test(tolerance),
	};

	return unit_run(tests);
}
