/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which series have ended since the walk before: their labels are sent once more with a stale
 * marker, so that a query does not show them for five more minutes. The messages of the last walk
 * are kept for their labels.
 */
#pragma once

#include "export/remote-write/write_sink.h"

#define WRITE_KEPT_MAX 16 /* messages of one walk */

struct write_kept {
	struct strbuf message;
	uint64_t *hashes; /* [count], as in the batch */
	uint32_t count, size;
};

/* All zero at first. */
struct write_ended {
	struct write_kept last[WRITE_KEPT_MAX], now[WRITE_KEPT_MAX];
	size_t last_count, now_count;
	uint64_t *set; /* hashes of this walk's series; open addressing, 0 free */
	size_t set_size;
};

void write_ended_release(struct write_ended *ended);
/*
 * Keeps @message of this walk, that of @batch, which is empty afterwards. 0;
 * -ENOMEM: its series will get no marker.
 */
int write_ended_keep(struct write_ended *ended, const struct write_batch *batch,
		     struct strbuf *message);
/*
 * After the walk: adds series of the walk before that are not in this one, with markers, to
 * @sink, which may hand over batches that write_ended_keep() must not get. 0 or -ENOMEM.
 */
int write_ended_mark(struct write_ended *ended, struct write_sink *sink);
/* This walk becomes the one before. */
void write_ended_next(struct write_ended *ended);
