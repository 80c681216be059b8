// SPDX-License-Identifier: Apache-2.0
#include "host/numa_nodes.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "host/topology.h"

#define LIST_MAX      4096
#define CPUS_MAX      8192

#define PLACE_OF_NONE UINT8_MAX
#define PLACE_MANY    (UINT8_MAX - 1)

static uint8_t place_of(const struct cpu_sockets *sockets, const unsigned *cpus, size_t count)
{
	uint8_t place = PLACE_OF_NONE;

	for (size_t i = 0; i < count; i++) {
		uint32_t its = cpu_sockets_of(sockets, cpus[i]);

		if (its == SOCKET_NONE || its == place)
			continue;
		if (place != PLACE_OF_NONE)
			return PLACE_MANY;
		place = (uint8_t)its;
	}
	return place;
}

static uint8_t read_place(const char *sysfs, const struct cpu_sockets *sockets, unsigned node,
			  unsigned *cpus)
{
	char path[PATH_MAX], list[LIST_MAX];
	int len =
		snprintf(path, sizeof(path), "%s/devices/system/node/node%u/cpulist", sysfs, node);

	if (len < 0 || (size_t)len >= sizeof(path) ||
	    read_file_at(AT_FDCWD, path, list, sizeof(list)) <= 0)
		return PLACE_OF_NONE;
	return place_of(sockets, cpus, topology_list_cpus(list, cpus, CPUS_MAX));
}

void numa_nodes_read(const char *sysfs, const struct cpu_sockets *sockets, struct numa_nodes *ret)
{
	unsigned *cpus;

	ret->count = 0;
	memset(ret->place, PLACE_OF_NONE, sizeof(ret->place));
	if (!cpu_sockets_differ(sockets))
		return;
	cpus = calloc(CPUS_MAX, sizeof(*cpus));
	for (unsigned node = 0; cpus && node < NUMA_NODES_MAX; node++) {
		uint8_t place = read_place(sysfs, sockets, node, cpus);

		if (place == PLACE_MANY) {
			ret->count = 0;
			break;
		}
		ret->place[node] = place;
		ret->count += place != PLACE_OF_NONE;
	}
	free(cpus);
}
