// SPDX-License-Identifier: Apache-2.0
/*
 * Chains are short by construction (see row_index.h), so they are walked; only heads are in the
 * map.
 */
#include "attribution/rows/row_index.h"

#include <errno.h>

#include "base/array.h"
#include "base/macro.h"

void row_index_init(struct row_index *index, uint32_t limit)
{
	*index = (struct row_index){ 0 };
	map_init(&index->map, limit);
}

void row_index_release(struct row_index *index)
{
	map_release(&index->map);
	free(index->next);
	index->next = NULL;
	index->size = 0;
}

void row_index_prefetch(const struct row_index *index, struct map_key key)
{
	map_prefetch(&index->map, key);
}

uint32_t row_index_first(const struct row_index *index, struct map_key key)
{
	return map_find(&index->map, key);
}

uint32_t row_index_next(const struct row_index *index, uint32_t row)
{
	return index->next[row];
}

int row_index_add(struct row_index *index, struct map_key key, uint32_t row)
{
	uint32_t first = map_find(&index->map, key);
	int r = ARRAY_RESERVE(index->next, index->size, row + 1U);

	if (r == 0)
		r = map_put(&index->map, key, row);
	if (r < 0)
		return r;
	index->next[row] = first;
	return 0;
}

void row_index_remove(struct row_index *index, struct map_key key, uint32_t row)
{
	uint32_t at = map_find(&index->map, key);

	if (at == row) {
		if (index->next[row] == INDEX_NONE)
			(void)map_remove(&index->map, key);
		else
			(void)map_put(&index->map, key,
				      index->next[row]); /* replaces: no failure */
		return;
	}
	while (at != INDEX_NONE && index->next[at] != row)
		at = index->next[at];
	if (at != INDEX_NONE)
		index->next[at] = index->next[row];
}
