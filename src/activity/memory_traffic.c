// SPDX-License-Identifier: Apache-2.0
#include "activity/memory_traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/num.h"

#define DEFAULT_GROUP 0
#define MIXED         RESCTRL_GROUPS_MAX /* a cgroup with processes of several groups */
#define CGROUPS_MAX   65536

/* A group's bytes while they are divided. */
struct division {
	uint64_t bytes, given;
	uint64_t weight, so_far;
};

struct memory_traffic {
	uint32_t scans;     /* of the reading that the maps are of */
	struct map pids;    /* → group */
	struct map cgroups; /* → group, or MIXED */
	uint32_t *group;    /* [size] of samples */
	uint64_t *bytes;    /* [size] as well */
	size_t size;
	struct division divisions[RESCTRL_GROUPS_MAX];
	uint64_t last[RESCTRL_GROUPS_MAX]; /* bytes of the last reading */
	uint32_t group_count;              /* in it; 0: it was not known, or is too old */
	uint32_t repeats;
};

int memory_traffic_new(struct memory_traffic **ret)
{
	struct memory_traffic *traffic = calloc(1, sizeof(*traffic));

	if (!traffic)
		return -ENOMEM;
	map_init(&traffic->pids, RESCTRL_PIDS_MAX);
	map_init(&traffic->cgroups, CGROUPS_MAX);
	*ret = traffic;
	return 0;
}

void memory_traffic_free(struct memory_traffic *traffic)
{
	if (!traffic)
		return;
	map_release(&traffic->pids);
	map_release(&traffic->cgroups);
	free(traffic->group);
	free(traffic->bytes);
	free(traffic);
}

static struct map_key key_of(uint64_t number)
{
	return (struct map_key){ 0, number };
}

/* A pid for which there is no memory is in the group of its cgroup. */
static void follow_scan(struct memory_traffic *traffic, const struct resctrl_reading *reading)
{
	if (traffic->scans == reading->scans)
		return;
	map_release(&traffic->pids);
	map_release(&traffic->cgroups);
	map_init(&traffic->pids, RESCTRL_PIDS_MAX);
	map_init(&traffic->cgroups, CGROUPS_MAX);
	for (uint32_t g = 0; g < reading->group_count; g++) {
		const struct resctrl_group *group = &reading->groups[g];

		for (uint32_t i = 0; i < group->pid_count; i++)
			(void)map_put(&traffic->pids, key_of(reading->pids[group->first_pid + i]),
				      g);
	}
	traffic->scans = reading->scans;
}

static void learn_cgroup(struct memory_traffic *traffic, uint64_t cgroup_id, uint32_t group)
{
	uint32_t before = map_find(&traffic->cgroups, key_of(cgroup_id));

	if (!cgroup_id || before == group || before == MIXED)
		return;
	(void)map_put(&traffic->cgroups, key_of(cgroup_id), before == MAP_NONE ? group : MIXED);
}

static void find_groups(struct memory_traffic *traffic, const struct activity *activity)
{
	for (size_t i = 0; i < activity->count; i++) {
		const struct activity_sample *sample = &activity->samples[i];

		traffic->group[i] = map_find(&traffic->pids, key_of(sample->key.pid));
		if (traffic->group[i] != MAP_NONE)
			learn_cgroup(traffic, sample->cgroup_id, traffic->group[i]);
	}
	for (size_t i = 0; i < activity->count; i++) {
		uint32_t *group = &traffic->group[i];

		if (*group == MAP_NONE && activity->samples[i].cgroup_id)
			*group =
				map_find(&traffic->cgroups, key_of(activity->samples[i].cgroup_id));
		if (*group == MAP_NONE || *group == MIXED)
			*group = DEFAULT_GROUP;
	}
}

static uint64_t weight_of(const struct activity *activity, size_t i)
{
	const uint64_t *misses = activity->signal[SIGNAL_CACHE_MISSES];

	return misses ? misses[i] : activity->samples[i].cpu_ns;
}

static void weigh_groups(struct memory_traffic *traffic, const struct activity *activity)
{
	struct division *rest = &traffic->divisions[DEFAULT_GROUP];

	for (uint32_t g = 0; g < traffic->group_count; g++)
		traffic->divisions[g] = (struct division){ .bytes = traffic->last[g] };
	for (size_t i = 0; i < activity->count; i++)
		traffic->divisions[traffic->group[i]].weight += weight_of(activity, i);
	for (uint32_t g = DEFAULT_GROUP + 1; g < traffic->group_count; g++) {
		if (traffic->divisions[g].weight)
			continue;
		rest->bytes += traffic->divisions[g].bytes;
		traffic->divisions[g].bytes = 0;
	}
}

/* By running sums, so that the parts add up to the whole. */
static uint64_t take_part(struct division *division, uint64_t weight)
{
	uint64_t until, part;

	if (!division->weight)
		return 0;
	division->so_far += weight;
	until = muldiv_u64(division->bytes, division->so_far, division->weight);
	part = until - division->given;
	division->given = until;
	return part;
}

/* Returns true if there are bytes to be divided. */
static bool take_reading(struct memory_traffic *traffic, const struct resctrl_reading *reading)
{
	if (!reading) {
		if (traffic->repeats++ >= MEMORY_TRAFFIC_REPEATS)
			traffic->group_count = 0;
		return traffic->group_count;
	}
	traffic->repeats = 0;
	traffic->group_count = reading->is_known ? reading->group_count : 0;
	for (uint32_t g = 0; g < traffic->group_count; g++)
		traffic->last[g] = reading->groups[g].bytes;
	if (reading->is_known)
		follow_scan(traffic, reading);
	return reading->is_known;
}

static bool reserve(struct memory_traffic *traffic, size_t count)
{
	if (count <= traffic->size)
		return true;
	traffic->size = 0;
	if (ARRAY_RESIZE(traffic->group, count) < 0 || ARRAY_RESIZE(traffic->bytes, count) < 0)
		return false;
	traffic->size = count;
	return true;
}

void memory_traffic_add(struct memory_traffic *traffic, const struct resctrl_reading *reading,
			struct activity *activity)
{
	const struct division *rest = &traffic->divisions[DEFAULT_GROUP];

	if (!take_reading(traffic, reading) || !reserve(traffic, activity->count))
		return;
	find_groups(traffic, activity);
	weigh_groups(traffic, activity);
	for (size_t i = 0; i < activity->count; i++)
		traffic->bytes[i] =
			take_part(&traffic->divisions[traffic->group[i]], weight_of(activity, i));
	activity->signals |= SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC);
	activity->signal[SIGNAL_MEMORY_TRAFFIC] = activity->count ? traffic->bytes : NULL;
	activity->unknown_signal[SIGNAL_MEMORY_TRAFFIC] = rest->bytes - rest->given;
}
