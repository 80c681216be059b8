// SPDX-License-Identifier: Apache-2.0
/*
 * On a node with many short jobs cgroups come and go by the thousand, and their end is not
 * reported. So rows have the time of their last use; a sweep checks them when their number has
 * doubled since the last sweep, which keeps its cost per new row constant. A cgroup that was
 * forgotten and is used again is looked up again.
 */
#include "workload/owner_by_cgroup.h"

#include <errno.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define UNUSED_NS (300 * NSEC_PER_SEC)
#define SWEEP_MIN 1024

struct cgroup_row {
	uint64_t cgroup_id;
	uint64_t used_ns;
	struct owner *owner;
};

static struct map_key key_of(uint64_t cgroup_id)
{
	return (struct map_key){ 0, cgroup_id };
}

void cgroup_cache_init(struct cgroup_cache *cache, uint32_t limit, struct owner_table *owners)
{
	*cache = (struct cgroup_cache){ .limit = limit, .owners = owners };
	map_init(&cache->map, limit);
}

void cgroup_cache_release(struct cgroup_cache *cache)
{
	for (uint32_t i = 0; i < cache->count; i++)
		owner_unref(cache->owners, cache->rows[i].owner);
	free(cache->rows);
	map_release(&cache->map);
	*cache = (struct cgroup_cache){ 0 };
}

struct owner *cgroup_cache_find(struct cgroup_cache *cache, uint64_t cgroup_id, uint64_t now_ns)
{
	uint32_t index = map_find(&cache->map, key_of(cgroup_id));

	if (index == MAP_NONE)
		return NULL;
	cache->rows[index].used_ns = now_ns;
	return cache->rows[index].owner;
}

/* Forgets what was last used at @until or before. */
static void forget(struct cgroup_cache *cache, uint64_t until_ns)
{
	for (uint32_t i = cache->count; i-- > 0;) {
		struct cgroup_row *row = &cache->rows[i];

		if (row->used_ns > until_ns)
			continue;
		owner_unref(cache->owners, row->owner);
		(void)map_remove(&cache->map, key_of(row->cgroup_id));
		*row = cache->rows[--cache->count];
		if (i < cache->count)
			(void)map_put(&cache->map, key_of(row->cgroup_id), i);
	}
	cache->swept_count = cache->count;
}

void cgroup_cache_sweep(struct cgroup_cache *cache, uint64_t now_ns)
{
	if (cache->count > SWEEP_MIN + cache->swept_count * 2 && now_ns > UNUSED_NS)
		forget(cache, now_ns - UNUSED_NS);
}

/* Forgets the older half of the time span of uses: at least one row. */
static void make_room(struct cgroup_cache *cache)
{
	uint64_t oldest = UINT64_MAX, newest = 0;

	for (uint32_t i = 0; i < cache->count; i++) {
		uint64_t used_ns = cache->rows[i].used_ns;

		oldest = used_ns < oldest ? used_ns : oldest;
		newest = used_ns > newest ? used_ns : newest;
	}
	forget(cache, oldest + (newest - oldest) / 2);
}

void cgroup_cache_put(struct cgroup_cache *cache, uint64_t cgroup_id, struct owner *owner,
		      uint64_t now_ns)
{
	uint32_t index = map_find(&cache->map, key_of(cgroup_id));

	if (index != MAP_NONE) {
		struct owner *before = cache->rows[index].owner;

		cache->rows[index].owner = owner_ref(owner);
		owner_unref(cache->owners, before);
		return;
	}
	if (cache->count >= cache->limit)
		make_room(cache);
	if (ARRAY_RESERVE(cache->rows, cache->size, cache->count + 1U) < 0)
		return;
	if (map_put(&cache->map, key_of(cgroup_id), cache->count) < 0)
		return;
	cache->rows[cache->count++] = (struct cgroup_row){ cgroup_id, now_ns, owner_ref(owner) };
}
