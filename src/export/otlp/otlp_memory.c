// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_memory.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/macro.h"

static void generation_release(struct otlp_generation *generation)
{
	free(generation->entries);
	strbuf_release(&generation->texts);
	free(generation->values);
	free(generation->points);
	*generation = (struct otlp_generation){ 0 };
}

void otlp_memory_release(struct otlp_memory *memory)
{
	generation_release(&memory->delivered);
	generation_release(&memory->staged);
	map_release(&memory->delivered_rows);
	*memory = (struct otlp_memory){ 0 };
}

void otlp_memory_begin(struct otlp_memory *memory, int64_t time_ms, uint32_t columns)
{
	struct otlp_generation *staged = &memory->staged;

	staged->count = staged->value_count = staged->point_count = 0;
	staged->columns = columns;
	staged->time_ms = time_ms;
	strbuf_reset(&staged->texts);
	memory->failed = false;
	for (size_t i = 0; i < memory->delivered.count; i++)
		memory->delivered.entries[i].is_seen = false;
}

static struct map_key key_of(uint32_t table, uint64_t serial)
{
	return (struct map_key){ table, serial };
}

struct otlp_entry *otlp_memory_find(struct otlp_memory *memory, uint32_t table, uint64_t serial)
{
	uint32_t index = map_find(&memory->delivered_rows, key_of(table, serial));
	struct otlp_entry *entry;

	if (index == MAP_NONE)
		return NULL;
	entry = &memory->delivered.entries[index];
	entry->is_seen = true;
	return entry;
}

uint64_t otlp_memory_value(const struct otlp_memory *memory, const struct otlp_entry *entry,
			   uint32_t column)
{
	const struct otlp_generation *delivered = &memory->delivered;

	return entry && column < delivered->columns ? delivered->values[entry->values_at + column]
						    : 0;
}

uint64_t *otlp_memory_stage(struct otlp_memory *memory, const struct otlp_entry *entry,
			    const char *resource)
{
	struct otlp_generation *staged = &memory->staged;
	struct otlp_entry *own;

	if (ARRAY_RESERVE(staged->entries, staged->size, staged->count + 1) < 0 ||
	    (staged->columns && ARRAY_RESERVE(staged->values, staged->value_size,
					      staged->value_count + staged->columns) < 0)) {
		memory->failed = true;
		return NULL;
	}
	own = &staged->entries[staged->count++];
	*own = *entry;
	own->resource_at = (uint32_t)staged->texts.len;
	own->values_at = staged->value_count;
	own->is_seen = false;
	strbuf_add(&staged->texts, resource, entry->resource_len);
	staged->value_count += staged->columns;
	return staged->columns ? staged->values + own->values_at : NULL;
}

/* In a request after another the same points are mostly at the same places. */
bool otlp_memory_point(struct otlp_memory *memory, uint64_t key, uint64_t value,
		       uint64_t *ret_delivered)
{
	const struct otlp_generation *delivered = &memory->delivered;
	struct otlp_generation *staged = &memory->staged;
	size_t at = staged->point_count;

	*ret_delivered = 0;
	if (ARRAY_RESERVE(staged->points, staged->point_size, staged->point_count + 1) < 0) {
		memory->failed = true;
		return false;
	}
	staged->points[staged->point_count++] = (struct otlp_point){ key, value };
	for (size_t i = 0; i < delivered->point_count; i++, at++) {
		const struct otlp_point *point = &delivered->points[at % delivered->point_count];

		if (point->key != key)
			continue;
		*ret_delivered = point->value;
		return true;
	}
	return false;
}

/* Makes the map again. */
static int find_rows(struct otlp_memory *memory)
{
	const struct otlp_generation *delivered = &memory->delivered;
	int r = 0;

	map_release(&memory->delivered_rows);
	map_init(&memory->delivered_rows, UINT32_MAX / 2);
	for (size_t i = 0; i < delivered->count && r == 0; i++)
		r = map_put(&memory->delivered_rows,
			    key_of(delivered->entries[i].table, delivered->entries[i].serial),
			    (uint32_t)i);
	return r;
}

void otlp_memory_deliver(struct otlp_memory *memory)
{
	struct otlp_generation delivered = memory->staged;

	memory->staged = memory->delivered;
	memory->delivered = delivered;
	if (find_rows(memory) < 0) {
		map_release(&memory->delivered_rows);
		map_init(&memory->delivered_rows, 0);
		memory->delivered.count = 0;
	}
}
