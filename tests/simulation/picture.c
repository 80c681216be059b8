// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ULL;
	return hash;
}

static uint64_t mix_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word ^ (hash >> 29)) * 0x9fb21c651e98df25ULL;
}

uint64_t picture_key(const char *const *texts, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < count; i++)
		hash = mix(hash, texts[i], strlen(texts[i]) + 1);
	return hash;
}

uint64_t picture_container_key(const char *id, const char *name, const char *ns, const char *pod)
{
	const char *const texts[] = { "container", id, name, ns, pod };

	return picture_key(texts, 5);
}

uint64_t picture_process_key(uint32_t pid, const char *command, uint64_t container)
{
	const char *const texts[] = { "process", command };

	return mix_word(mix_word(picture_key(texts, 2), pid), container);
}

static uint64_t mix_words(uint64_t hash, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = mix_word(hash, words[i]);
	return hash;
}

uint64_t picture_checksum(const struct picture *picture)
{
	uint64_t hash = mix_word(picture->sequence, picture->now_ns);

	for (size_t level = 0; level < PICTURE_LEVELS; level++) {
		const struct picture_table *table = &picture->level[level];

		hash = mix_words(hash, table->pending, picture->columns);
		for (size_t i = 0; i < table->count + table->retired_count; i++) {
			const struct picture_row *row = &table->rows[i];

			hash = mix_word(mix_word(hash, row->key), (uint64_t)row->created_ms);
			hash = mix_word(mix_word(hash, row->serial), row->slot);
			hash = mix(hash, row->text, strlen(row->text));
			hash = mix_words(hash, row->values, picture->columns);
			if (row->deltas)
				hash = mix_words(hash, row->deltas, picture->columns);
		}
	}
	for (size_t z = 0; z < picture->zone_count; z++)
		hash = mix_words(hash, picture->zones[z].node_uj, PICTURE_MODES);
	return hash;
}

void picture_release(struct picture *picture)
{
	free(picture->memory);
	picture->memory = NULL;
	picture->size = picture->used = 0;
}
