/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages that wait for one receiver, oldest first: on disk if a folder is given, else in
 * memory. One thread puts, another one takes; each function may be called from either.
 *
 * On disk they are records (write_record.h) in files that are only appended to. A program that
 * starts again begins a new file, so a torn end costs what follows in one file. Nothing is
 * synchronised: a power cut may cost the newest messages, a killed program none. A message that the
 * disk does not take goes to memory, and so do the following ones until that is empty: the order
 * stays. Beyond a limit the oldest messages are dropped, and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define WRITE_MEMORY_MAX (2 * 1024 * 1024) /* bytes of messages in memory */

struct write_queue_options {
	const char *folder; /* of this receiver alone; NULL: memory alone */
	uint64_t max_bytes; /* on disk */
	uint64_t max_age_ms;
};

/* In series, except bytes and time. */
struct write_queue_state {
	uint64_t dropped_full, dropped_old, dropped_damaged;
	uint64_t disk_errors; /* messages that the disk did not take */
	uint64_t bytes;
	int64_t oldest_ms; /* 0: it is empty */
};

struct write_queue;

/*
 * 0; -errno with a diagnosis. @options are borrowed for the call. The folder is not used before
 * write_queue_open_disk().
 */
int write_queue_open(const struct write_queue_options *options, struct write_queue **ret,
		     struct diag *diag);
/*
 * Begins to use the folder, which it makes, with the folder above it. For the thread that puts, and
 * once: it may hang, while messages can be taken. 0, or -errno with a diagnosis: then messages wait
 * in memory.
 */
int write_queue_open_disk(struct write_queue *queue, struct diag *diag);
void write_queue_close(struct write_queue *queue);
/* Readable when there may be a message to take; nonblocking, to be read by the taker. */
int write_queue_fd(const struct write_queue *queue);
void write_queue_put(struct write_queue *queue, const char *message, size_t len, uint32_t series,
		     int64_t time_ms);
/*
 * The oldest message that is not older than allowed, in @message. 1 with its number of series; 0:
 * there is none; -ENOMEM. It stays in the queue until write_queue_pop().
 */
int write_queue_peek(struct write_queue *queue, int64_t now_ms, struct strbuf *message,
		     uint32_t *ret_series);
void write_queue_pop(struct write_queue *queue);
void write_queue_state(struct write_queue *queue, struct write_queue_state *ret);
