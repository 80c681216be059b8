/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the labels of rows live: slots in chunks that never move, and that are used again only when
 * no snapshot that could name them is left. Until then a slot holds its names, so that readers on
 * other threads need no reference of their own. Used by the publisher's thread alone.
 *
 * Life of a slot: taken – dropped, with the number of the last snapshot that names it – collected,
 * once every snapshot up to that number is gone.
 */
#pragma once

#include <stdint.h>

#include "snapshot/snapshot.h"

struct label_entry;

struct label_pool {
	struct label_entry **chunks;
	uint32_t chunk_count;
	uint32_t slots; /* made so far */
	uint64_t last_serial;
	struct label_entry *free;
	struct label_entry *dropped_first; /* in order of their last snapshot */
	struct label_entry *dropped_last;
};

void label_pool_release(struct label_pool *pool);
/* Labels with a slot, a serial and references to @names and @facts. NULL without memory. */
struct series_labels *label_pool_take(struct label_pool *pool, const struct owner_names *names,
				      const struct owner_names *facts);
/* NULL is fine. @last_sequence never falls from call to call. */
void label_pool_drop(struct label_pool *pool, struct series_labels *labels, uint64_t last_sequence);
/* Frees slots that no snapshot from @oldest_sequence on uses. */
void label_pool_collect(struct label_pool *pool, uint64_t oldest_sequence);
