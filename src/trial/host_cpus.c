// SPDX-License-Identifier: Apache-2.0
#include "trial/host_cpus.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "trial/frequency.h"
#include "trial/load_program.h"

#define SIBLINGS_MAX 128

struct cpu {
	unsigned id;
	uint64_t socket;
	char siblings[SIBLINGS_MAX]; /* the same text for all threads of a core */
};

static bool read_cpu(const char *sysfs, unsigned id, struct cpu *ret)
{
	char path[512], text[32];

	(void)snprintf(path, sizeof(path),
		       "%s/devices/system/cpu/cpu%u/topology/physical_package_id", sysfs, id);
	ssize_t len = read_file_at(AT_FDCWD, path, text, sizeof(text));
	if (len <= 0 || parse_u64(text, (size_t)len, &ret->socket) < 0)
		return false;
	(void)snprintf(path, sizeof(path),
		       "%s/devices/system/cpu/cpu%u/topology/thread_siblings_list", sysfs, id);
	ret->id = id;
	return read_file_at(AT_FDCWD, path, ret->siblings, sizeof(ret->siblings)) > 0;
}

static void add_pair(cpu_set_t *place, const struct cpu *a, const struct cpu *b)
{
	if (CPU_COUNT(place) > 0)
		return;
	CPU_SET(a->id, place);
	CPU_SET(b->id, place);
}

/* @first is the CPU with the lowest number. */
static void add_cpu(struct host_cpus *host, const struct cpu *first, const struct cpu *cpu)
{
	cpu_set_t *second = &host->places[PLACE_SECOND_SOCKET];

	if (cpu->socket == first->socket) {
		CPU_SET(cpu->id, &host->places[PLACE_FIRST_SOCKET]);
		if (cpu->id != first->id)
			add_pair(&host->places[strcmp(cpu->siblings, first->siblings) == 0
						       ? PLACE_ONE_CORE
						       : PLACE_TWO_CORES],
				 first, cpu);
		return;
	}
	CPU_SET(cpu->id, second);
}

void host_cpus_read(const char *sysfs, const cpu_set_t *allowed, struct host_cpus *ret)
{
	struct cpu first = { 0 }, cpu = { 0 };
	uint64_t second_socket = 0;
	bool has_first = false, has_second = false;

	memset(ret, 0, sizeof(*ret));
	ret->count = (unsigned)CPU_COUNT(allowed);
	ret->frequency_obstacle = frequency_obstacle(sysfs);
	ret->has_program = load_program_is_installed;
	ret->places[PLACE_ANYWHERE] = *allowed;
	for (unsigned id = 0; id < CPU_SETSIZE; id++) {
		if (!CPU_ISSET(id, allowed) || !read_cpu(sysfs, id, &cpu))
			continue;
		if (!has_first)
			first = cpu;
		has_first = true;
		if (cpu.socket != first.socket && !has_second) {
			second_socket = cpu.socket;
			has_second = true;
		}
		if (cpu.socket == first.socket || cpu.socket == second_socket)
			add_cpu(ret, &first, &cpu);
	}
	/* One socket is the whole machine: nothing to compare. */
	if (!has_second)
		CPU_ZERO(&ret->places[PLACE_FIRST_SOCKET]);
}
