// SPDX-License-Identifier: Apache-2.0
#include "snapshot/label_pool.h"

#include <errno.h>

#include "base/array.h"
#include "base/macro.h"

#define CHUNK_SLOTS 128U

struct label_entry {
	struct series_labels labels; /* first member: entry_of() */
	uint64_t last_sequence;      /* while dropped */
	struct label_entry *next;    /* while dropped or free */
};

static struct label_entry *entry_of(struct series_labels *labels)
{
	return (struct label_entry *)(void *)labels;
}

/* The struct stays: it has the slot's number. */
static void release_names(struct series_labels *labels)
{
	owner_names_unref(TAKE_PTR(labels->names));
	owner_names_unref(TAKE_PTR(labels->facts));
}

void label_pool_release(struct label_pool *pool)
{
	for (uint32_t slot = 0; slot < pool->slots; slot++)
		release_names(&pool->chunks[slot / CHUNK_SLOTS][slot % CHUNK_SLOTS].labels);
	for (uint32_t i = 0; i < pool->chunk_count; i++)
		free(pool->chunks[i]);
	free(pool->chunks);
	*pool = (struct label_pool){ 0 };
}

static int add_chunk(struct label_pool *pool)
{
	struct label_entry *chunk;

	if (ARRAY_RESIZE(pool->chunks, pool->chunk_count + 1U) < 0)
		return -ENOMEM;
	chunk = calloc(CHUNK_SLOTS, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	pool->chunks[pool->chunk_count++] = chunk;
	return 0;
}

struct series_labels *label_pool_take(struct label_pool *pool, const struct owner_names *names,
				      const struct owner_names *facts)
{
	struct label_entry *entry = pool->free;
	uint32_t slot;

	if (entry) {
		pool->free = entry->next;
		slot = entry->labels.slot;
	} else {
		if (pool->slots == pool->chunk_count * CHUNK_SLOTS && add_chunk(pool) < 0)
			return NULL;
		slot = pool->slots++;
		entry = &pool->chunks[slot / CHUNK_SLOTS][slot % CHUNK_SLOTS];
	}
	*entry = (struct label_entry){
		.labels = { .slot = slot,
			    .serial = ++pool->last_serial,
			    .names = owner_names_ref(names),
			    .facts = owner_names_ref(facts) },
	};
	return &entry->labels;
}

void label_pool_drop(struct label_pool *pool, struct series_labels *labels, uint64_t last_sequence)
{
	struct label_entry *entry;

	if (!labels)
		return;
	entry = entry_of(labels);
	entry->last_sequence = last_sequence;
	entry->next = NULL;
	if (pool->dropped_last)
		pool->dropped_last->next = entry;
	else
		pool->dropped_first = entry;
	pool->dropped_last = entry;
}

void label_pool_collect(struct label_pool *pool, uint64_t oldest_sequence)
{
	while (pool->dropped_first && pool->dropped_first->last_sequence < oldest_sequence) {
		struct label_entry *entry = pool->dropped_first;

		pool->dropped_first = entry->next;
		if (!pool->dropped_first)
			pool->dropped_last = NULL;
		release_names(&entry->labels);
		entry->next = pool->free;
		pool->free = entry;
	}
}
