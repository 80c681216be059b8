// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hostile.h"

struct map_slot {
	struct map_key key;
	uint32_t index; /* MAP_NONE: free */
};

#define MAP_MIN_SLOTS 64U
#define HOSTILE_RUN                                                                                \
	1023U /* so many hashes are one: with all of them, tests of 20,000 rows would take hours */

void map_init(struct map *map, uint32_t limit)
{
	*map = (struct map){ .limit = limit };
}

void map_release(struct map *map)
{
	free(map->slots);
	*map = (struct map){ .limit = map->limit };
}

/*
 * The finalizer of MurmurHash3 (public domain) over both halves: keys are pids, start times and
 * addresses, all low in entropy.
 */
static uint32_t hash_key(struct map_key key)
{
	uint64_t h = key.hi * 0x9e3779b97f4a7c15ULL ^ key.lo;

	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ULL;
	h ^= h >> 33;
	return HOSTILE_OR((uint32_t)h & ~HOSTILE_RUN, (uint32_t)h);
}

static bool key_equal(struct map_key a, struct map_key b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

/*
 * The slot that holds @key, or the free one where it belongs. Needs at least one free slot, which
 * the load limit guarantees.
 */
static uint32_t find_slot(const struct map *map, struct map_key key)
{
	uint32_t i = hash_key(key) & map->mask;

	while (map->slots[i].index != MAP_NONE && !key_equal(map->slots[i].key, key))
		i = (i + 1) & map->mask;
	return i;
}

uint32_t map_find(const struct map *map, struct map_key key)
{
	if (!map->slots)
		return MAP_NONE;
	return map->slots[find_slot(map, key)].index;
}

void map_prefetch(const struct map *map, struct map_key key)
{
	if (map->slots)
		__builtin_prefetch(&map->slots[hash_key(key) & map->mask]);
}

static int grow(struct map *map)
{
	uint32_t old_count = map->slots ? map->mask + 1 : 0;
	uint32_t count = old_count ? old_count * 2 : MAP_MIN_SLOTS;
	struct map_slot *old = map->slots;
	struct map_slot *slots = malloc(count * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		slots[i].index = MAP_NONE;
	map->slots = slots;
	map->mask = count - 1;
	for (uint32_t i = 0; i < old_count; i++) {
		if (old[i].index != MAP_NONE)
			slots[find_slot(map, old[i].key)] = old[i];
	}
	free(old);
	return 0;
}

int map_put(struct map *map, struct map_key key, uint32_t index)
{
	uint32_t slot;

	if (map->slots) {
		slot = find_slot(map, key);
		if (map->slots[slot].index != MAP_NONE) {
			map->slots[slot].index = index;
			return 0;
		}
	}
	if (map->used >= map->limit)
		return -ENOSPC;
	if (!map->slots || map->used >= (map->mask + 1) / 4 * 3) {
		int r = grow(map);

		if (r < 0)
			return r;
	}
	slot = find_slot(map, key);
	map->slots[slot] = (struct map_slot){ key, index };
	map->used++;
	return 0;
}

uint32_t map_remove(struct map *map, struct map_key key)
{
	uint32_t hole, index;

	if (!map->slots)
		return MAP_NONE;
	hole = find_slot(map, key);
	index = map->slots[hole].index;
	if (index == MAP_NONE)
		return MAP_NONE;
	for (uint32_t i = (hole + 1) & map->mask; map->slots[i].index != MAP_NONE;
	     i = (i + 1) & map->mask) {
		uint32_t home = hash_key(map->slots[i].key) & map->mask;

		if (((i - home) & map->mask) >=
		    ((i - hole) & map->mask)) { /* its run reaches over the hole */
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].index = MAP_NONE;
	map->used--;
	return index;
}
