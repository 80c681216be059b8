// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/macro.h"

#define SPARE_BYTES 4096 /* of rows that are gone, in each block */

static void empty(struct write_block *block)
{
	for (uint32_t i = 0; i < block->size; i++)
		block->rows[i].serial = 0;
	strbuf_reset(&block->bytes);
	block->live = block->used = 0;
}

void write_rows_release(struct write_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		free(rows->blocks[i].rows);
		strbuf_release(&rows->blocks[i].bytes);
	}
	free(rows->blocks);
	*rows = (struct write_rows){ 0 };
}

void write_rows_begin(struct write_rows *rows)
{
	rows->next = 0;
	for (uint32_t i = 0; i < rows->count; i++) {
		struct write_block *block = &rows->blocks[i];

		if (block->used)
			block->live = block->used;
		block->used = 0;
		if (block->bytes.len > 2 * block->live + SPARE_BYTES ||
		    strbuf_error(&block->bytes) < 0)
			empty(block);
	}
}

void write_rows_forget(struct write_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		empty(&rows->blocks[i]);
}

struct write_block *write_rows_block(struct write_rows *rows, uint64_t key)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		uint32_t at = (rows->next + i) % rows->count;

		if (rows->blocks[at].key != key)
			continue;
		rows->next = at + 1;
		return &rows->blocks[at];
	}
	if (rows->count == WRITE_BLOCKS_MAX ||
	    ARRAY_RESERVE(rows->blocks, rows->size, rows->count + 1) < 0)
		return NULL;
	rows->blocks[rows->count] = (struct write_block){ .key = key };
	rows->next = rows->count + 1;
	return &rows->blocks[rows->count++];
}

const struct write_row *write_block_row(struct write_block *block, uint32_t slot, uint64_t serial,
					bool has_ended)
{
	const struct write_row *row;

	if (HOSTILE || slot >= block->size)
		return NULL;
	row = &block->rows[slot];
	if (row->serial != serial || row->has_ended != has_ended)
		return NULL;
	block->used += row->len;
	return row;
}

void write_block_put(struct write_block *block, uint32_t slot, const struct write_row *row,
		     const char *bytes)
{
	uint32_t size = block->size;
	struct write_row *own;

	if (ARRAY_RESERVE(block->rows, size, slot + 1U) < 0)
		return;
	for (; block->size < size; block->size++)
		block->rows[block->size] = (struct write_row){ .serial = 0 };
	own = &block->rows[slot];
	own->serial = 0;
	if (!strbuf_reserve(&block->bytes, row->len))
		return;
	*own = *row;
	own->at = (uint32_t)block->bytes.len;
	strbuf_add(&block->bytes, bytes, row->len);
	block->used += row->len;
}
