// SPDX-License-Identifier: Apache-2.0
/* Rules that the table of cores keeps, so that a slip of the pen in it is noticed. */
#include "model/processor/cpu_cores.h"

#include "model/processor/cpu_name.h"
#include "tests/unit/unit.h"

static void test_keys_are_in_order_and_once(void **state)
{
	for (size_t i = 1; i < cpu_cores_count; i++) {
		if (strcmp(cpu_cores[i - 1].key, cpu_cores[i].key) >= 0)
			fail_msg("%s is not before %s", cpu_cores[i - 1].key, cpu_cores[i].key);
	}
}

static void test_each_key_is_found_by_a_name(void **state)
{
	for (size_t i = 0; i < cpu_cores_count; i++) {
		struct cpu_name name;
		char text[64];

		(void)snprintf(text, sizeof(text), "Intel(R) Xeon(R) %s CPU @ 2.00GHz",
			       cpu_cores[i].key + strlen("xeon"));
		cpu_name_read(text, &name);
		assert_string_equal(name.key, cpu_cores[i].key);
		assert_int_equal(name.cores, cpu_cores[i].cores);
		if (name.year == 0)
			fail_msg("%s has no year", name.key);
	}
}

/* Most cores of a package of each year's family, of one die or (92xx) of two. */
static void test_families_have_no_more_cores_than_their_largest(void **state)
{
	static const struct {
		const char *prefix;
		unsigned year, most;
	} families[] = {
		{ "xeone", 2013, 12 }, { "xeone", 2014, 18 }, { "xeone", 2016, 24 },
		{ "xeon9", 2019, 56 }, { "xeon", 2017, 28 },  { "xeon", 2019, 28 },
		{ "xeon", 2020, 28 },  { "xeon", 2021, 40 },  { "xeon", 2023, 64 },
	};

	for (size_t i = 0; i < cpu_cores_count; i++) {
		struct cpu_name name;
		unsigned most = 0;

		cpu_name_read(cpu_cores[i].key, &name);
		for (size_t k = 0; k < ARRAY_SIZE(families) && most == 0; k++) {
			if (families[k].year == name.year &&
			    strncmp(families[k].prefix, name.key, strlen(families[k].prefix)) == 0)
				most = families[k].most;
		}
		assert_in_range(name.cores, 4, most);
		assert_int_equal(name.cores % 2, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_in_order_and_once),
		cmocka_unit_test(test_each_key_is_found_by_a_name),
		cmocka_unit_test(test_families_have_no_more_cores_than_their_largest),
	};

	return unit_run(tests);
}
