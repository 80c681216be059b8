// SPDX-License-Identifier: Apache-2.0
#include "host/topology.h"

#include "tests/unit/unit.h"
#include "tree.h"

static void test_lists_of_cpus(void **state)
{
	assert_int_equal(topology_count_cpus("0\n"), 1);
	assert_int_equal(topology_count_cpus("0-3,8,10-11\n"), 7);
	assert_int_equal(topology_count_cpus("0-8191"), 8192);
	assert_int_equal(topology_count_cpus(""), 0);
	assert_int_equal(topology_count_cpus("\n"), 0);
	assert_int_equal(topology_count_cpus("3-1"), 0);
	assert_int_equal(topology_count_cpus("0-99999"), 0);
	assert_int_equal(topology_count_cpus("0,x"), 0);
	assert_int_equal(topology_count_cpus("-1"), 0);
}

static void test_cpus_of_a_list(void **state)
{
	unsigned cpus[4] = { 9, 9, 9, 9 };

	assert_int_equal(topology_list_cpus("0,64-65\n", cpus, 4), 3);
	assert_true(cpus[0] == 0 && cpus[1] == 64 && cpus[2] == 65 && cpus[3] == 9);
	assert_int_equal(topology_list_cpus("1-8\n", cpus, 2), 2);
	assert_true(cpus[0] == 1 && cpus[1] == 2 && cpus[2] == 65);
	assert_int_equal(topology_list_cpus("1,x\n", cpus, 4), 0);
	assert_int_equal(topology_list_cpus("\n", cpus, 4), 0);
}

static void test_place_of_a_cpu(void **state)
{
	struct cpu_place place = { 7, 7 };

	assert_false(topology_place("/nonexistent", 0, &place));
	put("devices/system/cpu/cpu3/topology/physical_package_id", "1\n");
	assert_true(topology_place(root, 3, &place));
	assert_true(place.package == 1 && place.die == 0); /* before 5.2 */
	put("devices/system/cpu/cpu3/topology/die_id", "2\n");
	assert_true(topology_place(root, 3, &place));
	assert_true(place.package == 1 && place.die == 2);
	assert_false(topology_place(root, 4, &place));
}

static void test_first_cpu_of_a_core(void **state)
{
	assert_false(topology_is_first_of_core("/nonexistent", 0));
	put("devices/system/cpu/cpu3/topology/thread_siblings_list", "3,67\n");
	put("devices/system/cpu/cpu4/topology/thread_siblings_list", "3-4\n");
	put("devices/system/cpu/cpu5/topology/thread_siblings_list", "\n");
	assert_true(topology_is_first_of_core(root, 3));
	assert_false(topology_is_first_of_core(root, 4));
	assert_false(topology_is_first_of_core(root, 5));
}

static void test_tree_without_cpus(void **state)
{
	struct topology topology = { 1, 1, 1 };

	assert_int_equal(topology_read("/nonexistent", &topology), 0);
	assert_int_equal(topology.cpus, 0);
	assert_int_equal(topology.cores, 0);
	assert_int_equal(topology.sockets, 0);
}

/* Two sockets of two cores of two threads; cores are numbered separately in each socket. */
static void test_threads_cores_and_sockets(void **state)
{
	struct topology topology;

	put("devices/system/cpu/online", "0-7\n");
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		char path[96];

		(void)snprintf(path, sizeof(path),
			       "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		put(path, cpu / 2 % 2 ? "1\n" : "0\n");
		(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/core_id",
			       cpu);
		put(path, cpu % 2 ? "1\n" : "0\n");
	}
	assert_int_equal(topology_read(root, &topology), 0);
	assert_int_equal(topology.cpus, 8);
	assert_int_equal(topology.cores, 4);
	assert_int_equal(topology.sockets, 2);
}

static void test_this_machine(void **state)
{
	struct topology topology;

	assert_int_equal(topology_read("/sys", &topology), 0);
	if (topology.cpus == 0)
		print_message("# not possible here: no CPUs in /sys\n");
	assert_true(topology.cores <= topology.cpus);
	assert_true(topology.sockets <= topology.cores);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_of_cpus),
		cmocka_unit_test(test_cpus_of_a_list),
		cmocka_unit_test_setup_teardown(test_place_of_a_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_cpu_of_a_core, setup, teardown),
		cmocka_unit_test(test_tree_without_cpus),
		cmocka_unit_test_setup_teardown(test_threads_cores_and_sockets, setup, teardown),
		cmocka_unit_test(test_this_machine),
	};

	return unit_run(tests);
}
