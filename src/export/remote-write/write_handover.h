/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages to a queue on disk on a thread of its own, because a disk can keep a call waiting
 * for ever (a dead server of NFS). The thread that makes messages waits for a free place for
 * @patience_ns at most, and not at all as long as the disk does not respond: then the oldest
 * messages that wait here are dropped, and counted. The thread of the receiver cannot do this,
 * because it waits for the receiver.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "export/remote-write/write_queue.h"

#define WRITE_HANDOVER_MESSAGES 64

struct write_handover;

struct write_handover_options {
	struct write_queue *queue; /* borrowed; it outlives the thread */
	uint64_t patience_ns;
	uint64_t *dropped; /* grows by series; atomic; outlives the program's threads */
	void (*start_thread)(void);
};

/* 0 or -errno. */
int write_handover_start(const struct write_handover_options *options, struct write_handover **ret);
/* For one thread. The message is copied; one larger than WRITE_MEMORY_MAX has to be alone. */
void write_handover_put(struct write_handover *handover, const char *message, size_t len,
			uint32_t series, int64_t time_ms);
/*
 * Waits until all of it is in the queue, and frees it. 0, or -ETIMEDOUT: the disk hangs, and the
 * thread keeps @handover and the queue. Takes NULL.
 */
int write_handover_stop(struct write_handover *handover, uint64_t patience_ns);
