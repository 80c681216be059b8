/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes recordings on a thread of its own, so that a disk that is slow or full never holds up the
 * loop: there is a queue, and what does not fit is dropped and counted. After a drop the next
 * interval begins a new file (of a ring), or is preceded by all definitions again: what the dropped
 * one has defined is missing.
 *
 * One thread calls these functions. Each interval is one call of record_store_put().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define RECORD_QUEUE_CHUNKS 64
#define RECORD_QUEUE_BYTES  (32U << 20)

struct record_store;

struct record_store_options {
	const char *file;           /* one recording, for messages; or NULL */
	int fd;                     /* of the file, which is empty; taken over */
	const char *dir;            /* a ring; must exist */
	uint64_t keep_ms;           /* of a ring */
	uint64_t max_bytes;         /* of a ring, or a file, which ends there; 0: no limit */
	void (*start_thread)(void); /* first thing on the thread, to give up rights; or NULL */
};

struct record_store_stats {
	uint64_t intervals; /* that are in files, or will be */
	uint64_t lost;      /* intervals that are in none */
	uint64_t errors;    /* of the file system */
	uint64_t bytes;     /* of the file, or of all in the ring */
	char error[256];    /* the last one; "" none */
};

/*
 * Makes the file of one recording, which must not exist: before the process gives up its right to
 * make files. A descriptor, or -errno with a diagnosis.
 */
int record_store_create(const char *path, struct diag *diag);
/* 0, or -errno with a diagnosis. */
int record_store_open(const struct record_store_options *options, struct record_store **ret,
		      struct diag *diag);
/* Returns true if the next interval must come with all definitions. */
bool record_store_needs_definitions(struct record_store *store);
/*
 * Takes the content of @records, which is empty afterwards: an interval and the definitions before
 * it, all of them if @is_complete. False: it was dropped.
 */
bool record_store_put(struct record_store *store, struct strbuf *records, bool is_complete);
/* Takes memory that was written and is not needed any more, for the next interval. */
void record_store_recycle(struct record_store *store, struct strbuf *ret);
void record_store_get_stats(struct record_store *store, struct record_store_stats *ret);
/*
 * Writes what is left, and the end of the file. Waits @patience_ns at most for a disk that hangs;
 * then the thread is left to itself, and so is its memory. 0 or -ETIMEDOUT; with the last stats.
 */
int record_store_close(struct record_store *store, uint64_t patience_ns,
		       struct record_store_stats *ret);
