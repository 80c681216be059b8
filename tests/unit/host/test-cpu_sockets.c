// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_sockets.h"

#include "tests/unit/unit.h"
#include "tree.h"

static void put_cpu(unsigned cpu, const char *package)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id",
		       cpu);
	put(path, package);
}

static void test_a_tree_without_cpus_has_no_sockets(void **state)
{
	struct cpu_sockets sockets = { 0 };

	assert_int_equal(cpu_sockets_read("/nonexistent", &sockets), 0);
	assert_int_equal(sockets.count, 0);
	assert_false(cpu_sockets_differ(&sockets));
	assert_false(cpu_sockets_differ(NULL));
	assert_int_equal(cpu_sockets_of(&sockets, 0), SOCKET_NONE);
	cpu_sockets_release(&sockets);
}

/* Firmware may number packages as it likes, and give one CPU no number. */
static void test_cpus_are_in_the_sockets_of_their_packages(void **state)
{
	static const char *const packages[] = { "36\n", "0\n", "36\n", "-1\n", "0\n", "36\n" };
	struct cpu_sockets sockets = { 0 };

	put("devices/system/cpu/online", "0-5\n");
	for (unsigned cpu = 0; cpu < 6; cpu++)
		put_cpu(cpu, packages[cpu]);
	assert_int_equal(cpu_sockets_read(root, &sockets), 0);
	assert_true(cpu_sockets_differ(&sockets));
	assert_int_equal(sockets.count, 2);
	assert_int_equal(sockets.id[0], 36);
	assert_int_equal(sockets.cpus[0], 3);
	assert_int_equal(sockets.cpus[1], 2);
	assert_int_equal(cpu_sockets_find(&sockets, 0), 1);
	assert_int_equal(cpu_sockets_find(&sockets, 1), SOCKET_NONE);
	assert_int_equal(cpu_sockets_of(&sockets, 2), 0);
	assert_int_equal(cpu_sockets_of(&sockets, 3), SOCKET_NONE);
	assert_int_equal(cpu_sockets_of(&sockets, 4), 1);
	assert_int_equal(cpu_sockets_of(&sockets, 6), SOCKET_NONE);
	cpu_sockets_release(&sockets);
}

/* Run time of a CPU before it went was reported with its number: it still belongs to its socket. */
static void test_cpus_that_go_keep_their_socket(void **state)
{
	struct cpu_sockets sockets = { 0 };

	put("devices/system/cpu/online", "0-3\n");
	for (unsigned cpu = 0; cpu < 4; cpu++)
		put_cpu(cpu, cpu < 2 ? "0\n" : "1\n");
	assert_int_equal(cpu_sockets_read(root, &sockets), 0);
	put("devices/system/cpu/online", "2-3\n");
	assert_int_equal(cpu_sockets_read(root, &sockets), 0);
	assert_int_equal(sockets.count, 2);
	assert_int_equal(sockets.cpus[0], 0);
	assert_int_equal(sockets.cpus[1], 2);
	assert_int_equal(cpu_sockets_of(&sockets, 0), 0);
	assert_int_equal(cpu_sockets_of(&sockets, 3), 1);
	cpu_sockets_release(&sockets);
}

/* A machine of more sockets than there are places: none of them could be trusted. */
static void test_more_sockets_than_places_do_not_differ(void **state)
{
	struct cpu_sockets sockets = { 0 };
	char line[32];

	(void)snprintf(line, sizeof(line), "0-%d\n", SOCKETS_MAX);
	put("devices/system/cpu/online", line);
	for (unsigned cpu = 0; cpu <= SOCKETS_MAX; cpu++) {
		(void)snprintf(line, sizeof(line), "%u\n", cpu);
		put_cpu(cpu, line);
	}
	assert_int_equal(cpu_sockets_read(root, &sockets), 0);
	assert_int_equal(sockets.count, SOCKETS_MAX);
	assert_int_equal(cpu_sockets_of(&sockets, SOCKETS_MAX), SOCKET_NONE);
	assert_false(cpu_sockets_differ(&sockets));
	cpu_sockets_release(&sockets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tree_without_cpus_has_no_sockets),
		cmocka_unit_test_setup_teardown(test_cpus_are_in_the_sockets_of_their_packages,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus_that_go_keep_their_socket, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_more_sockets_than_places_do_not_differ, setup,
						teardown),
	};

	return unit_run(tests);
}
