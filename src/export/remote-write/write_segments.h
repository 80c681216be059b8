/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a queue on disk, SEGMENT.seg with rising numbers, and a file "read" with the place
 * up to which they were sent. For one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "export/remote-write/write_record.h"

#define WRITE_SEGMENTS_MAX 256

struct write_segment {
	uint64_t number, size; /* bytes */
};

struct write_segments {
	int folder_fd, write_fd, read_fd, place_fd;    /* -1: not open */
	struct write_segment list[WRITE_SEGMENTS_MAX]; /* [count], oldest first */
	size_t count;
	uint64_t next_number, max_bytes, segment_bytes;
	uint64_t bytes;       /* of all files, less what was sent */
	uint64_t offset;      /* in the oldest */
	uint64_t peeked;      /* bytes of the record there; 0: it was not read */
	uint64_t read_number; /* of the file that read_fd is */
};

void write_segments_init(struct write_segments *segments);
/* Finds what an earlier program left. 0, or -errno with a diagnosis. */
int write_segments_open(struct write_segments *segments, const char *folder, uint64_t max_bytes,
			struct diag *diag);
void write_segments_close(struct write_segments *segments);
/*
 * Appends a record. *dropped grows by the series that had to make room. 0 or -errno: it is not in
 * the queue.
 */
int write_segments_put(struct write_segments *segments, const char *message,
		       const struct write_record *record, uint64_t *dropped);
/* 1; 0: there is none; -ENOMEM; -EBADMSG: the rest of the oldest file was damaged and is gone. */
int write_segments_peek(struct write_segments *segments, struct strbuf *message,
			struct write_record *ret);
/* Removes the record that was peeked, unless it has been dropped since. */
void write_segments_pop(struct write_segments *segments);
