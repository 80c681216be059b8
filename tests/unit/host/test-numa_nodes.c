// SPDX-License-Identifier: Apache-2.0
#include "host/numa_nodes.h"

#include "tests/unit/unit.h"
#include "tree.h"

static struct cpu_sockets sockets;

static void put_node(unsigned node, const char *cpus)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "devices/system/node/node%u/cpulist", node);
	put(path, cpus);
}

/* CPUs 0 to 3 in two sockets; the first one has the higher number. */
static int set_up_sockets(void **state)
{
	char path[96];

	if (setup(state))
		return -1;
	put("devices/system/cpu/online", "0-3\n");
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		(void)snprintf(path, sizeof(path),
			       "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		put(path, cpu < 2 ? "1\n" : "0\n");
	}
	return cpu_sockets_read(root, &sockets);
}

static int tear_down_sockets(void **state)
{
	cpu_sockets_release(&sockets);
	return teardown(state);
}

/* The first socket has two nodes, and one has memory alone. */
static void test_nodes_are_at_the_sockets_of_their_cpus(void **state)
{
	struct numa_nodes nodes;

	put_node(0, "0\n");
	put_node(1, "1\n");
	put_node(2, "2-3\n");
	put_node(3, "\n");
	put_node(NUMA_NODES_MAX, "2\n");
	numa_nodes_read(root, &sockets, &nodes);
	assert_int_equal(nodes.count, 3);
	assert_int_equal(nodes.place[0], 0);
	assert_int_equal(nodes.place[1], 0);
	assert_int_equal(nodes.place[2], 1);
	assert_int_equal(nodes.place[3], UINT8_MAX);
}

/* Firmware that interleaves memory shows one node with the CPUs of all sockets. */
static void test_memory_that_is_spread_is_at_no_socket(void **state)
{
	struct numa_nodes nodes;

	put_node(0, "0-3\n");
	put_node(1, "\n");
	numa_nodes_read(root, &sockets, &nodes);
	assert_int_equal(nodes.count, 0);
}

static void test_without_nodes_or_sockets_there_is_none(void **state)
{
	struct cpu_sockets none = { 0 };
	struct numa_nodes nodes;

	numa_nodes_read(root, &sockets, &nodes);
	assert_int_equal(nodes.count, 0);
	put_node(0, "0-1\n");
	numa_nodes_read(root, &none, &nodes);
	assert_int_equal(nodes.count, 0);
	numa_nodes_read(root, NULL, &nodes);
	assert_int_equal(nodes.count, 0);
	assert_int_equal(nodes.place[0], UINT8_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_sockets, tear_down_sockets)
	const struct CMUnitTest tests[] = {
		TEST(test_nodes_are_at_the_sockets_of_their_cpus),
		TEST(test_memory_that_is_spread_is_at_no_socket),
		TEST(test_without_nodes_or_sockets_there_is_none),
	};

	return unit_run(tests);
}
