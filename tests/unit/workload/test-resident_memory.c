// SPDX-License-Identifier: Apache-2.0
/* The text of v1; the rest needs a cgroup file system: the test process/resident-memory. */
#include "workload/resident_memory.h"

#include "tests/unit/unit.h"

static void test_own_memory(void **state)
{
	assert_int_equal(resident_memory_of_stat("cache 4096\nrss 8192\nrss_huge 77\n"), 12288);
	assert_int_equal(resident_memory_of_stat("rss_huge 7\nrss 1\nshmem 3\ncache 2"), 3);
	assert_int_equal(resident_memory_of_stat("rss 0\ncache 0\ntotal_rss 5\n"), 0);
}

static void test_what_is_not_there_is_not_zero(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"rss 5\n",
		"cache 5\ntotal_rss 5\n",
		"cache x\nrss 5\n",
		"cache\nrss 5\n",
		"cache -1\nrss 5\n",
		"cache 9223372036854775807\nrss 1\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(resident_memory_of_stat(texts[i]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_memory),
		cmocka_unit_test(test_what_is_not_there_is_not_zero),
	};

	return unit_run(tests);
}
