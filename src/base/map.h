/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map from a 128-bit integer key to a 32-bit index: open addressing, linear probing, no
 * tombstones.
 *
 * Every table of this program keeps its rows in an array and finds them through such a map, so that
 * rows stay packed, iteration is a loop over an array, and the map holds 24 bytes a slot. Deletion
 * shifts the following run back. Bounded: at `limit` entries an insert returns -ENOSPC. Grows by
 * doubling at 3/4 load; never shrinks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_key {
	uint64_t hi;
	uint64_t lo;
};

struct map {
	struct map_slot *slots;
	uint32_t mask; /* slots - 1, or 0 when empty */
	uint32_t used;
	uint32_t limit;
};

void map_init(struct map *map, uint32_t limit);
void map_release(struct map *map);
/* The index stored under @key, or MAP_NONE. */
uint32_t map_find(const struct map *map, struct map_key key);
/*
 * Begins to load from memory what map_find() of @key reads. Lookups that are far apart in time find
 * a cold cache; in a loop over many keys, some ahead, the waits for memory overlap.
 */
void map_prefetch(const struct map *map, struct map_key key);
#define MAP_AHEAD 8 /* how many keys ahead, in a loop that also does other work */
/*
 * Stores @index (not MAP_NONE) under @key, replacing what was there. 0, -ENOMEM, or -ENOSPC at the
 * limit.
 */
int map_put(struct map *map, struct map_key key, uint32_t index);
/* Removes @key and returns the index it had, or MAP_NONE. */
uint32_t map_remove(struct map *map, struct map_key key);
