// SPDX-License-Identifier: Apache-2.0
#include "gpu/drm_use.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

#define PROCESSES_MAX 4096

void drm_use_release(struct drm_use *use)
{
	free(use->processes);
	map_release(&use->by_pid);
	*use = (struct drm_use){ 0 };
}

static struct map_key key_of(uint32_t pid)
{
	return (struct map_key){ 0, pid };
}

void drm_use_begin(struct drm_use *use, uint64_t elapsed_ns)
{
	if (!use->by_pid.limit)
		map_init(&use->by_pid, PROCESSES_MAX);
	while (use->count)
		(void)map_remove(&use->by_pid, key_of(use->processes[--use->count].pid));
	use->elapsed_ns = elapsed_ns;
}

/* The place of an engine, or DRM_ENGINES_MAX. */
static size_t place_of(struct drm_use *use, const char *name)
{
	size_t place = 0;

	while (place < use->engine_count && strcmp(use->engines[place], name) != 0)
		place++;
	if (place == use->engine_count && place < DRM_ENGINES_MAX)
		(void)snprintf(use->engines[use->engine_count++], DRM_ENGINE_NAME_MAX, "%s", name);
	return place;
}

static struct drm_process *process_of(struct drm_use *use, uint32_t pid)
{
	uint32_t at = map_find(&use->by_pid, key_of(pid));

	if (at != MAP_NONE)
		return &use->processes[at];
	if (ARRAY_RESERVE(use->processes, use->size, use->count + 1) < 0 ||
	    map_put(&use->by_pid, key_of(pid), (uint32_t)use->count) < 0)
		return NULL;
	use->processes[use->count] = (struct drm_process){ .pid = pid };
	return &use->processes[use->count++];
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* A product that is too large is of counters that cannot be true. */
static uint64_t time_of_cycles(uint64_t elapsed_ns, uint64_t cycles, uint64_t total_cycles)
{
	unsigned __int128 ns;

	if (!total_cycles)
		return 0;
	ns = (unsigned __int128)elapsed_ns * cycles / total_cycles;
	return ns > UINT64_MAX ? 0 : (uint64_t)ns;
}

/* For how long one engine worked for the client since the last reading of it. */
static uint64_t grown_ns(const struct drm_use *use, const struct drm_client *client, size_t place,
			 const struct drm_engine *engine)
{
	uint64_t ns = 0;

	if (engine->has_busy_ns && engine->busy_ns >= client->busy_ns[place])
		ns = engine->busy_ns - client->busy_ns[place];
	else if (!engine->has_busy_ns && client->total_cycles[place] &&
		 engine->cycles >= client->cycles[place] &&
		 engine->total_cycles > client->total_cycles[place])
		ns = time_of_cycles(use->elapsed_ns, engine->cycles - client->cycles[place],
				    engine->total_cycles - client->total_cycles[place]);
	return ns / engine->capacity;
}

static void remember(struct drm_client *client, size_t place, const struct drm_engine *engine)
{
	client->busy_ns[place] = engine->busy_ns;
	client->cycles[place] = engine->cycles;
	client->total_cycles[place] = engine->total_cycles;
}

int drm_use_add(struct drm_use *use, struct drm_client *client, uint32_t pid,
		const struct drm_fdinfo *info, bool is_new)
{
	bool is_same = client->is_known && client->client_id == info->client_id;
	struct drm_process *process = NULL;

	if (!is_same)
		*client = (struct drm_client){ .is_known = true, .client_id = info->client_id };
	for (size_t i = 0; i < info->engine_count; i++) {
		const struct drm_engine *engine = &info->engines[i];
		size_t place = place_of(use, engine->name);
		uint64_t ns;

		if (place == DRM_ENGINES_MAX)
			continue;
		ns = grown_ns(use, client, place, engine);
		if (is_new && !is_same) /* it cannot have been busy for longer than that */
			ns = at_most(ns, use->elapsed_ns);
		remember(client, place, engine);
		if (!ns || !use->elapsed_ns || (!is_same && !is_new))
			continue;
		process = process ? process : process_of(use, pid);
		if (!process)
			return -ENOMEM;
		process->busy_ns[place] += ns;
	}
	return 0;
}

static uint64_t busiest_ns(const struct drm_process *process)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < DRM_ENGINES_MAX; i++)
		most_ns = process->busy_ns[i] > most_ns ? process->busy_ns[i] : most_ns;
	return most_ns;
}

size_t drm_use_list(const struct drm_use *use, uint32_t device, struct device_use *ret)
{
	for (size_t i = 0; i < use->count; i++)
		ret[i] = (struct device_use){ .device = device,
					      .pid = use->processes[i].pid,
					      .busy_ns = busiest_ns(&use->processes[i]) };
	return use->count;
}
