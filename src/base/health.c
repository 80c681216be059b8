// SPDX-License-Identifier: Apache-2.0
#include "base/health.h"

#include <string.h>

void health_histogram_add(struct health_histogram *histogram,
			  const double bounds[HEALTH_BUCKETS_MAX], double value)
{
	histogram->count++;
	histogram->sum += value;
	for (size_t i = 0; i < HEALTH_BUCKETS_MAX && bounds[i] > 0; i++) {
		if (value <= bounds[i]) {
			histogram->counts[i]++;
			return;
		}
	}
}

static size_t room_of(const struct health_part *part)
{
	return (part->size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

size_t health_size(const struct health_source *sources, size_t count)
{
	size_t size = count * sizeof(struct health_block);

	for (size_t i = 0; i < count; i++)
		size += room_of(sources[i].part);
	return size;
}

const struct health_block *health_fill(const struct health_source *sources, size_t count,
				       void *memory)
{
	struct health_block *blocks = memory;
	char *data = (char *)(blocks + count);

	for (size_t i = 0; i < count; i++) {
		const struct health_source *source = &sources[i];

		memset(data, 0, source->part->size);
		blocks[i] = (struct health_block){ .part = source->part };
		if (source->owner && source->part->fill(source->owner, data))
			blocks[i].data = data;
		data += room_of(source->part);
	}
	return blocks;
}
