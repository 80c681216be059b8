// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "host/topology.h"

struct reading {
	struct cpu_sockets *sockets;
	int error;
};

static uint32_t place_of(struct cpu_sockets *sockets, uint32_t id)
{
	uint32_t place = cpu_sockets_find(sockets, id);

	if (place != SOCKET_NONE || sockets->count == SOCKETS_MAX)
		return place;
	sockets->id[sockets->count] = id;
	return sockets->count++;
}

static void take_cpu(void *userdata, unsigned cpu, uint32_t package)
{
	struct reading *reading = userdata;
	struct cpu_sockets *sockets = reading->sockets;
	uint32_t place = place_of(sockets, package);

	if (place == SOCKET_NONE) {
		sockets->beyond = true;
		return;
	}
	if (cpu >= sockets->cpu_count) {
		if (ARRAY_RESIZE(sockets->of_cpu, cpu + 1) < 0) {
			reading->error = -ENOMEM;
			return;
		}
		memset(sockets->of_cpu + sockets->cpu_count, UINT8_MAX,
		       cpu + 1 - sockets->cpu_count);
		sockets->cpu_count = cpu + 1;
	}
	sockets->of_cpu[cpu] = (uint8_t)place;
	sockets->cpus[place]++;
}

int cpu_sockets_read(const char *sysfs, struct cpu_sockets *sockets)
{
	struct reading reading = { sockets, 0 };

	memset(sockets->cpus, 0, sizeof(sockets->cpus));
	topology_visit(sysfs, take_cpu, &reading);
	return reading.error;
}

void cpu_sockets_release(struct cpu_sockets *sockets)
{
	free(sockets->of_cpu);
	*sockets = (struct cpu_sockets){ 0 };
}

bool cpu_sockets_differ(const struct cpu_sockets *sockets)
{
	return sockets && sockets->count > 1 && !sockets->beyond;
}

uint32_t cpu_sockets_find(const struct cpu_sockets *sockets, uint32_t id)
{
	for (uint32_t place = 0; place < sockets->count; place++) {
		if (sockets->id[place] == id)
			return place;
	}
	return SOCKET_NONE;
}
