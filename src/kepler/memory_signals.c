// SPDX-License-Identifier: Apache-2.0
#include "kepler/memory_signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "workload/resident_memory.h"

struct memory_signals {
	struct resident_memory *resident;
	struct cgroup_signals *list; /* of the pass, and the memory */
	size_t size;
};

int memory_signals_open(const char *cgroupfs, uint64_t every_ns, struct memory_signals **ret)
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
	*ret = signals;
	return 0;
}

void memory_signals_close(struct memory_signals *signals)
{
	if (!signals)
		return;
	resident_memory_close(signals->resident);
	free(signals->list);
	free(signals);
}

void memory_signals_add(struct memory_signals *signals, struct activity *activity)
{
	const struct resident_cgroup *cgroups;
	size_t cgroup_count, count = activity->cgroup_signal_count;

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
}
