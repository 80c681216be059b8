// SPDX-License-Identifier: Apache-2.0
/* Texts of memory.numa_stat as kernels write them, and what says nothing. */
#include "workload/numa_stat.h"

#include "tests/unit/unit.h"

static uint64_t nodes[NUMA_NODES_MAX], sum;

static void test_v2_adds_kinds_that_are_no_parts(void **state)
{
	assert_true(numa_stat_parse("anon N0=4096 N1=8192\n"
				    "file N0=100 N1=0\n"
				    "kernel_stack N0=16 N1=32\n"
				    "shmem N0=70 N1=70\n"
				    "file_mapped N0=50 N1=50\n"
				    "anon_thp N0=2 N1=2\n"
				    "slab_unreclaimable N0=5 N1=6\n"
				    "workingset_refault_anon N0=9 N1=9\n",
				    true, nodes, &sum));
	assert_int_equal(nodes[0], 4217);
	assert_int_equal(nodes[1], 8230);
	assert_int_equal(nodes[2], 0);
	assert_int_equal(sum, 12447);
}

static void test_v1_has_a_total(void **state)
{
	assert_true(numa_stat_parse("total=30 N0=10 N2=20\n"
				    "file=5 N0=5 N2=0\n"
				    "hierarchical_total=99 N0=99 N2=0\n",
				    false, nodes, &sum));
	assert_int_equal(nodes[0], 10);
	assert_int_equal(nodes[1], 0);
	assert_int_equal(nodes[2], 20);
	assert_int_equal(sum, 30);
}

/* As many as fit; the rest counts in the sum alone. */
static void test_nodes_beyond_the_table(void **state)
{
	assert_true(numa_stat_parse("anon N63=5 N64=7 N4000=1", true, nodes, &sum));
	assert_int_equal(nodes[63], 5);
	assert_int_equal(sum, 13);
}

static void test_an_invalid_amount_adds_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"anon\n",
		"anon N0=0\n",
		"anon N=5\n",
		"anon N0=x\n",
		"anon N0=-1\n",
		"anon M0=5\n",
		"anonymous N0=5\n",
		"anon N0=99999999999999999999999\n",
		"anon N0=281474976710657\n",
		"total=30 N0=30\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(numa_stat_parse(texts[i], true, nodes, &sum));
	assert_false(numa_stat_parse("anon N0=5\n", false, nodes, &sum));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v2_adds_kinds_that_are_no_parts),
		cmocka_unit_test(test_v1_has_a_total),
		cmocka_unit_test(test_nodes_beyond_the_table),
		cmocka_unit_test(test_an_invalid_amount_adds_nothing),
	};

	return unit_run(tests);
}
