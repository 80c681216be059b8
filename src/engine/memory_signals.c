// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "workload/resident_memory.h"

struct memory_signals {
	struct resident_memory *resident;
	struct cgroup_signals *list; /* of the pass, and the memory */
	size_t size;
	const char *sysfs;
	const struct cpu_sockets *sockets;
	uint32_t cpus;    /* online when nodes were read */
	uint64_t *places; /* [entries of the list][sockets of the pass] */
	size_t places_size;
};

/* Only online CPUs are assigned to a node. */
static void read_nodes(struct memory_signals *signals, uint32_t cpus)
{
	struct numa_nodes nodes;

	signals->cpus = cpus;
	numa_nodes_read(signals->sysfs, signals->sockets, &nodes);
	resident_memory_tell_nodes(signals->resident, &nodes);
}

int memory_signals_open(const char *cgroupfs, const char *sysfs, const struct cpu_sockets *sockets,
			uint64_t every_ns, struct memory_signals **ret)
{
	struct memory_signals *signals = calloc(1, sizeof(*signals));
	int r;

	if (!signals)
		return -ENOMEM;
	r = resident_memory_open(cgroupfs, every_ns, &signals->resident);
	if (r < 0) {
		free(signals);
		return r;
	}
	signals->sysfs = sysfs;
	signals->sockets = sockets;
	read_nodes(signals, 0);
	*ret = signals;
	return 0;
}

void memory_signals_close(struct memory_signals *signals)
{
	if (!signals)
		return;
	resident_memory_close(signals->resident);
	free(signals->list);
	free(signals->places);
	free(signals);
}

/* If the nodes of a cgroup are not known, each socket gets the same part: @bytes_each. */
static void place_one(uint64_t *ret, uint32_t sockets, const uint64_t *known, uint64_t bytes_each)
{
	for (uint32_t place = 0; place < sockets; place++)
		ret[place] = known ? known[place] : bytes_each;
}

/* Adds the sockets of the entries from @first on, which belong to the cgroups with a value. */
static void add_places(struct memory_signals *signals, struct activity *activity, size_t first)
{
	const uint32_t sockets = activity->socket_ns ? activity->sockets : 0;
	const struct resident_cgroup *cgroups;
	size_t cgroup_count, at = first;
	bool is_any_placed = false;

	cgroups = resident_memory_list(signals->resident, &cgroup_count);
	for (size_t i = 0; i < cgroup_count && !is_any_placed; i++)
		is_any_placed = cgroups[i].bytes >= 0 && cgroups[i].is_placed;
	if (sockets < 2 || !is_any_placed ||
	    ARRAY_RESERVE(signals->places, signals->places_size,
			  activity->cgroup_signal_count * sockets) < 0)
		return;
	memset(signals->places, 0, first * sockets * sizeof(*signals->places));
	for (size_t i = 0; i < cgroup_count; i++) {
		if (cgroups[i].bytes < 0)
			continue;
		place_one(signals->places + at++ * sockets, sockets,
			  cgroups[i].is_placed ? resident_memory_places(signals->resident, i)
					       : NULL,
			  (uint64_t)cgroups[i].bytes / sockets);
	}
	activity->cgroup_places = signals->places;
}

void memory_signals_add(struct memory_signals *signals, struct activity *activity)
{
	const struct resident_cgroup *cgroups;
	size_t cgroup_count, count = activity->cgroup_signal_count;
	const size_t first = count;

	activity->cgroup_places = NULL;
	if (activity->cpus != signals->cpus)
		read_nodes(signals, activity->cpus);
	for (size_t i = 0; i < activity->count; i++)
		resident_memory_follow(signals->resident, activity->samples[i].cgroup_id);
	resident_memory_refresh(signals->resident, activity->time_ns);
	cgroups = resident_memory_list(signals->resident, &cgroup_count);
	if (!cgroup_count || ARRAY_RESERVE(signals->list, signals->size, count + cgroup_count) < 0)
		return;
	if (count)
		memcpy(signals->list, activity->cgroup_signals, count * sizeof(*signals->list));
	for (size_t i = 0; i < cgroup_count; i++) {
		if (cgroups[i].bytes < 0)
			continue;
		activity->signals |= SIGNAL_BIT(SIGNAL_RESIDENT);
		signals->list[count++] = (struct cgroup_signals){
			.cgroup_id = cgroups[i].cgroup_id,
			.amount = { [SIGNAL_RESIDENT] = (uint64_t)cgroups[i].bytes },
		};
	}
	activity->cgroup_signals = signals->list;
	activity->cgroup_signal_count = count;
	add_places(signals, activity, first);
}
