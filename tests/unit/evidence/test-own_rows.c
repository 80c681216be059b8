// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/own_rows.h"

#include "tests/unit/unit.h"

static bool has(const struct own_rows *own, enum energy_level level, const char *value)
{
	const struct page_series series = { "x", 2, { "zone", "name" }, { "package", value }, 1 };

	return own_rows_find(own, level, &series) < OWN_WORDS_MAX;
}

static void each_level_has_its_words(void **state)
{
	struct own_rows own = { 0 };

	own_rows_add(&own, ENERGY_PROCESS, "kv-load");
	own_rows_add(&own, ENERGY_NAMESPACE, "kepler");
	own_rows_add(&own, ENERGY_POD, "");
	assert_true(has(&own, ENERGY_PROCESS, "kv-load"));
	assert_true(has(&own, ENERGY_PROCESS, "/usr/bin/kv-load --x"));
	assert_false(has(&own, ENERGY_CONTAINER, "kv-load"));
	assert_false(has(&own, ENERGY_PROCESS, "kepler"));
	assert_int_equal(own.counts[ENERGY_POD], 0);
	assert_false(has(&own, ENERGY_POD, ""));
}

static void a_part_of_a_word_is_another_word(void **state)
{
	struct own_rows own = { 0 };

	own_rows_add(&own, ENERGY_NAMESPACE, "kepler");
	assert_true(has(&own, ENERGY_NAMESPACE, "kepler"));
	assert_false(has(&own, ENERGY_NAMESPACE, "kepler-test"));
	assert_false(has(&own, ENERGY_NAMESPACE, "my-kepler"));
	assert_true(has(&own, ENERGY_NAMESPACE, "kepler-test/kepler"));
}

static void words_beyond_the_limit_are_left_out(void **state)
{
	struct own_rows own = { 0 };

	for (int i = 0; i < OWN_WORDS_MAX; i++)
		own_rows_add(&own, ENERGY_VM, "a");
	own_rows_add(&own, ENERGY_VM, "b");
	assert_false(has(&own, ENERGY_VM, "b"));
	assert_true(has(&own, ENERGY_VM, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_level_has_its_words),
		cmocka_unit_test(a_part_of_a_word_is_another_word),
		cmocka_unit_test(words_beyond_the_limit_are_left_out),
	};
	return unit_run(tests);
}
