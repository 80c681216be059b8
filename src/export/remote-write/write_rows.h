/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of series of rows, encoded as references to symbols, from one walk to the next: rows
 * mostly stay, and their labels do not change. A block has the rows of one family; its key has to
 * stand for all else that the labels follow from. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define WRITE_BLOCKS_MAX 1024 /* further ones are encoded each time */

struct write_row {
	uint64_t serial; /* 0: none */
	uint64_t hash;   /* of the series' labels */
	uint32_t at;     /* in the block's bytes */
	uint16_t len;
	bool has_ended;
};

struct write_block {
	uint64_t key;
	struct write_row *rows; /* [size], by slot */
	uint32_t size;
	struct strbuf bytes;
	size_t live; /* of the bytes, by the last full walk; 0: not known */
	size_t used; /* in this walk */
};

/* All zero at first. */
struct write_rows {
	struct write_block *blocks;
	uint32_t count, size;
	uint32_t next; /* where the next block is looked for first: walks have the same order */
};

void write_rows_release(struct write_rows *rows);
/* Before each walk. Blocks that have gathered labels of rows that are gone are emptied. */
void write_rows_begin(struct write_rows *rows);
/* References have another meaning now: all is forgotten, the memory is kept. */
void write_rows_forget(struct write_rows *rows);
/* The block, which may be new; NULL: there is no room. Valid until the next call. */
struct write_block *write_rows_block(struct write_rows *rows, uint64_t key);
/* NULL: it is not there. */
const struct write_row *write_block_row(struct write_block *block, uint32_t slot, uint64_t serial,
					bool has_ended);
/* Enters an encoded row; without room it is not there the next time. */
void write_block_put(struct write_block *block, uint32_t slot, const struct write_row *row,
		     const char *bytes);
