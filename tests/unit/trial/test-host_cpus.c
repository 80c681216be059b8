// SPDX-License-Identifier: Apache-2.0
#include "trial/host_cpus.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char folder[64];

static void write_cpu(unsigned cpu, const char *socket, const char *siblings)
{
	const struct {
		const char *name, *text;
	} files[] = { { "physical_package_id", socket }, { "thread_siblings_list", siblings } };
	char path[256];

	(void)snprintf(path, sizeof(path), "mkdir -p %s/devices/system/cpu/cpu%u/topology", folder,
		       cpu);
	assert_int_equal(system(path), 0);
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/%s",
			       folder, cpu, files[i].name);
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		(void)fprintf(file, "%s\n", files[i].text);
		assert_int_equal(fclose(file), 0);
	}
}

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/kepler-cpus-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static cpu_set_t first_cpus(unsigned count)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < count; i++)
		CPU_SET(i, &set);
	return set;
}

static void has(const struct host_cpus *host, enum cpu_place place, unsigned a, unsigned b)
{
	assert_int_equal(CPU_COUNT(&host->places[place]), 2);
	assert_true(CPU_ISSET(a, &host->places[place]));
	assert_true(CPU_ISSET(b, &host->places[place]));
}

static void threads_cores_and_sockets_are_told_apart(void **state)
{
	const cpu_set_t allowed = first_cpus(8);
	struct host_cpus host;

	/* Threads of a core are four apart, cores two apart: as Linux numbers them. */
	for (unsigned i = 0; i < 8; i++) {
		char siblings[16];

		(void)snprintf(siblings, sizeof(siblings), "%u,%u", i % 4, i % 4 + 4);
		write_cpu(i, i % 2 ? "1" : "0", siblings);
	}
	host_cpus_read(folder, &allowed, &host);
	assert_int_equal(host.count, 8);
	has(&host, PLACE_ONE_CORE, 0, 4);
	has(&host, PLACE_TWO_CORES, 0, 2);
	assert_int_equal(CPU_COUNT(&host.places[PLACE_FIRST_SOCKET]), 4);
	assert_int_equal(CPU_COUNT(&host.places[PLACE_SECOND_SOCKET]), 4);
	assert_true(CPU_ISSET(7, &host.places[PLACE_SECOND_SOCKET]));
}

static void what_may_not_be_used_is_not_there(void **state)
{
	const cpu_set_t allowed = first_cpus(2);
	struct host_cpus host;

	write_cpu(0, "0", "0,2");
	write_cpu(1, "0", "1,3");
	write_cpu(2, "0", "0,2");
	write_cpu(3, "0", "1,3");
	host_cpus_read(folder, &allowed, &host);
	assert_int_equal(host.count, 2);
	assert_int_equal(CPU_COUNT(&host.places[PLACE_ONE_CORE]), 0);
	has(&host, PLACE_TWO_CORES, 0, 1);
	assert_int_equal(CPU_COUNT(&host.places[PLACE_FIRST_SOCKET]), 0);
}

static void without_a_topology_there_is_only_the_machine(void **state)
{
	const cpu_set_t allowed = first_cpus(3);
	struct host_cpus host;

	host_cpus_read(folder, &allowed, &host);
	assert_int_equal(host.count, 3);
	assert_int_equal(CPU_COUNT(&host.places[PLACE_ANYWHERE]), 3);
	for (int place = PLACE_ONE_CORE; place < PLACES; place++)
		assert_int_equal(CPU_COUNT(&host.places[place]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_cores_and_sockets_are_told_apart,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(what_may_not_be_used_is_not_there, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(without_a_topology_there_is_only_the_machine,
						make_folder, remove_folder),
	};
	return unit_run(tests);
}
