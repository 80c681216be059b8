/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's side of a snapshot_holder: for the publisher's thread alone.
 *
 * A snapshot is one buffer: its struct and one piece of memory for its arrays. Buffers whose
 * readers are gone are filled again, so that an interval allocates nothing once the number of rows
 * is steady.
 */
#pragma once

#include "snapshot/label_pool.h"
#include "snapshot/snapshot.h"

struct snapshot_buffer {
	struct snapshot snapshot; /* first member: what readers see */
	uint32_t references;      /* atomic; the holder has one on the newest */
	void *memory;
	size_t size;
	struct snapshot_buffer *next;
};

/*
 * A buffer that nothing reads, with at least @size bytes of memory, not initialised. NULL without
 * memory.
 */
struct snapshot_buffer *snapshot_holder_take(struct snapshot_holder *holder, size_t size);
/* Numbers the snapshot, makes it the newest and drops the one before. */
void snapshot_holder_publish(struct snapshot_holder *holder, struct snapshot_buffer *buffer);
/*
 * The number of the newest snapshot, 0 before the first; and of the oldest that something may still
 * read.
 */
uint64_t snapshot_holder_newest(const struct snapshot_holder *holder);
uint64_t snapshot_holder_oldest(const struct snapshot_holder *holder);
/* Does anything want all rows of the power_picture in the snapshot of @now_ns? */
bool snapshot_holder_wants_rows(const struct snapshot_holder *holder, uint64_t now_ns);
bool snapshot_holder_wants_users(const struct snapshot_holder *holder, uint64_t now_ns);
/* Labels live as long as the holder, which may outlive its publisher. */
struct label_pool *snapshot_holder_labels(struct snapshot_holder *holder);
