/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rows by a key that several of them may share: a map from the key to the newest row, and a
 * chain from there to the older ones.
 *
 *     for (row = row_index_first(index, key); row != INDEX_NONE; row = row_index_next(index, row))
 *             if (is_the_one(row)) ...
 *
 * Serves where a key is a hash (chains hold the collisions, exactly), or names something that can
 * have more than one row for a while (a process that changed its name). A row is in at most one
 * chain.
 */
#pragma once

#include <stdint.h>

#include "base/map.h"

#define INDEX_NONE MAP_NONE

struct row_index {
	struct map map;
	uint32_t *next; /* [size] by row */
	uint32_t size;
};

void row_index_init(struct row_index *index, uint32_t limit);
void row_index_release(struct row_index *index);
/* Begins to load what row_index_first() of @key reads; see map_prefetch(). */
void row_index_prefetch(const struct row_index *index, struct map_key key);
/* The row added last under @key, or INDEX_NONE; the one before it. */
uint32_t row_index_first(const struct row_index *index, struct map_key key);
uint32_t row_index_next(const struct row_index *index, uint32_t row);
/* 0, -ENOMEM or -ENOSPC (nothing changed). */
int row_index_add(struct row_index *index, struct map_key key, uint32_t row);
/* Takes @row out; one that is not under @key is left alone. */
void row_index_remove(struct row_index *index, struct map_key key, uint32_t row);
