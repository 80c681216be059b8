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

#include "base/diag.h"
#include "export/remote-write/write_queue.h"
#include "export/send/send_board.h"

#define WRITE_HANDOVER_MESSAGES 64

struct write_handover;

struct write_handover_options {
	struct write_queue *queue; /* borrowed; it outlives the thread */
	uint64_t patience_ns;
	struct send_receiver *counts; /* borrowed */
	void (*start_thread)(void);
};

/* Starts the thread, which opens the folder of the queue. 0 or -errno. */
int write_handover_start(const struct write_handover_options *options, struct write_handover **ret);
/*
 * Once, until @until_ns (CLOCK_MONOTONIC): 0; -errno with a diagnosis if the folder cannot be used.
 * If the disk does not respond, that is 0 as well, and in the log and the receiver's last error.
 */
int write_handover_wait_open(struct write_handover *handover, uint64_t until_ns, struct diag *diag);
/* For one thread. The message is copied; one larger than WRITE_MEMORY_MAX has to be alone. */
void write_handover_put(struct write_handover *handover, const char *message, size_t len,
			uint32_t series, int64_t time_ms);
/* write_handover_put() does not wait any more; from any thread. Takes NULL. */
void write_handover_ask_to_stop(struct write_handover *handover);
/*
 * Waits until all of it is in the queue, and frees it. 0, or -ETIMEDOUT: the disk hangs, and the
 * thread keeps @handover and the queue. Takes NULL.
 */
int write_handover_stop(struct write_handover *handover, uint64_t patience_ns);
